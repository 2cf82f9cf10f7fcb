"""The last things that left the buffers: words, details, and their place in the tab."""

import pytest

from chat_tui.debug.departure_rows import BUFFERS, ENDED, SHOWN, departure_row, left_section
from chat_tui.debug.section import in_words
from sync.machine import MINUTE, SECOND
from sync.view.departures import DepartureInfo, Left
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import NOON
from tests.support.chat_tui.panes import opened
from tests.support.chat_tui.snapshots_of_state import ident, present, snapshot

BOB = present("bob")


def words(one: DepartureInfo) -> str:
    return in_words(departure_row(snapshot(BOB), one))


def test_a_repair_says_when_from_whom_how_often_asked_and_how_long() -> None:
    came = DepartureInfo(
        ident("603872"), Left.FOUND, NOON - 36 * SECOND, NOON - 41 * SECOND, BOB.peer, asked=2
    )

    assert words(came) == "603872 36 s ago: came from bob, asked twice, after 5.0 s"


def test_an_own_one_says_how_often_it_was_sent_again() -> None:
    mine = DepartureInfo(ident("aa"), Left.ACKNOWLEDGED, NOON, NOON - MINUTE, resent=1)

    assert words(mine) == (
        "aa0000 0 s ago: received: somebody proved to have it, resent once, after 1 min"
    )


def test_an_answer_that_was_not_needed_says_who_gave_it() -> None:
    theirs = DepartureInfo(ident("bb"), Left.FORESTALLED, NOON - 3 * SECOND, by=BOB.peer)
    unseen = DepartureInfo(ident("bb"), Left.FORESTALLED, NOON - 3 * SECOND)

    assert words(theirs) == "bb0000 3 s ago: answered by bob before us"
    assert words(unseen) == "bb0000 3 s ago: answered before us"


def test_every_way_out_has_words_and_a_buffer() -> None:
    assert set(ENDED) == set(BUFFERS) == set(Left)


def test_ten_are_shown_and_each_opens_to_its_course() -> None:
    left = [DepartureInfo(ident(f"{n:x}"), Left.ANSWERED, NOON) for n in range(SHOWN + 5)]

    section = left_section(snapshot(), left)
    [opens] = {row.opens for row in section.rows[:1]}

    assert len(section.rows) == SHOWN
    assert all(row.is_over for row in section.rows)
    assert opens is not None
    assert opens().title == "000000 left “To answer”"


@pytest.mark.slow
async def test_what_was_missing_stays_in_sight_after_it_came() -> None:
    scene = scenes.repairing()
    scene.world.restart(scenes.CAROL)
    scene.world.run(40 * SECOND)
    async with opened(lambda: scene) as screen:
        text = " ".join(screen.text().split())

        assert "ago: came from carol, asked twice, after 18 s" in text
        assert "nothing is missing" in text
