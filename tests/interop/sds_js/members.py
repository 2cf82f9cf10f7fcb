"""The two kinds of participants of a channel, spoken to alike: bytes in, bytes out, and the time.

`Ours` is our engine with the `waku` profile, `Theirs` a `MessageChannel` of `@waku/sds` in the node
process, used as its specification says an application uses it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from msgspec.structs import replace

from sync.machine import MILLISECOND, SECOND, MessageId, Nanos, PeerId, Tick
from sync.sds.events import (
    Answer,
    Broadcast,
    Effect,
    HeardCopy,
    Input,
    Rebroadcast,
    Received,
    Send,
    SendEphemeral,
)
from sync.sds.message import Kind, Message
from sync.sds.parameters import WAKU, Parameters
from sync.sds.wire import decode, encode, encode_canonical
from tests.interop.sds_js.node import SdsNode, from_json, to_json
from tests.support.sync.channels import CHANNEL, channel, peer

LogEntry = tuple[int, str]
"""(lamport, message id)"""

SYNC_EVERY: Nanos = 30 * SECOND
"""Interval at which the application around the package sends a sync message."""

TWO_NAMED: Final[Mapping[str, object]] = {"causalHistorySize": 2}
"""The recommendation of the specification; the package's own default is 200."""


REQUEST_QUEUED: Final = "RepairRequestQueued"
RESPONSE_QUEUED: Final = "RepairResponseQueued"
"""The package's names of the events that say when it asks and answers, in ms. Its enumeration has
others for them, by which nobody hears of them."""


class Member(Protocol):
    """A participant. Whatever it does returns the encoded messages that it broadcasts."""

    @property
    def id(self) -> PeerId: ...

    def say(self, text: str, now: Nanos) -> list[bytes]: ...

    def hear(self, payload: bytes, speaker: PeerId, now: Nanos) -> list[bytes]: ...

    def tick(self, now: Nanos) -> list[bytes]: ...

    def deadline(self) -> Nanos | None: ...

    def log(self) -> list[LogEntry]: ...


class Ours:
    """Our engine. `effects` are all it ever had, `kept` its messages as they lie on the disk."""

    def __init__(self, name: str, parameters: Parameters = WAKU, *, peers: int = 1) -> None:
        self.channel = channel(name, peers=peers, parameters=parameters)
        self.id = self.channel.me
        self.effects: list[Effect] = []
        self.kept: dict[MessageId, bytes] = {}

    def say(self, text: str, now: Nanos) -> list[bytes]:
        return self._handle(Send(text), now)

    def say_ephemeral(self, text: str, now: Nanos) -> list[bytes]:
        return self._handle(SendEphemeral(text.encode()), now)

    def hear(self, payload: bytes, speaker: PeerId, now: Nanos) -> list[bytes]:
        """Do what `sync.group` does: a sync message counts only from its author."""
        message = read(payload)
        from_author = message.sender_id == speaker
        if message.kind is Kind.CONTENT:
            if message.message_id in self.kept and not from_author:
                return self._handle(HeardCopy(message.message_id, speaker), now)
            self.kept.setdefault(message.message_id, encode_canonical(message))
        elif not from_author:
            return []
        return self._handle(Received(message, hint_of(message), from_author), now)

    def tick(self, now: Nanos) -> list[bytes]:
        return self._handle(Tick(), now)

    def deadline(self) -> Nanos | None:
        return self.channel.deadline()

    def log(self) -> list[LogEntry]:
        return list(self.channel.log.order)

    def _handle(self, event: Input, now: Nanos) -> list[bytes]:
        effects = self.channel.handle(event, now)
        self.effects += effects
        return [payload for effect in effects for payload in self._transmitted(effect)]

    def _transmitted(self, effect: Effect) -> list[bytes]:
        """Return the frames that the runner sends for an effect."""
        match effect:
            case Broadcast(message):
                if message.kind is Kind.CONTENT:
                    self.kept[message.message_id] = encode_canonical(message)
                return [encode(message)]
            case Rebroadcast(message_id, bloom_filter):
                return [encode(replace(read(self.kept[message_id]), bloom_filter=bloom_filter))]
            case Answer(message_id):
                return [self.kept[message_id]]
            case _:
                return []


@dataclass(frozen=True, slots=True)
class Announced:
    """An event of the package: whom it concerns, and the count or time (ms) it carries."""

    event: str
    message_ids: tuple[str, ...]
    number: int | None = None
    error: str | None = None


class Theirs:
    """A participant of the package. `announced` are all its events.

    The package has no clock of its own, so this is the application around it. After every reception
    it is swept, and when an answer is due; it sends a sync message when a request is due. Every
    `sync_every` it sends a sync message, and what is not acknowledged again; never, where None.
    """

    def __init__(
        self,
        node: SdsNode,
        name: str,
        now: Nanos,
        options: Mapping[str, object] = TWO_NAMED,
        *,
        sync_every: Nanos | None = SYNC_EVERY,
    ) -> None:
        self.name = name
        self.id = peer(name)
        self.announced: list[Announced] = []
        self._node = node
        self._sync_every = sync_every
        self._sync_at: Nanos | None = None
        self._plan_sync(now)
        self._due: dict[str, set[Nanos]] = {REQUEST_QUEUED: set(), RESPONSE_QUEUED: set()}
        self._ask("join", now, id=self.id, channel=CHANNEL, options=options)

    def say(self, text: str, now: Nanos) -> list[bytes]:
        return self._act("send", now, content=to_json(text.encode()))

    def say_ephemeral(self, text: str, now: Nanos) -> list[bytes]:
        return self._act("send_ephemeral", now, content=to_json(text.encode()))

    def say_sync(self, now: Nanos) -> list[bytes]:
        return self._act("send_sync", now)

    def hear(self, payload: bytes, speaker: PeerId, now: Nanos) -> list[bytes]:
        """Receive, and sweep: otherwise nothing that waited is ever delivered."""
        return self._act("receive", now, payload=to_json(payload)) + self._act("sweep", now)

    def tick(self, now: Nanos) -> list[bytes]:
        sent = []
        if self._take_due(RESPONSE_QUEUED, now):
            sent += self._act("sweep", now)
        asks = self._take_due(REQUEST_QUEUED, now)
        if self._sync_at is not None and self._sync_at <= now:
            self._plan_sync(now)
            sent += self._act("resend", now) + self.say_sync(now)
        elif asks:
            sent += self.say_sync(now)
        return sent

    def deadline(self) -> Nanos | None:
        times = [at for due in self._due.values() for at in due]
        if self._sync_at is not None:
            times.append(self._sync_at)
        return min(times, default=None)

    def log(self) -> list[LogEntry]:
        return [(lamport, message_id) for lamport, message_id in self._ask("log")]

    def outgoing(self) -> dict[str, list[str]]:
        """Own messages awaiting acknowledgement: `unacknowledged`, `possibly_acknowledged`."""
        found: dict[str, list[str]] = self._ask("outgoing")
        return found

    def events(self, *names: str) -> list[Announced]:
        """Return the events of these names."""
        return [one for one in self.announced if one.event in names]

    def _plan_sync(self, now: Nanos) -> None:
        if self._sync_every is not None:
            self._sync_at = now + self._sync_every

    def _take_due(self, event: str, now: Nanos) -> bool:
        due = {at for at in self._due[event] if at <= now}
        self._due[event] -= due
        return bool(due)

    def _act(self, op: str, now: Nanos, **fields: object) -> list[bytes]:
        outcome = self._ask(op, now, **fields)
        for fields_of_event in outcome["events"]:
            one = Announced(
                **{**fields_of_event, "message_ids": tuple(fields_of_event["message_ids"])}
            )
            self.announced.append(one)
            if one.event in self._due and one.number is not None:
                self._due[one.event].add(one.number * MILLISECOND)
        return [from_json(payload) for payload in outcome["sent"]]

    def _ask(self, op: str, now: Nanos = 0, **fields: object) -> Any:  # noqa: ANN401 - JSON
        return self._node.request(op, {"name": self.name, **fields}, now // MILLISECOND)


def read(payload: bytes) -> Message:
    """Decode a message within the limits of the `waku` profile."""
    return decode(payload, WAKU.limits)


def hint_of(message: Message) -> bytes | None:
    """The retrieval hint of a message, here and in `participant.mjs`: the bytes of its id."""
    try:
        return bytes.fromhex(message.message_id)
    except ValueError:
        return None  # a sync message of theirs
