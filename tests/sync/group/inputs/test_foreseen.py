"""Verdicts found ahead of time are those that a machine finds, and as few."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from proto import entry_pb2
from sync.errors import RemoteError
from sync.group import values
from sync.group.future_entries import CLOCK_AHEAD_MAX, PARKED_PER_AUTHOR_MAX
from sync.group.inputs.foreseen import Waiting, verdict_of
from sync.machine import MILLISECOND, SECOND, ChannelId, PeerId
from sync.sds.message import Message
from sync.sds.wire import claimed_ids, encode
from sync.sessions.protocol import Pushed
from sync.structures.bloom_parameters import LAN as BLOOM
from sync.structures.ordered_set import SyncId
from sync.waku.message import WakuMessage, content_topic
from sync.waku.session import Transferred
from sync.waku.wire import encode_transfer
from tests.support.sync.entries import Author
from tests.support.sync.foreseeing import as_ever, counts, foreseeing, gate_of, look_at
from tests.support.sync.groups import NOW, NOW_MS, Member, arrived, sds_of, with_content
from tests.support.sync.pairs import TOPIC, Pair, transfer

ELSEWHERE = ChannelId("ab" * 16)


def told(member: Member, event: values.Input) -> object:
    try:
        return member.tell(event)
    except RemoteError as error:
        return type(error), str(error)


# --- Live ---------------------------------------------------------------------------------------


def valid(sent: values.StoredMessage) -> Message | bytes:
    return sds_of(sent)


def flipped(sent: values.StoredMessage) -> Message | bytes:
    parts = entry_pb2.SignedEntry.FromString(sent.entry.content)
    parts.signature = bytes([parts.signature[0] ^ 1]) + parts.signature[1:]
    return with_content(sent, parts.SerializeToString(deterministic=True))


def signed_by_another(sent: values.StoredMessage) -> Message | bytes:
    parts = entry_pb2.SignedEntry.FromString(sent.entry.content)
    parts.signature = Author("mallory").identity.sign(sent.entry.header_bytes)
    return with_content(sent, parts.SerializeToString(deterministic=True))


def of_another_author(sent: values.StoredMessage) -> Message | bytes:
    return replace(sds_of(sent), sender_id=Author("mallory").peer_id)


def of_another_channel(sent: values.StoredMessage) -> Message | bytes:
    return replace(sds_of(sent), channel_id=ELSEWHERE)


def cut(sent: values.StoredMessage) -> Message | bytes:
    return sent.payload[:-9]


def with_a_filter(sent: values.StoredMessage) -> Message | bytes:
    return replace(sds_of(sent), bloom_filter=bytes(BLOOM.size_bytes))


def only_told_of(sent: values.StoredMessage) -> Message | bytes:
    return replace(sds_of(sent), content=b"")


MAKING: Sequence[Callable[[values.StoredMessage], Message | bytes]] = (
    valid,
    flipped,
    signed_by_another,
    of_another_author,
    of_another_channel,
    cut,
    with_a_filter,
    only_told_of,
)
BOB = Author("bob")
LINES = [BOB.write(f"line {number}", after=BOB.entries[-1:]) for number in range(8)]
LINKS = (BOB.peer_id, Author("carol").peer_id)

FRAMES = st.lists(
    st.tuples(st.sampled_from(LINES), st.sampled_from(MAKING), st.sampled_from(LINKS)), max_size=24
)


@settings(max_examples=80, deadline=None)
@given(FRAMES, st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_a_burst_is_let_in_and_refused_as_one_by_one(
    frames: list[tuple[values.StoredMessage, Callable[[values.StoredMessage], object], PeerId]],
    looks: list[int],
) -> None:
    one_by_one, ahead = as_ever("alice"), foreseeing("alice")
    events = [_event(make(sent), link) for sent, make, link in frames]
    for member in (one_by_one, ahead):
        member.join(*LINKS)
    looked_at = 0

    for at, event in enumerate(events):
        if at >= looked_at:  # as far as a driver looks, which may be less than all that waits
            looked_at = at + looks[at % len(looks)]
            look_at(ahead, events[at:looked_at])
        assert told(ahead, event) == told(one_by_one, event)

    assert ahead.disk.restore() == one_by_one.disk.restore()
    assert ahead.shown() == one_by_one.shown()
    assert not counts(ahead) - counts(one_by_one), "nothing is verified more often"


def _event(made: object, link: PeerId) -> values.Arrived:
    return values.Arrived(link, made) if isinstance(made, bytes) else arrived(made, link)  # type: ignore[arg-type]


def test_a_message_is_not_verified_again_when_it_is_handled() -> None:
    alice, sent = foreseeing("alice"), BOB.entries[0]
    event = values.Arrived(BOB.peer_id, sent.payload)

    [verdict] = look_at(alice, [event])
    assert counts(alice).total() == 1
    alice.tell(event)

    assert counts(alice).total() == 1
    assert alice.shown() == [sent.entry.message_id]
    assert verdict == gate_of(alice).known(sent.payload)


def test_copies_that_wait_are_verified_once_whenever_they_are_looked_at() -> None:
    alice, sent = foreseeing("alice"), BOB.entries[0]
    first = values.Arrived(BOB.peer_id, sent.payload)
    again = values.Arrived(LINKS[1], encode(replace(sds_of(sent), bloom_filter=bytes(8))))

    assert len(look_at(alice, [first, again])) == 1
    assert look_at(alice, [first, again]) == []
    alice.tell(first)
    assert look_at(alice, [again]) == [], "it is here"


def test_verdicts_are_kept_on_what_waits_alone() -> None:
    alice = foreseeing("alice")
    events = [values.Arrived(BOB.peer_id, one.payload) for one in LINES]

    look_at(alice, events[:5])
    assert len(gate_of(alice)) == 5
    look_at(alice, events[4:6])
    assert len(gate_of(alice)) == 2
    gate_of(alice).keep(())
    assert len(gate_of(alice)) == 0

    alice.tell(events[0])
    assert alice.shown() == [LINES[0].entry.message_id]


def test_messages_ahead_of_an_author_at_its_limit_are_not_verified() -> None:
    alice, eve = foreseeing("alice"), Author("eve")
    ahead = NOW_MS + 2 * CLOCK_AHEAD_MAX // MILLISECOND
    for number in range(PARKED_PER_AUTHOR_MAX):
        alice.hear(eve.write(lamport=ahead + number, created_ns=NOW + 2 * CLOCK_AHEAD_MAX + number))
    more = eve.write(lamport=ahead + SECOND, created_ns=NOW + 3 * CLOCK_AHEAD_MAX)
    before = counts(alice).total()

    assert look_at(alice, [values.Arrived(eve.peer_id, more.payload)]) == []
    alice.hear(more)

    assert counts(alice).total() == before


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        BOB.entries[0].payload[:66],
        BOB.entries[0].payload[66:],
        b"\x0a\x40" + b"\xff" * 64 + b"\x12\x40" + b"\xff" * 64,
    ],
)
def test_a_frame_that_does_not_begin_as_ours_do_is_left_to_its_machine(frame: bytes) -> None:
    alice = foreseeing("alice")
    assert claimed_ids(frame) is None

    assert look_at(alice, [values.Arrived(BOB.peer_id, frame)]) == []


# --- Pushed by sessions -------------------------------------------------------------------------


def pushed(sent: values.StoredMessage) -> bytes:
    return transfer(sent)


def pushed_with_another_signature(sent: values.StoredMessage) -> bytes:
    content = sent.entry.content.replace(sent.entry.signature, bytes(64))
    return _pushed(sent, sent.payload.replace(sent.entry.content, content))


def pushed_unasked(sent: values.StoredMessage) -> bytes:
    return transfer(Author("dave").write(f"not wanted, beside {sent.entry.header.seq}"))


def pushed_malformed(sent: values.StoredMessage) -> bytes:
    return transfer(sent)[:-70]


def pushed_twice(sent: values.StoredMessage) -> bytes:
    return transfer(LINES[0]) if sent.entry.header.seq % 2 else transfer(sent)


def _pushed(sent: values.StoredMessage, payload: bytes) -> bytes:
    created_ns = sent.entry.header.created_ns
    return encode_transfer(WakuMessage(payload, content_topic(sent.channel), created_ns), TOPIC)


PUSHING = (
    pushed,
    pushed_with_another_signature,
    pushed_unasked,
    pushed_malformed,
    pushed_twice,
)


@dataclass
class Brought:
    """A newcomer that fetches the lines by a session, of which some are tampered with."""

    newcomer: Member
    makes: Sequence[Callable[[values.StoredMessage], bytes]]
    looks: bool

    def outcomes(self) -> list[object]:
        source = Member("source")
        for sent in LINES:
            source.hear(sent)
        both = Pair(self.newcomer, source)
        both.start(self.newcomer)
        found: list[object] = []
        pushes = 0
        while both.queue:
            member, event = both.queue[0]
            if isinstance(event, values.Transferred):
                made = self.makes[pushes % len(self.makes)]
                pushes += 1
                event = values.Transferred(event.peer, made(LINES[pushes % len(LINES)]))
                if self.looks:
                    others = [one for _, one in both.queue if isinstance(one, values.Transferred)]
                    look_at(member, [event, *others[1:]])
                both.queue[0] = (member, event)
            elif self.looks and member is self.newcomer:
                look_at(member, [one for to, one in both.queue if to is member])
            both.queue.popleft()
            try:
                effects = member.tell(event, NOW)
            except RemoteError as error:
                found.append((type(error), str(error)))
                continue
            found += effects if member is self.newcomer else []
            for effect in effects:
                both.carry_out(member, effect)
        assert pushes, "lines were pushed"
        return found


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(PUSHING), min_size=1, max_size=8))
def test_what_a_session_brings_is_let_in_and_refused_as_one_by_one(
    makes: list[Callable[[values.StoredMessage], bytes]],
) -> None:
    one_by_one, ahead = as_ever("newcomer"), foreseeing("newcomer")

    expected = Brought(one_by_one, makes, looks=False).outcomes()

    assert Brought(ahead, makes, looks=True).outcomes() == expected
    assert ahead.shown() == one_by_one.shown()


def test_a_verdict_counts_for_the_time_and_topic_that_it_was_found_with() -> None:
    ahead, sent = foreseeing("newcomer"), LINES[0]
    gate, created_ns = gate_of(ahead), sent.entry.header.created_ns
    waku = WakuMessage(sent.payload, content_topic(sent.channel), created_ns)
    item = Pushed(SyncId(created_ns, sent.waku_hash), Transferred(waku, TOPIC))
    verdict = verdict_of(Waiting(gate, transfer(sent), item))
    assert verdict is not None
    gate.learn(verdict)

    assert gate.read_transfer(waku, TOPIC) == (sds_of(sent), sent)
    with pytest.raises(RemoteError, match="canonical"):
        gate.read_transfer(replace(waku, timestamp=created_ns + 1), TOPIC)
    with pytest.raises(RemoteError, match="topic"):
        gate.read_transfer(waku, "/waku/2/rs/0/0")


def test_a_pushed_line_is_verified_ahead_if_it_is_wanted_and_once() -> None:
    ahead = foreseeing("newcomer")

    Brought(ahead, [pushed, pushed_unasked], looks=True).outcomes()

    assert set(counts(ahead).values()) == {1}
    wanted = {one.entry.signature + one.entry.header_bytes for one in LINES}
    assert set(counts(ahead)) <= wanted
