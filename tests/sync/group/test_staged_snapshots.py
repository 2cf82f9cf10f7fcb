"""A channel with pages of a snapshot on its disk: who goes on, and until when it waits."""

import pytest

from sync.calimero.governance.ops import GroupId, Key
from sync.calimero.log import delta_buffer
from sync.calimero.state.contents import StateKind, Topic, encode
from sync.calimero.state.entry import Signable, sign
from sync.calimero.state.session import STREAM
from sync.entries import ephemeral
from sync.group import values
from sync.group.inputs import snapshots
from sync.group.snapshots.staging import DECIDED_WITHIN, GOES_ON_WITHIN, SOUGHT_AFTER
from sync.group.snapshots.values import SnapshotCame, StageSnapshot, SwapSnapshot
from sync.group.values import PeerAnnounced, PeerJoined, SessionEnded, Sought
from sync.machine import SECOND, MessageId, Tick
from sync.manager.registry import WITH_CALIMERO
from sync.sds.message import Message
from sync.sessions.session import OFFERED
from sync.sessions.values import Outcome
from tests.support.sync.entries import CHANNEL, Author, identity
from tests.support.sync.groups import NOW, NOW_MS, Member, arrived, only

ALICE = identity("alice").peer_id


def restarted(*, pages: int) -> Member:
    """A newcomer after a start, with pages on its disk, linked to somebody who speaks it."""
    bob = Member("bob", protocols=WITH_CALIMERO)
    place = (5, MessageId("ab" * 32))
    bob.disk.commit(
        [StageSnapshot(CHANNEL, at, b"page", place, at + 1, bytes(32), 0) for at in range(pages)]
    )
    bob.start()
    bob.tell(PeerJoined(ALICE, accepts=True, host=""))
    bob.tell(PeerAnnounced(ALICE, WITH_CALIMERO.names))
    return bob


def ended(why: str, then: str = "") -> SessionEnded:
    """A session in which a peer that began it found that we are empty."""
    return SessionEnded(7, ALICE, "log", why, "", Outcome.BENIGN, 1, 0, 0, 0, then=then)


def test_who_is_asked_by_a_peer_goes_on_with_it_though_pages_are_staged() -> None:
    for pages in (0, 2):
        bob = restarted(pages=pages)
        snapshots.on_session_over(bob.group, ended(OFFERED))
        [sought] = only(Sought, bob.tell(Tick(), NOW + DECIDED_WITHIN - SECOND))
        assert sought.peers == (ALICE,)


def test_who_is_asked_before_the_peer_says_what_it_speaks_asks_once_it_does() -> None:
    bob = Member("bob", protocols=WITH_CALIMERO)
    bob.tell(PeerJoined(ALICE, accepts=True, host=""))
    snapshots.on_session_over(bob.group, ended(OFFERED))
    before = bob.advance(NOW + SECOND)

    bob.tell(PeerAnnounced(ALICE, WITH_CALIMERO.names))
    [sought] = only(Sought, bob.tell(Tick(), NOW + SOUGHT_AFTER))

    assert not only(Sought, before)
    assert sought.peers == (ALICE,)


def test_what_is_staged_waits_two_minutes_for_somebody_to_go_on() -> None:
    bob = restarted(pages=2)
    assert bob.group.snapshots.holds_back
    assert not only(SwapSnapshot, bob.tell(Tick(), NOW + GOES_ON_WITHIN - SECOND))
    effects = bob.tell(Tick(), NOW + GOES_ON_WITHIN)
    assert only(SnapshotCame, effects) == [SnapshotCame(None)]
    assert only(SwapSnapshot, effects)
    assert bob.group.snapshots.saving == 2


def test_where_nothing_is_staged_what_arrives_waits_for_seconds_alone() -> None:
    bob = restarted(pages=0)
    assert bob.group.snapshots.holds_back
    bob.tell(Tick(), NOW + DECIDED_WITHIN)
    assert not bob.group.snapshots.holds_back


def test_what_arrives_waits_no_longer_once_nobody_is_linked_who_could_bring_one() -> None:
    bob, staged = restarted(pages=0), restarted(pages=2)
    line = Author("carol").write("hello", lamport=NOW_MS)
    bob.hear(line)
    before = bob.shown()

    for one in (bob, staged):
        one.tell(values.PeerGone(ALICE))
    bob.tell(Tick())

    assert not before
    assert bob.shown() == [line.entry.message_id]
    assert not bob.group.snapshots.holds_back
    assert staged.group.snapshots.holds_back

    bob.tell(PeerJoined(ALICE, accepts=True, host=""))
    bob.tell(PeerAnnounced(ALICE, WITH_CALIMERO.names))
    assert not bob.group.snapshots.holds_back, "it is not empty any more"


def test_a_line_that_waits_ends_the_typing_of_its_author() -> None:
    bob, key = restarted(pages=2), identity("carol").peer_id
    bob.tell(PeerJoined(key, accepts=True, host=""))
    typing = ephemeral.encode(ephemeral.Typing("carol"))
    began = bob.tell(
        arrived(Message(key, MessageId("e" * 64), CHANNEL, None, (), content=typing), key)
    )
    ended_by = bob.hear(Author("carol").write("hello", lamport=NOW_MS))

    assert bob.group.snapshots.holds_back
    assert only(values.TypingChanged, began)
    assert only(values.TypingChanged, ended_by) == [
        values.TypingChanged(key, "carol", typing=False)
    ]


def test_a_line_that_has_no_room_to_wait_is_taken_off_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delta_buffer, "BUFFERED_MAX", 2)
    bob = restarted(pages=2)
    carol = Author("carol")
    lines = [carol.write(str(number), lamport=NOW_MS + number) for number in range(3)]

    effects = [effect for line in lines for effect in bob.hear(line)]

    shown = [one.message_id for one in only(values.Previewed, effects)]
    assert shown == [line.entry.message_id for line in lines]
    assert only(values.PushedOut, effects) == [values.PushedOut((shown[0],))]
    assert bob.group.snapshots.buffer.dropped == 1


def test_state_waits_for_the_snapshot_as_messages_do_or_there_would_be_none() -> None:
    bob = restarted(pages=0)
    offered = values.SessionOffered(9, ALICE, STREAM)
    alice = identity("alice")
    topic = sign(
        Signable(
            GroupId(bytes.fromhex(CHANNEL)), Key(alice.public_key), StateKind.TOPIC, b"",
            NOW_MS, (), encode(Topic("tea")),
        ),
        alice.sign,
    )  # fmt: skip

    during = bob.tell(offered)
    early = bob.tell(values.StateArrived(ALICE, (topic.content,)))
    empty = bob.group.messages.is_empty
    over = bob.tell(Tick(), NOW + DECIDED_WITHIN)
    after = bob.tell(offered, NOW + DECIDED_WITHIN)
    later = bob.tell(Tick(), NOW + DECIDED_WITHIN + SECOND)

    assert during == [values.CloseSession(9)]
    assert empty
    assert [len(only(values.StateDiffers, one)) for one in (early, over, later)] == [0, 1, 0]
    assert values.CloseSession(9) not in after
