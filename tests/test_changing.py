"""Edits, reactions and deletions as a person does and sees them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.style import Style

from chat_tui import events
from chat_tui.changing import announced
from chat_tui.commands.changing import AN_ID, HONEST, LOOKED_BACK, PAGE
from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.feed import Feed
from chat_tui.layout import Laid, Shape, estimate, lay_out
from chat_tui.marks import ASCII, DELETED, UNICODE, Glyphs
from chat_tui.model import Changed, Conversation
from chat_tui.plain import TextFace
from chat_tui.reactions import EMOJI_CELLS, INVISIBLE, NAMES, emoji_of, label, summary
from chat_tui.settings.preferences import Preferences
from chat_tui.simulated import SimulatedChat
from sync.changes import EMOJIS_MAX, NOT_HERE, Redaction
from sync.entry import TEXT_MAX
from sync.errors import LocalError
from sync.machine import MINUTE, SECOND, MessageId
from sync.sds.message import Delivery
from sync.view import Line, LineChanged, MessageShown, Reaction
from tests import scenes
from tests.chats import opened
from tests.conversations import LOBBY, conversation, lamports, line, peer
from tests.test_transcript import Screen

THUMBS = Reaction("👍", 2, mine=True, who=(peer("alice"), peer("bob")))
HEART = Reaction("❤", 1, mine=False, who=(peer("carol"),))


def edited(before: Line, text: str) -> Line:
    return replace(before, text=text, edited=True)


def deleted(before: Line) -> Line:
    return replace(before, text="", deleted=True, reactions=())


def laid(shown: Line, width: int = 80, glyphs: Glyphs = UNICODE) -> tuple[Laid, list[str]]:
    held = conversation(shown)
    out = lay_out(held.rows[0], Shape(width, glyphs), lambda _: Style.null())
    return out, [strip.text for strip in out.strips[out.text_at :]]


# --- The rows ----------------------------------------------------------------------------------


def test_a_change_of_a_message_is_no_new_message() -> None:
    held = conversation(line(1), line(2))
    held.look_away()

    changes = held.change(edited(line(1), "other"))

    assert changes == [Changed(0)]
    assert (held.unread, held.earlier, lamports(held)) == (0, 0, [1, 2])
    assert (held.rows[0].text, held.rows[0].line.edited) == ("other", True)
    assert held.change(edited(line(1), "other")) == []


def test_what_is_deleted_leaves_words_where_its_text_was() -> None:
    held = conversation(line(1, "a secret"))

    held.change(deleted(line(1)))

    assert held.rows[0].text == DELETED


def test_a_change_of_a_message_outside_the_window_is_left_to_the_disk() -> None:
    held = conversation(line(5))

    assert held.change(edited(line(1), "other")) == []
    assert lamports(held) == [5]


def test_a_change_while_a_page_is_read_is_not_lost() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.begin_load()
    held.change(edited(line(1), "other"))

    held.add_older([line(1), line(2)], before=None, complete=True)

    assert [row.text for row in held.rows] == ["other", "message 2"]


def test_a_mark_that_settles_later_keeps_the_change() -> None:
    mine = line(1, author="alice")
    held = conversation(mine)

    held.change(edited(mine, "other"))
    held.settle(mine.message_id, Delivery.ACKNOWLEDGED)

    assert held.rows[0].text == "other"
    assert held.rows[0].line.delivery is Delivery.ACKNOWLEDGED


def test_changes_of_a_channel_are_painted_and_count_as_nothing_unread() -> None:
    feed = Feed(peer("alice"), "alice")
    feed.conversation(LOBBY).add_older([line(1)], before=None, complete=True)

    feed.note(LineChanged(edited(line(1), "other"), rewritten=True, reacted=False))
    news = feed.drain(LOBBY)

    assert news.changes == [Changed(0)]
    assert not news.around
    assert feed.unread(LOBBY) == 0


# --- The lines of the screen -------------------------------------------------------------------


def test_an_edited_message_says_so_after_its_text() -> None:
    _, [only] = laid(edited(line(1), "other"))

    assert only.endswith("  other (edited)")


def test_that_it_was_edited_has_a_line_of_its_own_where_it_does_not_fit() -> None:
    width = Shape(80, UNICODE).text_width
    _, lines = laid(edited(line(1), "x" * (width - 8)))

    assert len(lines) == 2
    assert lines[1].strip() == "(edited)"


def test_a_deleted_message_says_so_in_words() -> None:
    _, [only] = laid(deleted(line(1, "a secret")))

    assert only.endswith(f"bob  {DELETED}")
    assert "secret" not in only


def test_reactions_stand_below_with_counts_and_who_we_are() -> None:
    out, lines = laid(replace(line(1, author="alice"), reactions=(THUMBS, HEART)))

    assert lines[1].strip() == "👍 2 (you)  ❤ 1"
    assert out.mark_at == out.text_at


def test_reactions_are_words_where_only_ascii_is() -> None:
    odd = Reaction("🦊", 3, mine=False, who=(peer("x"), peer("y"), peer("z")))
    _, lines = laid(replace(line(1), reactions=(THUMBS, HEART, odd)), glyphs=ASCII)

    assert lines[1].strip() == "thumbs up 2 (you)  heart 1  fox face 3"
    assert lines[1].isascii()


@pytest.mark.parametrize("width", [20, 40, 63, 64, 80, 140])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_many_reactions_wrap_between_each_other(width: int, glyphs: Glyphs) -> None:
    many = tuple(
        [Reaction(chr(0x1F600 + n), 1, mine=False, who=(peer(f"{n}"),)) for n in range(30)]
    )
    shown = edited(replace(line(1), reactions=many), "word " * 30)

    out, lines = laid(shown, width, glyphs)

    assert all(cell_len(one) <= width for one in lines)
    assert out.below >= 1
    words = " ".join(" ".join(lines[len(lines) - out.below :]).split())
    if width >= 40:
        assert words == " ".join(" ".join(summary(many, glyphs)).split())


def test_the_height_is_estimated_with_the_reactions() -> None:
    held = conversation(line(1), line(2))
    held.change(replace(line(2), reactions=(THUMBS,)))
    shape = Shape(80, UNICODE)

    heights = [len(lay_out(row, shape, lambda _: Style.null()).strips) for row in held.rows]

    assert [estimate(row, shape) for row in held.rows] == heights


def test_an_emoji_of_a_peer_cannot_steer_the_terminal_nor_fill_it() -> None:
    assert label("\x1b[2J", UNICODE) == INVISIBLE
    assert label("\u202e", UNICODE) == INVISIBLE
    assert "\n" not in label("a\nb", UNICODE)
    assert cell_len(label("😀" * 16, UNICODE)) <= EMOJI_CELLS
    assert label("\U0001f9d1\u200d\U0001f680", ASCII).isascii()


def test_what_looks_alike_is_counted_together() -> None:
    plain = Reaction("❤", 2, mine=False, who=(peer("a"), peer("b")))
    chosen = Reaction("❤\ufe0f", 2, mine=True, who=(peer("b"), peer("alice")))

    assert summary((plain, chosen), UNICODE) == ["❤ 3 (you)"]


async def test_a_change_above_moves_nothing_that_is_read() -> None:
    held = conversation(*[line(number) for number in range(60)])
    app = Screen(held)
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.pause()
        app.transcript.page_up()
        app.transcript.page_up()
        await pilot.pause()
        before = app.shown()
        index = held.index_of(app.transcript._place.message_id)  # type: ignore[union-attr]
        assert index is not None
        above = held.rows[index - 1].line

        many = replace(above, reactions=(THUMBS,), text="word " * 100, edited=True)
        app.transcript.apply(held.change(many))
        await pilot.pause()

        assert app.shown() == before


async def test_a_change_on_the_screen_is_painted_in_its_place() -> None:
    held = conversation(*[line(number) for number in range(3)])
    app = Screen(held)
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.pause()

        app.transcript.apply(held.change(replace(line(1), reactions=(THUMBS,))))
        await pilot.pause()

        shown = [one.strip() for one in app.shown() if one.strip()]
    assert [one.split("  ")[-1] for one in shown[-4:]] == [
        "message 0",
        "message 1",
        "👍 2 (you)",
        "message 2",
    ]


# --- Words for line mode and scripts -----------------------------------------------------------


async def test_line_mode_says_what_was_edited_deleted_and_reacted_to(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = line(1, "tea at four")
    async with opened(tmp_path, "alice") as alice:
        face = TextFace(alice, Preferences())

        face.event(LineChanged(edited(before, "tea at five"), rewritten=True, reacted=False))
        face.event(LineChanged(deleted(before), rewritten=True, reacted=True))
        reacted = replace(before, reactions=(THUMBS, HEART))
        face.event(LineChanged(reacted, rewritten=False, reacted=True))
        face.event(LineChanged(before, rewritten=True, reacted=True))
        face.event(MessageShown(edited(reacted, "tea\x1b[2J at five")))
        face.event(MessageShown(deleted(before)))

    said = capsys.readouterr().out.splitlines()
    when = said[0].split(": ")[0].removeprefix("* bob edited their message of ")
    assert said == [
        f"* bob edited their message of {when}: tea at five",
        f"* bob deleted their message of {when}.",
        f'* Reactions to the message of bob of {when}, "tea at four": 👍 2 (you), ❤ 1.',
        f"* The message of bob of {when} is as before: tea at four",
        f'* Reactions to the message of bob of {when}, "tea at four": none any more.',
        f"{when} bob: tea at five (edited) [👍 2 (you), ❤ 1]",
        f"{when} bob: {DELETED}",
    ]


def test_a_long_message_that_is_reacted_to_is_quoted_in_short() -> None:
    long = replace(line(1, "word\n" * 100), reactions=(HEART,))

    [sentence] = announced(LineChanged(long, rewritten=False, reacted=True))

    assert "\n" not in sentence
    assert len(sentence) < 120


def test_scripts_hear_of_changes_with_all_of_the_message() -> None:
    shown = replace(edited(line(1), "other"), reactions=(THUMBS,))

    told = events.to_json(LineChanged(shown, rewritten=True, reacted=False), lambda _: "#lobby")

    assert told is not None
    assert told == {
        **events.message(shown, lambda _: "#lobby"),
        "event": "changed",
        "rewritten": True,
        "reacted": False,
    }
    assert (told["id"], told["text"], told["edited"], told["deleted"]) == (
        shown.message_id,
        "other",
        True,
        False,
    )
    assert told["reactions"] == [
        {"emoji": "👍", "count": 2, "mine": True, "who": (peer("alice"), peer("bob"))}
    ]
    assert '"who": ["' in events.dumps(told)


# --- Commands ----------------------------------------------------------------------------------


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
        """What bob sees."""
        bob = SimulatedChat(self.scene.world, 1, self.scene.names)
        page = await bob.history.page(self.channel, before=None, limit=100)
        return [(one.text, one.edited, one.deleted, len(one.reactions)) for one in page]


async def test_without_an_id_the_own_newest_is_edited_and_everybody_sees_it() -> None:
    table = Table()

    result = await table.run("/edit better  words")

    assert result == Result(text="Edited; who sees it also sees that it was edited.")
    assert ("better  words", True, False, 0) in await table.bobs()
    assert ("mine one", False, False, 0) in await table.bobs()


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
    assert "can still read it" in HONEST
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
        ("/delete the last one", "Write /delete and the beginning of an id, or /delete alone."),
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
        "That message is deleted: there is nothing left to change."
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
    assert "nothing here lately" in result.text or "no message here to react to" in result.text


async def test_the_own_newest_is_looked_for_a_while_back_and_no_further() -> None:
    scene = scenes.Scene("alice", "bob")
    scene.world.run(6 * SECOND)
    scene.say(0, "long ago")
    for number in range(PAGE + 5):
        scene.world.write(1, f"{number}")
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


def test_every_name_is_an_emoji_and_every_emoji_is_taken() -> None:
    for name, emoji in NAMES.items():
        assert emoji_of(name) == emoji_of(f":{name.upper()}:") == emoji_of(emoji) == emoji
    assert emoji_of("👩‍👩‍👧") == "👩‍👩‍👧"
    assert emoji_of("1\ufe0f\u20e3") == "1\u20e3"
    assert emoji_of("❤\ufe0f") == NAMES["heart"]
