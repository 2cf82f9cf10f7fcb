"""Delta sync between two members: what is lacking is found by ids and filters, parents first."""

import random

import pytest

from sync.calimero.log.delta_filter import IdFilter
from sync.calimero.log.delta_messages import BloomFilter, DeltaEntries, Want
from sync.group import values
from sync.machine import HOUR, MINUTE, SECOND, Tick
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW_MS, only
from tests.support.sync.meetings.delta_pairs import DeltaPair, conversation, pair

BEHIND = MINUTE


def holes(count: int, of: int, seed: int = 3) -> set[int]:
    """Return the places of some lines, none among the last 20, which are the frontier."""
    return set(random.Random(seed).sample(range(of - 20), count))


def assert_alike(both: DeltaPair, lines: list[values.StoredMessage]) -> None:
    """Both show all the lines in their one order."""
    for one in (both.one, both.other):
        one.advance(both.now + BEHIND)
    assert both.one.shown() == both.other.shown() == [one.entry.message_id for one in lines]


def test_one_lost_line_comes_alone_in_two_turns() -> None:
    both, lines = pair(), conversation(60)
    both.hear(both.one, lines, {30})
    both.hear(both.other, lines)

    both.meet()

    assert both.converged
    assert both.entries == 1
    assert both.pushed == 0
    assert [type(one) for _, one in both.spoken] == [
        BloomFilter, DeltaEntries, BloomFilter, Want, Want,
    ]  # fmt: skip
    assert_alike(both, lines)


def test_a_line_that_was_given_up_is_still_known_to_lack() -> None:
    both, lines = pair(), conversation(60)
    both.hear(both.one, lines, {30})
    both.hear(both.other, lines)
    both.now += HOUR
    both.one.advance(both.now)
    assert not both.one.group.sds.incoming.missing, "nobody is asked any more"

    both.meet()

    assert both.converged
    assert both.entries == 1
    assert both.pushed == 0


@pytest.mark.parametrize("begins", ["one", "other"])
def test_scattered_holes_of_both_are_filled_whoever_begins(begins: str) -> None:
    both, lines = pair(), conversation(400)
    ours, theirs = holes(30, 400, 1), holes(30, 400, 2)
    theirs -= ours
    both.hear(both.one, lines, ours)
    both.hear(both.other, lines, theirs)

    both.meet(getattr(both, begins))

    assert both.converged
    assert both.entries == len(ours) + len(theirs)
    assert both.pushed == 0
    assert_alike(both, lines)


def test_a_gap_of_any_length_is_told_whole_by_what_is_held_below_it() -> None:
    both, lines = pair(), conversation(700)
    both.hear(both.one, lines, set(range(100, 600)))
    both.hear(both.other, lines)

    both.meet()

    assert both.converged
    assert both.entries == 500
    assert both.pushed == 0
    asked = [one for one in both.said(Want, both.one) if one != Want()]
    assert len(asked) <= 1, "a filter is wrong now and then, and no more is asked for"
    assert_alike(both, lines)


def test_a_parent_comes_in_the_same_answer_before_its_child() -> None:
    both, lines = pair(), conversation(60)
    both.hear(both.one, lines, {29, 30, 31})
    both.hear(both.other, lines)

    both.meet()

    [answer] = both.said(DeltaEntries)
    assert isinstance(answer, DeltaEntries)
    assert [one.entry.content for one in lines[29:32]] == list(answer.contents)


def test_what_is_above_the_frontier_comes_without_being_named() -> None:
    both, lines = pair(), conversation(60)
    news = [Author("late").write("one", after=lines[-1:], lamport=NOW_MS + 100)]
    both.hear(both.one, lines)
    both.hear(both.other, [*lines, *news])
    told = both.one.write("mine", both.now)
    both.hear(both.one, [])

    both.meet()

    assert both.converged
    assert both.entries == 2
    assert both.pushed == 0
    assert_alike(both, [*lines, *news, told])


def test_a_line_that_the_filter_seems_to_have_is_found_by_its_child() -> None:
    both, lines = pair(), conversation(60)
    both.hear(both.one, lines)
    both.hear(both.other, lines)
    held = IdFilter.of([bytes.fromhex(one.entry.message_id) for one in lines[-14:]])
    author = Author("late")
    tries = (
        author.fork().write(f"{number}", after=lines[-1:], lamport=NOW_MS + 100)
        for number in range(20_000)
    )
    unseen = next(one for one in tries if bytes.fromhex(one.entry.message_id) in held)
    child = Author("child").write("and", after=[unseen], lamport=NOW_MS + 101)
    both.other.hear(unseen, both.now)
    both.other.hear(child, both.now)

    both.meet()

    assert both.converged
    assert both.pushed == 0
    [asked] = [one for one in both.said(Want, both.one) if one != Want()]
    assert isinstance(asked, Want)
    assert asked.ids == (bytes.fromhex(unseen.entry.message_id),)
    assert_alike(both, [*lines, unseen, child])


def test_a_newest_line_that_the_filter_seems_to_have_is_found_among_the_heads() -> None:
    both, lines = pair(), conversation(60)
    both.hear(both.one, lines)
    both.hear(both.other, lines)
    held = IdFilter.of([bytes.fromhex(one.entry.message_id) for one in lines[-15:]])
    tries = (
        Author("late").write(f"{number}", after=lines[-1:], lamport=NOW_MS + 100)
        for number in range(20_000)
    )
    unseen = next(one for one in tries if bytes.fromhex(one.entry.message_id) in held)
    both.other.hear(unseen, both.now)

    both.meet()

    assert both.converged
    assert both.pushed == 0
    assert both.entries == 1


def test_lines_that_come_during_the_session_do_no_harm() -> None:
    both, lines = pair(), conversation(200)
    ours = holes(20, 200, 1)
    both.hear(both.one, lines, ours)
    both.hear(both.other, lines, holes(20, 200, 2) - ours)
    start = values.StartSession(both.number(), both.other.peer_id, "test", None, "delta")
    both.queue.append((both.one, start))
    written = []
    for number in range(60):
        if both.queue:
            both.step(both.now)
        if number % 10 == 0 and number < 50:
            writer = (both.one, both.other)[number // 10 % 2]
            written.append(writer.write(f"meanwhile {number}", both.now + number * SECOND))
            if number % 20 == 0:
                both.beside(writer).hear(written[-1], both.now + number * SECOND)
    both.run(both.now)

    assert both.converged, "what came meanwhile is the next session's"
    both.now += MINUTE
    both.meet()
    assert both.converged
    assert both.one.shown() == both.other.shown()
    assert len(both.one.shown()) == len(lines) + len(written)


def test_a_line_whose_parents_nobody_has_waits_and_is_asked_for_once() -> None:
    both, lines = pair(), conversation(60)
    never = Author("never").write("x", lamport=NOW_MS + 90)
    orphan = Author("orphan").write("y", after=[never], lamport=NOW_MS + 100)
    both.hear(both.one, lines)
    both.hear(both.other, lines)
    both.other.hear(orphan, both.now)

    both.meet()

    assert both.converged
    [asked] = [one for one in both.said(Want, both.one) if one != Want()]
    assert isinstance(asked, Want)
    assert asked.ids == (bytes.fromhex(never.entry.message_id),)
    assert orphan.entry.message_id not in both.one.shown()
    shown = both.one.advance(both.now + 5 * BEHIND)
    [after_gap] = only(values.SetStatus, shown)
    assert after_gap.after_gap


def test_a_silent_peer_ends_the_session_after_a_while() -> None:
    both, lines = pair(), conversation(60)
    both.hear(both.one, lines, {30})
    both.hear(both.other, lines)
    start = values.StartSession(both.number(), both.other.peer_id, "test", None, "delta")
    both.queue.append((both.one, start))
    while not both.said(BloomFilter, both.one):
        both.step(both.now)
    both.queue.clear()

    both.one.tell(Tick(), both.now + 19 * SECOND)
    assert both.one.group.sessions.running
    effects = both.one.tell(Tick(), both.now + 20 * SECOND)

    assert [one.result for one in only(values.SessionEnded, effects)] == ["nothing came in time"]
