"""Two states that are brought to agreement over a perfect stream, with what it took."""

from collections import deque
from dataclasses import dataclass, field

from sync.calimero.state.comparing import spread_of
from sync.calimero.state.entry import RegisterKey, parse
from sync.calimero.state.exchange import (
    Brings,
    Comparison,
    Effect,
    Finished,
    GoOn,
    Result,
    Send,
    StateExchange,
)
from sync.calimero.state.messages import Entries, decode
from sync.calimero.state.registers import Registers


@dataclass
class End:
    """One end of a session: its state, its machine, and what it was told."""

    registers: Registers
    exchange: StateExchange = field(init=False)
    result: Result | None = None

    def __post_init__(self) -> None:
        self.exchange = StateExchange(self.registers, self.content_of)

    def content_of(self, key: RegisterKey) -> bytes | None:
        entry = self.registers.get(key)
        return None if entry is None else entry.content


@dataclass
class Cost:
    """Cost of a session: bytes before bodies, bodies, and turns of both ends."""

    ids: int = 0
    bodies: int = 0
    turns: int = 0

    @property
    def round_trips(self) -> int:
        return (self.turns + 1) // 2


class StatePair:
    """Runs one session between two states; `between` is called before each turn."""

    def __init__(self, left: Registers, right: Registers) -> None:
        self.left, self.right = End(left), End(right)
        self.cost = Cost()

    def run(self, comparison: Comparison, changes: list[object] | None = None) -> Result:
        """Run until both ends are through; returns the result, which is that of both."""
        waiting: deque[tuple[End, End, Effect]] = deque()

        def put(here: End, there: End, effects: object) -> None:
            for effect in effects:  # type: ignore[attr-defined]
                waiting.append((here, there, effect))

        spread = spread_of(self.right.registers.tree)
        put(self.left, self.right, self.left.exchange.open(comparison, spread))
        last: End | None = None
        while waiting:
            here, there, effect = waiting.popleft()
            match effect:
                case Send(payload):
                    self.cost.turns += here is not last
                    last = here
                    message = decode(payload)
                    if isinstance(message, Entries):
                        self.cost.bodies += len(payload)
                    else:
                        self.cost.ids += len(payload)
                    put(there, here, there.exchange.payload(payload))
                case Brings(contents):
                    for content in contents:
                        here.registers.put(parse(content))
                case GoOn():
                    if changes:
                        change = changes.pop()
                        change(here)  # type: ignore[operator]
                    put(here, there, here.exchange.go_on())
                case Finished(result):
                    here.result = result
        assert self.left.result is not None
        assert self.left.result == self.right.result
        return self.left.result
