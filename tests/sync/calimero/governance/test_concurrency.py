"""Ops of both sides of a cut: the table of outcomes, in every order of arrival."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from math import factorial
from typing import Final

import pytest

from sync.calimero.governance.acl_view import Definition
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import (
    Access,
    Leave,
    Policy,
    Revoke,
    Role,
    SetPolicy,
    SignedGroupOp,
)
from sync.calimero.governance.projection import Reason
from tests.support.sync.governed import History, key, named_roles

NONE, READER, MEMBER, ADMIN, OWNER = Role
ORDERS_MAX: Final = 720
"""All orders of six ops; longer cases take as many."""

Lost = dict[str, tuple[Reason, str | None]]


class Case:
    """A channel of owners alice and trent that is cut: `one` and `other` know what came before."""

    def __init__(self) -> None:
        self.history = History("alice", "trent")
        self.names: dict[bytes, str] = {}

    def name(self, **ops: object) -> None:
        """Give ops their names in the table."""
        self.names |= {op.id: name for name, op in ops.items()}  # type: ignore[attr-defined]


def owner_removes_admin(case: Case) -> tuple[dict[str, Role], Lost]:
    """B out, B's acts void; who came by them is listed."""
    h = case.history
    base = h.add("alice", "bob", ADMIN)
    removed = h.remove("alice", "bob", after=[base])
    added = h.add("bob", "carol", after=[base])
    case.name(removed=removed, added=added)
    return {}, {"added": (Reason.SIGNER_TAKEN_OUT, "removed")}


def admin_removed_removes(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "carol")
    base = h.add("alice", "bob", ADMIN)
    removed = h.remove("alice", "bob", after=[base])
    out = h.remove("bob", "carol", after=[base])
    case.name(removed=removed, out=out)
    return {"carol": MEMBER}, {"out": (Reason.SIGNER_TAKEN_OUT, "removed")}


def removed_and_promoted(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "walter", ADMIN)
    base = h.add("alice", "bob")
    removed = h.remove("walter", "bob", after=[base])
    promoted = h.set_role("alice", "bob", ADMIN, after=[base])
    case.name(removed=removed, promoted=promoted)
    return {"walter": ADMIN, "bob": ADMIN}, {"removed": (Reason.OVERRULED, "promoted")}


def removed_and_given_a_role(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "walter", ADMIN)
    h.add("alice", "carol", ADMIN)
    base = h.add("alice", "bob", READER)
    removed = h.remove("walter", "bob", after=[base])
    raised = h.set_role("carol", "bob", MEMBER, after=[base])
    case.name(removed=removed, raised=raised)
    return {"walter": ADMIN, "carol": ADMIN}, {"raised": (Reason.OVERRULED, "removed")}


def removed_and_added(case: Case) -> tuple[dict[str, Role], Lost]:
    """Bob left; on one side he is let in and removed again, on the other let in."""
    h = case.history
    h.add("alice", "walter", ADMIN)
    base = h.add("alice", "carol", ADMIN)
    first = h.add("walter", "bob", after=[base])
    removed = h.remove("walter", "bob", after=[first])
    added = h.add("carol", "bob", after=[base])
    case.name(removed=removed, added=added)
    return {"walter": ADMIN, "carol": ADMIN}, {"added": (Reason.OVERRULED, "removed")}


def joined_by_an_older_code(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "mallory")
    code = h.invite("mallory", "code")
    removed = h.remove("alice", "mallory", after=[code])
    joined = h.join("carol", code, "code", after=[code])
    case.name(removed=removed, joined=joined)
    return {}, {"joined": (Reason.CODE_ENDED, "removed")}


def joined_by_a_code_of_the_same_time(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "bob")
    base = h.add("alice", "mallory")
    removed = h.remove("alice", "mallory", after=[base])
    code = h.invite("bob", "code", after=[base])
    joined = h.join("carol", code, "code", after=[code])
    case.name(removed=removed, joined=joined)
    return {"bob": MEMBER, "carol": MEMBER}, {}


def joined_by_a_code_of_the_removed(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    base = h.add("alice", "mallory")
    removed = h.remove("alice", "mallory", after=[base])
    code = h.invite("mallory", "code", after=[base])
    joined = h.join("carol", code, "code", after=[code])
    case.name(removed=removed, code=code, joined=joined)
    return {}, {
        "code": (Reason.SIGNER_TAKEN_OUT, "removed"),
        "joined": (Reason.INVITE_VOID, "code"),
    }


def invited_by_who_came_by_a_void_op(case: Case) -> tuple[dict[str, Role], Lost]:
    """The cascade: bob's guest, her code, and who came by it."""
    h = case.history
    base = h.add("alice", "bob", ADMIN)
    removed = h.remove("alice", "bob", after=[base])
    added = h.add("bob", "carol", after=[base])
    code = h.invite("carol", "code", after=[added])
    joined = h.join("dave", code, "code", after=[code])
    case.name(removed=removed, added=added, code=code, joined=joined)
    return {}, {
        "added": (Reason.SIGNER_TAKEN_OUT, "removed"),
        "code": (Reason.RIGHT_LOST, "added"),
        "joined": (Reason.INVITE_VOID, "code"),
    }


def two_owners(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    base = h.add("alice", "bob")
    made = h.set_role("alice", "bob", ADMIN, after=[base])
    removed = h.remove("trent", "bob", after=[base])
    case.name(made=made, removed=removed)
    return {}, {"made": (Reason.OVERRULED, "removed")}


def lowered_and_invited(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "walter", ADMIN)
    base = h.add("alice", "bob")
    lowered = h.set_role("walter", "bob", READER, after=[base])
    code = h.invite("bob", "code", after=[base])
    case.name(lowered=lowered, code=code)
    return {"walter": ADMIN, "bob": READER}, {"code": (Reason.SIGNER_TAKEN_OUT, "lowered")}


def lowered_is_overridden_by_an_owner(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "walter", ADMIN)
    base = h.add("alice", "bob")
    lowered = h.set_role("walter", "bob", READER, after=[base])
    raised = h.set_role("alice", "bob", ADMIN, after=[base])
    code = h.invite("bob", "code", after=[base])
    case.name(lowered=lowered, raised=raised, code=code)
    return {"walter": ADMIN, "bob": ADMIN}, {"lowered": (Reason.OVERRULED, "raised")}


def removed_and_added_on_both_sides(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    base = h.add("alice", "bob")
    one = h.remove("alice", "bob", after=[base])
    again = h.add("alice", "bob", after=[one])
    other = h.remove("trent", "bob", after=[base])
    once_more = h.add("trent", "bob", after=[other])
    case.name(one=one, again=again, other=other, once_more=once_more)
    return {}, {
        "again": (Reason.OVERRULED, "other"),
        "once_more": (Reason.OVERRULED, "one"),
    }


def removed_and_added_later(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    base = h.add("alice", "bob", ADMIN)
    removed = h.remove("alice", "bob", after=[base])
    h.add("trent", "bob", after=[removed])
    return {"bob": MEMBER}, {}


def left_and_promoted(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    base = h.add("alice", "bob")
    left = h.act("bob", Leave(), after=[base])
    promoted = h.set_role("alice", "bob", ADMIN, after=[base])
    case.name(left=left, promoted=promoted)
    return {}, {"promoted": (Reason.OVERRULED, "left")}


def revoked_and_joined(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "bob")
    code = h.invite("bob", "code")
    revoked = h.act("alice", Revoke(code.id), after=[code])
    joined = h.join("carol", code, "code", after=[code])
    case.name(revoked=revoked, joined=joined)
    return {"bob": MEMBER}, {"joined": (Reason.CODE_ENDED, "revoked")}


def rotated_and_joined(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    code = h.invite("alice", "code")
    rotated = h.act("trent", h.rotation([code]), after=[code])
    joined = h.join("carol", code, "code", after=[code])
    case.name(rotated=rotated, joined=joined)
    return {}, {"joined": (Reason.CODE_ENDED, "rotated")}


def removed_after_the_join(case: Case) -> tuple[dict[str, Role], Lost]:
    """A join that the signer of the inviter's removal had seen stands."""
    h = case.history
    h.add("alice", "mallory")
    code = h.invite("mallory", "code")
    joined = h.join("carol", code, "code", after=[code])
    h.remove("alice", "mallory", after=[joined])
    return {"carol": MEMBER}, {}


def two_codes_for_one(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    first = h.invite("alice", "one code", READER)
    second = h.invite("trent", "other code", MEMBER, after=[first])
    h.join("carol", first, "one code", after=[second])
    h.join("carol", second, "other code", after=[second])
    return {"carol": MEMBER}, {}


def lowered_and_raised_on_both_sides(case: Case) -> tuple[dict[str, Role], Lost]:
    h = case.history
    h.add("alice", "walter", ADMIN)
    base = h.add("alice", "bob")
    one = h.set_role("alice", "bob", READER, after=[base])
    up = h.set_role("walter", "bob", MEMBER, after=[one])
    other = h.set_role("trent", "bob", READER, after=[base])
    again = h.set_role("walter", "bob", MEMBER, after=[other])
    case.name(one=one, up=up, other=other, again=again)
    return {"walter": ADMIN, "bob": READER}, {
        "up": (Reason.OVERRULED, "other"),
        "again": (Reason.OVERRULED, "one"),
    }


def joined_by_a_code_of_one_removed_and_promoted(case: Case) -> tuple[dict[str, Role], Lost]:
    """Bob stays for the owner's sake; the codes that the admin did not know of end all the same."""
    h = case.history
    h.add("alice", "walter", ADMIN)
    base = h.add("alice", "bob")
    removed = h.remove("walter", "bob", after=[base])
    promoted = h.set_role("alice", "bob", ADMIN, after=[base])
    code = h.invite("bob", "code", after=[promoted])
    joined = h.join("carol", code, "code", after=[code])
    case.name(removed=removed, promoted=promoted, joined=joined)
    return {"walter": ADMIN, "bob": ADMIN}, {
        "removed": (Reason.OVERRULED, "promoted"),
        "joined": (Reason.CODE_ENDED, "removed"),
    }


def invited_by_leave_of_a_void_policy(case: Case) -> tuple[dict[str, Role], Lost]:
    case.history = h = History("alice", "trent", policy=Policy(invite=Access.ADMINS))
    h.add("alice", "carol")
    base = h.add("alice", "bob", ADMIN)
    removed = h.remove("alice", "bob", after=[base])
    opened = h.act("bob", SetPolicy(Policy()), after=[base])
    code = h.invite("carol", "code", after=[opened])
    joined = h.join("dave", code, "code", after=[code])
    case.name(removed=removed, opened=opened, code=code, joined=joined)
    return {"carol": MEMBER}, {
        "opened": (Reason.SIGNER_TAKEN_OUT, "removed"),
        "code": (Reason.RIGHT_LOST, "opened"),
        "joined": (Reason.INVITE_VOID, "code"),
    }


CASES: Final[list[Callable[[Case], tuple[dict[str, Role], Lost]]]] = [
    owner_removes_admin,
    admin_removed_removes,
    removed_and_promoted,
    removed_and_given_a_role,
    removed_and_added,
    joined_by_an_older_code,
    joined_by_a_code_of_the_same_time,
    joined_by_a_code_of_the_removed,
    invited_by_who_came_by_a_void_op,
    two_owners,
    lowered_and_invited,
    lowered_is_overridden_by_an_owner,
    removed_and_added_on_both_sides,
    removed_and_added_later,
    left_and_promoted,
    revoked_and_joined,
    rotated_and_joined,
    removed_after_the_join,
    two_codes_for_one,
    lowered_and_raised_on_both_sides,
    joined_by_a_code_of_one_removed_and_promoted,
    invited_by_leave_of_a_void_policy,
]


@pytest.mark.parametrize("row", CASES, ids=lambda row: row.__name__)
def test_outcome_in_every_order_of_arrival(
    row: Callable[[Case], tuple[dict[str, Role], Lost]],
) -> None:
    case = Case()
    roles, lost = row(case)
    whole = {**roles, "alice": OWNER, "trent": OWNER}
    definition = Definition(case.history.ops)
    view = definition.acl_view_at(definition.cut(case.history.governance.heads))

    assert view.roles == {key(name): role for name, role in whole.items()}
    for order in orders(case.history.ops):
        governance = Governance(case.history.governance.group)
        for op in order:
            governance.receive(op)
        assert named_roles(governance) == whole
        assert losses(case, governance) == lost


def orders(ops: list[SignedGroupOp]) -> Iterator[Sequence[SignedGroupOp]]:
    """Yield all orders of up to six ops; of more, as many at random."""
    if factorial(len(ops)) <= ORDERS_MAX:
        yield from permutations(ops)
        return
    rng = random.Random(len(ops))
    for _ in range(ORDERS_MAX):
        yield rng.sample(ops, len(ops))


def losses(case: Case, governance: Governance) -> Lost:
    return {
        case.names.get(op, op.hex()): (
            loss.reason,
            None if loss.because is None else case.names[governance.dag.acts[loss.because].id],
        )
        for op, loss in governance.losses(governance.now).items()
    }


@pytest.mark.parametrize(
    "row",
    [owner_removes_admin, joined_by_an_older_code, joined_by_a_code_of_the_removed],
)
def test_who_came_in_by_what_came_to_nothing_is_listed_and_add_brings_them_back(
    row: Callable[[Case], tuple[dict[str, Role], Lost]],
) -> None:
    case = Case()
    row(case)
    governance = case.history.governance

    assert [one.key for one in governance.asking(governance.now)] == [key("carol")]
    case.history.add("trent", "carol")
    assert case.history.roles()["carol"] is MEMBER
    assert governance.asking(governance.now) == ()


def test_who_was_removed_after_all_is_not_listed() -> None:
    case = Case()
    owner_removes_admin(case)
    case.history.add("trent", "carol")
    case.history.remove("trent", "carol")

    governance = case.history.governance
    assert governance.asking(governance.now) == ()


@pytest.mark.parametrize("turned", [False, True])
def test_a_policy_at_once_is_decided_field_by_field(turned: bool) -> None:
    history = History("alice", "trent")
    base = history.add("alice", "bob", ADMIN)
    closed = Policy(write=Access.ADMINS)
    first = history.act("alice", SetPolicy(closed), after=[base])
    opened = history.act("alice", SetPolicy(Policy()), after=[first])
    other = history.act("bob", SetPolicy(Policy(write=Access.ADMINS, pins=Access.ADMINS)), [base])
    stricter = history.act("trent", SetPolicy(Policy(topic=Access.ADMINS)), after=[base])
    ops = [first, opened, other, stricter]
    governance = Governance(history.governance.group)
    for op in [history.founded, base, *(ops[::-1] if turned else ops)]:
        governance.receive(op)

    # The owner's later word on writing beats the admin's; what only one side touched holds.
    assert governance.now.policy == Policy(topic=Access.ADMINS, pins=Access.ADMINS)


def test_equal_ranks_at_once_agree_on_the_stricter_policy() -> None:
    history = History("alice", "trent", policy=Policy(write=Access.ADMINS))
    base = history.founded
    opened = history.act("alice", SetPolicy(Policy()), after=[base])
    history.act("trent", SetPolicy(Policy(write=Access.ADMINS, pins=Access.ADMINS)), after=[base])
    closed = history.act("trent", SetPolicy(Policy(Access.ADMINS, Access.ADMINS)), after=[opened])
    history.act("alice", SetPolicy(Policy(invite=Access.ADMINS)), after=[opened])

    assert history.governance.now.policy == Policy(
        write=Access.ADMINS, invite=Access.ADMINS, pins=Access.ADMINS
    )
    assert closed.id in history.governance.heads
