"""The messages of p2panda's replication and their bytes: CBOR arrays, type first.

Rules:
1. A message has exactly the fields of its type; each value has one spelling (`cbor`).
2. Schema ids, authors, and the logs of an author rise, so none is there twice.
3. Counts and sizes are checked here; what is allowed when is the business of the machines.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import groupby, pairwise
from typing import Final, NamedTuple, TypeAlias

from sync.errors import DecodeError
from sync.p2panda import cbor
from sync.p2panda.bounds import KEY_BYTES, Place
from sync.p2panda.heads import FINGERPRINT_BYTES

MESSAGE_BYTES_MAX: Final = 1 << 20
"""Of one message; the frame limit of the stream that carries them."""

SCHEMAS_MAX: Final = 1_024
"""Schema ids of an announcement or a request: channels of one peer."""

SCHEMA_BYTES_MAX: Final = 256
"""Of a schema id; ours have 37."""

LOGS_MAX: Final = 16_384
"""Logs of one Have, about 50 bytes each: 0.8 MB. Above that there is mode 1."""

HAVE_ITEMS_MAX: Final = 3 + 6 * LOGS_MAX
"""Items in the arrays of a Have: each log may be of another author."""

ITEMS_MAX: Final = SCHEMAS_MAX + 4
"""Items in the arrays of any other message."""

HEIGHT_MAX: Final = (1 << 63) - 1
"""The highest number of an entry that a table can hold."""

PAYLOAD_FIELDS: Final = 3
LAST_PAYLOAD_FIELDS: Final = 5
"""Fields of a Payload without and with `can_respond` and its upper bound (section 2.1)."""


class Reason(Enum):
    """The reason for which something of a peer is refused; the value goes into events."""

    NOT_CBOR = "not the one CBOR of a value"
    TOO_LARGE = "too large"
    UNKNOWN_TYPE = "unknown message type"
    FIELDS = "not the fields of its message type"
    EMPTY_SET = "an empty set of schema ids"
    UNSORTED = "unsorted or twice"
    SESSION = "another session"
    OUT_OF_TURN = "out of turn"
    NOT_TILING = "ranges do not tile the circle"
    BACKWARDS = "ranges run backwards"
    ENDLESS = "ranges or batches without end"


class ReplicationError(DecodeError):
    """Something that a peer must not send, with the reason by which events name it."""

    def __init__(self, reason: Reason, said: str = "") -> None:
        super().__init__(f"{reason.value}: {said}" if said else reason.value)
        self.reason = reason


class Announce(NamedTuple):
    """Schemas that a peer is interested in (section 1); the newest replaces all earlier ones."""

    version: int
    timestamp: int
    schemas: tuple[str, ...]


class SyncRequest(NamedTuple):
    """A session is asked for, by log heights (0) or set reconciliation (1)."""

    session: int
    mode: int
    schemas: tuple[str, ...]


class Entry(NamedTuple):
    """An entry of a log and its operation (section 2.2)."""

    session: int
    entry: bytes
    operation: bytes | None


class SyncDone(NamedTuple):
    """Everything was sent; `live` asks for live mode, or ends it."""

    session: int
    live: bool


class Have(NamedTuple):
    """All heights of the sender's logs, in order."""

    session: int
    heights: tuple[Place, ...]


class EmptySet(NamedTuple):
    """The sender has nothing at all."""

    session: int
    can_respond: bool


class LowerBound(NamedTuple):
    """The bound where the first range of a batch begins, and the last one ends."""

    session: int
    bound: Place


class Payload(NamedTuple):
    """A height in a range; the last one of a range also says where that ends."""

    session: int
    item: Place
    can_respond: bool = False
    upper: Place | None = None


class EmptyPayload(NamedTuple):
    """The sender has nothing in the range, and asks what the other one has."""

    session: int
    upper: Place


class Done(NamedTuple):
    """Nothing is left to be done in the range."""

    session: int
    upper: Place


class Fingerprint(NamedTuple):
    """The sum of the sender's lifted items in the range."""

    session: int
    fingerprint: bytes
    upper: Place


class Terminal(NamedTuple):
    """A batch ends."""

    session: int


Range: TypeAlias = LowerBound | Payload | EmptyPayload | Done | Fingerprint
Message: TypeAlias = Announce | SyncRequest | Entry | SyncDone | Have | EmptySet | Range | Terminal

TYPES: Final[Mapping[type[Message], int]] = {
    Announce: 0,
    SyncRequest: 1,
    Entry: 2,
    SyncDone: 3,
    Have: 10,
    EmptySet: 20,
    LowerBound: 21,
    Payload: 22,
    EmptyPayload: 23,
    Done: 24,
    Fingerprint: 25,
    Terminal: 26,
}

HAVE_HEAD: Final = cbor.encode(TYPES[Have])
"""The type of a Have, right behind the head of a message."""


def encode(message: Message) -> bytes:
    """Return the bytes of a message that keeps to the limits."""
    fields: Iterable[cbor.Value] = message
    if isinstance(message, Payload) and message.upper is None:
        fields = (message.session, message.item)
    elif isinstance(message, Have):
        fields = (message.session, _grouped(message.heights))
    return cbor.encode((TYPES[type(message)], *fields))


def decode(data: bytes) -> Message:
    """Return the message that `data` is.

    Raises:
        ReplicationError: malformed, with the reason.
    """
    if len(data) > MESSAGE_BYTES_MAX:
        raise ReplicationError(
            Reason.TOO_LARGE, f"{len(data)} bytes, {MESSAGE_BYTES_MAX} are allowed"
        )
    most = HAVE_ITEMS_MAX if data[1:2] == HAVE_HEAD else ITEMS_MAX
    try:
        value = cbor.decode(data, most)
    except cbor.TooManyItemsError as error:
        raise ReplicationError(Reason.TOO_LARGE, f"more than {most} items") from error
    except DecodeError as error:
        raise ReplicationError(Reason.NOT_CBOR, str(error)) from error
    fields = _array(value, "a message")
    kind = fields[0] if fields else None
    if type(kind) is not int or kind not in _READERS:
        raise ReplicationError(Reason.UNKNOWN_TYPE, repr(kind)[:32])
    reader, counts = _READERS[kind]
    if len(fields) not in counts:
        raise ReplicationError(Reason.FIELDS, f"{len(fields)} fields in a message of type {kind}")
    return reader(fields)


def _grouped(heights: Sequence[Place]) -> list[list[cbor.Value]]:
    """Return heights in order, those of an author together."""
    return [
        [key, [[log, height] for _, log, height in logs]]
        for key, logs in groupby(heights, key=lambda item: item.key)
    ]


def _announce(fields: Sequence[cbor.Value]) -> Announce:
    _, version, timestamp, schemas = fields
    return Announce(_number(version), _number(timestamp), _schemas(schemas))


def _sync_request(fields: Sequence[cbor.Value]) -> SyncRequest:
    _, session, mode, listed = fields
    if not (schemas := _schemas(listed)):
        raise ReplicationError(Reason.EMPTY_SET)
    return SyncRequest(_number(session), _number(mode), schemas)


def _entry(fields: Sequence[cbor.Value]) -> Entry:
    _, session, entry, operation = fields
    body = None if operation is None else _bytes(operation)
    return Entry(_number(session), _bytes(entry), body)


def _sync_done(fields: Sequence[cbor.Value]) -> SyncDone:
    _, session, live = fields
    return SyncDone(_number(session), _flag(live))


def _have(fields: Sequence[cbor.Value]) -> Have:
    _, session, authors = fields
    heights = tuple(_heights(_array(authors, "heights")))
    if any(one[:2] >= other[:2] for one, other in pairwise(heights)):
        raise ReplicationError(Reason.UNSORTED, "authors or logs of a Have")
    return Have(_number(session), heights)


def _heights(authors: Sequence[cbor.Value]) -> Iterator[Place]:
    """Yield the heights of all authors; an author has a log, and stands there once."""
    before = b""
    count = 0
    for author in authors:
        key, listed = _record(author, 2)
        logs = _array(listed, "logs")
        if not logs:
            raise ReplicationError(Reason.FIELDS, "an author without logs")
        count += len(logs)
        if count > LOGS_MAX:
            raise ReplicationError(Reason.TOO_LARGE, f"more than {LOGS_MAX} logs")
        if _bytes(key) <= before:
            raise ReplicationError(Reason.UNSORTED, "authors of a Have")
        before = _bytes(key)
        for log in logs:
            yield _item([key, *_record(log, 2)])


def _empty_set(fields: Sequence[cbor.Value]) -> EmptySet:
    _, session, can_respond = fields
    return EmptySet(_number(session), _flag(can_respond))


def _lower_bound(fields: Sequence[cbor.Value]) -> LowerBound:
    _, session, bound = fields
    return LowerBound(_number(session), _bound(bound))


def _payload(fields: Sequence[cbor.Value]) -> Payload:
    _, session, item, *rest = fields
    if not rest:
        return Payload(_number(session), _item(item))
    can_respond, upper = rest
    return Payload(_number(session), _item(item), _flag(can_respond), _bound(upper))


def _empty_payload(fields: Sequence[cbor.Value]) -> EmptyPayload:
    _, session, upper = fields
    return EmptyPayload(_number(session), _bound(upper))


def _done(fields: Sequence[cbor.Value]) -> Done:
    _, session, upper = fields
    return Done(_number(session), _bound(upper))


def _fingerprint(fields: Sequence[cbor.Value]) -> Fingerprint:
    _, session, lifted, upper = fields
    fingerprint = _bytes(lifted)
    if len(fingerprint) != FINGERPRINT_BYTES:
        raise ReplicationError(Reason.FIELDS, f"a fingerprint of {len(fingerprint)} bytes")
    return Fingerprint(_number(session), fingerprint, _bound(upper))


def _terminal(fields: Sequence[cbor.Value]) -> Terminal:
    _, session = fields
    return Terminal(_number(session))


_READERS: Final[Mapping[int, tuple[Callable[[Sequence[cbor.Value]], Message], frozenset[int]]]] = {
    0: (_announce, frozenset([4])),
    1: (_sync_request, frozenset([4])),
    2: (_entry, frozenset([4])),
    3: (_sync_done, frozenset([3])),
    10: (_have, frozenset([3])),
    20: (_empty_set, frozenset([3])),
    21: (_lower_bound, frozenset([3])),
    22: (_payload, frozenset([PAYLOAD_FIELDS, LAST_PAYLOAD_FIELDS])),
    23: (_empty_payload, frozenset([3])),
    24: (_done, frozenset([3])),
    25: (_fingerprint, frozenset([4])),
    26: (_terminal, frozenset([2])),
}
"""The reader of each type, and how many fields it has, its type included."""


def _number(value: cbor.Value) -> int:
    if type(value) is not int:
        raise ReplicationError(Reason.FIELDS, "a number should stand here")
    return value


def _bytes(value: cbor.Value) -> bytes:
    if not isinstance(value, bytes):
        raise ReplicationError(Reason.FIELDS, "bytes should stand here")
    return value


def _flag(value: cbor.Value) -> bool:
    if not isinstance(value, bool):
        raise ReplicationError(Reason.FIELDS, "true or false should stand here")
    return value


def _array(value: cbor.Value, what: str) -> Sequence[cbor.Value]:
    if not isinstance(value, list):
        raise ReplicationError(Reason.FIELDS, f"{what} should be an array")
    return value


def _record(value: cbor.Value, count: int) -> Sequence[cbor.Value]:
    fields = _array(value, "a record")
    if len(fields) != count:
        raise ReplicationError(Reason.FIELDS, f"{len(fields)} fields where {count} should stand")
    return fields


def _schemas(value: cbor.Value) -> tuple[str, ...]:
    listed = _array(value, "schema ids")
    if len(listed) > SCHEMAS_MAX:
        raise ReplicationError(Reason.TOO_LARGE, f"{len(listed)} schema ids")
    schemas = tuple([one for one in listed if isinstance(one, str)])
    if len(schemas) != len(listed):
        raise ReplicationError(Reason.FIELDS, "a schema id should be text")
    if any(not one or len(one.encode()) > SCHEMA_BYTES_MAX for one in schemas):
        raise ReplicationError(Reason.TOO_LARGE, "a schema id is empty or too long")
    if any(one >= other for one, other in pairwise(schemas)):
        raise ReplicationError(Reason.UNSORTED, "schema ids")
    return schemas


def _bound(value: cbor.Value) -> Place:
    """Return a place whose key may be cut, its log and height then being 0."""
    key, log, height = _record(value, 3)
    if not isinstance(key, bytes) or type(log) is not int or type(height) is not int:
        raise ReplicationError(Reason.FIELDS, "a place is bytes and two numbers")
    if len(key) != KEY_BYTES and (len(key) > KEY_BYTES or log or height):
        raise ReplicationError(Reason.FIELDS, "a bound with a key that is too long or cut wrongly")
    return Place(key, log, height)


def _item(value: cbor.Value) -> Place:
    """Return a log and its height."""
    item = _bound(value)
    if len(item.key) != KEY_BYTES or not 0 < item.height <= HEIGHT_MAX:
        raise ReplicationError(Reason.FIELDS, "a log without a whole key, or no height of an entry")
    return item
