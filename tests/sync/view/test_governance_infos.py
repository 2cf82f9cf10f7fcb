"""A governed channel in a snapshot: who is in and by whom, who may what, and how it stands."""

import pytest

from sync.calimero.governance import limits
from sync.calimero.governance.catch_up import (
    GroupDeltaRequest,
    GroupDeltaResponse,
    encode_heartbeat,
    encode_request,
    encode_response,
    heartbeat,
)
from sync.calimero.governance.cross_check import Answer, Divergence
from sync.calimero.governance.ops import Access, Leave, OpId, Policy, Remove, Role, SetPolicy
from sync.calimero.governance.verdicts import Plane
from sync.group import values
from sync.group.group import Group
from sync.machine import SECOND, ChannelId, PeerId, Tick
from sync.view import governance_projection
from sync.view.governance_infos import (
    ActKind,
    CatchUpInfo,
    Entered,
    GovernanceInfo,
    NickOf,
    Person,
    Reason,
    Right,
)
from sync.view.governance_projection import OPS_SHOWN, governance_info
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, RandomHistory, everybody, key, person
from tests.support.sync.groups import NOW, Member


def peer(name: str) -> PeerId:
    return PeerId(key(name).hex())


def named(name: str) -> Person:
    return Person(peer(name), name)


def nick_of(who: PeerId) -> str:
    return {one.hex(): name for one, name in everybody().items()}[who]


def seen_by(name: str, history: History, nick_of: NickOf = nick_of) -> GovernanceInfo:
    """Return what somebody who has all ops sees."""
    one = Member(
        name,
        channel=ChannelId(history.governance.group.hex()),
        identity_of=person,
        governed=True,
    )
    contents = tuple(op.content for op in history.ops)
    one.tell(values.OpsArrived(Author("trent").peer_id, contents))
    return info_of(one.group, peer(name), nick_of)


def info_of(group: Group, me: PeerId, nick_of: NickOf = nick_of) -> GovernanceInfo:
    assert group.governing is not None
    return governance_info(group.governing, me, nick_of)


def founded() -> History:
    return History("alice", signing=True)


def test_members_stand_by_role_and_each_says_since_when_and_by_whom() -> None:
    history = founded()
    history.add("alice", "bob", Role.READER)
    history.add("alice", "carol", Role.ADMIN)
    code = history.invite("carol", "code")
    joined = history.join("dave", code, "code")
    history.set_role("carol", "dave", Role.READER)

    info = seen_by("bob", history)

    told = [(one.nick, one.role, one.entered, one.by, one.role_by) for one in info.members]
    assert told == [
        ("alice", Role.OWNER, Entered.FOUNDED, None, None),
        ("carol", Role.ADMIN, Entered.ADDED, named("alice"), None),
        ("bob", Role.READER, Entered.ADDED, named("alice"), None),
        ("dave", Role.READER, Entered.JOINED, named("carol"), named("carol")),
    ]
    assert info.members[-1].since_ns == joined.signed.created_ns


def test_somebody_without_a_name_has_the_one_they_joined_by() -> None:
    history = founded()
    code = history.invite("alice", "code")
    history.join("dave", code, "code")

    info = seen_by("alice", history, lambda _: "")

    assert [one.nick for one in info.members] == ["", "dave"]


@pytest.mark.parametrize(
    ("who", "role", "may", "may_not"),
    [
        ("alice", Role.OWNER, {*Right}, set()),
        ("carol", Role.ADMIN, {Right.WRITE, Right.HIDE, Right.MEMBERS}, {Right.ADMINS}),
        ("bob", Role.MEMBER, {Right.REACT, Right.PIN, Right.LEAVE}, {Right.WRITE, Right.INVITE}),
        ("dave", Role.READER, {Right.REACT, Right.LEAVE}, {Right.WRITE, Right.PIN, Right.HIDE}),
        ("mallory", Role.NONE, set(), {*Right}),
    ],
)
def test_rights_follow_from_role_and_policy(
    who: str, role: Role, may: set[Right], may_not: set[Right]
) -> None:
    history = founded()
    history.add("alice", "bob")
    history.add("alice", "carol", Role.ADMIN)
    history.add("alice", "dave", Role.READER)
    history.act("alice", SetPolicy(Policy(write=Access.ADMINS, invite=Access.ADMINS)))

    info = seen_by(who, history)

    assert info.role is role
    assert {right for right in Right if info.may(right)} >= may
    assert not may_not & set(info.rights)


def test_somebody_removed_is_told_by_whom_and_why_and_nobody_else_is() -> None:
    history = founded()
    history.add("alice", "mallory")
    removed = history.remove("alice", "mallory")

    info = seen_by("mallory", history)

    assert info.departure is not None
    assert (info.departure.by, info.departure.reason) == (named("alice"), "spam")
    assert (info.departure.left, info.departure.op_id) == (False, removed.id.hex())
    assert (info.gone, info.gone_count) == ((info.departure,), 1)
    assert seen_by("alice", history).departure is None
    assert seen_by("bob", history).departure is None


def test_who_left_went_by_themselves() -> None:
    history = founded()
    history.add("alice", "bob")
    history.act("bob", Leave())

    departure = seen_by("bob", history).departure

    assert departure is not None
    assert departure.left
    assert departure.by == named("bob")


def test_who_asks_to_be_let_in_again_is_listed_with_the_reason() -> None:
    history = founded()
    history.add("alice", "bob")
    code = history.invite("alice", "code")
    before = [code]
    history.remove("alice", "bob", after=before)
    history.join("carol", code, "code", after=before)

    info = seen_by("alice", history)

    assert [(one.nick, one.reason) for one in info.asking] == [("carol", Reason.CODE_ENDED)]


def test_of_more_than_are_shown_we_ask_first_and_who_only_found_no_place_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Any number of keys may enter by one code: each snapshot had all of them."""
    monkeypatch.setattr(governance_projection, "ROWS_MAX", 2)
    monkeypatch.setattr(limits, "MEMBERS_MAX", 3)
    history = founded()
    code = history.invite("alice", "code")
    crowd = [history.join(name, code, "code") for name in ("walter", "mallory", "bob", "dave")]
    history.remove("alice", "walter", after=crowd[-1:])
    for name in ("carol", "erin"):
        history.join(name, code, "code", after=crowd[-1:])
    history.join("walter", history.invite("alice", "new"), "new")

    asking = {who: seen_by(who, history).asking for who in ("alice", "dave", "walter")}

    assert {who: [one.nick for one in shown] for who, shown in asking.items()} == {
        "alice": ["erin", "carol"],
        "dave": ["dave", "erin"],
        "walter": ["walter", "erin"],
    }
    assert asking["dave"][0].reason is Reason.CROWDED
    seen = seen_by("alice", history)
    assert seen.asking_count == 4
    assert [one.nick for one in seen.gone] == ["walter"]  # the others never went
    assert seen.gone_count == 1


def test_one_owner_without_an_admin_is_told_as_such() -> None:
    history = founded()
    history.add("alice", "bob")
    alone = seen_by("bob", history)
    history.set_role("alice", "bob", Role.ADMIN)
    helped = seen_by("bob", history)
    history.act("alice", Leave())
    left = seen_by("bob", history)

    assert (alone.only_owner, alone.owners_gone) == (peer("alice"), False)
    assert (helped.only_owner, helped.owners_gone) == (None, False)
    assert (left.only_owner, left.owners_gone) == (None, True)


def test_secrets_are_told_by_number_the_newest_first() -> None:
    history = founded()
    history.add("alice", "bob")
    rotated = history.act("alice", history.rotation())

    info = seen_by("bob", history)

    assert [(one.number, one.newest, one.counts) for one in info.epochs] == [
        (1, True, True),
        (0, False, True),
    ]
    assert info.epochs[0].op_id == rotated.id.hex()
    assert (info.ops, info.heads) == (3, (rotated.id.hex(),))


def test_a_channel_whose_founding_is_not_here_says_so() -> None:
    history = founded()
    history.add("alice", "bob")
    one = Member(
        "bob",
        channel=ChannelId(history.governance.group.hex()),
        identity_of=person,
        governed=True,
    )

    info = info_of(one.group, peer("bob"))

    assert info == GovernanceInfo(founded=False)


def test_removals_of_ones_own_right_are_no_reason_of_others() -> None:
    history = founded()
    history.add("alice", "bob")
    history.add("alice", "carol")
    removed = history.act("alice", Remove((key("bob"),), history.epoch(), "loud"))

    info = seen_by("carol", history)

    assert [(one.nick, one.reason, one.op_id) for one in info.gone] == [
        ("bob", "loud", removed.id.hex())
    ]


def test_the_ops_that_came_last_say_what_they_are_and_why_they_came_to_nothing() -> None:
    history = founded()
    base = history.add("alice", "bob", Role.ADMIN)
    removed = history.remove("alice", "bob", after=[base])
    added = history.add("bob", "carol", after=[base])

    latest = seen_by("alice", history).latest

    assert [one.op_id for one in latest] == [op.id.hex() for op in reversed(history.ops)]
    last, before = latest[0], latest[1]
    assert (last.kind, last.by, last.people) == (ActKind.ADDED, named("bob"), (named("carol"),))
    assert (last.counts, last.head, last.rank, last.nonce) == (False, True, 1, 1)
    assert (last.reason, last.because) == (Reason.SIGNER_TAKEN_OUT, removed.id.hex())
    assert (before.counts, before.reason, before.rank, before.nonce) == (True, None, 0, 3)
    assert latest[-1].kind is ActKind.FOUNDED
    assert latest[-1].counts
    assert added.id != removed.id


def test_why_an_op_came_to_nothing_is_what_governance_says_of_all() -> None:
    for seed in range(30):
        history = RandomHistory(seed, OPS_SHOWN).history
        losses = history.governance.losses(history.governance.now)
        acts = history.governance.dag.acts
        told = governance_projection.latest_ops(
            history.governance, governance_projection.People(history.governance, nick_of)
        )
        assert len(told) == min(OPS_SHOWN, len(acts))
        for one in told:
            loss = losses.get(OpId(bytes.fromhex(one.op_id)))
            assert one.reason is (None if loss is None else loss.reason)
            because = "" if loss is None or loss.because is None else acts[loss.because].id.hex()
            assert one.because == because


def test_answers_that_were_checked_and_disagreements_are_counted_by_plane() -> None:
    history = founded()
    one = Member("alice", channel=ChannelId(history.governance.group.hex()), identity_of=person,
                 governed=True)  # fmt: skip
    one.tell(values.OpsArrived(peer("bob"), (history.founded.content,)))
    wrong = Divergence(Plane.CUT_GRANT, Answer(key("bob"), history.governance.heads, granted=True))
    one.tell(values.AnswersChecked(7, 2, (wrong,)))

    told = info_of(one.group, peer("alice"))

    assert (told.answers_checked, told.answers_skipped) == (7, 2)
    assert told.divergences == (("membership-cut-grant", 1),)


def test_pulls_of_ops_are_told_the_newest_first() -> None:
    history = founded()
    one = Member("alice", channel=ChannelId(history.governance.group.hex()), identity_of=person,
                 governed=True)  # fmt: skip
    bob = peer("bob")
    one.tell(values.OpsArrived(bob, (history.founded.content,)))
    one.tell(values.PeerJoined(bob))
    lacked = history.add("alice", "bob")
    beat = encode_heartbeat(heartbeat(history.governance))
    one.tell(values.HeartbeatArrived(bob, beat), NOW)
    assert any(isinstance(e, values.RequestOps) for e in one.tell(Tick(), NOW + 4 * SECOND))
    page = encode_response(GroupDeltaResponse((lacked.content,), has_more=False))
    one.tell(values.OpsAnswered(bob, page), NOW + 5 * SECOND)
    asks = encode_request(GroupDeltaRequest(history.governance.group, ()))
    [load] = [e for e in one.tell(values.OpsRequested(bob, asks), NOW + 6 * SECOND)
              if isinstance(e, values.LoadOps)]  # fmt: skip
    contents = one.disk.load_ops(load.ops)
    one.tell(values.OpsLoaded(bob, contents, load.more), NOW + 6 * SECOND)

    gave, asked = info_of(one.group, peer("alice")).catch_ups

    assert asked == CatchUpInfo(bob, True, NOW + 4 * SECOND, NOW + 5 * SECOND, 1, 1, 1, len(page))
    assert (gave.peer, gave.asked, gave.ops, gave.pages) == (bob, False, 2, 1)
    assert gave.ended_at == NOW + 6 * SECOND
