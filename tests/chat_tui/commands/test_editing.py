"""Edits, reactions and deletions as a person does and sees them."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len
from rich.style import Style

from chat_tui.client.message_changes import announced, in_words
from chat_tui.model.conversation import Conversation
from chat_tui.model.event_feed import Feed
from chat_tui.model.row import Changed
from chat_tui.text.emoji import EMOJI
from chat_tui.transcript.row_layout import Laid, Shape, estimate, lay_out
from chat_tui.wording import json_events
from chat_tui.wording.glyphs import ASCII, DELETED, UNICODE, Glyphs
from chat_tui.wording.reactions import (
    EMOJI_CELLS,
    INVISIBLE,
    NAMES,
    ROWS_MAX,
    emoji_of,
    label,
    rows,
    summary,
)
from sync.entries.changes import MORE_REACTORS_MAX
from sync.sds.message import Delivery
from sync.view.view import Line, LineChanged, MessageShown, Reaction
from tests.support.chat_tui.chats import line_mode
from tests.support.chat_tui.conversations import LOBBY, conversation, lamports, line, peer
from tests.support.chat_tui.transcripts import Screen

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

    feed.note_event(LineChanged(edited(line(1), "other"), rewritten=True, reacted=False))
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
        [
            Reaction(chr(0x1F600 + n), 1, mine=False, who=(peer(f"{n}"),))
            for n in range(12 if glyphs == UNICODE else 4)
        ]
    )
    shown = edited(replace(line(1), reactions=many), "word " * 30)

    out, lines = laid(shown, width, glyphs)

    assert all(cell_len(one) <= width for one in lines)
    assert out.below >= 1
    words = " ".join(" ".join(lines[len(lines) - out.below :]).split())
    if width >= 40:
        assert words == " ".join(" ".join(summary(many, glyphs)).split())


@pytest.mark.parametrize("width", [40, 63, 64, 80, 140])
@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_of_hundreds_of_reactions_ours_and_the_most_frequent_are_shown(
    width: int, glyphs: Glyphs
) -> None:
    kinds = sorted(set(EMOJI.values()))
    people = [tuple(peer(who) for who in "abcdefg"[: 1 + n % 7]) for n in range(len(kinds))]
    many = tuple(
        Reaction(kind, len(who), mine=n == 99, who=who)
        for n, (kind, who) in enumerate(zip(kinds, people, strict=True))
    )
    out, lines = laid(replace(line(1), reactions=many), width, glyphs)

    below = [one.strip() for one in lines[-out.below :]]
    assert len(below) <= ROWS_MAX
    assert all(cell_len(one) <= width for one in lines)
    *shown, more = "  ".join(below).split("  ")
    assert more == f"… {len(summary(many, glyphs)) - len(shown)} more"
    assert shown[0].endswith(" 2 (you)")
    assert {one.split()[-1] for one in shown[1:]} <= {"7", "6"}


@pytest.mark.parametrize("width", range(1, 9))
def test_in_the_narrowest_window_there_is_an_end_to_reactions(width: int) -> None:
    bob = (peer("bob"),)
    many = tuple(Reaction(kind, 1, mine=False, who=bob) for kind in sorted(EMOJI.values()))
    shown = rows(replace(line(1), reactions=many), UNICODE, width)
    assert "".join("".join(shown).split()).endswith("more")


def test_what_is_left_out_of_a_crowd_of_reactions_is_counted_wherever_they_are_said() -> None:
    crowded = replace(line(1), reactions=(THUMBS,), more_kinds=12, more_reactors=MORE_REACTORS_MAX)
    said = ["👍 2 (you)", "… 12 more", "… 1,000 or more people"]

    out, lines = laid(crowded, 80, UNICODE)
    told = json_events.message(crowded, lambda _: "#lobby")

    assert "  ".join(one.strip() for one in lines[-out.below :]) == "  ".join(said)
    assert in_words(crowded).endswith(f"[{', '.join(said)}]")
    assert (told["more_kinds"], told["more_reactors"]) == (12, MORE_REACTORS_MAX)


def test_a_crowd_of_which_nothing_is_told_is_counted() -> None:
    crowded = replace(line(1), more_reactors=1)

    out, lines = laid(crowded, 80, UNICODE)

    assert [one.strip() for one in lines[-out.below :]] == ["… 1 more person"]


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
    async with line_mode(tmp_path) as (_, face):
        face.now_in(before.channel)

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

    [sentence] = announced(LineChanged(long, rewritten=False, reacted=True), "bob")

    assert "\n" not in sentence
    assert len(sentence) < 120


def test_scripts_hear_of_changes_with_all_of_the_message() -> None:
    shown = replace(edited(line(1), "other"), reactions=(THUMBS,))

    told = json_events.to_json(
        LineChanged(shown, rewritten=True, reacted=False), lambda _: "#lobby"
    )

    assert told is not None
    assert told == {
        **json_events.message(shown, lambda _: "#lobby"),
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
    assert '"who": ["' in json_events.dumps(told)


# --- Names of emojis ---------------------------------------------------------------------------


def test_every_name_is_an_emoji_and_every_emoji_is_taken() -> None:
    for name, emoji in NAMES.items():
        assert emoji_of(name) == emoji_of(f":{name.upper()}:") == emoji_of(emoji) == emoji
    assert emoji_of("👩‍👩‍👧") == "👩‍👩‍👧"
    assert emoji_of("1\ufe0f\u20e3") == "1\u20e3"
    assert emoji_of("❤\ufe0f") == NAMES["heart"]
