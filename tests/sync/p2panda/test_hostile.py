"""Whoever breaks the rules of replication is refused with the reason, soon and cheaply.

The session ends, and that with another peer goes on as if nothing had been.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pytest

from sync.group import values
from sync.machine import ChannelId
from sync.p2panda import cbor
from sync.p2panda.announcements import schema_id
from sync.p2panda.bounds import Place
from sync.p2panda.entries import entry_message
from sync.p2panda.messages import (
    Announce,
    Entry,
    Have,
    LowerBound,
    Message,
    Reason,
    SyncDone,
    SyncRequest,
    Terminal,
    encode,
)
from tests.support.sync.costs import CALLS_MAX, MEMORY_MAX, calls_of, peak_of
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW_MS
from tests.support.sync.heights import BROKEN_BATCHES, SESSION
from tests.support.sync.intruder import (
    LINES,
    NUMBER,
    STATES,
    Scene,
    assert_over,
    assert_untouched,
    carol_at,
    checking,
    exchanging,
    leaving,
    offered,
    reading,
    reconciling,
    request,
    requested,
    requested_by_sets,
    sending,
    staying,
    waiting,
)
from tests.support.sync.replication_vectors import REASONS, VECTORS

OTHER_CHANNEL: Final = ChannelId("d1" * 16)
KEY: Final = b"\x42" * 32

IN_EVERY_STATE: Final = pytest.mark.parametrize("state", STATES, ids=lambda one: one.__name__)


# --- Bytes that are no message -----------------------------------------------------------------


def heights(*logs: Sequence[int]) -> bytes:
    return cbor.encode([10, SESSION, [[KEY, list(logs)]]])


NO_MESSAGES: Final[dict[str, tuple[bytes, Reason]]] = {
    **{
        f"{vector['value']}: {vector['error']}": (bytes.fromhex(vector["hex"]), reason)
        for vector, reason in zip(VECTORS["invalid"], REASONS, strict=True)
    },
    "nothing": (b"", Reason.NOT_CBOR),
    "bytes of a length of 2^60": (bytes.fromhex("8402035b1000000000000000"), Reason.NOT_CBOR),
    "text of a length of 2^60": (bytes.fromhex("84010300817b1000000000000000"), Reason.NOT_CBOR),
    "2^60 fields": (bytes.fromhex("9b100000000000000000"), Reason.NOT_CBOR),
    "2^60 authors": (bytes.fromhex("830a039b1000000000000000"), Reason.NOT_CBOR),
    "1 MiB of arrays within each other": (b"\x81" * (1 << 20), Reason.NOT_CBOR),
    "1 MiB of arrays beside each other": (
        b"\x9a" + ((1 << 20) - 5).to_bytes(4, "big") + b"\x80" * ((1 << 20) - 5),
        Reason.TOO_LARGE,
    ),
    "more than a message may have": (b"\x00" * ((1 << 20) + 1), Reason.TOO_LARGE),
    "a Have that falls": (heights([2, 1], [1, 1]), Reason.UNSORTED),
    "a Have with a log twice": (heights([1, 1], [1, 2]), Reason.UNSORTED),
    "a height of 2^63": (heights([1, 1 << 63]), Reason.FIELDS),
}


@pytest.mark.parametrize("case", NO_MESSAGES)
@IN_EVERY_STATE
def test_what_is_no_message_ends_the_session_in_every_state(
    state: Callable[[Scene], None], case: str
) -> None:
    data, reason = NO_MESSAGES[case]
    scene = Scene()
    state(scene)
    assert scene.exchange is None or scene.exchange.state is STATES[state]

    assert calls_of(lambda: scene.hear(data)) < CALLS_MAX

    assert_over(scene, reason.value)


@pytest.mark.parametrize("case", NO_MESSAGES)
def test_what_is_no_message_takes_no_memory(case: str) -> None:
    data, _ = NO_MESSAGES[case]
    scene = Scene()
    exchanging(scene)

    assert peak_of(lambda: scene.hear(data)) < MEMORY_MAX


# --- Messages that do not belong there ---------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Messages of Eve in a state, the last of which is refused for a reason."""

    name: str
    state: Callable[[Scene], None]
    said: Sequence[Message]
    reason: str

    def __str__(self) -> str:
        return f"{self.state.__name__}: {self.name}"


ELSEWHERE: Final = Author("carol", OTHER_CHANNEL).write("elsewhere", lamport=NOW_MS)
OUT: Final = Reason.OUT_OF_TURN.value
ALL_OF_CAROL: Final = Have(SESSION, (carol_at(3),))


def entry(line: values.StoredMessage, session: int = SESSION) -> Entry:
    return entry_message(session, line.entry)


def before_the_request() -> Iterator[Case]:
    """Yield what an opened stream may not begin with."""
    said: list[Message] = [
        Have(SESSION, ()),
        entry(LINES[2]),
        SyncDone(SESSION, live=True),
        LowerBound(SESSION, Place(b"")),
        Terminal(SESSION),
        Announce(1, 1, ()),
    ]
    for one in said:
        yield Case(type(one).__name__, offered, [one], f"{OUT}: a message before the request")
    elsewhere = "a request for something else than the channel"
    two = SyncRequest(0, 0, tuple(sorted([schema_id(CHANNEL), schema_id(OTHER_CHANNEL)])))
    yield Case("another channel", offered, [request(0, OTHER_CHANNEL)], elsewhere)
    yield Case("two channels", offered, [two], elsewhere)
    yield Case("unknown mode", offered, [request(2)], "a request with the unknown mode 2")
    most = request(2**64 - 1)
    yield Case("no mode at all", offered, [most], f"a request with the unknown mode {most.mode}")


def other_sessions() -> Iterator[Case]:
    """Yield messages of another session, and requests within one, in every state."""
    for state in STATES:
        if state is not offered:
            for other in (SESSION + 1, 2**64 - 1):
                said = SyncDone(other, live=False)
                yield Case(f"session {other}", state, [said], Reason.SESSION.value)
            yield Case("a request", state, [request(0)], Reason.SESSION.value)


def unasked_entries() -> Iterator[Case]:
    """Yield entries that nobody asked for, or that are none."""
    third, fourth = entry(LINES[2]), entry(LINES[3])
    unasked = f"{OUT}: an entry that was not asked for"
    elsewhere = f"{OUT}: an entry of another channel"
    fields = Reason.FIELDS.value
    for state in (exchanging, reconciling, reading, waiting, sending):
        yield Case("held", state, [entry(LINES[0])], unasked)
        yield Case("another channel", state, [entry(ELSEWHERE)], elsewhere)
        bare = third._replace(operation=None)
        yield Case("no operation", state, [bare], f"{fields}: an entry without its operation")
        yield Case("no entry", state, [third._replace(entry=b"nothing")], fields)
        body = (third.operation or b"") + b"more"
        yield Case("another body", state, [third._replace(operation=body)], fields)
    yield Case("beyond what was told", exchanging, [ALL_OF_CAROL, third, fourth], unasked)
    for state in (staying, leaving):
        yield Case("another channel", state, [entry(ELSEWHERE, 0)], elsewhere)
        bare = entry(LINES[2], 0)._replace(operation=None)
        yield Case("no operation", state, [bare], f"{fields}: an entry without its operation")


def out_of_turn() -> Iterator[Case]:
    """Yield messages that come too early, too late, or in the other mode."""
    done = SyncDone(SESSION, live=False)
    early = f"{OUT}: SyncDone before all was compared"
    late = f"{OUT}: a message after SyncDone"
    for state in (exchanging, reconciling, reading):
        yield Case("SyncDone", state, [done], early)
    yield Case("SyncDone", requested, [SyncDone(0, live=False)], early)
    yield Case("SyncDone", requested_by_sets, [SyncDone(0, live=False)], early)
    for state in (sending, waiting):
        yield Case("a second Have", state, [Have(SESSION, ())], f"{OUT}: a second Have")
        yield Case("a range", state, [LowerBound(SESSION, Place(b""))], OUT)
        yield Case("after the end", state, [done, entry(LINES[2])], late)
    for one in (Have(SESSION, ()), entry(LINES[2]), done, Terminal(SESSION)):
        yield Case(f"{type(one).__name__} after the end", checking, [one], late)
    yield Case("Have by sets", reconciling, [Have(SESSION, ())], OUT)
    yield Case("a range by log heights", exchanging, [LowerBound(SESSION, Place(b""))], OUT)
    yield Case("announcement", exchanging, [Announce(1, 1, ())], Reason.SESSION.value)
    for state in (staying, leaving):
        yield Case("Have", state, [Have(0, ())], f"{OUT}: Have in live mode")
        again = SyncDone(0, live=True)
        yield Case("SyncDone that stays", state, [again], f"{OUT}: SyncDone in live mode")


def broken_batches() -> Iterator[Case]:
    """Yield batches that do not tile the circle, or run backwards."""
    for name, (reason, said) in BROKEN_BATCHES.items():
        if not any(isinstance(one, Entry) for one in said):
            yield Case(name, reconciling, said, reason.value)


CASES: Final = [
    *before_the_request(),
    *other_sessions(),
    *unasked_entries(),
    *out_of_turn(),
    *broken_batches(),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_does_not_belong_there_ends_the_session(case: Case) -> None:
    scene = Scene()
    case.state(scene)
    scene.hear(*case.said[:-1])
    assert not scene.refused

    assert calls_of(lambda: scene.hear(case.said[-1])) < CALLS_MAX

    assert_over(scene, case.reason)


@pytest.mark.parametrize("state", [offered, exchanging, waiting, staying])
def test_after_its_session_a_stream_is_closed_and_nothing_of_it_read(
    state: Callable[[Scene], None],
) -> None:
    scene = Scene()
    state(scene)
    scene.hear(b"")

    for said in (encode(request(0)), b"\x81" * (1 << 20)):
        assert scene.hear(said) == [values.CloseSession(NUMBER)]

    assert_untouched(scene)
