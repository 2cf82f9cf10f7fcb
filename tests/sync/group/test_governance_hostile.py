"""Peers that lie about governance: what they send is refused or bounded, and others are served."""

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.catch_up import (
    GroupDeltaRequest,
    GroupDeltaResponse,
    GroupStateHeartbeat,
    decode_heartbeat,
    decode_request,
    encode_heartbeat,
    encode_request,
    encode_response,
    heartbeat,
    known_heads,
    owed,
)
from sync.calimero.governance.epochs import next_number, rotation_wanted
from sync.calimero.governance.governance import Governance, Taken
from sync.calimero.governance.ops import (
    Access,
    Epoch,
    GroupId,
    Invite,
    Leave,
    OpId,
    Policy,
    Remove,
    Role,
    SetPolicy,
    SignedGroupOp,
)
from sync.calimero.governance.signing import sign
from sync.calimero.governance.wire import DOMAIN
from sync.errors import ChatError, RemoteError
from sync.group import values
from sync.group.governing import Governing
from sync.group.heartbeats import EVERY, PULL_FOR
from sync.machine import SECOND, ChannelId, Nanos, PeerId, Tick
from sync.sim.bounds import check_bounds
from sync.sim.world import Terms, World
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, genesis, key, person, ticket_of
from tests.support.sync.groups import NOW, NOW_MS, Member, only

MALLORY = person("mallory").peer_id


def history_with_mallory() -> History:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    history.add("alice", "mallory")
    return history


def alice_of(history: History, name: str = "alice") -> Member:
    channel = ChannelId(history.governance.group.hex())
    alice = Member(name, channel=channel, identity_of=person, governed=True)
    tell(alice, *history.ops, peer=person("bob").peer_id)
    alice.tell(values.PeerJoined(MALLORY))
    return alice


def tell(alice: Member, *ops: SignedGroupOp, peer: PeerId = MALLORY) -> list[values.Effect]:
    return alice.tell(values.OpsArrived(peer, tuple(op.content for op in ops)))


def governing(alice: Member) -> Governing:
    assert alice.group.governing is not None
    return alice.group.governing


def alice_removes_mallory(alice: Member) -> Remove:
    governance = governing(alice).governance
    number = next_number(governance, governance.now)
    return Remove((key("mallory"),), Epoch(number, bytes(32)), "spam")


def unknown(rng: random.Random) -> OpId:
    return OpId(rng.randbytes(32))


# --- Ops ------------------------------------------------------------------------------------------


def false_ops() -> dict[str, bytes]:
    """Return bytes that are refused, each for one reason."""
    history = history_with_mallory()
    op = history.made("mallory", Leave())
    other = History("trent", signing=True)
    other.add("trent", "mallory")
    without_domain = sign(op.signed, lambda data: person("mallory").sign(data[len(DOMAIN) :]))
    parents = tuple(sorted(OpId(bytes([number]) * 32) for number in range(33)))
    crowd = op.content[:17] + (33).to_bytes(4, "little") + b"".join(parents)
    head = 17 + 4 + 32 * len(op.signed.parents)
    return {
        "forged": sign(op.signed, person("bob").sign).content,
        "without the domain": without_domain.content,
        "of another channel": other.made("mallory", Leave()).content,
        "another genesis": genesis("mallory").content,
        "33 parents": crowd + op.content[head:],
        "oversize": op.content + bytes(limits.OP_SIZE_MAX),
        "trailing": op.content[:-64] + b"\0" + op.content[-64:],
    }


@pytest.mark.parametrize("name", false_ops())
def test_a_false_op_is_refused_with_its_reason_and_changes_nothing(name: str) -> None:
    history = history_with_mallory()
    alice = alice_of(history)

    effects = alice.tell(values.OpsArrived(MALLORY, (false_ops()[name],)))

    [refused] = only(values.Refused, effects)
    assert refused.peer == MALLORY
    assert refused.reason
    assert not only(values.StoreOp, effects)
    assert len(governing(alice).governance.dag) == len(history.ops)
    assert not governing(alice).governance.waiting.ops


def test_a_replayed_op_is_nothing_new() -> None:
    history = history_with_mallory()
    alice = alice_of(history)

    effects = tell(alice, *history.ops * 3)

    assert effects == []


def test_ops_that_name_each_other_wait_and_end_no_loop() -> None:
    """Ids are hashes: a cycle can only be claimed, by whoever passes over `open_op`."""
    history = history_with_mallory()
    governance = history.governance
    made = history.made("mallory", Leave())
    one, other = OpId(b"\x01" * 32), OpId(b"\x02" * 32)
    cycle = [
        SignedGroupOp(own, replace(made.signed, parents=(parent,)), made.signature, made.content)
        for own, parent in [(one, other), (other, one)]
    ]
    for op in cycle:
        governance.receive(op)
    assert set(governance.waiting.ops) == {one, other}
    assert governance.waiting.wanted() == ()

    added = history.add("alice", "carol")

    assert added.id in governance.dag.numbers
    assert isinstance(governance.receive(history.made("bob", Leave())), Taken)


def test_a_removal_with_wraps_missing_is_healed_by_a_rotation() -> None:
    history = history_with_mallory()
    history.remove("alice", "bob")  # its epoch wraps for nobody
    governance = history.governance

    assert rotation_wanted(governance, governance.now) is not None


def test_a_flood_of_ops_that_wait_is_bounded_and_an_honest_one_comes_through() -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    rng = random.Random(1)
    made = history.made("mallory", Leave())
    flood = [
        sign(
            replace(made.signed, parents=(unknown(rng),), nonce=number + 2),
            person("mallory").sign,
        )
        for number in range(limits.WAITING_MAX + 50)
    ]
    asked = 0
    for op in flood:
        asked += len(only(values.RequestOps, tell(alice, op)))

    assert len(governing(alice).governance.waiting.ops) == limits.WAITING_MAX
    assert governing(alice).governance.waiting.forgotten == 50
    assert asked <= 1, "one pull at a time"
    parent = history.add("alice", "carol")
    child = history.add("alice", "dave")
    assert only(values.LackingOps, tell(alice, child, peer=person("bob").peer_id))
    taken = only(values.Governed, tell(alice, parent, peer=person("bob").peer_id))
    assert taken == [values.Governed((parent.id, child.id))]


@pytest.mark.slow
@pytest.mark.parametrize("forks", [False, True], ids=["invites", "forks"])
def test_twenty_thousand_ops_of_one_member_take_their_own_room_alone(forks: bool) -> None:
    history = History("alice")
    base = history.add("alice", "mallory")
    governance = history.governance
    heads, refused = base, 0
    for number in range(20_000):
        ticket = ticket_of("code").public_key[:28] + number.to_bytes(4, "big")
        made = history.made("mallory", Invite(ticket, Role.READER), [base if forks else heads])
        received = governance.receive(made)
        if isinstance(received, Taken):
            heads = made
        else:
            refused += 1

    assert refused == 20_000 - limits.OPS_OF_A_MEMBER_MAX
    assert len(governance.dag) == 2 + limits.OPS_OF_A_MEMBER_MAX
    assert len(governance.refused.reasons) <= limits.REFUSED_REMEMBERED_MAX
    assert not governance.waiting.ops
    assert governance.dag.forked.get(key("mallory"), set()) == ({1} if forks else set())
    history.set_role("alice", "mallory", Role.READER, after=[heads])
    assert history.roles()["mallory"] is Role.READER


def test_a_lamport_time_at_its_end_leaves_nobody_without_room_for_later_ones() -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    for lamport in (limits.NUMBER_MAX, limits.NUMBER_MAX // 2):
        made = history.made("mallory", Invite(ticket_of("code").public_key, Role.READER))
        tell(alice, sign(replace(made.signed, lamport=lamport), person("mallory").sign))

    acted = alice.tell(values.Act(1, history.removal("mallory")))

    assert only(values.Acted, acted)
    assert governing(alice).governance.now.role(key("mallory")) is Role.NONE


def forked(name: str, at: SignedGroupOp, history: History, count: int) -> list[SignedGroupOp]:
    """Return ops at an old cut, none of which has seen another, with late Lamport times."""
    ops = []
    for number in range(count):
        ticket = ticket_of("code").public_key[:28] + number.to_bytes(4, "big")
        made = history.made(name, Invite(ticket, Role.READER), [at])
        ops.append(sign(replace(made.signed, lamport=2**43 + number), person(name).sign))
    return ops


def test_hundreds_of_ops_at_an_old_cut_keep_no_admin_from_acting() -> None:
    """Bob became an admin after the cut at which mallory, who is out, signs what looks newest."""
    history = History("alice", signing=True)
    history.add("alice", "bob")
    old = history.add("alice", "mallory")
    flood = forked("mallory", old, history, limits.OPS_OF_A_MEMBER_MAX)
    history.set_role("alice", "bob", Role.ADMIN)
    history.remove("alice", "mallory")
    bob = Member("bob", channel=ChannelId(history.governance.group.hex()), identity_of=person,
                 governed=True)  # fmt: skip
    tell(bob, *history.ops, *flood)
    policy = history.made("bob", SetPolicy(Policy(write=Access.ADMINS))).op
    assert only(values.Acted, bob.tell(values.Act(1, policy)))

    governance = governing(bob).governance
    assert governance.now.policy.write is Access.ADMINS
    assert governance.dag.forked == {key("mallory"): {1}}
    cut = governing(bob).cut()
    assert governance.projection.at(cut).role(key("bob")) is Role.ADMIN  # type: ignore[union-attr]


def test_hundreds_of_heads_are_all_named_in_time_and_all_known_to_who_is_asked() -> None:
    """An op that gossip lost is found, whatever stands before it in the order of heads."""
    history = History("alice", signing=True)
    history.add("alice", "bob")
    old = history.add("alice", "mallory")
    flood = forked("mallory", old, history, limits.OPS_OF_A_MEMBER_MAX)
    alice, bob = alice_of(history), alice_of(history)
    tell(alice, *flood)
    tell(bob, *flood)
    lost = history.add("alice", "carol", after=[old])
    tell(alice, lost)

    said = [
        decode_heartbeat(encode_heartbeat(heartbeat(governing(alice).governance, turn=turn)))
        for turn in range(8)
    ]
    request = GroupDeltaRequest(history.governance.group, known_heads(governing(bob).governance))

    assert all(len(one.dag_heads) == limits.HEADS_MAX for one in said)
    assert {head for one in said for head in one.dag_heads} == set(
        governing(alice).governance.heads
    )
    assert owed(governing(alice).governance, request.known_heads) == [lost.id]
    assert decode_request(encode_request(request)) == request


def test_no_number_of_steps_comes_to_the_end_of_lamport_times() -> None:
    assert limits.OPS_MAX * limits.LAMPORT_STEP_MAX < limits.NUMBER_MAX


def two_faces(history: History, base: SignedGroupOp) -> list[list[SignedGroupOp]]:
    """Return two chains of ops of mallory, each as long as they have room for."""
    faces = []
    for face in range(2):
        own, ops = history.again(), [base]
        for number in range(limits.OPS_OF_A_MEMBER_MAX):
            ticket = bytes([face]) * 28 + number.to_bytes(4, "big")
            ops.append(own.act("mallory", Invite(ticket, Role.READER), [ops[-1]]))
        faces.append(ops[1:])
    return faces


def pull(asking: Member, asked: Member) -> list[values.Effect]:
    """Ask somebody for ops until they have told all."""
    effects: list[values.Effect] = []
    pages = only(values.RequestOps, governing(asking).request_on(asked.peer_id, NOW))
    while pages:
        loads = asked.tell(values.OpsRequested(asking.peer_id, pages.pop().payload, newest=True))
        [load] = only(values.LoadOps, loads)
        loaded = values.OpsLoaded(asking.peer_id, asked.disk.load_ops(load.ops), load.more)
        [answer] = only(values.AnswerOps, asked.tell(loaded))
        came = asking.tell(values.OpsAnswered(asked.peer_id, answer.payload))
        pages += only(values.RequestOps, came)
        effects += came
    return effects


def test_ops_that_one_half_alone_was_shown_part_nobody() -> None:
    """Each has as many ops of mallory as there is room for, and builds on what it has."""
    history = history_with_mallory()
    ours, theirs = two_faces(history, history.ops[-1])
    alice, bob = alice_of(history), alice_of(history, "bob")
    tell(alice, *ours)
    tell(bob, *theirs)
    tell(bob, *ours)
    line, answer = alice.write("hello"), bob.write("anybody?")
    bob.hear(line)
    alice.hear(answer)
    assert line.entry.message_id not in bob.shown()

    pull(bob, alice)
    pull(alice, bob)
    alice.tell(values.Act(1, alice_removes_mallory(alice)))
    pull(bob, alice)

    assert alice.shown() == bob.shown() == [line.entry.message_id, answer.entry.message_id]
    assert governing(alice).governance.heads == governing(bob).governance.heads
    assert governing(bob).governance.now.role(key("mallory")) is Role.NONE


def test_whoever_signed_them_vouches_for_no_ops_of_their_own() -> None:
    history = history_with_mallory()
    ours, theirs = two_faces(history, history.ops[-1])
    alice = alice_of(history)
    tell(alice, *ours)
    contents = tuple(op.content for op in theirs)

    page = encode_response(GroupDeltaResponse(contents[:100], has_more=False))
    alice.tell(values.OpsAnswered(MALLORY, page))
    alice.tell(values.OpsAnswered(person("trent").peer_id, page))

    assert len(governing(alice).governance.dag) == len(history.ops) + len(ours)


def test_an_archive_of_ours_has_room_for_all_that_it_holds() -> None:
    history = history_with_mallory()
    ours, theirs = two_faces(history, history.ops[-1])
    alice = alice_of(history)

    tell(alice, *ours, *theirs, peer=alice.peer_id)

    assert len(governing(alice).governance.dag) == len(history.ops) + len(ours) + len(theirs)


# --- Heartbeats and pulls -------------------------------------------------------------------------


def beat(history: History, *heads: OpId) -> bytes:
    return encode_heartbeat(
        GroupStateHeartbeat(history.governance.group, tuple(sorted(heads)), 10_000)
    )


def test_a_flood_of_unknown_heads_is_one_question_at_a_time() -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    rng = random.Random(1)
    asked: list[Nanos] = []
    now = NOW
    while now < NOW + 2 * EVERY:
        for _ in range(20):
            heads = [unknown(rng) for _ in range(limits.HEADS_MAX)]
            alice.tell(values.HeartbeatArrived(MALLORY, beat(history, *heads)), now)
        now += SECOND
        asked += [now for _ in only(values.RequestOps, alice.tell(Tick(), now))]

    assert 1 <= len(asked) <= 2 * EVERY // PULL_FOR + 1
    assert len(governing(alice).beats._heads[MALLORY]) == limits.HEADS_MAX
    assert len(governing(alice).beats._heads) == 1


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, bytes(70_000)], ids=["none", "junk", "long"])
@pytest.mark.parametrize("kind", [values.HeartbeatArrived, values.OpsRequested, values.OpsAnswered])
def test_junk_is_refused(
    kind: type[values.HeartbeatArrived | values.OpsRequested | values.OpsAnswered], data: bytes
) -> None:
    alice = alice_of(history_with_mallory())

    with pytest.raises(ChatError):
        alice.tell(kind(MALLORY, data))


def test_what_is_of_another_channel_is_refused() -> None:
    alice = alice_of(history_with_mallory())
    other = GroupId(b"o" * 16)

    with pytest.raises(RemoteError, match="another channel"):
        alice.tell(
            values.HeartbeatArrived(MALLORY, encode_heartbeat(GroupStateHeartbeat(other, (), 1)))
        )
    with pytest.raises(RemoteError, match="another channel"):
        alice.tell(values.OpsRequested(MALLORY, encode_request(GroupDeltaRequest(other, ()))))


def test_pages_that_promise_more_and_bring_nothing_end_the_pull() -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    alice.tell(values.HeartbeatArrived(MALLORY, beat(history, unknown(random.Random(1)))))
    assert only(values.RequestOps, alice.tell(Tick(), NOW + 4 * SECOND))
    contents: Sequence[bytes] = [op.content for op in history.ops]
    page = encode_response(GroupDeltaResponse(tuple(contents), has_more=True))

    assert not only(values.RequestOps, alice.tell(values.OpsAnswered(MALLORY, page)))
    assert not only(values.RequestOps, alice.tell(values.OpsAnswered(MALLORY, page)))


def test_nothing_is_left_of_who_went_before_their_page_came() -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    alice.tell(values.HeartbeatArrived(MALLORY, beat(history, unknown(random.Random(1)))))
    assert only(values.RequestOps, alice.tell(Tick(), NOW + 4 * SECOND))
    alice.tell(values.PeerGone(MALLORY))

    page = encode_response(GroupDeltaResponse((history.ops[0].content,), has_more=False))
    alice.tell(values.OpsAnswered(MALLORY, page))

    beats = governing(alice).beats
    assert MALLORY not in {*beats._vain, *beats._pulls, *beats._heads}


def test_whoever_tells_one_op_at_a_time_keeps_nobody_from_being_asked() -> None:
    """Page after page was asked for, each as late as it may be: hours of a channel's acts."""
    history = history_with_mallory()
    bob = person("bob").peer_id
    alice = alice_of(history)
    alice.tell(values.PeerJoined(bob))
    dripped = [history.invite("mallory", f"code {number}") for number in range(9)]
    alice.tell(values.HeartbeatArrived(MALLORY, beat(history, *history.governance.heads)))
    now = NOW + 4 * SECOND
    asked = only(values.RequestOps, alice.tell(Tick(), now))
    alice.tell(values.HeartbeatArrived(bob, beat(history, *history.governance.heads)), now)
    while dripped and asked[-1].peer == MALLORY:
        now += PULL_FOR - SECOND
        page = GroupDeltaResponse((dripped.pop(0).content,), has_more=True)
        effects = alice.tell(values.OpsAnswered(MALLORY, encode_response(page)), now)
        asked += only(values.RequestOps, effects)

    assert [one.peer for one in asked] == [MALLORY, MALLORY, bob]
    whole = GroupDeltaResponse(tuple(one.content for one in dripped[:1]), has_more=False)
    effects = alice.tell(values.OpsAnswered(bob, encode_response(whole)), now)
    assert [one.peer for one in only(values.RequestOps, effects)] == [MALLORY], "in her turn"


def test_whoever_tells_nothing_new_is_asked_ever_later() -> None:
    """Two of whom each lacks what the other has no room for would ask each other for ever."""
    history = history_with_mallory()
    alice = alice_of(history)
    invented = unknown(random.Random(1))
    waits = replace(history.made("mallory", Leave()).signed, parents=(invented,))
    contents = (sign(waits, person("mallory").sign).content,)
    page = encode_response(GroupDeltaResponse(contents, has_more=False))
    asks = encode_request(GroupDeltaRequest(history.governance.group, (invented,)))
    asked, now = 0, NOW
    while now < NOW + 4 * EVERY:
        effects = [*alice.tell(values.OpsRequested(MALLORY, asks), now), *alice.tell(Tick(), now)]
        for _ in only(values.RequestOps, effects):
            asked += 1
            alice.tell(values.OpsAnswered(MALLORY, page), now)
        now += SECOND // 10

    assert 4 <= asked <= 14
    news = GroupDeltaResponse((history.add("alice", "carol").content,), has_more=False)
    effects = alice.tell(values.OpsAnswered(MALLORY, encode_response(news)), now)
    effects += alice.tell(values.OpsRequested(MALLORY, asks), now)
    assert only(values.RequestOps, effects)


def test_lines_that_wait_for_invented_ops_are_bounded_for_each_author() -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    rng = random.Random(1)
    mallory = Author("mallory", alice.channel)
    mallory.identity, mallory.peer_id = person("mallory"), MALLORY
    for number in range(limits.PENDING_OF_AN_AUTHOR_MAX + 44):
        waits = mallory.write(f"{number}", lamport=NOW_MS + number, governance=[unknown(rng)])
        alice.hear(waits)
    bob = Author("bob", alice.channel)
    bob.identity, bob.peer_id = person("bob"), person("bob").peer_id
    alice.hear(bob.write("waits, too", lamport=NOW_MS, governance=[unknown(rng)]))

    waiting = governing(alice).pending
    assert len(waiting.entries) == limits.PENDING_OF_AN_AUTHOR_MAX + 1
    assert any(one.author == key("bob") for one in waiting.entries.values())


def test_invented_authors_with_a_line_each_drive_out_none_of_a_member_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "PENDING_MAX", 20)
    history = history_with_mallory()
    alice, rng = alice_of(history), random.Random(1)
    member = Author("mallory", alice.channel)
    member.identity, member.peer_id = person("mallory"), MALLORY
    for number in range(3):
        alice.hear(member.write(f"{number}", lamport=NOW_MS, governance=[unknown(rng)]))
    for number in range(40):
        guest = Author(f"guest {number}", alice.channel)
        alice.hear(guest.write("invented", lamport=NOW_MS, governance=[unknown(rng)]))

    waiting = [one.author for one in governing(alice).pending.entries.values()]
    assert len(waiting) == 20
    assert waiting.count(key("mallory")) == 3


def test_long_lines_that_wait_drive_out_none_but_their_author_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    rng = random.Random(1)
    mallory, bob = Author("mallory", alice.channel), Author("bob", alice.channel)
    for one in (mallory, bob):
        one.identity, one.peer_id = person(one.name), person(one.name).peer_id
    alice.hear(bob.write("waits, too", lamport=NOW_MS, governance=[unknown(rng)]))
    monkeypatch.setattr("sync.group.governing.PENDING_SIZE_MAX", 20_000)
    for number in range(20):
        text = f"{number}" + "x" * 4_000
        alice.hear(mallory.write(text, lamport=NOW_MS + number, governance=[unknown(rng)]))

    waiting = governing(alice).pending.entries.values()
    assert [one.author for one in waiting] == [key("bob")] + [key("mallory")] * 4


def test_long_lines_of_invented_authors_drive_out_no_member_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = history_with_mallory()
    alice = alice_of(history)
    rng = random.Random(1)
    bob = Author("bob", alice.channel)
    bob.identity, bob.peer_id = person("bob"), person("bob").peer_id
    monkeypatch.setattr("sync.group.governing.PENDING_SIZE_MAX", 20_000)
    for number in range(2):
        text = f"{number}" + "x" * 2_500
        alice.hear(bob.write(text, lamport=NOW_MS + number, governance=[unknown(rng)]))
    for number in range(20):
        stranger = Author(f"stranger {number}", alice.channel)
        alice.hear(stranger.write("x" * 4_000, lamport=NOW_MS, governance=[unknown(rng)]))

    waiting = [one.author for one in governing(alice).pending.entries.values()]
    assert waiting[:2] == [key("bob")] * 2
    assert len(waiting) == 5


def test_lines_that_are_not_let_in_take_so_much_room_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.group.governing.DROPPED_MAX", 20)
    history = History("alice", signing=True)
    history.add("alice", "mallory", Role.READER)
    alice = alice_of(history)
    mallory = Author("mallory", alice.channel)
    mallory.identity, mallory.peer_id = person("mallory"), MALLORY
    for number in range(50):
        heads = history.governance.heads
        line = mallory.write(f"{number}", lamport=NOW_MS + number, governance=heads)
        assert only(values.SetDropped, alice.hear(line))

    assert len(governing(alice).dropped) == 20
    assert alice.group.sds._causal.aside == set(governing(alice).dropped)


# --- All of it in a world -------------------------------------------------------------------------


def test_bounds_hold_under_all_of_it_and_the_channel_goes_on() -> None:
    world = World(3, 1, terms=Terms(governed=True))
    assert world.governed is not None
    world.run(20 * SECOND)
    rng = random.Random(1)
    mallory = world.nodes[2].identity
    group = GroupId(bytes.fromhex(world.governed))
    runner = world.nodes[0].runner
    assert runner is not None
    for _ in range(200):
        heads = tuple(sorted(unknown(rng) for _ in range(limits.HEADS_MAX)))
        said = encode_heartbeat(GroupStateHeartbeat(group, heads, 1))
        runner.queue_input(world.governed, values.HeartbeatArrived(mallory.peer_id, said))
        junk = values.OpsArrived(mallory.peer_id, (rng.randbytes(200),))
        runner.queue_input(world.governed, junk)
    world.write_text(1, "all the same", world.governed)
    world.run(90 * SECOND)

    check_bounds(runner, 0)
    world.check()
    assert [len(node.disks[world.governed]) for node in world.nodes] == [1, 1, 1]
    governance = runner.groups[world.governed].governing
    assert governance is not None
    assert isinstance(governance.governance, Governance)
