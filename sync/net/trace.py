"""The trace: every input of every machine with its effects, one JSON object a line.

A run begins with `Began`: whose it is, and the seed of its dice; then come the channels' states. It
carries every sealed entry, so a replay needs neither key nor database, and never a key, a
channel secret or an invite: none of these is an input of a machine.
"""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import IO, Final

from msgspec import Struct, structs

from sync.errors import LocalError
from sync.machine import SECOND, Nanos, PeerId
from sync.structures.ids import Ids
from sync.view.recording import open_recording

RECENT_MAX: Final = 200
"""Lines kept in memory for the debug pane."""


BEGINS: Final = b'{"now": '
"""The first bytes of every line."""

SEED_SIZE: Final = 32
"""Bytes of the seed of a run's dice, which decide delays and nothing secret."""


class Began(Struct, frozen=True):
    """The first step of a run."""

    participant: PeerId
    seed: bytes
    retention: Nanos | None = None
    """Age beyond which nothing is taken from others; None: everything is."""
    protocols: tuple[str, ...] = ()
    """Names of those spoken beside the usual one."""


class Drew(Struct, frozen=True):
    """The next step had this from the system's generator: 64 bits of a salt, or a log's number.

    Neither is secret: both are sent as they are.
    """

    number: int


class Trace:
    """Keeps the last lines in short form, and writes all of them whole if given a file."""

    def __init__(self, path: Path | None = None) -> None:
        """Open `path` for appending.

        Raises:
            LocalError: the file cannot be written.
        """
        self._recent: deque[tuple[Nanos, str, object, tuple[str, ...]]] = deque(maxlen=RECENT_MAX)
        self._file: IO[str] | None = None
        self._failure: OSError | None = None
        self.path: Path | None = None
        """The file it is written to, if any."""
        if path is not None:
            self.begin(path)

    def begin(self, path: Path) -> None:
        """Write every step from now on to `path`, after what is there.

        Raises:
            LocalError: the file cannot be written.
        """
        try:
            file = open_recording(path, BEGINS)
        except OSError as error:
            raise LocalError(
                f"The trace cannot be written to {path} ({error.strerror}): name another file."
            ) from error
        except LocalError as error:
            raise LocalError(f"There is no trace: {error}. Name another file.") from error
        self.close()
        self._file, self.path = file, path

    def __call__(self, now: Nanos, machine: str, event: object, effects: Sequence[object]) -> None:
        """Note one step of a machine."""
        names = tuple([type(effect).__name__ for effect in effects])
        self._recent.append((now, machine, type(event).__name__, names))
        if self._file is not None:
            step = {
                "now": now,
                "machine": machine,
                "input": to_json(event),
                "effects": [to_json(effect) for effect in effects],
            }
            with self._noting_failure():
                self._file.write(json.dumps(step, ensure_ascii=False) + "\n")

    def recent(self, count: int) -> tuple[str, ...]:
        """Return the last `count` lines in short form, newest last."""
        return tuple([_short(*line) for line in list(self._recent)[-count:]])

    def flush(self) -> None:
        """Hand what is written to the system.

        Raises:
            LocalError: it could not be written, now or before. The trace has ended; said once.
        """
        with self._noting_failure():
            if self._file is not None:
                self._file.flush()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise LocalError(
                f"The trace has ended: it cannot be written ({failure.strerror}). Free some space, "
                "and start again to go on with it."
            )

    def close(self) -> None:
        """Write everything and close the file."""
        if self._file is not None:
            file, self._file, self.path = self._file, None, None
            with suppress(OSError):  # it was said when it could not be flushed
                file.close()

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """End the trace where the disk refuses: the chat goes on without it."""
        try:
            yield
        except OSError as error:
            self._failure = error
            self.close()


def to_json(value: object) -> object:
    """Return `value` as JSON: structs as objects with their class in `is`, bytes as hex."""
    if isinstance(value, Struct):
        fields = {name: to_json(item) for name, item in structs.asdict(value).items()}
        return {"is": type(value).__name__, **fields}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        fields = {name: to_json(item) for name, item in value._asdict().items()}
        return {"is": type(value).__name__, **fields}
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(to_json(item) for item in value)  # type: ignore[type-var]  # ids
    if isinstance(value, list | tuple | Ids):
        return [to_json(item) for item in value]
    return value


def _short(now: Nanos, machine: str, event: object, effects: tuple[str, ...]) -> str:
    seconds = now // SECOND % 86_400
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    millis = now // 1_000_000 % 1000
    return f"{clock}.{millis:03} {machine[:7]:7} {event} → {', '.join(effects) or 'nothing'}"
