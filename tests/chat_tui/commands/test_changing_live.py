"""Edits, reactions and deletions between real chats: over sockets, onto disks, after a start."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from chat_tui.client.live import Client
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.view.view import Event, Line, LineChanged, MessageShown
from tests.support.chat_tui.changing_live import Heard, shows
from tests.support.chat_tui.chats import meet, opened, running
from tests.support.storage.searching import found_by

pytestmark = pytest.mark.net


def looks(true: Callable[[Line], bool]) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, LineChanged) and true(event.line)


async def page(client: Client, channel: ChannelId) -> list[Line]:
    return list(await client.history.page(channel, before=None, limit=100))


async def test_what_one_changes_the_other_sees_and_still_after_a_start(tmp_path: Path) -> None:
    async with running(tmp_path, "ann") as ann, running(tmp_path, "bob") as bob:
        channel = ann.first_channel
        assert channel is not None
        at_ann, at_bob = Heard(ann), Heard(bob)
        await meet(ann, bob)
        cake = await ann.send_text(channel, "cake at for?")
        secret = await ann.send_text(channel, "a secret")
        await at_bob.until(shows("a secret"))

        await ann.edit(channel, cake, "cake at four?")
        await at_bob.until(looks(lambda line: line.edited and line.text == "cake at four?"))
        assert await bob.react(channel, cake, "👍")
        assert await bob.react(channel, cake, "🎉")
        assert not await bob.react(channel, cake, "👍")
        await at_ann.until(looks(lambda line: [one.emoji for one in line.reactions] == ["🎉"]))
        await ann.redact(channel, secret)
        await at_bob.until(looks(lambda line: line.deleted and line.message_id == secret))
        with pytest.raises(LocalError, match="only its author can edit"):
            await bob.edit(channel, cake, "forged")
        live = await page(bob, channel)

    async with opened(tmp_path, "bob") as again:
        assert await page(again, channel) == live
        assert [(line.text, line.edited, line.deleted) for line in live] == [
            ("cake at four?", True, False),
            ("", False, True),
        ]
        [party] = live[0].reactions
        assert (party.emoji, party.count, party.mine) == ("🎉", 1, True)
        assert await found_by(again.history, channel, "secret", limit=9) == []


async def test_who_joins_late_gets_messages_as_they_look_by_then(tmp_path: Path) -> None:
    async with running(tmp_path, "ann") as ann:
        channel = ann.first_channel
        assert channel is not None
        first = await ann.send_text(channel, "first")
        await ann.send_text(channel, "last")
        await ann.edit(channel, first, "second")
        await ann.react(channel, first, "👍")
        async with running(tmp_path, "bob") as bob:
            at_bob = Heard(bob)
            await meet(bob, ann)
            await at_bob.until(
                lambda event: (
                    isinstance(event, MessageShown | LineChanged)
                    and event.line.text == "second"
                    and bool(event.line.reactions)
                )
            )
            lines = await page(bob, channel)
            assert [(line.text, len(line.reactions)) for line in lines] == [
                ("second", 1),
                ("last", 0),
            ]


async def test_reactions_given_at_once_all_count(tmp_path: Path) -> None:
    async with running(tmp_path, "ann") as ann:
        channel = ann.first_channel
        assert channel is not None
        message = await ann.send_text(channel, "many")

        await asyncio.gather(*[ann.react(channel, message, one) for one in "👍🎉👀🔥"])

        [line] = await page(ann, channel)
        assert {one.emoji for one in line.reactions} == set("👍🎉👀🔥")
