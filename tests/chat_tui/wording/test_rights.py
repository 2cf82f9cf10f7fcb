"""Sentences about acts without a right: why, who may, what to do instead."""

import pytest
from msgspec.structs import replace

from chat_tui.wording import rights, sentences
from sync.errors import LocalError
from sync.view.governance_infos import (
    UNREAD,
    Access,
    AskingInfo,
    GovernanceInfo,
    Policy,
    Reason,
    Right,
    Role,
)
from tests.support.chat_tui.conversations import peer
from tests.support.chat_tui.governed import (
    ALICE,
    BOB,
    CAROL,
    FRIENDS,
    governance,
    member,
    plans,
    removed,
    told,
)
from tests.support.chat_tui.snapshots_of_state import CALM


def why(info: GovernanceInfo) -> str:
    return rights.why_not_writing(told(info), plans(info))


def refusal(info: GovernanceInfo, right: Right) -> str:
    with pytest.raises(LocalError) as refused:
        rights.check(told(info), plans(info), info, right)
    return str(refused.value)


def test_who_may_write_is_told_nothing() -> None:
    assert why(governance()) == ""
    assert rights.why_not_writing(told(governance()), CALM) == ""
    assert rights.why_not_writing(told(governance()), None) == ""


def test_the_removed_are_told_by_whom_and_why() -> None:
    assert why(removed()) == (
        "bob removed you: spam. What is here stays; only an admin can let you in again."
    )
    assert why(removed(reason="")).startswith("bob removed you. What is here stays")


def test_a_reason_is_one_clean_line() -> None:
    assert why(removed(reason="a\nb\x1b[31m")).startswith("bob removed you: a b")
    assert "\x1b" not in why(removed(reason="a\nb\x1b[31m"))


def test_the_removed_who_ask_again_are_told_who_lets_them_in() -> None:
    asking = replace(removed(), asking=(AskingInfo(ALICE.peer, "alice", Reason.ASKS, "e3"),))

    assert why(asking) == (
        "bob removed you: spam. You ask to be let in again: an admin does it with /add."
    )


def test_who_finds_no_room_is_told_that_and_of_no_command_that_is_refused() -> None:
    gone = removed()
    assert gone.departure is not None
    asks = AskingInfo(ALICE.peer, "alice", Reason.CROWDED, "e3")
    crowded = replace(gone, departure=replace(gone.departure, crowded=True), asking=(asks,))

    assert why(crowded) == (
        "As many are in #plans as can be, so you are not: an admin can make room."
    )


def test_who_left_is_told_how_to_come_back() -> None:
    gone = removed()
    assert gone.departure is not None
    left = replace(gone, departure=replace(gone.departure, left=True, by=ALICE))

    assert why(left) == ("You have left #plans: a new code, or an admin's /add, lets you in again.")


def test_readers_are_told_whom_to_ask_and_those_here_come_first() -> None:
    reader = governance(Role.READER)

    assert why(reader) == (
        "You are a reader here: you can read and react, not write. Ask bob (admin)."
    )

    carol_too = governance(
        Role.READER, member(CAROL, Role.OWNER, None), member(BOB, Role.ADMIN, CAROL)
    )
    assert why(carol_too).endswith("Ask bob (admin) or carol (owner).")


def test_in_a_channel_for_announcements_members_are_told_that_admins_write() -> None:
    member_here = replace(
        governance(Role.MEMBER, policy=Policy(write=Access.ADMINS)), rights=(Right.REACT,)
    )

    assert why(member_here) == "Admins alone write in #plans; you can react. Ask bob (admin)."


def test_who_has_come_by_a_code_and_met_nobody_is_told_what_is_waited_for() -> None:
    before = GovernanceInfo(founded=False)
    seen = replace(governance(Role.NONE), departure=None)

    assert "comes from whoever is in it and here" in why(before)
    assert why(seen) == "You are not in #plans yet: somebody who is in it and here lets you in."


def test_who_is_not_in_is_told_that_and_not_that_nobody_is_here() -> None:
    before = GovernanceInfo(founded=False)
    seen = replace(governance(Role.NONE), departure=None)
    apart = {
        info: sentences.others_here(told(info), replace(plans(info), peers=()))
        for info in (before, seen, removed(), governance(), UNREAD)
    }

    assert [*apart.values()] == [
        "you are not in yet",
        "you are not in yet",
        "you are not in",
        "nobody else here",
        "nobody else here",
    ]
    assert sentences.others_here(told(seen), replace(plans(seen), peers=(BOB.peer,))) == (
        "1 other here"
    )


@pytest.mark.parametrize("right", [Right.MEMBERS, Right.POLICY, Right.ROTATE, Right.HIDE])
def test_a_member_is_told_who_can_do_what_admins_can(right: Right) -> None:
    said = refusal(governance(Role.MEMBER), right)

    assert said.startswith("Only an admin or an owner can ")
    assert said.endswith("Ask bob (admin).")


def test_an_admin_is_told_that_owners_make_admins() -> None:
    friends = (member(CAROL, Role.OWNER, None), *FRIENDS[1:2], member(ALICE, Role.ADMIN))

    said = refusal(governance(Role.ADMIN, *friends), Right.ADMINS)

    assert said == "Only an owner can make, lower or remove an admin. Ask carol (owner)."


def test_where_nobody_can_any_more_that_is_said() -> None:
    said = refusal(governance(Role.MEMBER, member(ALICE, Role.MEMBER)), Right.MEMBERS)

    assert said.endswith("Nobody who can is in #plans any more: /create founds another channel.")


def test_an_owner_is_no_target() -> None:
    info = governance(Role.ADMIN)

    with pytest.raises(LocalError, match="alice is an owner of #plans"):
        rights.check_target(told(info), plans(info), info, FRIENDS[0])
    with pytest.raises(LocalError, match="Only an owner can make, lower or remove an admin"):
        rights.check_target(told(info), plans(info), info, FRIENDS[1])
    rights.check_target(told(info), plans(info), info, FRIENDS[2])


def test_channels_without_roles_say_what_there_is_instead() -> None:
    two = replace(CALM, open=False, name="bob", direct=peer("bob"))

    assert "open to everybody" in rights.not_governed(CALM)
    assert "for two people alone" in rights.not_governed(two)
    assert "/govern" in rights.not_governed(replace(CALM, open=False))
    with pytest.raises(LocalError, match="whoever has its code"):
        rights.governed(replace(CALM, open=False))


def test_lines_are_refused_by_what_the_right_is() -> None:
    reader = told(governance(Role.READER))
    [info] = reader.channels

    rights.refuse(reader, info.channel, Right.REACT)
    with pytest.raises(LocalError, match="You are a reader here"):
        rights.refuse(reader, info.channel, Right.WRITE)
    with pytest.raises(LocalError, match="hide what somebody else wrote"):
        rights.refuse(reader, info.channel, Right.HIDE)
