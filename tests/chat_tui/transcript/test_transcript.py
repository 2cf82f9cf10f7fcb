"""The transcript in a bare application: what is on the screen, and how little work it takes."""

import random

import pytest
from rich.cells import cell_len

from chat_tui.model.conversation import ROWS_KEPT, ROWS_SLACK, Conversation
from chat_tui.transcript.layout_options import Taste
from chat_tui.transcript.row_layout import TAIL
from sync.machine import MINUTE, SECOND
from sync.sds.message import Delivery
from tests.support.chat_tui.conversations import LOBBY, NOON, conversation, line, peer
from tests.support.chat_tui.transcripts import Screen, lines_of, painted, screen


async def test_a_short_conversation_begins_at_the_top_with_its_day() -> None:
    async with screen(line(1, "hello"), line(2, "hi", author="alice")) as (app, _):
        shown = app.shown()

    assert "Friday, 21 November 2025" in shown[0]
    assert shown[1].endswith("bob  hello")
    assert "alice  hi" in shown[2]
    assert shown[3:] == [""] * (len(shown) - 3)


async def test_the_newest_message_is_followed() -> None:
    async with screen(*lines_of(100)) as (app, pilot):
        app.arrive(line(100, "the newest"))
        await pilot.pause()
        shown = app.shown()

    assert shown[-1].endswith("the newest")


async def test_a_burst_ends_at_the_newest_message() -> None:
    async with screen() as (app, pilot):
        app.arrive(*lines_of(200))
        await pilot.pause()
        shown = app.shown()

    assert any("m199" in text for text in shown)


@pytest.mark.parametrize("where", ["below", "above", "both"])
async def test_what_is_read_stays_put_whatever_comes(where: str) -> None:
    async with screen(*lines_of(200, step=10)) as (app, pilot):
        app.transcript.page_up()
        app.transcript.page_up()
        await pilot.pause()
        before = app.shown()
        draw = random.Random(3)
        for _ in range(60):
            at = {"below": 1999, "above": 5, "both": draw.choice([3, 1999])}[where]
            app.arrive(line(at, "late " * draw.randrange(1, 60), author=f"p{draw.random()}"))
        await pilot.pause()
        after = app.shown()

    assert after == before


async def test_scrolling_back_line_by_line_skips_nothing() -> None:
    async with screen(*lines_of(120)) as (app, pilot):
        bottom_up = list(reversed(app.shown()))
        for _ in range(150):
            app.transcript.scroll_up(animate=False)
            await pilot.pause(0)
            bottom_up.append(app.shown()[0])
        everything = list(reversed(bottom_up))
        app.transcript.follow_newest()
        app.transcript.page_up()
        await pilot.pause()
        page = app.shown()

    assert page == everything[-2 * len(page) + 1 : -len(page) + 1]


async def test_end_follows_again() -> None:
    async with screen(*lines_of(100)) as (app, pilot):
        app.transcript.page_up()
        await pilot.pause()
        app.arrive(line(100, "while away"))
        unread = app.transcript.conversation.unread

        app.transcript.follow_newest()
        await pilot.pause()
        shown = app.shown()

        assert (unread, app.transcript.conversation.unread) == (1, 0)
        assert app.follows == [False, True]
        assert "1 new" in shown[-2]
        assert shown[-1].endswith("while away")


async def test_paging_down_to_the_end_follows_again() -> None:
    async with screen(*lines_of(100)) as (app, pilot):
        app.transcript.page_up()
        app.transcript.page_down()
        app.transcript.page_down()
        await pilot.pause()

        assert app.transcript.follow


async def test_another_width_keeps_the_message_on_top() -> None:
    async with screen(*lines_of(300), size=(100, 20)) as (app, pilot):
        for _ in range(4):
            app.transcript.page_up()
        await pilot.pause()
        top = next(text for text in app.shown() if "bob  m" in text).split("bob  ")[1].split()[0]

        await pilot.resize_terminal(140, 30)
        await pilot.pause()
        wide = app.shown()
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        narrow = app.shown()

    assert any(f"bob  {top} " in text for text in wide[:5])
    assert any(f"{top} " in text for text in narrow[:8])


async def test_following_survives_another_size() -> None:
    async with screen(*lines_of(300)) as (app, pilot):
        for size in ((120, 40), (60, 16), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()

            assert app.transcript.follow
            assert app.transcript.scroll_y == app.transcript.max_scroll_y


async def test_marks_stand_in_one_column_whatever_the_text() -> None:
    own = [
        line(1, "short", author="alice"),
        line(2, "漢字" * 20, author="alice"),
        line(3, "word " * 40, author="alice"),
        line(4, "e\u0301👍 done", author="alice"),
    ]
    async with screen(*own) as (app, _):
        width = app.transcript.scrollable_content_region.width
        marked = [text for text in app.shown() if "○" in text]

    assert len(marked) == len(own)
    assert {cell_len(text.split("○")[0]) for text in marked} == {width - TAIL + 1}


async def test_wide_characters_never_cross_the_edge() -> None:
    async with screen(line(1, "漢" * 300), line(2, "a漢" * 150)) as (app, _):
        width = app.transcript.size.width
        strips = [app.transcript.render_line(y) for y in range(app.transcript.size.height)]

    assert all(cell_len(strip.text) <= width for strip in strips)
    assert sum(strip.text.count("漢") for strip in strips) == 450


async def test_a_new_mark_paints_only_its_line() -> None:
    own = [line(20 + at, "mine", author="alice") for at in range(5)]
    async with screen(*lines_of(20), *own) as (app, pilot):
        await pilot.pause()
        app.transcript.asked.clear()

        for one in (own[4], own[1], own[3]):
            app.transcript.apply(
                app.transcript.conversation.settle(one.message_id, Delivery.ACKNOWLEDGED)
            )

        assert [region.height for region in app.transcript.regions] == [1, 1, 1]
        assert [text[-1] for text in app.shown()[-5:]] == ["○", "●", "○", "●", "●"]


async def test_an_append_below_the_screen_paints_nothing() -> None:
    async with screen(*lines_of(200)) as (app, pilot):
        app.transcript.page_up()
        await pilot.pause()
        app.arrive(line(200))
        app.transcript.asked.clear()

        app.arrive(line(201))

        assert app.transcript.regions == []


async def test_words_at_marks_grow_older_and_vanish() -> None:
    own = line(0, "mine", author="alice")
    async with screen(own) as (app, _):
        young = app.shown()[1]
        app.transcript.tick(NOON + 12 * SECOND, alone=False)
        older = app.shown()[1]
        app.transcript.tick(NOON + MINUTE, alone=False)
        old = app.shown()[1]

    assert young.endswith("sent 0 s  ○")
    assert older.endswith("sent 12 s  ○")
    assert "sent" not in old
    assert old.endswith("○")


async def test_only_rows_near_the_eye_are_laid_out() -> None:
    lines = [line(at, "word " * 30) for at in range(2_000)]
    async with screen(*lines) as (app, pilot):
        first_paint = app.transcript.laid_out
        for at in range(100):
            app.arrive(line(2_000 + at))
        appended = app.transcript.laid_out - first_paint
        app.transcript.scroll_to(y=1_000, animate=False)
        await pilot.pause()
        jumped = app.transcript.laid_out - first_paint - appended

    assert first_paint <= 2 * 20
    assert appended == 100
    assert jumped <= 3 * 20


async def test_ten_thousand_rows_cost_no_more_than_a_screen() -> None:
    held = conversation(*[line(at, "word " * 30) for at in range(10_000)])
    app = Screen(held)
    async with app.run_test(size=(80, 20)) as pilot:
        first_paint = app.transcript.laid_out
        await pilot.resize_terminal(100, 20)
        await pilot.pause()
        rewrapped = app.transcript.laid_out - first_paint

    assert first_paint <= 2 * 20
    assert rewrapped <= 2 * 20


async def test_markup_and_escapes_of_peers_are_just_text() -> None:
    async with screen(line(1, "[red]x[/red] [link=http://a]\x1b[31my")) as (app, _):
        shown = app.shown()

    assert shown[1].endswith("[red]x[/red] [link=http://a]y")


async def test_a_mark_says_waiting_while_nobody_could_have_the_line() -> None:
    async with screen(line(0, "mine", author="alice")) as (app, _):
        app.transcript.tick(NOON, alone=True)
        shown = app.shown()[1]

    assert shown.endswith("waiting  ○")


async def test_where_nothing_was_written_yet_a_hint_stands() -> None:
    async with screen() as (app, pilot):
        app.transcript.hint = ("Nothing was written yet.",)
        await pilot.pause()
        empty = painted(app)
        app.arrive(line(1, "hello"))
        await pilot.pause()
        begun = painted(app)

    assert empty[9].strip() == "Nothing was written yet."
    assert begun[1].strip().endswith("bob  hello")
    assert not any("Nothing" in text for text in begun)


async def test_a_gap_has_its_own_line() -> None:
    async with screen(line(1), line(2, "after", after_gap=True)) as (app, _):
        shown = app.shown()

    assert "an earlier message could not be found" in shown[2]
    assert shown[3].endswith("after")


async def test_two_of_one_name_show_their_fingerprints() -> None:
    async with screen(line(1, "hi"), line(2, "hi", author="mallory", nick="bob")) as (app, _):
        headers = [text for text in app.shown() if " bob " in text]

    assert len(headers) == 2
    assert len({text.split("bob ")[1] for text in headers}) == 2


async def test_long_names_are_cut_to_their_column() -> None:
    async with screen(line(1, "hi", nick="a" * 30)) as (app, _):
        shown = app.shown()

    assert shown[1].endswith(" " + "a" * (Taste().nick_cells - 1) + "…  hi")


async def test_a_narrow_screen_gives_names_their_own_lines() -> None:
    async with screen(line(1, "hello there"), size=(62, 16)) as (app, _):
        shown = app.shown()

    assert shown[1].endswith(" bob")
    assert shown[2] == "  hello there"


async def test_older_messages_are_asked_for_near_the_top_and_move_nothing() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.begin_load()
    page = lines_of(100)
    held.add_older(page[50:], before=None, complete=False)
    app = Screen(held)
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        wished_at_the_bottom = list(app.wishes)
        app.transcript.scroll_to(y=3, animate=False)
        await pilot.pause()
        before = app.shown()
        held.begin_load()
        app.transcript.apply(held.add_older(page[:50], before=held.first, complete=True))
        await pilot.pause()
        after = app.shown()

    assert wished_at_the_bottom == []
    assert app.wishes[0].conversation is held
    assert after == before


async def test_forgetting_the_far_end_moves_nothing() -> None:
    many = [line(at, "word " * (at % 40)) for at in range(ROWS_KEPT + ROWS_SLACK)]
    async with screen(*many) as (app, pilot):
        app.transcript.scroll_to(y=100, animate=False)
        await pilot.pause()
        before = app.shown()
        app.arrive(line(len(many)))
        await pilot.pause()

        assert len(app.transcript.conversation.rows) == ROWS_KEPT
        assert app.shown() == before


async def test_another_conversation_is_shown_at_its_newest_message() -> None:
    async with screen(*lines_of(100)) as (app, pilot):
        app.transcript.page_up()
        app.transcript.show(conversation(line(1, "elsewhere")))
        await pilot.pause()
        shown = app.shown()

    assert shown[1].endswith("elsewhere")
    assert app.transcript.follow
