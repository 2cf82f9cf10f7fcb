"""The /commands about who is in: what each says before anything is signed."""

import pytest
from msgspec.structs import replace

from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.wording.rights import NEEDED
from sync.entries.identity import short_fingerprint
from sync.machine import ChannelId
from sync.view.governance_infos import Access, GovernanceInfo, Person, Policy, Right, Role
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import peer
from tests.support.chat_tui.governed import (
    ALICE,
    CAROL,
    FRIENDS,
    channel_of,
    governance,
    governed_scene,
    member,
    removed,
    with_others,
)


async def said(line: str, info: GovernanceInfo) -> Result:
    """Enter a line as alice, in a channel that is governed so; returns the answer."""
    _, chat = governed_scene(scenes.morning(), info)
    return await Commands(chat).run(line, At(channel_of(chat)))


MEMBER = governance(Role.MEMBER)
ADMIN = governance(
    Role.ADMIN, member(CAROL, Role.OWNER, None), *FRIENDS[1:2], member(ALICE, Role.ADMIN)
)
OWNER = governance(Role.OWNER)
READER = governance(Role.READER)


@pytest.mark.parametrize(
    ("line", "info", "sentence"),
    [
        ("/add erin", MEMBER, "Only an admin or an owner can let in, remove, or give a role. Ask"),
        ("/kick carol", MEMBER, "Only an admin or an owner can"),
        ("/role carol reader", MEMBER, "Only an admin or an owner can"),
        ("/rotate", MEMBER, "Only an admin or an owner can change the secret"),
        ("/invite end", MEMBER, "Only an admin or an owner can change the secret and end all"),
        ("/policy write admins", MEMBER, "Only an admin or an owner can say who may do what"),
        ("/kick bob", ADMIN, "Only an owner can make, lower or remove an admin. Ask carol (owner)"),
        ("/role bob member", ADMIN, "Only an owner can"),
        ("/kick carol", ADMIN, "carol is an owner of #plans, by what founded it"),
        ("/role carol admin", ADMIN, "carol is an owner"),
        ("/kick alice", OWNER, "/leave takes you out"),
        ("/role alice admin", OWNER, "Nobody changes their own role"),
        ("/kick", OWNER, "write /kick, a name, and why if you like."),
        ("/kick nobody", OWNER, "Nobody called nobody is in #plans. /members says who is."),
        ("/add", OWNER, "write /add and a name."),
        ("/add bob", OWNER, "bob is in already, as admin."),
        ("/add nobody", OWNER, "a code, which /invite makes, lets in somebody you have not met."),
        ("/role carol", OWNER, "Something is missing: the roles are reader, member, admin."),
        ("/role carol king", OWNER, "king is no role: the roles are reader, member, admin."),
        ("/role carol owner", OWNER, "the highest role to give is admin"),
        ("/role carol member", OWNER, "carol is a member already."),
        ("/role bob admin", OWNER, "bob is an admin already."),
        ("/policy write everybody", OWNER, "write, invite, topic or pins, and members or admins"),
        ("/policy colour admins", OWNER, "write, invite, topic or pins, and members or admins"),
        ("/policy write members", OWNER, "That is so already. Write: members,"),
        ("/invite admin", OWNER, "who is to be an admin gets the role once they are in"),
        ("/invite", READER, "You are a reader here: you can read and react, not invite. Ask bob"),
        ("/govern", OWNER, "#plans is such a channel already"),
        ("/kick carol", removed(), "bob removed you: spam."),
        ("/invite", removed(), "bob removed you: spam."),
        ("hello", removed(), "bob removed you: spam."),
        ("hello", governance(Role.READER), "You are a reader here"),
    ],
)
async def test_what_cannot_be_done_says_why_and_what_to_do(
    line: str, info: GovernanceInfo, sentence: str
) -> None:
    result = await said(line, info)

    assert not result.ok
    assert sentence in result.text


@pytest.mark.parametrize(
    "line",
    ["/add bob", "/kick bob", "/role bob reader", "/rotate", "/policy write admins", "/govern"],
)
async def test_an_open_channel_says_that_nobody_has_a_role_there(line: str) -> None:
    chat = scenes.morning().chat

    result = await Commands(chat).run(line, At(chat.snapshot().channels[0].channel))

    assert not result.ok
    assert "#lobby is open to everybody on this network: nobody has a role there" in result.text


async def test_members_of_an_open_channel_are_whoever_is_here() -> None:
    chat = scenes.morning().chat

    result = await Commands(chat).run("/members", At(chat.snapshot().channels[0].channel))

    assert result.ok
    assert result.text.endswith("Here now: bob, carol.")


async def test_of_two_with_one_name_it_is_asked_which() -> None:
    other = Person(peer("another"), "carol")
    two = governance(Role.OWNER, *FRIENDS, member(other, Role.READER))

    result = await said("/kick carol spam", two)

    assert not result.ok
    assert "2 are called carol: write the key instead." in result.text
    assert f"{short_fingerprint(other.peer)} (reader, never met)" in result.text
    assert "(member, here)" in result.text


async def test_a_reason_that_no_act_holds_is_refused_with_its_length() -> None:
    result = await said(f"/kick carol {'x' * 201}", OWNER)

    assert result.text == "The reason has 201 characters; 200 is the most."


async def test_the_last_who_can_let_in_is_told_before_leaving() -> None:
    friends = (FRIENDS[0], *FRIENDS[2:])

    result = await said("/leave", governance(Role.OWNER, *friends))

    assert not result.ok
    assert "You are the last in #plans who can let in and remove" in result.text
    assert "/leave anyway leaves them so" in result.text


async def test_an_owner_is_told_that_there_is_no_way_back() -> None:
    result = await said("/leave", OWNER)

    assert not result.ok
    assert "an owner who leaves cannot come back. /leave anyway leaves for ever." in result.text


async def test_the_last_admin_is_told_that_nobody_can_follow() -> None:
    result = await said("/leave", governance(Role.ADMIN, member(ALICE, Role.ADMIN), *FRIENDS[2:]))

    assert "Only an owner could make another admin, and none is in." in result.text


async def test_policy_without_words_says_who_may_do_what() -> None:
    announcing = replace(MEMBER, policy=Policy(write=Access.ADMINS))

    result = await said("/policy", announcing)

    assert result.ok
    assert result.text == (
        "Write: admins alone, invite: members, set the topic: members, pin: members. Readers read "
        "and react."
    )


async def test_members_lists_everybody_for_line_mode_and_opens_the_list_on_a_screen() -> None:
    result = await said("/members", with_others(OWNER))

    assert result.action is not None
    assert result.action.startswith("members(")
    assert result.text.splitlines()[0] == "#plans: 4 people are in. Members write and invite."


async def test_an_admin_hides_lines_of_others_and_a_member_is_told_who_can() -> None:
    _, chat = governed_scene(scenes.morning(), MEMBER)
    channel = channel_of(chat)
    lines = await chat.history.page(channel, before=None, limit=9)
    theirs = next(line for line in lines if not line.own)

    refused = await Commands(chat).run(f"/delete {theirs.message_id[:12]}", At(channel))

    assert not refused.ok
    assert "Only an admin or an owner can hide what somebody else wrote." in refused.text


def test_every_right_of_a_command_has_words() -> None:
    assert set(NEEDED) == set(Right)


async def test_who_joins_before_the_disk_is_read_hears_then_why_they_are_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, chat = governed_scene(scenes.morning(), replace(removed(), read=False))

    async def joined(_: str) -> ChannelId:
        return channel_of(chat)

    monkeypatch.setattr(chat.memberships, "join", joined)
    result = await Commands(chat).run("/join #plans", At(channel_of(chat)))
    assert result.then is not None
    unread = result.then(chat.snapshot())
    _, other = governed_scene(scenes.morning(), removed())
    chat.governance = other.governance
    out = result.then(chat.snapshot())
    _, other = governed_scene(scenes.morning(), MEMBER)
    chat.governance = other.governance
    let_in = result.then(chat.snapshot())

    assert "unless you left after this code was made" in result.text
    assert unread == ""
    assert out is not None
    assert out.startswith("bob removed you: spam.")
    assert let_in == "You are in #plans; only its 4 members can read it."
