"""Members of a governed channel find out which ops they lack, and get them, page by page."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from sync.calimero.governance import act_pages, limits
from sync.calimero.governance.catch_up import (
    GroupDeltaRequest,
    GroupStateHeartbeat,
    encode_heartbeat,
    encode_request,
    heartbeat,
)
from sync.calimero.governance.ops import GroupId, Invite, Leave, OpId, Role, SignedGroupOp
from sync.errors import RemoteError
from sync.group import values
from sync.group.heartbeats import EVERY, NEWS_AFTER, PULL_FOR
from sync.machine import SECOND, ChannelId, Nanos, PeerId, Tick, earlier
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, person, ticket_of
from tests.support.sync.groups import NOW, NOW_MS, Member, only


def member(name: str, history: History, ops: Sequence[SignedGroupOp]) -> Member:
    one = Member(name, channel=history_channel(history), identity_of=person, governed=True)
    one.tell(values.OpsArrived(one.peer_id, tuple(op.content for op in ops)))
    return one


def history_channel(history: History) -> ChannelId:
    return ChannelId(history.governance.group.hex())


def heads(one: Member) -> tuple[OpId, ...]:
    assert one.group.governing is not None
    return one.group.governing.governance.heads


@dataclass
class Room:
    """Members with links to each other; what they say of governance arrives at once."""

    members: dict[PeerId, Member]
    gossip: bool = True
    """Whether single ops arrive."""
    undialled: set[PeerId] = field(default_factory=set)
    """Members who can be asked only on a stream that they opened."""
    opened: set[tuple[PeerId, PeerId]] = field(default_factory=set)
    """Streams, by those who opened them and those they were opened to."""
    now: Nanos = NOW
    carried: list[values.Effect] = field(default_factory=list)

    @classmethod
    def of(cls, *members: Member, gossip: bool = True) -> "Room":
        room = cls({one.peer_id: one for one in members}, gossip)
        for one in members:
            for other in members:
                if one is not other:
                    room.tell(one, values.PeerJoined(other.peer_id))
        return room

    def tell(self, one: Member, event: values.Input) -> list[values.Effect]:
        """Give a member an input, and carry out all that comes of it."""
        first = one.tell(event, self.now)
        todo = deque((one, effect) for effect in first)
        while todo:
            teller, effect = todo.popleft()
            self.carried.append(effect)
            for receiver, said in self._said(teller, effect):
                todo += [(receiver, more) for more in receiver.tell(said, self.now)]
        return first

    def _said(self, teller: Member, effect: values.Effect) -> list[tuple[Member, values.Input]]:
        me, members = teller.peer_id, self.members
        others = [one for peer, one in members.items() if peer != me]
        match effect:
            case values.SendOp(content) if self.gossip:
                return [(one, values.OpsArrived(me, (content,))) for one in others]
            case values.SendHeartbeat(peers, payload):
                return [(members[peer], values.HeartbeatArrived(me, payload)) for peer in peers]
            case values.RequestOps(peer, _) if {
                (peer, me)
            } - self.opened and peer in self.undialled:
                return [(teller, values.OpsUnanswered(peer))]
            case values.RequestOps(peer, payload):
                self.opened.add((me, peer))
                return [(members[peer], values.OpsRequested(me, payload))]
            case values.LoadOps(peer, ops, more):
                contents = teller.disk.load_ops(ops)
                return [(teller, values.OpsLoaded(peer, contents, more))]
            case values.AnswerOps(peer, payload):
                return [(members[peer], values.OpsAnswered(me, payload))]
            case _:
                return []

    def run(self, until: Nanos) -> None:
        """Tick everybody at their deadlines."""
        while True:
            due: Nanos | None = None
            for one in self.members.values():
                due = earlier(due, one.group.deadline())
            if due is None or due > until:
                break
            self.now = max(self.now, due)
            for one in self.members.values():
                deadline = one.group.deadline()
                if deadline is not None and deadline <= self.now:
                    self.tell(one, Tick())
        self.now = until


def full(count: int = 3) -> History:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    history.add("alice", "carol")
    for number in range(count):
        history.invite("alice", f"code {number}")
    return history


def test_a_member_that_lacks_ops_has_them_within_seconds_of_a_link() -> None:
    history = full()
    alice, bob = member("alice", history, history.ops), member("bob", history, history.ops[:2])

    room = Room.of(alice, bob)
    room.run(NOW + 5 * SECOND)

    assert heads(bob) == heads(alice) == history.governance.heads
    assert len(bob.disk.ops) == len(history.ops)


def test_both_sides_of_a_cut_get_what_the_other_had() -> None:
    history = full()
    base = history.ops[-1]
    left = history.invite("alice", "left", after=[base])
    right = history.invite("bob", "right", after=[base])
    alice = member("alice", history, [*history.ops[:-2], left])
    bob = member("bob", history, [*history.ops[:-2], right])

    room = Room.of(alice, bob)
    room.run(NOW + 8 * SECOND)

    assert heads(alice) == heads(bob) == tuple(sorted([left.id, right.id]))


def test_who_is_asked_with_heads_it_lacks_asks_back_at_once() -> None:
    history = full()
    alice = member("alice", history, history.ops)
    bob = person("bob").peer_id
    alice.join(bob)
    request = encode_request(GroupDeltaRequest(history.governance.group, (OpId(b"\x07" * 32),)))

    effects = alice.tell(values.OpsRequested(bob, request))

    assert [one.peer for one in only(values.RequestOps, effects)] == [bob]


def test_ops_lost_from_gossip_alone_are_found_within_two_heartbeats() -> None:
    history = full()
    alice, bob = (member(name, history, history.ops) for name in ("alice", "bob"))
    room = Room.of(alice, bob, gossip=False)
    room.run(NOW + 5 * SECOND)

    made = room.tell(alice, values.Act(1, history.rotation()))
    assert only(values.SendOp, made)
    assert heads(bob) != heads(alice)
    room.run(room.now + 2 * EVERY)

    assert heads(bob) == heads(alice)


def test_who_takes_in_an_unknown_op_tells_its_heads_within_a_second() -> None:
    history = full()
    bob = member("bob", history, history.ops)
    room = Room.of(bob, member("carol", history, history.ops))
    room.run(NOW + 5 * SECOND)
    room.carried.clear()
    op = history.invite("alice", "new")
    began = room.now

    room.tell(bob, values.OpsArrived(person("alice").peer_id, (op.content,)))
    room.run(began + NEWS_AFTER[0] - 1)
    early = only(values.SendHeartbeat, room.carried)
    room.run(began + NEWS_AFTER[1])

    assert not early
    assert [one.peers for one in only(values.SendHeartbeat, room.carried)] == [
        (person("carol").peer_id,)
    ]


def test_equal_members_say_one_heartbeat_in_half_a_minute() -> None:
    history = full()
    room = Room.of(*(member(name, history, history.ops) for name in ("alice", "bob")))
    room.run(NOW + 5 * SECOND)
    room.carried.clear()
    at: list[Nanos] = []
    for _ in range(600):
        room.run(room.now + SECOND)
        at += [room.now] * len(only(values.SendHeartbeat, room.carried))
        assert not only(values.RequestOps, room.carried)
        room.carried.clear()

    assert 600 // 33 * 2 <= len(at) <= 600 // 27 * 2 + 2
    assert max(later - one for one, later in pairwise(at)) <= 34 * SECOND


def test_many_ops_come_in_pages_and_a_cut_of_the_link_goes_on_where_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "PAGE_SIZE_MAX", 2_000)
    history = full(40)
    alice, bob = member("alice", history, history.ops), member("bob", history, history.ops[:2])

    room = Room.of(alice, bob)
    room.run(NOW + 5 * SECOND)

    pages = only(values.AnswerOps, room.carried)
    assert len(pages) > 4
    assert max(len(one.payload) for one in pages) < 2_500
    assert heads(bob) == heads(alice)
    brought = only(values.StoreOp, room.carried)
    assert len(brought) == len({one.content for one in brought}) == len(history.ops) - 2


@pytest.mark.parametrize(("rate", "most"), [(8_000, 60), (10_000_000, 7)])
def test_pages_fit_through_a_slow_link_and_grow_on_a_fast_one(rate: int, most: int) -> None:
    """At 64 kbit/s a full page takes 33 s, and nobody waits so long for one."""
    history = full(1_000)
    alice, bob = member("alice", history, history.ops), member("bob", history, history.ops[:2])
    assert bob.group.governing is not None
    now, pages = NOW, 0
    asked = bob.group.governing.request_on(alice.peer_id, now)
    while asked:
        (request,) = only(values.RequestOps, asked)
        given = alice.tell(values.OpsRequested(bob.peer_id, request.payload, newest=True), now)
        (load,) = only(values.LoadOps, given)
        loaded = values.OpsLoaded(bob.peer_id, alice.disk.load_ops(load.ops), load.more)
        (answer,) = only(values.AnswerOps, alice.tell(loaded, now))
        takes = SECOND * len(answer.payload) // rate
        assert takes < PULL_FOR
        now += takes
        pages += 1
        came = bob.tell(values.OpsAnswered(alice.peer_id, answer.payload), now)
        asked = only(values.RequestOps, came)

    assert heads(bob) == heads(alice)
    assert pages <= most


def met_again(history: History, theirs: Sequence[SignedGroupOp]) -> list[tuple[OpId, ...]]:
    """Return the heads of alice, and of bob who had `theirs` instead of her last acts."""
    alice = member("alice", history, history.ops)
    bob = member("bob", history, [*history.ops[: -len(theirs)], *theirs])
    Room.of(alice, bob, gossip=False).run(NOW + 8 * SECOND)
    return [heads(alice), heads(bob)]


def test_both_sides_of_a_cut_that_signed_acts_have_all_of_them_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Heads that are not known there say nothing of what is: pages begin with the founding."""
    monkeypatch.setattr(act_pages, "FIRST", 1_000)
    history = full(40)
    alone = history.again()
    ours, theirs = history.invite("alice", "ours"), alone.invite("bob", "theirs")

    assert met_again(history, [theirs]) == [tuple(sorted((ours.id, theirs.id)))] * 2


def test_both_sides_of_a_cut_have_all_acts_however_many_there_were_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even a full page has room for all of a long history."""
    monkeypatch.setattr(limits, "PAGE_SIZE_MAX", 2_000)
    history = full(100)
    alone = history.again()
    ours = [history.invite("alice", f"ours {number}") for number in range(3)]
    theirs = [alone.invite("bob", f"theirs {number}") for number in range(3)]

    assert met_again(history, theirs) == [tuple(sorted((ours[-1].id, theirs[-1].id)))] * 2


def test_a_page_that_brought_nothing_is_followed_by_a_larger_one() -> None:
    """Acts that are refused here, and come first there, keep none of the others from coming."""
    history = full(200)
    alice = member("alice", history, history.ops)
    request = encode_request(GroupDeltaRequest(history.governance.group, (history.ops[1].id,)))
    sizes = []
    for at in range(5):
        given = alice.tell(
            values.OpsRequested(person("bob").peer_id, request, newest=True), NOW + at * 15 * SECOND
        )
        (load,) = only(values.LoadOps, given)
        loaded = values.OpsLoaded(person("bob").peer_id, alice.disk.load_ops(load.ops), load.more)
        (answer,) = only(values.AnswerOps, alice.tell(loaded, NOW + at * 15 * SECOND))
        sizes.append(len(answer.payload))

    assert sizes == sorted(sizes)
    assert sizes[-1] > 8 * sizes[0]


def test_a_line_that_waits_has_its_author_asked_at_once() -> None:
    history = full()
    alice = member("alice", history, history.ops)
    bob = member("bob", history, history.ops)
    room = Room.of(alice, bob, gossip=False)
    room.run(NOW + 5 * SECOND)
    room.tell(bob, values.Act(1, Invite(ticket_of("bobs").public_key, Role.MEMBER)))
    line = Author("bob", history_channel(history))
    line.identity, line.peer_id = person("bob"), bob.peer_id
    sent = line.write(lamport=NOW_MS, governance=heads(bob))

    room.tell(alice, values.Arrived(bob.peer_id, sent.payload))

    assert alice.shown() == [sent.entry.message_id]


def test_somebody_removed_gets_the_op_that_says_so_and_none_after_it() -> None:
    history = full()
    removal = history.remove("alice", "bob")
    later = history.invite("alice", "later")
    alice, bob = member("alice", history, history.ops), member("bob", history, history.ops[:3])

    room = Room.of(alice, bob)
    room.run(NOW + 60 * SECOND)

    assert removal.id in bob.disk.ops
    assert later.id not in bob.disk.ops
    assert heads(bob) == (removal.id,)


def test_whose_entry_came_to_nothing_learns_for_what() -> None:
    """Carol joined by a code of bob, whom alice had removed on the other side of a cut."""
    history = History("alice", signing=True)
    base = history.add("alice", "bob")
    code = history.invite("bob", "code", after=[base])
    joined = history.join("carol", code, "code", after=[code])
    removed = history.remove("alice", "bob", after=[base])
    history.add("alice", "dave", after=[removed])
    alice = member("alice", history, history.ops)
    carol = member("carol", history, [*history.ops[:2], code, joined])
    assert carol.group.governing is not None
    assert carol.group.governing.is_in(carol.peer_id) is True
    assert alice.group.governing is not None
    assert alice.group.governing.is_in(carol.peer_id) is False

    asks = encode_request(GroupDeltaRequest(history.governance.group, heads(carol)))
    [load] = only(values.LoadOps, alice.tell(values.OpsRequested(carol.peer_id, asks)))
    carol.tell(values.OpsArrived(alice.peer_id, alice.disk.load_ops(load.ops)))

    assert load.ops == (removed.id,), "and nothing after it"
    assert carol.group.governing.is_in(carol.peer_id) is False


def added_by_an_admin_who_was_out() -> tuple[History, list[SignedGroupOp], SignedGroupOp]:
    """Carol removed bob and let him in again; on the other side of a cut alice removed her."""
    history = History("alice", signing=True)
    history.add("alice", "bob")
    history.add("alice", "carol", Role.ADMIN)
    history.remove("carol", "bob")
    known, cut = list(history.ops), history.ops[-1:]
    known.append(history.add("carol", "bob", after=cut))
    return history, known, history.remove("alice", "carol", after=cut)


def joined_by_a_code_that_had_ended() -> tuple[History, list[SignedGroupOp], SignedGroupOp]:
    """Bob left and came in again; on the other side of a cut alice changed the secret."""
    history = History("alice", signing=True)
    history.add("alice", "bob")
    code = history.invite("alice", "code")
    left = [history.act("bob", Leave())]
    known = list(history.ops)
    known.append(history.join("bob", code, "code", after=left))
    return history, known, history.act("alice", history.rotation(left), left)


@pytest.mark.parametrize("came", [added_by_an_admin_who_was_out, joined_by_a_code_that_had_ended])
def test_who_was_out_before_and_came_in_again_by_what_came_to_nothing_learns_it(
    came: Callable[[], tuple[History, list[SignedGroupOp], SignedGroupOp]],
) -> None:
    """All that took them out at first was here, so they thought for ever that they were in."""
    history, known, told = came()
    alice, bob = member("alice", history, history.ops), member("bob", history, known)
    assert alice.group.governing is not None
    assert bob.group.governing is not None
    assert bob.group.governing.is_in(bob.peer_id) is True
    assert alice.group.governing.is_in(bob.peer_id) is False

    def said() -> bytes:
        assert bob.group.governing is not None
        return encode_heartbeat(heartbeat(bob.group.governing.governance))

    assert alice.group.governing.is_unaware(bob.peer_id, said())
    asks = encode_request(GroupDeltaRequest(history.governance.group, heads(bob)))
    [load] = only(values.LoadOps, alice.tell(values.OpsRequested(bob.peer_id, asks)))
    bob.tell(values.OpsArrived(alice.peer_id, alice.disk.load_ops(load.ops)))

    assert load.ops == (told.id,)
    assert bob.group.governing.is_in(bob.peer_id) is False
    assert not alice.group.governing.is_unaware(bob.peer_id, said())


def test_a_stranger_gets_no_op_unless_the_link_has_proved_the_newest_epoch() -> None:
    history = full()
    alice = member("alice", history, history.ops)
    stranger = person("mallory").peer_id
    request = encode_request(GroupDeltaRequest(history.governance.group, ()))

    [nothing] = alice.tell(values.OpsRequested(stranger, request))
    [all_of_them] = alice.tell(values.OpsRequested(stranger, request, newest=True))

    assert nothing == values.LoadOps(stranger, (), more=False)
    assert all_of_them == values.LoadOps(stranger, tuple(op.id for op in history.ops), more=False)


def test_a_heartbeat_of_another_channel_is_refused() -> None:
    history = full()
    alice = member("alice", history, history.ops)
    alice.join(person("bob").peer_id)
    beat = encode_heartbeat(GroupStateHeartbeat(GroupId(b"x" * 16), (), 0))

    with pytest.raises(RemoteError, match="another channel"):
        alice.tell(values.HeartbeatArrived(person("bob").peer_id, beat))


def test_every_line_that_waits_for_an_invented_op_ends() -> None:
    history = full()
    alice = member("alice", history, history.ops)
    bob = member("bob", history, history.ops)
    room = Room.of(alice, bob)
    line = Author("bob", history_channel(history))
    line.identity, line.peer_id = person("bob"), bob.peer_id
    sent = line.write(lamport=NOW_MS, governance=[b"\x07" * 32])
    room.tell(alice, values.Arrived(bob.peer_id, sent.payload))
    assert alice.disk.restore().pending == (sent,)

    room.run(NOW + 20 * EVERY)

    assert alice.disk.restore().pending == ()
    assert alice.shown() == []


def test_who_cannot_be_dialled_asks_whoever_lacks_its_ops_so_that_these_can_be_asked_for() -> None:
    history = full()
    made = history.invite("bob", "lost from gossip")
    alice, bob = member("alice", history, history.ops[:-1]), member("bob", history, history.ops)

    room = Room.of(alice, bob, gossip=False)
    room.undialled.add(bob.peer_id)
    room.run(NOW + EVERY)

    assert heads(alice) == heads(bob) == (made.id,)


def test_nobody_asks_who_lacks_ops_but_asks_for_them() -> None:
    history = full()
    alice, bob = member("alice", history, history.ops[:-1]), member("bob", history, history.ops)

    room = Room.of(alice, bob)
    room.run(NOW + 2 * EVERY)

    assert heads(alice) == heads(bob)
    assert [one.peer for one in only(values.RequestOps, room.carried)] == [bob.peer_id]
