"""A governed channel: who may write, what waits for ops, and what a start brings back."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from sync.calimero.governance.catch_up import GroupDeltaResponse, encode_response
from sync.calimero.governance.ops import (
    Access,
    Add,
    OpId,
    Policy,
    Role,
    SetPolicy,
    SignedGroupOp,
)
from sync.calimero.governance.pending import Dropped
from sync.entries.entry import GOVERNANCE_MAX, Kind
from sync.errors import LocalError, RemoteError
from sync.group import governing, values
from sync.machine import ChannelId, MessageId
from sync.sds.message import Message
from tests.support.sync.entries import Author
from tests.support.sync.governed import NAMES, History, key, noise, person
from tests.support.sync.groups import NOW, NOW_MS, Member, arrived, name_of, only

FOREIGN = OpId(b"\x07" * 32)
"""Id of an op that nobody has."""


def founded() -> History:
    """A channel that alice founded, and where she let bob in."""
    history = History("alice", signing=True)
    history.add("alice", "bob")
    return history


def channel_of(history: History) -> ChannelId:
    return ChannelId(history.governance.group.hex())


def member(name: str, history: History, ops: Sequence[SignedGroupOp] | None = None) -> Member:
    """Somebody who has these ops, or all there are."""
    one = Member(name, channel=channel_of(history), identity_of=person, governed=True)
    told(one, history.ops if ops is None else ops)
    return one


def told(one: Member, ops: Sequence[SignedGroupOp]) -> list[values.Effect]:
    contents = tuple(op.content for op in ops)
    return one.tell(values.OpsArrived(Author("trent").peer_id, contents))


def told_nothing(one: Member) -> list[values.Effect]:
    """A peer that was asked has no op more."""
    page = encode_response(GroupDeltaResponse((), has_more=False))
    return one.tell(values.OpsAnswered(Author("trent").peer_id, page))


def author(name: str, history: History) -> Author:
    """Somebody who writes entries elsewhere."""
    one = Author(name, channel_of(history))
    one.identity = person(name)
    one.peer_id = one.identity.peer_id
    return one


def line(
    name: str, history: History, *seen: SignedGroupOp, kind: int = Kind.TEXT
) -> values.StoredMessage:
    """A line of somebody who has seen these ops, or all there are."""
    cut = [op.id for op in seen] or history.governance.heads
    return author(name, history).write(lamport=NOW_MS, governance=cut, kind=kind)


def ended(effects: Sequence[values.Effect]) -> list[tuple[tuple[MessageId, ...], Dropped | None]]:
    return [(one.message_ids, one.label) for one in only(values.PendingEnded, effects)]


# --- Verdicts -------------------------------------------------------------------------------------


def test_a_members_line_is_shown() -> None:
    history = founded()
    alice = member("alice", history)
    sent = line("bob", history)

    alice.hear(sent)

    assert alice.shown() == [sent.entry.message_id]


def test_an_author_who_is_let_in_is_told_to_the_manager_once() -> None:
    history = founded()
    history.add("alice", "carol")
    alice = member("alice", history, history.ops[:2])
    bob, carol = person("bob").peer_id, person("carol").peer_id

    first = alice.hear(line("bob", history, history.ops[1]))
    again = alice.hear(line("bob", history, history.ops[1]))
    waits = alice.hear(line("carol", history))
    came = told(alice, [history.ops[2]])

    assert only(values.Observed, first) == [values.Observed(bob)]
    assert not only(values.Observed, [*again, *waits])
    assert only(values.Observed, came) == [values.Observed(carol)]


def test_a_strangers_line_is_dropped_and_remembered() -> None:
    history = founded()
    alice = member("alice", history)
    sent = line("mallory", history)
    message_id = sent.entry.message_id

    effects = alice.hear(sent)

    assert ended(effects) == [((message_id,), Dropped.NEVER_MEMBER)]
    assert alice.shown() == []
    assert len(alice.group.holdings) == 0
    assert not only(values.StoreMessage, alice.hear(sent))
    assert alice.disk.restore().dropped == ((message_id, Dropped.NEVER_MEMBER),)


def test_a_line_on_a_dropped_one_does_not_wait_for_it() -> None:
    history = founded()
    alice = member("alice", history)
    dropped = line("mallory", history)
    alice.hear(dropped)
    answer = author("bob", history).write(
        after=[dropped], lamport=NOW_MS + 1, governance=history.governance.heads
    )

    alice.hear(answer)

    assert alice.shown() == [answer.entry.message_id]
    assert not alice.group.sds.incoming.missing


def test_an_older_cut_of_somebody_removed_is_let_in_and_a_later_one_is_not() -> None:
    history = founded()
    before = history.ops[-1]
    removal = history.remove("alice", "bob")
    alice = member("alice", history)

    alice.hear(older := line("bob", history, before))
    effects = alice.hear(later := line("bob", history, removal))

    assert alice.shown() == [older.entry.message_id]
    assert ended(effects) == [((later.entry.message_id,), Dropped.REMOVED)]


def test_where_admins_write_members_react() -> None:
    history = founded()
    history.act("alice", SetPolicy(Policy(write=Access.ADMINS)))
    alice = member("alice", history)

    assert ended(alice.hear(written := line("bob", history))) == [
        ((written.entry.message_id,), Dropped.NOT_MEMBER)
    ]
    assert not ended(alice.hear(line("bob", history, kind=Kind.REACTION)))


# --- Entries that wait ----------------------------------------------------------------------------


def test_a_line_waits_for_the_op_that_lets_its_author_in() -> None:
    history = founded()
    alice = member("alice", history)
    addition = history.add("alice", "carol")
    sent = line("carol", history)
    message_id = sent.entry.message_id

    waits = alice.hear(sent)

    assert [one.message_id for one in only(values.Pends, waits)] == [message_id]
    [lacking] = only(values.LackingOps, waits)
    assert lacking == values.LackingOps(sent.entry.header.author, (addition.id,))
    assert alice.shown() == []
    assert len(alice.group.holdings) == 0
    assert not alice.group.sds.incoming.missing

    told(alice, [addition])

    assert alice.shown() == [message_id]
    assert len(alice.group.holdings) == 1
    assert alice.disk.restore().pending == ()


def test_a_line_that_names_one_that_waits_follows_it() -> None:
    history = founded()
    alice = member("alice", history)
    addition = history.add("alice", "carol")
    first = line("carol", history)
    answer = author("bob", history).write(
        after=[first], lamport=NOW_MS + 1, governance=[history.ops[1].id]
    )
    alice.hear(first)
    alice.hear(answer)
    assert alice.shown() == []

    told(alice, [addition])

    assert alice.shown() == [first.entry.message_id, answer.entry.message_id]
    assert alice.disk.restore().pending == ()


def test_a_line_that_names_a_forgotten_one_waits_for_it_no_more() -> None:
    history = founded()
    alice = member("alice", history)
    first = author("bob", history).write(lamport=NOW_MS, governance=[FOREIGN])
    answer = author("bob", history).write(
        after=[first], lamport=NOW_MS + 1, governance=[history.ops[1].id]
    )
    alice.hear(first)
    alice.hear(answer)
    alice.start()

    told_nothing(alice)
    assert answer.entry.message_id not in alice.disk.rows
    for _ in range(15):
        told_nothing(alice)

    assert answer.entry.message_id in alice.disk.rows
    assert alice.disk.restore().pending == ()


def test_the_order_in_which_ops_and_lines_come_changes_nothing() -> None:
    history = founded()
    added = history.add("alice", "carol")
    good = line("carol", history)
    removal = history.remove("alice", "bob")
    bad = line("bob", history, removal)
    late = line("bob", history, added)
    logs = set()
    for order in permutations([added, removal, good, bad, late]):
        alice = member("alice", history, history.ops[:2])
        for one in order:
            if isinstance(one, SignedGroupOp):
                told(alice, [one])
            else:
                assert isinstance(one, values.StoredMessage)
                alice.hear(one)
        state = alice.disk.restore()
        logs.add((tuple(alice.shown()), frozenset(state.dropped), state.pending))

    shown = tuple(sorted(one.entry.message_id for one in (good, late)))
    assert logs == {(shown, frozenset({(bad.entry.message_id, Dropped.REMOVED)}), ())}


def test_a_line_is_forgotten_after_sixteen_pulls_that_did_not_bring_its_cut() -> None:
    history = founded()
    alice = member("alice", history)
    sent = author("bob", history).write(lamport=NOW_MS, governance=[FOREIGN])
    alice.hear(sent)

    ends = [ended(told_nothing(alice)) for _ in range(16)]

    assert ends == [[]] * 15 + [[((sent.entry.message_id,), None)]]
    state = alice.disk.restore()
    assert (state.pending, state.dropped) == ((), ())
    assert only(values.Pends, alice.hear(sent))


def test_waiting_lines_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    history = founded()
    alice = member("alice", history)
    bob = author("bob", history)
    sent = [bob.write(lamport=NOW_MS + n, governance=[FOREIGN]) for n in range(4)]
    monkeypatch.setattr(governing, "PENDING_SIZE_MAX", 3 * len(sent[-1].payload))

    gone = [one for message in sent for one in ended(alice.hear(message))]

    assert gone == [((sent[0].entry.message_id,), None)]
    assert [one.entry.message_id for one in alice.disk.restore().pending] == [
        one.entry.message_id for one in sent[1:]
    ]


def test_nobody_is_asked_for_a_line_that_waits() -> None:
    history = founded()
    alice = member("alice", history)
    bob = author("bob", history)
    waits = bob.write(lamport=NOW_MS, governance=[FOREIGN])
    alice.hear(waits)
    named = (name_of(waits),)
    sync = Message(bob.peer_id, MessageId("5" * 64), bob.channel, NOW_MS + 1, named)

    alice.tell(arrived(sync, bob.peer_id))

    assert not alice.group.sds.incoming.missing


# --- A start --------------------------------------------------------------------------------------


def test_ops_lines_that_wait_and_dropped_ids_survive_a_start() -> None:
    history = founded()
    alice = member("alice", history)
    addition = history.add("alice", "carol")
    waiting, dropped = line("carol", history), line("mallory", history, history.ops[1])
    alice.hear(waiting)
    alice.hear(dropped)

    alice.start()

    assert alice.group.governing is not None
    assert alice.group.governing.governance.heads == (history.ops[1].id,)
    assert not only(values.SetDropped, alice.hear(dropped))
    told(alice, [addition])
    assert alice.shown() == [waiting.entry.message_id]


def test_an_op_whose_bytes_have_rotted_comes_again() -> None:
    history = founded()
    history.add("alice", "carol")
    alice = member("alice", history)
    del alice.disk.ops[history.ops[1].id]

    alice.start()

    assert alice.group.governing is not None
    assert alice.group.governing.governance.heads == (history.founded.id,)
    told(alice, history.ops)
    assert alice.group.governing.governance.heads == history.governance.heads
    assert [*alice.disk.ops] == [op.id for op in history.ops]


# --- Our own --------------------------------------------------------------------------------------


def test_our_lines_name_our_heads() -> None:
    history = founded()
    alice = member("alice", history)

    sent = alice.write("hello")

    assert sent.entry.header.governance == history.governance.heads


def test_of_many_heads_a_line_names_the_one_that_lets_us_in_and_the_newest() -> None:
    history = founded()
    base = history.ops[-1]
    mine = history.set_role("alice", "bob", Role.READER, after=[base])
    others = [
        history.act("alice", Add(key(name), noise(name), Role.MEMBER), [base]) for name in NAMES[2:]
    ]
    others += [
        history.act("alice", SetPolicy(Policy(topic=Access.ADMINS)), [base]) for _ in range(1)
    ]
    others += [history.invite("alice", f"code {n}", after=[base]) for n in range(GOVERNANCE_MAX)]
    bob = member("bob", history)
    assert len(history.governance.heads) > GOVERNANCE_MAX

    assert bob.group.governing is not None
    cut = bob.group.governing.cut()

    assert len(cut) == GOVERNANCE_MAX
    assert mine.id in cut
    assert list(cut) == sorted(cut)


@pytest.mark.parametrize(
    ("name", "policy", "reason"),
    [
        ("mallory", Policy(), governing.NOT_IN),
        ("bob", Policy(write=Access.ADMINS), governing.MAY_NOT),
    ],
)
def test_who_may_not_write_is_told_before_anything_is_signed(
    name: str, policy: Policy, reason: str
) -> None:
    history = founded()
    if policy != Policy():
        history.act("alice", SetPolicy(policy))
    one = member(name, history)

    with pytest.raises(LocalError) as told_why:
        one.write("hello")

    assert str(told_why.value) == reason
    assert not one.group.wrote


def test_before_the_first_op_is_here_nobody_writes() -> None:
    newcomer = member("carol", founded(), [])

    with pytest.raises(LocalError, match="not known yet"):
        newcomer.write("hello")


def test_an_act_of_ours_is_stored_sent_and_known_to_others() -> None:
    history = founded()
    alice, bob = member("alice", history), member("bob", history)

    effects = alice.tell(values.Act(7, Add(key("carol"), noise("carol"), Role.MEMBER)))

    [acted], [sent] = only(values.Acted, effects), only(values.SendOp, effects)
    assert acted.token == 7
    assert sent.content in [one.content for one in alice.disk.restore().ops]
    bob.tell(values.OpsArrived(alice.peer_id, (sent.content,)))
    assert bob.group.governing is not None
    assert bob.group.governing.governance.now.role(key("carol")) is Role.MEMBER
    carols = author("carol", history).write(lamport=NOW_MS, governance=[acted.op])
    bob.hear(carols)
    assert len(bob.shown()) == 1


def test_an_act_without_the_right_is_refused_in_words_and_changes_nothing() -> None:
    history = founded()
    bob = member("bob", history)
    before = bob.disk.restore()

    with pytest.raises(LocalError, match="Only admins can do that"):
        bob.tell(values.Act(1, Add(key("carol"), noise("carol"), Role.MEMBER)))

    assert bob.disk.restore() == before


def test_an_op_stands_in_the_transcript_behind_what_its_signer_had_read() -> None:
    history = founded()
    alice = member("alice", history)
    alice.hear(line("bob", history))

    [sent] = only(
        values.SendOp, alice.tell(values.Act(1, Add(key("carol"), noise("carol"), Role.MEMBER)))
    )

    assert alice.group.governing is not None
    [head] = alice.group.governing.governance.heads
    assert alice.group.governing.governance.act(head).lamport > NOW_MS
    assert sent.content


# --- What is refused ------------------------------------------------------------------------------


def test_a_false_op_is_refused_and_the_others_of_its_page_are_taken() -> None:
    history = founded()
    alice = member("alice", history)
    good = history.add("alice", "carol")
    false = good.content[:-1] + bytes([good.content[-1] ^ 1])
    peer = person("bob").peer_id

    effects = alice.tell(values.OpsArrived(peer, (false, b"nonsense", good.content)))

    assert [one.peer for one in only(values.Refused, effects)] == [peer, peer]
    assert only(values.Governed, effects) == [values.Governed((good.id,))]


def test_ops_of_a_channel_that_nobody_governs_are_refused() -> None:
    alice = Member("alice")

    with pytest.raises(RemoteError, match="nobody governs"):
        told(alice, founded().ops)


def test_ops_come_in_any_order() -> None:
    history = founded()
    history.add("alice", "carol")
    alice = member("alice", history, [])

    effects = [told(alice, [op]) for op in reversed(history.ops)]

    assert [one.ops for one in only(values.LackingOps, effects[0])] == [(history.ops[1].id,)]
    assert [len(one.ops) for one in only(values.Governed, effects[2])] == [3]
    assert NOW
