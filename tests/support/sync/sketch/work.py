"""Work of each step of sessions by sketch, in ids and waves: what its time is spent on."""

from collections.abc import Callable, Sized
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

import pytest

from sync.sketch import lookup
from sync.sketch.lookup import Lookup
from sync.sketch.peeling import STEP_IDS, Peeling
from sync.sketch.session import WAVES_AT_ONCE, SketchExchange
from sync.sketch.symbols import Symbols

INPUTS: Final = ("open", "payload", "go_on", "loaded")


@dataclass
class Step:
    """Ids put in or taken out, waves that were begun, and ids that were looked at."""

    put: int = 0
    waves: int = 0
    looked: int = 0

    def add(self, put: int = 0, waves: int = 0, looked: int = 0) -> None:
        """Add what one call does."""
        self.put += put
        self.waves += waves
        self.looked += looked


class Work:
    """Notes the steps of all sessions by sketch from now on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps: list[Step] = []
        self._within = False
        for name in INPUTS:
            self._delimit(monkeypatch, name)
        self._count(monkeypatch, Symbols, "put_at", lambda step, ids: step.add(put=ids))
        self._count(monkeypatch, Peeling, "_begin_wave", lambda step, _: step.add(waves=1))
        self._count(monkeypatch, Lookup, "_near", lambda step, ids: step.add(looked=ids))

    @property
    def whole(self) -> Step:
        """Work of all steps together."""
        whole = Step()
        for step in self.steps:
            whole.add(step.put, step.waves, step.looked)
        return whole

    def check(self) -> None:
        """Check that no step did more than takes 10 ms."""
        for step in self.steps:
            assert step.put <= 2 * STEP_IDS
            assert step.waves <= WAVES_AT_ONCE + 2, "one more where symbols have just come"
            assert step.looked <= lookup.STEP

    def _delimit(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        """Have each outermost call of an input be a step."""
        method = getattr(SketchExchange, name)

        @wraps(method)
        def noted(*args: Any, **named: Any) -> Any:  # noqa: ANN401
            if self._within:
                return method(*args, **named)
            self.steps.append(Step())
            self._within = True
            try:
                return method(*args, **named)
            finally:
                self._within = False

        monkeypatch.setattr(SketchExchange, name, noted)

    def _count(
        self, patch: pytest.MonkeyPatch, kind: type, name: str, add: Callable[[Step, int], None]
    ) -> None:
        """Have calls of a method added to the step that they are of, with what they work on."""
        method = getattr(kind, name)

        @wraps(method)
        def counted(one: object, first: Sized, *rest: Sized) -> object:
            if self._within:
                add(self.steps[-1], len(rest[0] if rest else first))
            return method(one, first, *rest)

        patch.setattr(kind, name, counted)
