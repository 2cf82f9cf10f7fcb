"""Some channels that hear each other on a virtual clock: no disk, no bytes, seeded losses."""

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec.structs import replace

from sync.machine import HOUR, MILLISECOND, SECOND, MessageId, Nanos, Tick
from sync.sds.channel import Channel
from sync.sds.events import (
    Answer,
    Broadcast,
    Connected,
    Delivered,
    Effect,
    Found,
    HeardCopy,
    Input,
    Rebroadcast,
    Send,
)
from sync.sds.message import Kind, Message
from sync.sds.parameters import LAN, Parameters
from tests.support.sync.channels import NOW, channel, peer, received

DELAY: Nanos = 20 * MILLISECOND
Loses: TypeAlias = Callable[[str, str, Message], bool]
"""(speaker, listener, message) -> whether it gets lost."""


def loses_nothing(_speaker: str, _listener: str, _message: Message) -> bool:
    return False


@dataclass
class Room:
    """A broadcast among `names`.

    Attributes:
        loses: which message gets lost on its way to whom.
        repair: False takes SDS-R away: nobody asks, so nobody answers.
        believed: how many others each believes to be connected; all of them if None.
        happened: every effect, with when and to whom.
    """

    names: Sequence[str]
    loses: Loses = loses_nothing
    parameters: Parameters = LAN
    repair: bool = True
    believed: int | None = None
    seed: int = 0
    now: Nanos = NOW
    channels: dict[str, Channel] = field(default_factory=dict)
    happened: list[tuple[Nanos, str, Effect]] = field(default_factory=list)
    written: dict[MessageId, Message] = field(default_factory=dict)
    _away: set[str] = field(default_factory=set)
    _queue: list[tuple[Nanos, int, str, Input]] = field(default_factory=list)
    _due: dict[str, Nanos | None] = field(default_factory=dict)
    _pushed: int = 0

    def __post_init__(self) -> None:
        others = len(self.names) - 1 if self.believed is None else self.believed
        for number, name in enumerate(self.names):
            one = channel(name, peers=0, parameters=self.parameters, seed=1000 * self.seed + number)
            self.channels[name] = one
            self.tell(name, Connected(others))

    def write(self, name: str, text: str) -> MessageId:
        """Let `name` write a line."""
        before = len(self.happened)
        self.tell(name, Send(text))
        [sent] = [one for _, _, one in self.happened[before:] if isinstance(one, Broadcast)]
        return sent.message.message_id

    def leave(self, name: str) -> None:
        """`name` is gone: it neither hears nor says anything any more."""
        self._away.add(name)
        self._due[name] = None

    def tell(self, name: str, event: Input) -> None:
        """Give somebody an input, and the others what comes of it."""
        one = self.channels[name]
        effects = one.handle(event, self.now)
        self._due[name] = one.deadline()
        for effect in effects:
            self.happened.append((self.now, name, effect))
            match effect:
                case Broadcast(message):
                    if message.kind is Kind.CONTENT:
                        self.written[message.message_id] = message
                    self._spread(name, message)
                case Rebroadcast(message_id, bloom_filter):
                    again = replace(
                        self.written[message_id], bloom_filter=bloom_filter, repair_request=()
                    )
                    self._spread(name, again)
                case Answer(message_id):
                    assert holds(one, message_id), "it answers what it does not have"
                    stored = self.written[message_id]
                    self._spread(name, replace(stored, bloom_filter=None, repair_request=()))
                case _:
                    pass

    def run(self, span: Nanos) -> None:
        """Let so much time pass."""
        until = self.now + span
        while True:
            dues = [(at, name) for name, at in self._due.items() if at is not None]
            tick_at, name = min(dues, default=(until + 1, ""))
            if self._queue and self._queue[0][0] <= min(tick_at, until):
                self.now, _, name, event = heapq.heappop(self._queue)
                if name not in self._away:
                    self.tell(name, event)
            elif tick_at <= until:
                self.now = max(self.now, tick_at)
                self.tell(name, Tick())
            else:
                self.now = until
                return

    def run_until(self, happened: Callable[[], object]) -> None:
        """Let time pass, a tenth of a second at a time, until something has happened."""
        until = self.now + HOUR
        while not happened():
            assert self.now < until, "it never happened"
            self.run(SECOND // 10)

    # --- What came of it -----------------------------------------------------------------------

    def shown(self, name: str) -> list[MessageId]:
        """Return the messages that `name` was shown, as they came."""
        return [
            one.message_id for _, who, one in self.happened
            if who == name and isinstance(one, Delivered)
        ]  # fmt: skip

    def requests(self, message_id: MessageId) -> list[tuple[Nanos, str]]:
        """Return the requests for a message: the time of each, and who asked."""
        return [
            (at, who)
            for at, who, one in self.happened
            if isinstance(one, Broadcast)
            and message_id in [entry.message_id for entry in one.message.repair_request]
        ]

    def answers(self, message_id: MessageId) -> list[tuple[Nanos, str]]:
        """Return the answers with a message: the time of each, and who answered."""
        return [
            (at, who)
            for at, who, one in self.happened
            if isinstance(one, Answer) and one.message_id == message_id
        ]

    def lost(self, name: str) -> list[MessageId]:
        """Return the messages that `name` gave up."""
        return [
            one.message_id for _, who, one in self.happened
            if who == name and isinstance(one, Found) and one.lost
        ]  # fmt: skip

    @property
    def converged(self) -> bool:
        """True if everybody who is here has every line, in one order."""
        logs = [
            list(one.log.order) for name, one in self.channels.items() if name not in self._away
        ]
        return len(logs[0]) == len(self.written) and logs.count(logs[0]) == len(logs)

    def _spread(self, speaker: str, message: Message) -> None:
        if not self.repair:
            message = replace(message, repair_request=())
        for listener in self.names:
            if listener != speaker and not self.loses(speaker, listener, message):
                event = heard(self.channels[listener], message, speaker)
                self._pushed += 1
                heapq.heappush(self._queue, (self.now + DELAY, self._pushed, listener, event))


def heard(listener: Channel, message: Message, speaker: str) -> Input:
    """Return a group's input for a message that came from `speaker`."""
    from_author = message.sender_id == peer(speaker)
    if message.kind is Kind.CONTENT and not from_author and holds(listener, message.message_id):
        return HeardCopy(message.message_id, peer(speaker))
    return received(message, from_author=from_author)


def holds(one: Channel, message_id: MessageId) -> bool:
    return message_id in one.log.order or message_id in one.incoming.waiting


def lossy(share: float, seed: int) -> Loses:
    """Whatever is said, each listener misses such a share of it."""
    rng = random.Random(seed)
    return lambda _speaker, _listener, _message: rng.random() < share


def losing(*lost: tuple[str, str]) -> Loses:
    """Lines by their text and the listener who misses them, once each, when they are written."""
    left = set(lost)

    def loses(_speaker: str, listener: str, message: Message) -> bool:
        for text, who in left:
            if who == listener and repr(text).encode() in message.content:
                left.remove((text, who))
                return True
        return False

    return loses
