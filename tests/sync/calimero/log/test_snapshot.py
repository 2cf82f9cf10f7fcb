"""A snapshot from source to receiver: pages, order, going on at the cursor, refusals."""

import pytest
from msgspec.structs import replace

from sync.calimero.log import snapshot
from sync.calimero.log.page_times import PACE, SLOW_AFTER, SLOWER_BY, STALLED_AFTER
from sync.calimero.log.snapshot import NOT_EMPTY, SLOW, STALLED, UNASKED_AFTER
from sync.calimero.log.snapshot_messages import (
    WINDOW,
    SnapshotChunk,
    SnapshotDone,
    SnapshotMore,
    SnapshotRequest,
    chunk_of,
    decode,
    encode,
)
from sync.calimero.log.snapshot_news import PageKept, SnapshotBegan
from sync.calimero.state.contents import StateKind, Topic
from sync.calimero.state.contents import encode as encode_value
from sync.calimero.state.entry import Signable, StateEntry, sign
from sync.calimero.state.registers import Registers
from sync.entries.entry import Parent, encode_content, encode_header, message_id_of, open_content
from sync.entries.identity import Identity, verify
from sync.errors import RemoteError
from sync.group.ingest import Gate
from sync.machine import SECOND, ChannelId, MessageId, Nanos
from sync.sessions.protocol import Finished
from sync.sessions.values import Outcome
from sync.sim.rooms import CHANNEL
from tests.support.storage.archives import archive
from tests.support.sync.snapshot.alone import ME, NOW, Kept, Snapshot, place_of

GATE = Gate.of(CHANNEL, verify)
COUNT = 1_000
HISTORY = archive("carol", COUNT)
ALICE = Identity.from_seed(bytes([1]) * 32, bytes([1]) * 32)


def topic(said: str) -> StateEntry:
    signed = Signable(
        group=bytes.fromhex(CHANNEL),  # type: ignore[arg-type]  # a group's id
        author=ALICE.public_key,  # type: ignore[arg-type]  # a key
        kind=StateKind.TOPIC,
        name=b"",
        stamp=1,
        governance=(),
        value=encode_value(Topic(said)),
    )
    return sign(signed, ALICE.sign)


def entries_of(pages: list[bytes]) -> list[str]:
    """Return the ids of the messages in pages, in their order."""
    found: list[str] = []
    for page in pages:
        chunk = decode(page)
        assert isinstance(chunk, SnapshotChunk)
        if not chunk.head.of_state:
            found += [open_content(one).message_id for one in chunk.records]
    return found


NEWEST_FIRST = [one.entry.message_id for one in sorted(HISTORY, key=place_of, reverse=True)]


def test_all_messages_come_newest_first_and_state_before_them() -> None:
    run = Snapshot(HISTORY, GATE, state=Registers([topic("tea")]))
    run.run()
    first = decode(run.kept.pages[0])
    assert isinstance(first, SnapshotChunk)
    assert first.head.of_state
    assert first.records == (topic("tea").content,)
    assert entries_of(run.kept.pages) == NEWEST_FIRST
    assert run.complete
    assert run.over["receiver"].outcome is Outcome.MOVED
    assert run.over["source"].outcome is Outcome.BENIGN


def test_no_more_pages_are_on_their_way_than_were_allowed() -> None:
    run = Snapshot(HISTORY, GATE)
    run.begin()
    most = 0
    while run.source_due or run.receiver_due:
        run.step()
        most = max(most, len(run.receiver_due))
    assert most == WINDOW
    assert len(run.kept.pages) > WINDOW


@pytest.mark.parametrize("pages", [0, 1, 3])
def test_another_peer_goes_on_at_the_cursor_and_brings_state_anew(pages: int) -> None:
    begun = Snapshot(HISTORY, GATE, state=Registers([topic("tea")]))
    begun.run(pages)
    kept = begun.kept
    before = len(entries_of(kept.pages))
    other = Snapshot(HISTORY, GATE, kept, state=Registers([topic("milk")]))
    other.run()
    assert entries_of(kept.pages) == NEWEST_FIRST
    assert other.complete
    of_other = [one for one in other.news if isinstance(one, PageKept)]
    assert sum(one.entries for one in of_other) == COUNT - before
    assert of_other[0].entries == 0, "its state"


def test_a_peer_that_lacks_more_than_was_to_come_begins_it_anew() -> None:
    floor = HISTORY[100].entry.header.created_ns
    begun = Snapshot(HISTORY, GATE)
    begun.run(1)
    other = Snapshot(HISTORY, GATE, begun.kept, floors=(0, floor))
    other.run()
    [began] = [one for one in other.news if isinstance(one, SnapshotBegan)]
    assert began.anew
    assert entries_of(begun.kept.pages) == NEWEST_FIRST[: COUNT - 100]


def test_nothing_below_our_own_floor_is_sent() -> None:
    floor = HISTORY[COUNT - 10].entry.header.created_ns
    run = Snapshot(HISTORY, GATE, floors=(floor, 0))
    run.run()
    assert entries_of(run.kept.pages) == NEWEST_FIRST[:10]
    assert run.kept.floor == floor


def test_what_the_source_stored_since_the_handshake_is_left_out() -> None:
    run = Snapshot(HISTORY[:-50], GATE)
    run.history = sorted(HISTORY, key=place_of)
    run.run()
    assert entries_of(run.kept.pages) == NEWEST_FIRST[50:]


def test_an_empty_source_has_a_last_page_all_the_same() -> None:
    run = Snapshot((), GATE)
    run.run()
    assert run.complete
    assert len(run.kept.pages) == 1


def test_whoever_has_something_takes_nothing() -> None:
    run = Snapshot(HISTORY, GATE, Kept(may_begin=False))
    run.run()
    assert run.over["receiver"].result == NOT_EMPTY
    assert run.over["source"].outcome is run.over["receiver"].outcome is Outcome.BENIGN
    assert not run.kept.pages
    assert not run.news


# --- Silence -----------------------------------------------------------------------------------


def test_a_source_that_stalls_makes_room_for_another_one_within_seconds() -> None:
    run = Snapshot(HISTORY, GATE)
    run.begin()
    assert run.receiver.deadline() == NOW + STALLED_AFTER
    assert STALLED_AFTER <= 5 * SECOND
    assert not run.receiver.tick(NOW + STALLED_AFTER - 1)
    [ended] = run.receiver.tick(NOW + STALLED_AFTER)
    assert isinstance(ended, Finished)
    assert ended.result == STALLED
    assert ended.outcome is Outcome.NOT_CONVERGED
    assert run.receiver.deadline() is None


def test_the_time_that_we_take_to_check_is_none_of_the_sources() -> None:
    run = Snapshot(HISTORY, GATE)
    run.begin()
    run.step()
    run.receiver.payload(run.receiver_due.pop(0), NOW)
    assert run.receiver.deadline() is None


def pages_of(size: int, every: Nanos) -> tuple[Snapshot, int, list[Finished]]:
    """Let pages of so many messages come, one in `every` ns, until the receiver has enough.

    Returns how many came, and how it ended.
    """
    run = Snapshot(HISTORY, GATE)
    run.begin()
    for number, last in enumerate(range(COUNT - 1, size - 1, -size)):
        run.now += every
        if ended := run.receiver.tick(run.now):
            return run, number, [one for one in ended if isinstance(one, Finished)]
        chunk = page(last - size + 1, last, number)
        run._of_receiver(run.receiver.payload(encode(chunk), run.now))
    return run, COUNT // size, []


def test_a_source_that_sends_a_message_at_a_time_makes_room_for_another_one() -> None:
    run, number, [ended] = pages_of(1, STALLED_AFTER - SECOND)
    waited = number * (STALLED_AFTER - SECOND)
    assert waited < SLOW_AFTER < waited + STALLED_AFTER
    assert (ended.result, ended.outcome) == (SLOW, Outcome.NOT_CONVERGED)
    assert run.receiver.deadline() is None


def test_a_source_that_keeps_the_pace_may_take_any_time() -> None:
    size = len(encode(page(COUNT - 10, COUNT - 1, 0)))
    run, number, ended = pages_of(10, size * SECOND // PACE)
    assert (number, ended) == (COUNT // 10, [])
    assert run.receiver.deadline() is not None


def test_a_source_whose_pages_take_long_is_given_longer_than_one_that_stops() -> None:
    """Lost segments alone cost seconds on a slow link."""
    run = Snapshot(HISTORY, GATE)
    run.begin()
    run.now += 2 * SECOND
    run._of_receiver(run.receiver.payload(encode(page(COUNT - 20, COUNT - 1, 0)), run.now))
    assert run.receiver.deadline() == run.now + SLOWER_BY * 2 * SECOND
    assert not run.receiver.tick(run.now + STALLED_AFTER)
    [ended] = run.receiver.tick(run.now + SLOWER_BY * 2 * SECOND)
    assert isinstance(ended, Finished)
    assert ended.result == STALLED


def test_a_source_whose_handshake_took_long_is_given_longer_for_its_first_page() -> None:
    run = Snapshot(HISTORY, GATE)
    run.now += 2 * SECOND
    run.begin()
    assert run.receiver.deadline() == run.now + SLOWER_BY * 2 * SECOND


def test_what_a_slow_source_sent_is_kept_and_another_one_goes_on() -> None:
    run, number, _ended = pages_of(1, STALLED_AFTER - SECOND)
    assert len(run.kept.pages) == number
    other = Snapshot(HISTORY, GATE, run.kept)
    other.run()
    assert entries_of(run.kept.pages) == NEWEST_FIRST


def test_a_receiver_that_is_silent_is_let_go() -> None:
    run = Snapshot(HISTORY, GATE)
    run.begin()
    run.step()
    [ended] = run.source.tick(NOW + UNASKED_AFTER)
    assert isinstance(ended, Finished)
    assert ended.outcome is Outcome.NOT_CONVERGED


# --- Hostile -----------------------------------------------------------------------------------


def answered(run: Snapshot, *chunks: SnapshotChunk) -> None:
    """Let the receiver get these pages instead of what the source sent."""
    run.begin()
    for chunk in chunks:
        run._of_receiver(run.receiver.payload(encode(chunk), NOW))


def page(first: int, last: int, number: int = 0, *, end: bool = False) -> SnapshotChunk:
    """Return the page of messages `first` to `last` of the history, newest first."""
    some = sorted(HISTORY, key=place_of)[first : last + 1][::-1]
    contents = [one.entry.content for one in some]
    return chunk_of(number, contents, place_of(some[-1]), COUNT, last=end)


def tampered(chunk: SnapshotChunk) -> SnapshotChunk:
    """Return a page with the body of a message changed, and the right digest of that."""
    record = bytearray(chunk.records[0])
    record[-1] ^= 1
    head = chunk.head
    return chunk_of(head.number, (bytes(record), *chunk.records[1:]), head.cursor, head.total)


def of_another_author(chunk: SnapshotChunk) -> SnapshotChunk:
    """Return a page with a message whose signature is another one's."""
    one, other = (open_content(record) for record in chunk.records[:2])
    forged = one.content.replace(one.signature, other.signature)
    head = chunk.head
    return chunk_of(head.number, (forged, *chunk.records[1:]), head.cursor, head.total)


LATER = page(0, 9, 1)
TWICE = chunk_of(
    0, [HISTORY[5].entry.content, HISTORY[5].entry.content], place_of(HISTORY[5]), COUNT
)
NOWHERE = (1, MessageId("00" * 32))
ELSEWHERE = archive("carol", 3, channel=ChannelId(CHANNEL[:-2] + "99"))


def with_parents(chunk: SnapshotChunk, *parents: Parent) -> SnapshotChunk:
    """Return a page whose first message names other parents, under the signature that it had."""
    entry = open_content(chunk.records[0])
    header = encode_header(replace(entry.header, parents=parents))
    forged = encode_content(header, entry.signature, entry.body)
    head, rest = chunk.head, chunk.records[1:]
    own = (entry.header.lamport, message_id_of(header))
    return chunk_of(head.number, (forged, *rest), head.cursor if rest else own, head.total)


NAMED = HISTORY[399].entry.header.parents
REFUSED = {
    "emptied parents": [with_parents(page(399, 399))],
    "swapped parents": [with_parents(page(399, 399), *reversed(NAMED))],
    "fabricated parents": [
        with_parents(page(399, 399), Parent(MessageId("ef" * 32), ME, bytes(32)))
    ],
    "a tampered record": [tampered(page(390, 399))],
    "a signature of somebody else": [of_another_author(page(390, 399))],
    "another cursor": [
        SnapshotChunk(replace(page(390, 399).head, cursor=NOWHERE), page(390, 399).records)
    ],
    "no cursor": [SnapshotChunk(replace(page(390, 399).head, cursor=None), page(390, 399).records)],
    "a message twice": [TWICE],
    "messages in rising order": [
        chunk_of(
            0,
            [one.entry.content for one in HISTORY[:3]],
            place_of(HISTORY[2]),
            COUNT,
        )
    ],
    "a page above the one before": [page(0, 9), page(390, 399, 1)],
    "the same page again": [page(390, 399), replace(page(390, 399, 1))],
    "a number left out": [page(390, 399), page(380, 389, 2)],
    "a number twice": [page(390, 399), page(380, 389, 0)],
    "a page after the last one": [page(390, 399, end=True), page(380, 389, 1)],
    "an empty page before the last one": [chunk_of(0, (), None, COUNT)],
    "state behind messages": [
        page(390, 399),
        chunk_of(1, (topic("tea").content,), None, COUNT, of_state=True),
    ],
    "state that is none": [chunk_of(0, (b"tea",), None, COUNT, of_state=True)],
    "state that nobody signed": [
        chunk_of(0, (topic("tea").content[:-1] + b"\0",), None, COUNT, of_state=True)
    ],
    "a message of another channel": [
        chunk_of(0, [ELSEWHERE[0].entry.content], place_of(ELSEWHERE[0]), COUNT)
    ],
    "no message at all": [chunk_of(0, (b"hello",), NOWHERE, COUNT)],
}


@pytest.mark.parametrize("chunks", REFUSED.values(), ids=REFUSED)
def test_a_page_that_no_honest_source_sends_is_refused_and_not_kept(
    chunks: list[SnapshotChunk],
) -> None:
    run = Snapshot(HISTORY, GATE)
    with pytest.raises(RemoteError):
        answered(run, *chunks)
    assert len(run.kept.pages) == len(chunks) - 1
    assert not run.complete or len(chunks) > 1


def test_a_source_that_sends_more_than_it_said_is_refused() -> None:
    """It kept a newcomer from everybody else's history, and filled the disk, for ever."""
    run = Snapshot(HISTORY[:20], GATE)
    with pytest.raises(RemoteError, match="by its word"):
        answered(run, page(390, 399), page(380, 389, 1), page(379, 379, 2))
    assert len(run.kept.pages) == 2


def test_a_source_that_sends_more_state_than_anybody_keeps_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "ENTRIES_MAX", 2)
    run = Snapshot(HISTORY, GATE)
    again = [chunk_of(at, (topic("tea").content,), None, COUNT, of_state=True) for at in range(3)]
    with pytest.raises(RemoteError, match="by its word"):
        answered(run, *again)
    assert len(run.kept.pages) == 2


def test_a_million_claimed_messages_claim_no_memory() -> None:
    run = Snapshot(HISTORY, GATE)
    claimed = page(390, 399)
    answered(run, SnapshotChunk(replace(claimed.head, total=2**64 - 1), claimed.records))
    [kept] = [one for one in run.news if isinstance(one, PageKept)]
    assert kept.count == 2**64 - 1
    assert len(run.kept.pages) == 1


def test_more_pages_than_allowed_are_refused() -> None:
    run = Snapshot(HISTORY, GATE)
    run.begin()
    for number in range(WINDOW):
        run.receiver.payload(encode(page(390 - 10 * number, 399 - 10 * number, number)), NOW)
    with pytest.raises(RemoteError, match="allowed"):
        run.receiver.payload(encode(page(0, 9, WINDOW)), NOW)


@pytest.mark.parametrize(
    "asked",
    [
        [SnapshotMore(1)],
        [SnapshotRequest(None, WINDOW + 1)],
        [SnapshotRequest(None, WINDOW), SnapshotRequest(None, 1)],
        [SnapshotRequest(None, 0), SnapshotMore(255)],
        [page(0, 9)],
    ],
    ids=["more first", "too many", "twice", "too many more", "a page of the receiver"],
)
def test_a_receiver_that_asks_for_what_it_may_not_is_refused(asked: list[object]) -> None:
    run = Snapshot(HISTORY, GATE)
    *before, last = [encode(message) for message in asked]  # type: ignore[arg-type]  # messages
    for payload in before:
        run.source.payload(payload, NOW)
    with pytest.raises(RemoteError):
        run.source.payload(last, NOW)


def test_a_receiver_that_wants_no_more_ends_it() -> None:
    run = Snapshot(HISTORY, GATE)
    run.begin()
    run.step()
    [ended] = run.source.payload(encode(SnapshotDone()), NOW)
    assert isinstance(ended, Finished)
    assert ended.outcome is Outcome.BENIGN
