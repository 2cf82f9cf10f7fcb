"""Commands that edit, react and delete: what they do, and what they say when they cannot."""

from collections.abc import Awaitable, Callable

import pytest

from chat_tui.client.simulated import SimulatedChat
from chat_tui.commands.command import At, Result
from chat_tui.commands.editing import AN_ID, HONEST, LOOKED_BACK, PAGE
from chat_tui.commands.table import Commands
from sync.entries.changes import EMOJIS_MAX, NOT_HERE, Redaction
from sync.entries.entry import TEXT_MAX
from sync.errors import LocalError
from sync.machine import MINUTE, SECOND, MessageId
from sync.view.view import Line
from tests.support.chat_tui import scenes


class Table:
    """Alice at her screen, bob beside her; each has written two lines."""

    def __init__(self) -> None:
        self.scene = scenes.Scene("alice", "bob")
        self.chat = self.scene.chat
        self.channel = self.scene.world.channel
        self.scene.world.run(6 * SECOND)
        for who, text in ((0, "mine one"), (1, "bob one"), (0, "mine two"), (1, "bob two")):
            self.scene.say(who, text)
        self.selected: MessageId | None = None

    async def run(self, text: str) -> Result:
        result = await Commands(self.chat).run(text, At(self.channel, self.selected))
        self.scene.world.run(MINUTE)
        return result

    async def lines(self) -> list[Line]:
        return list(await self.chat.history.page(self.channel, before=None, limit=100))

    async def ids(self) -> dict[str, MessageId]:
        return {one.text: one.message_id for one in await self.lines()}

    async def bobs(self) -> list[tuple[str, bool, bool, int]]:
        """Return the messages as bob sees them."""
        bob = SimulatedChat(self.scene.world, 1, self.scene.names)
        page = await bob.history.page(self.channel, before=None, limit=100)
        return [(one.text, one.edited, one.deleted, len(one.reactions)) for one in page]


async def test_without_an_id_the_own_newest_is_edited_and_everybody_sees_it() -> None:
    table = Table()

    result = await table.run("/edit better  words")

    assert result == Result(text="Edited; others see that it was edited.")
    assert ("better  words", True, False, 0) in await table.bobs()
    assert ("mine one", False, False, 0) in await table.bobs()


async def test_status_and_channels_count_lines_and_no_changes() -> None:
    table = Table()
    ids = await table.ids()

    await table.run("/edit better words")
    await table.run(f"/react {ids['bob two']} :+1:")
    await table.run(f"/delete {ids['mine one']}")
    status, channels = await table.run("/status"), await table.run("/channels")

    assert len(await table.lines()) == 4
    assert table.chat.snapshot().channels[0].messages == 7
    assert ": 4 messages, " in status.text
    assert " · 4 messages · " in channels.text


async def test_without_a_text_the_one_of_now_is_offered() -> None:
    table = Table()

    offered = await table.run("/edit")
    assert offered.ok
    assert offered.draft.split(" ", 2)[2] == "mine two"
    assert offered.text.endswith(' and the new text changes "mine two".')
    assert [one.edited for one in await table.lines()] == [False] * 4

    await table.run("a newer line")
    await table.run(f"{offered.draft} and a half")
    assert ("mine two and a half", True, False, 0) in await table.bobs()


async def test_the_selected_message_is_meant_before_any_other() -> None:
    table = Table()
    ids = await table.ids()
    table.selected = ids["mine one"]

    await table.run("/edit the first")
    await table.run("/react heart")

    assert ("the first", True, False, 1) in await table.bobs()


async def test_an_id_means_its_message_wherever_the_cursor_is() -> None:
    table = Table()
    ids = await table.ids()
    table.selected = ids["bob one"]
    prefix = next(
        ids["mine one"][:size]
        for size in range(6, 65)
        if any(map(str.isdigit, ids["mine one"][:size]))
    )

    await table.run(f"/edit {prefix.upper()} the first")
    await table.run(f"/react {ids['bob two']} 👀")
    await table.run(f"/delete {ids['mine two']}")

    assert await table.bobs() == [
        ("the first", True, False, 0),
        ("bob one", False, False, 0),
        ("", False, True, 0),
        ("bob two", False, False, 1),
    ]


async def test_where_no_text_could_stand_four_characters_of_an_id_are_enough() -> None:
    table = Table()
    ids = await table.ids()

    reacted = await table.run(f"/react {ids['bob one'][:4]} tada")
    deleted = await table.run(f"/delete {ids['mine one'][:4]}")

    assert (reacted.text, deleted.text) == ("Reacted with 🎉.", HONEST)
    assert [(one[2], one[3]) for one in await table.bobs()] == [
        (True, 0),
        (False, 1),
        (False, 0),
        (False, 0),
    ]


async def test_a_word_that_could_be_an_id_is_a_word() -> None:
    table = Table()

    await table.run("/edit facade paint is here")

    assert ("facade paint is here", True, False, 0) in await table.bobs()
    assert AN_ID.fullmatch("abcdefabcdef")
    assert not AN_ID.fullmatch("12345")


async def test_what_is_deleted_says_so_at_both_and_the_answer_is_honest() -> None:
    table = Table()

    result = await table.run("/delete")

    assert result.text == HONEST
    assert "may still show it" in HONEST
    assert ("", False, True, 0) in await table.bobs()
    assert [one.deleted for one in await table.lines()] == [False, False, True, False]
    assert (await table.run("/edit again")).ok
    assert [one.text for one in await table.lines()] == ["again", "bob one", "", "bob two"]


async def test_reacting_again_with_the_same_takes_it_back() -> None:
    table = Table()

    first, second, third = [await table.run(f"/react {one}") for one in ("+1", ":heart:", "👍")]

    assert [one.text for one in (first, second, third)] == [
        "Reacted with 👍.",
        "Reacted with ❤.",
        "Took 👍 back.",
    ]
    [*_, newest] = await table.lines()
    assert (newest.text, [one.emoji for one in newest.reactions]) == ("bob two", ["❤"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("/edit {bob}", "is bob's; only its author can edit it"),
        ("/edit " + "x" * (TEXT_MAX + 1), f"{TEXT_MAX} fit"),
        ("/edit 000000 new", "No message here has an id that begins with 000000."),
        ("/edit {bob} new", "is bob's; only its author can edit it"),
        ("/delete {bob}", "is bob's; only its author can delete it"),
        (
            "/delete the last one",
            "Use /delete ID (its beginning is enough), or /delete for the selected message.",
        ),
        ("/react", "Something is missing: write /react and an emoji."),
        ("/react lol", "lol is not one emoji; write one, or one of these: +1, -1, heart"),
        ("/react 👍👍", "is not one emoji"),
        ("/react \u200b", "is not one emoji"),
    ],
)
async def test_what_cannot_be_done_is_explained(text: str, sentence: str) -> None:
    table = Table()
    before = await table.lines()

    result = await table.run(text.replace("{bob}", (await table.ids())["bob one"]))

    assert not result.ok
    assert sentence in result.text
    assert await table.lines() == before


async def test_what_is_deleted_is_changed_no_more() -> None:
    table = Table()
    gone = (await table.ids())["mine two"]
    await table.run(f"/delete {gone}")

    answers = [await table.run(f"{one} {gone} {rest}".strip()) for one, rest in OF_THE_DELETED]

    assert {answer.ok for answer in answers} == {False}
    assert {answer.text for answer in answers} == {
        "That message is deleted; it can no longer be changed."
    }


OF_THE_DELETED = (("/edit", "x"), ("/react", "👍"), ("/delete", ""))


async def test_without_an_id_nobody_reacts_to_what_is_deleted() -> None:
    table = Table()
    table.scene.world.change(1, Redaction((await table.ids())["bob two"]))
    table.scene.world.run(MINUTE)

    assert (await table.run("/react 👍")).ok

    assert [len(one.reactions) for one in await table.lines()] == [0, 0, 1, 0]


async def test_more_reactions_than_fit_are_refused() -> None:
    table = Table()
    many = [chr(0x1F600 + number) for number in range(EMOJIS_MAX + 1)]

    answers = [await table.run(f"/react {emoji}") for emoji in many]

    assert [one.ok for one in answers] == [True] * EMOJIS_MAX + [False]
    assert "taking" not in answers[-1].text
    assert "takes it back" in answers[-1].text


@pytest.mark.parametrize("command", ["/edit x", "/react 👍", "/delete"])
async def test_where_nothing_was_written_there_is_nothing_to_change(command: str) -> None:
    scene = scenes.Scene("alice", "bob")

    result = await Commands(scene.chat).run(command, At(scene.world.channel))

    assert not result.ok
    assert "no recent message here" in result.text or "no message to react to" in result.text


async def test_the_own_newest_is_looked_for_a_while_back_and_no_further() -> None:
    scene = scenes.Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.say(0, "long ago")
    for number in range(PAGE + 5):
        scene.world.write_text(1, f"{number}")
    scene.world.run(MINUTE)

    result = await Commands(scene.chat).run("/edit found", At(scene.world.channel))

    assert result.ok
    assert LOOKED_BACK * PAGE == 2000
    [first, *_] = await scene.chat.history.page(scene.world.channel, before=None, limit=1000)
    assert (first.text, first.edited) == ("found", True)


Act = Callable[[SimulatedChat, str], Awaitable[object]]


@pytest.mark.parametrize(
    "act",
    [
        lambda chat, channel: chat.edit(channel, MessageId("0" * 64), "x"),
        lambda chat, channel: chat.react(channel, MessageId("0" * 64), "👍"),
        lambda chat, channel: chat.redact(channel, MessageId("0" * 64)),
    ],
)
async def test_what_is_not_here_cannot_be_changed(act: Act) -> None:
    scene = scenes.Scene("alice", "bob")

    with pytest.raises(LocalError, match=NOT_HERE):
        await act(scene.chat, scene.world.channel)
