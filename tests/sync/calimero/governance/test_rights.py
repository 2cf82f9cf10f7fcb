"""Right of a signer at an op's own parents: each refusal by its name."""

import pytest
from msgspec.structs import replace

from sync.calimero.governance.governance import Refused
from sync.calimero.governance.ops import (
    Access,
    Add,
    Epoch,
    Invite,
    Leave,
    Op,
    OpId,
    Policy,
    Remove,
    Revoke,
    Role,
    Rotate,
    SetPolicy,
    SetRole,
)
from sync.calimero.governance.refusal import Refusal
from tests.support.sync.governed import History, key, noise, ticket_of


def channel() -> History:
    """Return a channel of owners alice and trent, admin bob, member carol, reader dave."""
    history = History("alice", "trent")
    for name, role in [("bob", Role.ADMIN), ("carol", Role.MEMBER), ("dave", Role.READER)]:
        history.add("alice", name, role)
    history.add("alice", "walter", Role.ADMIN)
    return history


def add(name: str, role: Role = Role.MEMBER) -> Add:
    return Add(key(name), noise(name), role)


INVITE = Invite(ticket_of("code").public_key, Role.MEMBER)
FIRST = Epoch(1, bytes(32))

ALLOWED: list[tuple[str, Op]] = [
    ("alice", add("erin", Role.ADMIN)),
    ("bob", add("erin")),
    ("bob", add("erin", Role.READER)),
    ("alice", Remove((key("bob"),), FIRST)),
    ("bob", Remove((key("carol"),), FIRST)),
    ("alice", SetRole(key("bob"), Role.MEMBER)),
    ("alice", SetRole(key("carol"), Role.ADMIN)),
    ("bob", SetRole(key("carol"), Role.READER)),
    ("bob", SetRole(key("dave"), Role.MEMBER)),
    ("bob", SetPolicy(Policy(write=Access.ADMINS))),
    ("bob", Rotate(FIRST)),
    ("carol", INVITE),
    ("bob", INVITE),
    ("dave", Leave()),
    ("alice", Leave()),
]
REFUSED: list[tuple[str, Op, Refusal]] = [
    ("erin", INVITE, Refusal.NOT_A_MEMBER),
    ("erin", Leave(), Refusal.NOT_A_MEMBER),
    ("erin", Rotate(FIRST), Refusal.NOT_A_MEMBER),
    ("dave", INVITE, Refusal.NOT_INVITING),
    ("carol", add("erin"), Refusal.NOT_ADMIN),
    ("carol", Remove((key("dave"),), FIRST), Refusal.NOT_ADMIN),
    ("carol", SetPolicy(Policy(write=Access.ADMINS)), Refusal.NOT_ADMIN),
    ("carol", Rotate(FIRST), Refusal.NOT_ADMIN),
    ("carol", Revoke(OpId(bytes(32))), Refusal.NOT_ADMIN),
    ("bob", add("erin", Role.ADMIN), Refusal.NOT_OWNER),
    ("bob", add("carol"), Refusal.TARGET_IN),
    ("bob", add("trent"), Refusal.TARGET_OWNER),
    ("bob", Remove((key("alice"),), FIRST), Refusal.TARGET_OWNER),
    ("bob", Remove((key("walter"),), FIRST), Refusal.NOT_OWNER),
    ("bob", Remove((key("bob"),), FIRST), Refusal.TARGET_SELF),
    ("bob", Remove((key("erin"),), FIRST), Refusal.TARGET_OUT),
    ("bob", Remove(tuple(sorted([key("carol"), key("erin")])), FIRST), Refusal.TARGET_OUT),
    ("alice", Remove((key("trent"),), FIRST), Refusal.TARGET_OWNER),
    ("bob", SetRole(key("walter"), Role.MEMBER), Refusal.NOT_OWNER),
    ("bob", SetRole(key("carol"), Role.ADMIN), Refusal.NOT_OWNER),
    ("bob", SetRole(key("bob"), Role.MEMBER), Refusal.TARGET_SELF),
    ("bob", SetRole(key("erin"), Role.MEMBER), Refusal.TARGET_OUT),
    ("bob", SetRole(key("carol"), Role.MEMBER), Refusal.UNCHANGED),
    ("bob", SetPolicy(Policy()), Refusal.UNCHANGED),
    ("bob", Rotate(replace(FIRST, number=2)), Refusal.EPOCH),
    ("bob", Remove((key("carol"),), replace(FIRST, number=7)), Refusal.EPOCH),
    ("bob", Revoke(OpId(bytes(32))), Refusal.NO_INVITE),
]


@pytest.mark.parametrize(("name", "op"), ALLOWED)
def test_who_has_the_right(name: str, op: Op) -> None:
    channel().act(name, op)


@pytest.mark.parametrize(("name", "op", "refusal"), REFUSED)
def test_who_has_not(name: str, op: Op, refusal: Refusal) -> None:
    history = channel()
    before = history.roles()
    made = history.made(name, op)

    assert history.take(made) == Refused(refusal)
    assert history.take(made) == Refused(refusal), "remembered"
    assert history.roles() == before


def test_members_invite_only_while_the_policy_lets_them() -> None:
    history = channel()
    history.act("bob", SetPolicy(Policy(invite=Access.ADMINS)))

    assert history.take(history.made("carol", INVITE)) == Refused(Refusal.NOT_INVITING)
    history.act("bob", INVITE)


def test_a_code_lets_in_while_it_lasts() -> None:
    history = channel()
    code = history.invite("carol", "code")
    history.join("erin", code, "code")
    assert history.roles()["erin"] is Role.MEMBER

    forged = history.joining("walter 2", code, "another code")
    assert history.take(history.made("walter 2", forged)) == Refused(Refusal.TICKET)
    again = history.joining("erin", code, "code")
    assert history.take(history.made("erin", again)) == Refused(Refusal.TARGET_IN)
    history.act("bob", history.rotation())
    late = history.joining("mallory", code, "code")
    assert history.take(history.made("mallory", late)) == Refused(Refusal.CODE_ENDED)


@pytest.mark.parametrize("how", ["revoked", "its maker removed", "anybody removed"])
def test_ends_of_a_code(how: str) -> None:
    history = channel()
    code = history.invite("carol", "code")
    match how:
        case "revoked":
            history.act("bob", Revoke(code.id))
        case "its maker removed":
            history.remove("bob", "carol")
        case _:
            history.remove("bob", "dave")
    late = history.joining("mallory", code, "code")

    assert history.take(history.made("mallory", late)) == Refused(Refusal.CODE_ENDED)


def test_a_ticket_is_for_one_person_and_one_invitation() -> None:
    history = channel()
    code = history.invite("carol", "code")
    stolen = history.joining("erin", code, "code")
    other = history.invite("bob", "other code")

    assert history.take(history.made("mallory", stolen)) == Refused(Refusal.TICKET)
    moved = replace(stolen, invite=other.id)
    assert history.take(history.made("erin", moved)) == Refused(Refusal.TICKET)
    foreign = replace(stolen, invite=history.founded.id)
    assert history.take(history.made("erin", foreign)) == Refused(Refusal.NO_INVITE)


def test_who_was_removed_asks_and_who_left_comes_back() -> None:
    history = channel()
    history.remove("bob", "carol")
    history.act("dave", Leave())
    code = history.invite("bob", "code")
    history.join("dave", code, "code")
    asking = history.join("carol", code, "code")

    governance = history.governance
    assert history.roles()["dave"] is Role.MEMBER
    assert "carol" not in history.roles()
    [one] = governance.asking(governance.now)
    assert (one.key, one.op) == (key("carol"), asking.id)
    history.add("bob", "carol", Role.READER)
    assert history.roles()["carol"] is Role.READER
    assert governance.asking(governance.now) == ()


def test_a_member_has_who_let_them_in_and_when() -> None:
    history = channel()
    code = history.invite("carol", "code")
    joined = history.join("erin", code, "code")
    raised = history.set_role("alice", "erin", Role.ADMIN)

    governance = history.governance
    standing = governance.now.people[key("erin")]
    assert governance.dag.acts[standing.since].id == joined.id
    assert governance.dag.acts[standing.act].id == raised.id
    removal = history.remove("alice", "erin")
    standing = governance.now.people[key("erin")]
    assert governance.dag.acts[standing.act].id == removal.id
    assert governance.dag.acts[standing.act].signer == key("alice")


def test_an_owner_who_left_does_not_come_back() -> None:
    history = channel()
    history.act("trent", Leave())

    assert "trent" not in history.roles()
    assert history.take(history.made("trent", Rotate(FIRST))) == Refused(Refusal.NOT_A_MEMBER)
    assert history.take(history.made("alice", add("trent"))) == Refused(Refusal.TARGET_OWNER)
