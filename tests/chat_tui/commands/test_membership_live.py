"""The /commands about who is in, between people on this computer."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.line_mode.output import TextFace
from chat_tui.settings.preferences import Preferences
from sync.machine import ChannelId
from sync.view.governance_infos import Access, GovernanceInfo, Role
from sync.view.view import ChannelInfo
from tests.support.chat_tui.acquainted import friends
from tests.support.chat_tui.chats import running
from tests.support.chat_tui.live_clients import Heard
from tests.support.patience import PATIENCE_S
from tests.support.sync.nodes import until

pytestmark = [pytest.mark.net, pytest.mark.slow]


async def run(client: Client, line: str, channel: ChannelId | None) -> Result:
    return await Commands(client).run(line, At(channel))


async def done(client: Client, line: str, channel: ChannelId | None) -> Result:
    """Enter a line that must be done; returns the answer."""
    result = await run(client, line, channel)
    assert result.ok, (line, result.text)
    return result


def code_of(result: Result) -> str:
    """The line by which somebody enters, of what /invite shows."""
    return next(line for line in result.text.splitlines() if line.startswith("/join "))


def info(client: Client, channel: ChannelId) -> ChannelInfo:
    return next(one for one in client.snapshot().channels if one.channel == channel)


def governance(client: Client, channel: ChannelId) -> GovernanceInfo:
    found = info(client, channel).governance
    assert found is not None
    return found


def names(client: Client, channel: ChannelId) -> dict[str, Role]:
    return {one.nick: one.role for one in governance(client, channel).members}


async def founded(client: Client, line: str = "/create plans") -> ChannelId:
    result = await done(client, line, client.first_channel)
    assert result.channel is not None
    return result.channel


async def let_in(alice: Client, bob: Client, plans: ChannelId) -> None:
    """Bob enters by a code of alice, and is a member at both."""
    code = code_of(await done(alice, "/invite", plans))
    await done(bob, code, bob.first_channel)
    await sees(bob, plans, lambda now: now.role is Role.MEMBER, "bob is a member")
    await sees(alice, plans, lambda now: len(now.members) == 2, "alice sees bob")


async def sees(
    client: Client, channel: ChannelId, true: Callable[[GovernanceInfo], bool], what: str
) -> None:
    """Wait until somebody's chat shows something of who is in."""
    await until(lambda: true(governance(client, channel)), what)


# -- alone ---------------------------------------------------------------------------------------


async def test_a_founded_channel_has_an_owner_a_code_and_a_policy(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        created = await done(alice, "/create plans", alice.first_channel)
        plans = created.channel
        assert plans is not None
        listed = await done(alice, "/members", plans)
        first, second = [code_of(await done(alice, "/invite", plans)) for _ in range(2)]
        await done(alice, "/invite end", plans)
        third = code_of(await done(alice, "/invite", plans))
        policy = await done(alice, "/policy write admins", plans)

        assert "#plans is private, and you are its owner." in created.text
        assert listed.text.splitlines()[1].startswith("owner  alice · you · founded it")
        assert "You are the only owner, and there is no admin" in listed.text
        assert first == second != third
        assert policy.text.startswith("Write: admins alone, invite: members,")
        assert governance(alice, plans).policy.write is Access.ADMINS
        assert (await run(alice, "nothing in the way", plans)).ok


async def test_plain_founds_a_channel_that_old_programs_can_join(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        plans = await founded(alice, "/create plans plain")
        odd = await run(alice, "/create two words", alice.first_channel)
        members = await run(alice, "/members", plans)

        assert info(alice, plans).governance is None
        assert not odd.ok
        assert "A channel's name is one word" in odd.text
        assert "#plans is for whoever has its code" in members.text


async def test_govern_founds_a_successor_and_posts_its_code(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        plans = await founded(alice, "/create plans plain")
        result = await done(alice, "/govern", plans)
        again = await run(alice, "/govern", result.channel)
        lobby = await run(alice, "/govern", alice.first_channel)
        posted = [line.text for line in await alice.history.page(plans, before=None, limit=9)]

        assert result.channel is not None
        assert governance(alice, result.channel).predecessor == plans
        assert "chat1-" in posted[0]
        assert "goes on from #plans, and you are its owner" in result.text
        assert not again.ok
        assert not lobby.ok


# -- with others ---------------------------------------------------------------------------------


async def test_somebody_enters_by_a_code_gets_a_role_and_is_removed(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        plans = await founded(alice)
        await let_in(alice, bob, plans)
        from_bob, from_alice = Heard(bob), Heard(alice)

        await done(bob, "hello", plans)
        assert await from_alice.texts(1) == ["hello"]
        lowered = await done(alice, "/role bob reader", plans)
        await sees(bob, plans, lambda now: now.role is Role.READER, "bob is a reader")
        silent = await run(bob, "am I?", plans)
        raised = await done(alice, "/role bob admin", plans)
        await sees(bob, plans, lambda now: now.role is Role.ADMIN, "bob is an admin")
        kicked = await done(alice, "/kick bob too loud", plans)
        await sees(bob, plans, lambda now: now.role is Role.NONE, "bob is out")
        late = await run(bob, "let me in", plans)
        await done(alice, "without bob", plans)

        assert lowered.text == "bob is a reader now, and reads and reacts here."
        assert silent.text.startswith("You are a reader here: you can read and react, not write.")
        assert raised.text.startswith("bob is an admin now")
        assert kicked.text.startswith("bob is removed and gets nothing new of #plans")
        assert late.text.startswith("alice removed you: too loud.")
        assert names(alice, plans) == {"alice": Role.OWNER}
        assert not any("without bob" in str(event) for event in from_bob.events)


async def test_add_lets_in_without_a_code_and_again(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        plans = await founded(alice)
        await let_in(alice, bob, plans)
        await done(alice, "/kick bob", plans)
        await sees(bob, plans, lambda now: now.role is Role.NONE, "bob is out")

        added = await done(alice, "/add bob reader", plans)
        await sees(bob, plans, lambda now: now.role is Role.READER, "bob is in again")
        twice = await run(alice, "/add bob", plans)

        assert added.text == "bob is in #plans as reader, without a code."
        assert twice.text == "bob is in already, as reader."


async def test_line_mode_says_at_its_start_why_one_cannot_write(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with friends(tmp_path) as (alice, bob):
        plans = await founded(alice)
        await let_in(alice, bob, plans)
        TextFace(bob, Preferences()).ready(plans)
        before = capsys.readouterr().out
        await done(alice, "/kick bob spam", plans)
        await sees(bob, plans, lambda now: now.role is Role.NONE, "bob is out")
        TextFace(bob, Preferences()).ready(plans)
        after = capsys.readouterr().out

        assert "You are bob in #plans, only its 2 members can read it." in before
        assert "removed" not in before
        assert "* alice removed you: spam." in after


async def test_leave_tells_the_others(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        plans = await founded(alice)
        await let_in(alice, bob, plans)

        left = await done(bob, "/leave", plans)
        await sees(alice, plans, lambda now: len(now.members) == 1, "bob has left")

        assert left.text.startswith("You have left #plans.")
        assert "gone   bob · left" in (await done(alice, "/members", plans)).text


async def test_who_was_removed_and_gives_the_channel_up_is_told_how_it_comes_back(
    tmp_path: Path,
) -> None:
    async with friends(tmp_path) as (alice, bob):
        plans = await founded(alice)
        await let_in(alice, bob, plans)
        await done(alice, "/kick bob", plans)
        await sees(bob, plans, lambda now: now.departure is not None, "bob knows that he is out")

        given_up = await done(bob, "/leave", plans)
        from_alice = Heard(bob)
        await done(alice, "/add bob", plans)
        [told] = await from_alice.texts(1)
        await bob.governing.join(told.rpartition(" ")[2])

        assert given_up.text.endswith("a new code or an admin's /add brings it back.")
        await sees(bob, plans, lambda now: len(now.members) == 2, "bob is in again")


async def test_an_admin_hides_what_another_wrote(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        plans = await founded(alice)
        await let_in(alice, bob, plans)
        from_alice = Heard(alice)
        await done(bob, "not nice", plans)
        await from_alice.texts(1)
        [line] = await alice.history.page(plans, before=None, limit=1)

        mine = await run(alice, f"/delete {line.message_id[:12]}", plans)

        assert mine.ok, mine.text
        assert mine.text.startswith("Hidden what bob wrote. All see by whom")
        await until_hidden(alice, plans)
        await until_hidden(bob, plans)
        [at_bob] = await bob.history.page(plans, before=None, limit=1)
        assert at_bob.hidden_by is not None
        assert (at_bob.text, at_bob.hidden_by.nick) == ("", "alice")


async def until_hidden(client: Client, channel: ChannelId) -> None:
    """Wait until the newest line of a channel is hidden."""

    async def hidden() -> bool:
        page = await client.history.page(channel, before=None, limit=1)
        return page[-1].deleted

    async with asyncio.timeout(PATIENCE_S):
        while not await hidden():
            await Commands(client).run("/who", At(channel))
