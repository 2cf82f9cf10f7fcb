"""The window of rows around any place of the history: never a hole, never another order."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.model.conversation import BEGINNING, Conversation
from chat_tui.model.pager import END, PAGE, Pager
from sync.sds.message import Delivery
from sync.view.view import Line
from tests.support.chat_tui.chats import opened
from tests.support.chat_tui.conversations import conversation, lamports, line, peer
from tests.support.chat_tui.readings import LONG, long_talk


def window(held: Conversation, page: list[Line], *, older: bool, newer: bool) -> None:
    held.begin_move()
    held.move(page, has_older=older, has_newer=newer)


def test_another_place_takes_the_rows_of_now_and_knows_its_ends() -> None:
    held = conversation(*[line(at) for at in range(100, 110)])

    window(held, [line(at) for at in range(20, 30)], older=True, newer=True)

    assert lamports(held) == list(range(20, 30))
    assert (held.has_older, held.has_newer, held.loading) == (True, True, False)
    assert held.covers(line(25).position)
    assert not held.covers(line(5).position)
    assert not held.covers(END)


def test_what_comes_while_another_place_is_read_is_in_the_old_rows_and_in_the_new() -> None:
    held = conversation(*[line(at) for at in range(100, 110)])
    held.begin_move()
    held.arrive(line(110))
    held.arrive(line(25, "late"))
    held.settle(line(21, author="alice").message_id, Delivery.ACKNOWLEDGED)
    before = lamports(held)

    own = line(21, author="alice")
    held.move([line(20), own, line(30)], has_older=True, has_newer=True)

    assert before == [25, *range(100, 111)]
    assert lamports(held) == [20, 21, 25, 30]
    assert held.rows[1].line.delivery is Delivery.ACKNOWLEDGED


def test_a_place_that_was_read_for_rows_that_are_forgotten_is_dropped() -> None:
    held = conversation(line(1))
    held.begin_move()
    held.restart()

    assert held.move([line(5)], has_older=True, has_newer=True) == []
    assert (held.rows, held.loading, held.has_older) == ([], False, True)


@given(
    st.lists(st.integers(0, 60), unique=True, min_size=1),
    st.integers(0, 60),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_whatever_comes_around_a_move_the_rows_are_a_part_of_the_order(
    known: list[int], goal: int, late: list[int]
) -> None:
    known = sorted(known)
    held = conversation(*[line(at) for at in known[-5:]])
    held.has_older = True
    before = [at for at in known if at < goal][-5:]
    after = [at for at in known if at >= goal][:5]
    held.begin_move()
    for at in late:
        held.arrive(line(at))
    held.move(
        [line(at) for at in before + after], has_older=len(before) == 5, has_newer=len(after) == 5
    )

    shown = lamports(held)
    everything = sorted({*known, *late})
    low, high = everything.index(shown[0]), everything.index(shown[-1])
    assert shown == everything[low : high + 1]


async def test_pages_are_read_around_a_place_and_on_from_there() -> None:
    scene = long_talk()
    held = Conversation(scene.world.channel, scene.snapshot().me, "alice")
    pager = Pager(scene.chat.history, pytest.fail)
    everything = await scene.chat.history.page(scene.world.channel, before=None, limit=LONG)
    goal = everything[LONG // 2]

    await pager.older(held)
    await pager.around(held, goal.position)
    around = [row.text for row in held.rows]
    await pager.newer(held)
    await pager.older(held)

    ids = [one.message_id for one in everything]
    assert around == [one.text for one in everything[LONG // 2 - PAGE : LONG // 2 + PAGE]]
    shown = [row.line.message_id for row in held.rows]
    assert shown == ids[LONG // 2 - 2 * PAGE : LONG // 2 + 2 * PAGE]


async def test_the_very_first_and_the_newest_are_places_too() -> None:
    scene = long_talk()
    held = Conversation(scene.world.channel, scene.snapshot().me, "alice")
    pager = Pager(scene.chat.history, pytest.fail)

    await pager.around(held, BEGINNING)
    first = (held.rows[0].text, held.has_older, held.has_newer)
    await pager.around(held, END)

    assert first == ("line 0", False, True)
    assert (held.rows[-1].text, held.has_newer) == (f"line {LONG - 1}", False)
    assert await pager.around(held, END) == [], "it is there already"


async def test_two_who_page_at_once_take_turns() -> None:
    scene = long_talk()
    held = Conversation(scene.world.channel, scene.snapshot().me, "alice")
    pager = Pager(scene.chat.history, pytest.fail)

    await asyncio.gather(
        pager.older(held), pager.around(held, BEGINNING), pager.older(held), pager.newer(held)
    )

    positions = [row.line.position for row in held.rows]
    assert held.rows[0].text == "line 0"
    assert positions == sorted(set(positions))
    assert not held.loading


async def test_a_place_that_cannot_be_read_leaves_everything_as_it_was(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        assert alice.first_channel is not None
        with closing(sqlite3.connect(alice.profile.database)) as other_program:
            other_program.execute("DROP VIEW lines")
        said: list[str] = []
        held = Conversation(alice.first_channel, peer("alice"), "alice")

        await Pager(alice.history, said.append).around(held, BEGINNING)

    assert len(said) == 1
    assert (held.loading, held.has_older) == (False, True)
