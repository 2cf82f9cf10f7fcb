"""Members of a governed channel, in words."""

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from chat_tui.wording import members_table, membership, sentences
from chat_tui.wording.glyphs import UNICODE
from chat_tui.wording.panels import Unseen
from chat_tui.wording.sidebar import MEMBERS_SHOWN, SIDEBAR_WIDTH, sidebar
from sync.entries.identity import short_fingerprint
from sync.machine import HOUR
from sync.view.governance_infos import Access, GovernanceInfo, Person, Policy, Reason, Role
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.governed import (
    ALICE,
    BOB,
    CAROL,
    FRIENDS,
    all_on_alice,
    governance,
    member,
    plans,
    told,
    with_others,
)
from tests.support.chat_tui.scenes import utc
from tests.support.chat_tui.snapshots_of_state import absent, snapshot


def text(info: GovernanceInfo) -> list[str]:
    with utc():
        return membership.members_text(told(info), plans(info), info).splitlines()


def test_everybody_is_listed_with_role_presence_and_way_in() -> None:
    assert text(governance()) == [
        "#plans: 4 people are in. Members write and invite.",
        "owner   alice · you · founded it, 21 Nov 2025, 12:00",
        "admin   bob · here · added by alice, 21 Nov 2025, 13:00",
        "member  carol · added by bob, 21 Nov 2025, 14:00",
        "reader  dave · added by bob, 21 Nov 2025, 15:00",
    ]


def test_who_asks_and_who_went_stand_below_with_what_to_do() -> None:
    lines = text(with_others(governance()))

    assert lines[5:] == [
        "asks    erin · was removed, and asks to be let in again",
        "gone    mallory · removed by alice: spam, 21 Nov 2025, 16:00",
        "/add erin lets in who asks.",
    ]


def test_a_member_is_not_told_to_let_in_who_asks() -> None:
    assert not any("/add" in line for line in text(with_others(governance(Role.MEMBER))))


def test_nobody_is_told_to_let_in_who_finds_no_room() -> None:
    """Nobody can: the channel is full."""
    ours = with_others(governance())
    crowded = tuple([replace(one, reason=Reason.CROWDED) for one in ours.asking])
    lines = text(replace(ours, asking=crowded))

    assert lines[5] == "asks    erin · came when as many were in as can be"
    assert not any("/add" in line for line in lines)


def test_that_somebody_asks_is_said_to_who_may_let_them_in_for_as_long_as_it_is_so() -> None:
    asking = told(with_others(governance()))
    ours = asking.channels[0]
    [erin] = with_others(governance()).asking
    two = replace(ours, governance=replace(governance(), asking=(erin, erin)))
    member = told(with_others(governance(Role.MEMBER)))
    nobody = told(governance())

    assert sentences.what_happens(asking, ours) == "erin asks to be let in: /add erin does that."
    assert sentences.what_happens(asking, two) == (
        "erin and 1 other ask to be let in: /add erin does that; /members lists all."
    )
    crowded = replace(governance(), asking=(erin, erin), asking_count=300)
    many = replace(ours, governance=crowded)
    assert sentences.what_happens(asking, many) == (
        "erin and over 1 other ask to be let in: /add erin does that; /members lists the first."
    )
    assert "298 others ask to be let in, too." in text(crowded)
    lacking = replace(ours, missing=("aa" * 32,), missing_count=1)
    assert sentences.what_happens(asking, lacking).startswith("erin asks")
    for snapshot_ in (member, nobody):
        assert "/add" not in sentences.what_happens(snapshot_, snapshot_.channels[0])


def test_who_asks_without_a_name_is_named_by_the_key_that_add_takes() -> None:
    [erin] = with_others(governance()).asking
    nameless = replace(governance(), asking=(replace(erin, nick="\u200b"),))
    asking = told(nameless)
    key = short_fingerprint(erin.peer)

    assert sentences.what_happens(asking, asking.channels[0]) == (
        f"{key} asks to be let in: /add {key} does that."
    )


def test_who_got_another_role_later_has_it_by_somebody() -> None:
    raised = replace(member(CAROL, Role.ADMIN, BOB), role_by=ALICE)

    [line] = [one for one in text(governance(Role.OWNER, raised)) if one.startswith("admin")]

    assert line.endswith("added by bob, 21 Nov 2025, 12:00, admin by alice")


def test_a_policy_is_said_field_by_field_where_they_differ() -> None:
    announcing = governance(policy=Policy(write=Access.ADMINS))

    assert text(announcing)[0] == "#plans: 4 people are in. Admins alone write; members invite."


def test_all_that_hangs_on_one_profile_is_warned_of() -> None:
    alone = all_on_alice()
    other = replace(governance(Role.MEMBER, member(BOB, Role.OWNER, None)), only_owner=BOB.peer)

    shut = replace(alone, policy=Policy(invite=Access.ADMINS))

    assert "You are the only owner, and there is no admin" in text(alone)[-1]
    assert "nobody can remove anybody. /role NAME admin" in text(alone)[-1]
    assert "nobody can remove or let in anybody. /role" in text(shut)[-1]
    assert text(other)[-1].endswith("Ask bob to make an admin.")


def test_where_no_owner_is_left_it_is_said_what_cannot_be_done_any_more() -> None:
    gone = replace(governance(Role.MEMBER, *FRIENDS[1:]), owners_gone=True)

    assert "nobody can make or lower an admin" in text(gone)[-1]


def test_somebody_without_a_name_goes_by_the_key_and_bytes_of_others_are_cleaned() -> None:
    nameless = member(Person(peer("x")), Role.MEMBER)
    odd = member(Person(peer("y"), "ev\x1bil"), Role.MEMBER)

    lines = text(governance(Role.OWNER, nameless, odd))

    assert sentences.name_of(told(governance()), peer("x")) in lines[1]
    assert "\x1b" not in "".join(lines)


def test_two_who_look_alike_have_their_keys_beside_their_names() -> None:
    shared = replace(told(governance()), shared_names=frozenset({"carol"}))

    name = membership.called(shared, CAROL.peer, "carol")

    assert name == f"carol {sentences.name_of(shared, CAROL.peer)}"


def test_a_governed_channel_says_who_can_read_it() -> None:
    info = plans(governance())

    assert sentences.openness(info) == "only its 4 members can read it"
    assert "/members says who is, /invite" in sentences.nothing_yet(info)[1]


def test_who_is_not_in_hears_neither_that_nothing_was_written_nor_how_to_let_in_others() -> None:
    outside = plans(governance(Role.NONE))
    reader = plans(governance(Role.READER))

    assert sentences.nothing_yet(outside) == (
        "Nothing of #plans is here.", "Only members can read here.",
    )  # fmt: skip
    assert "/invite" not in sentences.nothing_yet(reader)[1]


def test_before_the_founding_is_here_nobody_is_counted() -> None:
    lines = text(GovernanceInfo(founded=False))

    assert lines == [
        "#plans: not known yet who is in.",
        "What founded this channel is not here yet; it comes from whoever is there and in it.",
    ]


@pytest.mark.parametrize("width", [58, 78, 138])
def test_since_when_somebody_is_gone_is_not_cut(width: int) -> None:
    days = {"12 Oct": 40, "Nov 2024": 380}
    for day, ago in days.items():
        gone = replace(absent("bob"), last_seen_ns=NOON - ago * 24 * HOUR)
        shown = snapshot(gone, info=plans(governance()))

        with utc():
            rows = members_table.table(shown, governance(), width, 0, UNICODE)

        assert f" gone {day} " in f"{rows[2].plain} "


def test_the_list_at_the_side_says_whole_where_the_other_members_are() -> None:
    many = [member(Person(peer(f"p{n}"), f"p{n}"), Role.MEMBER) for n in range(512)]
    info = plans(governance(Role.OWNER, *many))

    last = sidebar(snapshot(info=info), info.channel, Unseen(lambda _: 0), UNICODE).plain

    assert f"{512 - MEMBERS_SHOWN} more, /members" in last
    assert all(cell_len(line) <= SIDEBAR_WIDTH for line in last.split("\n"))


@pytest.mark.parametrize(("role", "said"), [(Role.OWNER, "owner you"), (Role.MEMBER, "you")])
def test_the_list_at_the_side_says_which_member_one_is(role: Role, said: str) -> None:
    info = plans(governance(role))

    rows = sidebar(snapshot(info=info), info.channel, Unseen(lambda _: 0), UNICODE).plain

    [mine] = [row for row in rows.split("\n") if " alice" in row]
    assert mine.endswith(said)
