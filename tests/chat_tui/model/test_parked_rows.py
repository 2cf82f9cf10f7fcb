"""Rows of what is set aside until its time: few, at the end, and no part of what was read."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from chat_tui.client.parked_lines import ROWS
from chat_tui.model.conversation import ASIDE, Conversation
from chat_tui.wording.glyphs import ASCII, PARKED, UNANSWERED, UNICODE, mark_word
from sync.machine import MessageId
from sync.view.view import Line
from tests.support.chat_tui.conversations import LOBBY, conversation, lamports, line, peer, replay

LATER = 1_000_000
"""A time far ahead, to which the next ones are added."""


def ahead(number: int, author: str = "bob", *, waits: bool = False) -> Line:
    return replace(line(LATER + number, author=author), parked=True, waits=waits)


def let_in(parked: Line) -> Line:
    return replace(parked, parked=False, waits=False)


def test_what_is_ahead_stands_at_the_end_under_a_line_of_its_own() -> None:
    held = conversation(line(1))

    held.arrive(ahead(1))
    held.arrive(line(2))
    held.arrive(ahead(0, author="carol"))

    assert lamports(held) == [1, 2, LATER, LATER + 1]
    assert [row.aside for row in held.rows] == ["", "", ASIDE, ""]
    assert [bool(row.day) for row in held.rows] == [True, False, False, False]
    assert [row.dim for row in held.rows] == [False, False, True, True]


def test_what_it_says_is_a_sign_and_words_in_place_of_a_tick() -> None:
    own, others = ahead(1, author="alice", waits=True), ahead(1)

    assert mark_word(others, others.created_ns, alone=True) == PARKED
    assert mark_word(own, own.created_ns, alone=True) == UNANSWERED
    assert UNICODE.parked not in {*UNICODE.marks.values(), UNICODE.loading, UNICODE.gap}
    assert ASCII.parked not in {*ASCII.marks.values(), ASCII.loading, ASCII.gap}


def test_what_was_written_anew_with_the_right_time_hides_what_waits_of_the_same_author() -> None:
    held = conversation(line(1))
    held.arrive(ahead(1))
    held.arrive(ahead(2, author="carol"))
    held.arrive(ahead(3))

    held.arrive(replace(line(2), replaces=ahead(1).message_id))
    held.arrive(replace(line(3, author="mallory"), replaces=ahead(2, author="carol").message_id))

    assert lamports(held) == [1, 2, 3, LATER + 2, LATER + 3]


def test_its_time_moves_nobodys_place_in_the_conversation() -> None:
    held = conversation(line(1))
    held.look_away()

    held.arrive(ahead(1))

    assert held.unread == 1
    assert held.read_to == line(1).position
    assert held.first_unread == ahead(1).position
    held.arrive(line(2))
    assert (held.unread, held.earlier) == (2, 0)
    held.look()
    assert (held.unread, held.read_to) == (0, line(2).position)


def test_once_its_time_comes_it_is_a_message_like_others_and_not_new_again() -> None:
    held = conversation(line(1))
    held.arrive(ahead(1))
    held.look_away()

    held.arrive(let_in(ahead(1)))

    assert [row.dim for row in held.rows] == [False, False]
    assert [row.aside for row in held.rows] == ["", ""]
    assert held.unread == 0


def test_what_nobody_saw_before_its_time_is_new_once() -> None:
    held = conversation(line(1))
    held.look_away()
    held.arrive(ahead(1))

    held.arrive(let_in(ahead(1)))

    assert held.unread == 1
    assert held.rows[-1].new == 1


def test_however_much_strangers_write_ahead_a_few_rows_are_all_it_takes() -> None:
    held = conversation(line(1))
    strangers = [f"stranger {number}" for number in range(4)]
    for number in range(100):
        for name in strangers:
            held.arrive(ahead(number, author=name))

    held.arrive(ahead(0, author="bob"))
    held.arrive(ahead(0, author="alice", waits=True))
    parked = [row.line for row in held.rows if row.line.parked]

    assert len(parked) == ROWS
    assert {peer("bob"), peer("alice")} <= {one.author for one in parked}
    assert held.rows[1].aside == f"{ASIDE}, {402 - ROWS:,} more: /clock lists them"


def test_what_is_replaced_is_hidden() -> None:
    held = conversation(line(1))
    held.arrive(ahead(1, author="alice"))
    held.arrive(let_in(ahead(2)))

    held.hide(ahead(1, author="alice").message_id)
    held.hide(MessageId("f" * 64))

    assert lamports(held) == [1, LATER + 2]


def test_an_edit_of_what_waits_leaves_it_waiting() -> None:
    held = conversation(line(1))
    held.arrive(ahead(1))

    held.change(replace(let_in(ahead(1)), text="other words", edited=True))

    assert held.rows[-1].text == "other words"
    assert held.rows[-1].dim


def test_the_disk_knows_less_of_what_came_in_meanwhile() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.begin_load()
    held.arrive(let_in(ahead(1)))

    held.add_older([line(1)], before=None, complete=True)
    held.park([ahead(1), ahead(2)])

    assert [row.dim for row in held.rows] == [False, False, True]


def test_who_reads_further_up_has_nothing_of_it_among_the_rows() -> None:
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.begin_move()
    held.move([line(5), line(6)], has_older=True, has_newer=True)

    held.arrive(ahead(1))
    before = lamports(held)
    held.begin_load()
    held.add_newer([line(7)], after=line(6).position, complete=True)

    assert before == [5, 6]
    assert lamports(held) == [5, 6, 7, LATER + 1]


def test_what_is_withdrawn_is_read_again_as_what_waits() -> None:
    held = conversation(line(1), line(2))

    held.restart()
    held.begin_load()
    held.add_older([line(1)], before=None, complete=True)
    held.park([replace(line(2), parked=True)])

    assert [row.dim for row in held.rows] == [False, True]


@given(st.lists(st.tuples(st.integers(0, 12), st.sampled_from("abc"), st.integers(0, 3))))
def test_a_widget_that_follows_the_changes_has_the_rows(
    acts: list[tuple[int, str, int]],
) -> None:
    held = conversation()
    ids: list[MessageId | None] = []
    delivered: set[MessageId] = set()
    for number, author, act in acts:
        one, now = ahead(number, author=author), line(number, author=author)
        match act:
            case 0 if one.message_id not in delivered:
                changes = held.arrive(one)
            case 0 | 1:
                changes = held.arrive(let_in(one))
                delivered.add(one.message_id)
            case 2:
                changes = held.hide(one.message_id)
                delivered.discard(one.message_id)
            case _:
                changes = held.arrive(now)
                delivered.add(now.message_id)
        ids = replay(ids, changes)
        assert len(ids) == len(held.rows)
        assert all(a in (None, b.line.message_id) for a, b in zip(ids, held.rows, strict=True))
        ids = [row.line.message_id for row in held.rows]
        places = [row.line.position for row in held.rows]
        assert places == sorted(places)
        assert {row.line.message_id for row in held.rows if not row.dim} == delivered
