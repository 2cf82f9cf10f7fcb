"""SDS-R among several: the guide's testing scenarios, and that it is what makes groups converge."""

import pytest

from sync.machine import HOUR, MINUTE, SECOND
from sync.sds.message import Message
from sync.sds.parameters import LAN, WAKU, Parameters
from sync.sds.repair import Window, is_in_response_group
from tests.support.sync.channels import peer
from tests.support.sync.rooms import DELAY, Room, loses_nothing, losing, lossy

FIVE = ("alice", "bob", "carol", "dave", "eve")
SEEDS = range(10)
WINDOW = Window.of(LAN, len(FIVE))


# --- Single missing message --------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [LAN, WAKU], ids=["lan", "waku"])
def test_one_lost_message_costs_one_request_and_one_answer(parameters: Parameters) -> None:
    room = Room(FIVE, losing(("hello", "carol")), parameters)

    hello = room.write("alice", "hello")
    room.run(10 * MINUTE)

    [(requested_at, requester)] = room.requests(hello)
    [(answered_at, answerer)] = room.answers(hello)
    assert room.converged
    assert (requester, answerer) == ("carol", "alice")
    assert answered_at == requested_at + DELAY, "its author answers at once"


def test_a_message_that_many_lost_costs_one_request_and_one_answer_as_well() -> None:
    room = Room(FIVE, losing(("hello", "carol"), ("hello", "dave"), ("hello", "eve")))

    hello = room.write("alice", "hello")
    room.run(MINUTE)

    assert room.converged
    assert len(room.requests(hello)) == 1
    assert len(room.answers(hello)) == 1


def test_lost_requests_and_lost_answers_are_made_good_by_asking_again() -> None:
    room = Room(FIVE, losing(("hello", "carol")))
    hello = room.write("alice", "hello")

    def loses(_speaker: str, _listener: str, message: Message) -> bool:
        """Two requests, and every answer to the third."""
        rounds = len(room.requests(hello))
        is_answer = message.message_id == hello and message.bloom_filter is None
        return rounds <= 2 if message.repair_request else is_answer and rounds <= 3

    room.loses = loses
    room.run(10 * MINUTE)

    assert room.converged
    assert [name for _, name in room.requests(hello)] == ["carol"] * 4
    assert len(room.answers(hello)) == 5, "all four to the third, its author to the last"


# --- Cascade recovery --------------------------------------------------------------------------


def test_a_cascade_is_recovered_one_after_the_other_and_shown_in_order() -> None:
    texts = [f"line {number}" for number in range(6)]
    room = Room(FIVE, losing(*((text, "carol") for text in texts[:-1])))

    lines = []
    for text in texts:
        lines.append(room.write("alice", text))
        room.run(SECOND // 10)
    room.run(3 * MINUTE)

    assert room.converged
    assert room.shown("carol") == lines
    assert all(len(room.requests(line)) == 1 for line in lines[:-1])
    assert all(len(room.answers(line)) == 1 for line in lines[:-1])


# --- Original sender offline -------------------------------------------------------------------


def test_where_the_author_is_gone_the_next_closest_answers_alone() -> None:
    room = Room(FIVE, losing(("hello", "carol")))
    hello = room.write("alice", "hello")
    room.run(DELAY)

    room.leave("alice")
    room.run(MINUTE)

    delays = {
        name: WINDOW.answer_delay(peer(name), peer("alice"), hello)
        for name in ("bob", "dave", "eve")
    }
    [(_, answerer)] = room.answers(hello)
    assert room.converged
    assert answerer == min(delays, key=delays.__getitem__)


# --- Response group isolation ------------------------------------------------------------------


def test_only_those_in_the_response_group_answer_and_the_others_are_quiet() -> None:
    crowd = [f"peer {number}" for number in range(40)]
    room = Room(crowd, losing(("hello", "peer 1")), believed=1023)
    window = Window.of(LAN, 1024)
    hello = room.write("peer 0", "hello")
    room.run(DELAY)
    room.leave("peer 0")
    inside = {
        name
        for name in crowd[2:]
        if is_in_response_group(peer(name), peer("peer 0"), hello, window.groups)
    }

    room.run_until(lambda: room.requests(hello))
    room.run(2 * DELAY)
    planned = {name for name in crowd if room.channels[name].repairs.answering.answers}
    room.run(2 * window.t_max)

    assert 0 < len(inside) < 20
    assert planned == inside
    assert {name for _, name in room.answers(hello)} <= inside
    assert len(room.answers(hello)) == 1
    assert room.converged


def test_the_only_holder_outside_of_the_response_group_answers_in_the_end() -> None:
    hello = Room(("author",)).write("author", "hello")
    strangers = (f"stranger {number}" for number in range(1000))
    outsider = next(
        one
        for one in strangers
        if not is_in_response_group(peer(one), peer("author"), hello, groups=4)
    )
    room = Room(("author", outsider, "carol"), losing(("hello", "carol")), believed=1023)
    room.write("author", "hello")
    room.run(DELAY)
    room.leave("author")

    room.run(HOUR)

    assert room.shown("carol") == [hello]
    assert len(room.requests(hello)) >= 3, "twice as many may answer each time"
    assert [name for _, name in room.answers(hello)] == [outsider]


# --- Network partition -------------------------------------------------------------------------


def test_a_partition_that_outlasts_the_window_heals_all_the_same() -> None:
    sides = {"alice": 0, "bob": 0, "carol": 1, "dave": 1, "eve": 1}
    room = Room(FIVE)
    room.write("alice", "before")
    room.run(MINUTE)

    room.loses = lambda speaker, listener, _message: sides[speaker] != sides[listener]
    for number in range(5):
        room.write("bob", f"here {number}")
        room.write("eve", f"there {number}")
        room.run(MINUTE)
    room.run(2 * WINDOW.lost_after)
    apart = room.converged
    room.loses = loses_nothing
    room.run(5 * MINUTE)

    assert not apart
    assert room.converged


def test_what_was_given_up_in_a_partition_is_found_when_it_is_over() -> None:
    room = Room(("alice", "bob", "carol"), losing(("hello", "carol")))
    hello = room.write("alice", "hello")
    room.run_until(lambda: hello in room.channels["carol"].incoming.missing)
    room.loses = lambda speaker, listener, _message: "carol" in (speaker, listener)
    room.run(2 * WINDOW.lost_after)
    given_up = room.lost("carol")
    room.loses = loses_nothing
    room.run(5 * MINUTE)

    assert given_up == [hello]
    assert room.converged
    assert not room.channels["carol"].incoming.lost


@pytest.mark.parametrize("seed", SEEDS)
def test_where_the_authors_answers_never_get_through_another_answers_before_a_gap_is_shown(
    seed: int,
) -> None:
    """Its author answers at once, which silences the others, who alone could be heard."""

    def one_way(speaker: str, listener: str, _message: Message) -> bool:
        return speaker == "alice" and listener == "carol"

    room = Room(("alice", "bob", "carol", "dave"), one_way, seed=seed)
    hello = room.write("alice", "hello")
    room.run(2 * SECOND)
    after = room.write("bob", "hello alice")
    room.run(LAN.gap_after)

    assert room.shown("carol") == [hello, after]
    assert room.converged
    assert len(room.answers(hello)) <= 8


# --- A group -----------------------------------------------------------------------------------


def chat(room: Room) -> None:
    """Fifteen lines of everybody in turn, three seconds apart."""
    for number in range(15):
        room.write(FIVE[number % len(FIVE)], f"line {number}")
        room.run(3 * SECOND)
    room.run(10 * MINUTE)


@pytest.mark.parametrize("loss", [0.1, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_lossy_group_converges(seed: int, loss: float) -> None:
    room = Room(FIVE, lossy(loss, seed), seed=seed)

    chat(room)

    assert room.converged, f"seed={seed}"


def test_whoever_was_deaf_while_everybody_wrote_at_once_gets_every_line() -> None:
    many = [f"peer {number}" for number in range(24)]
    room = Room(many, lambda _speaker, listener, _message: listener == "peer 1")
    for name in many:
        room.write(name, f"line of {name}")
    room.run(4 * SECOND)

    room.loses = loses_nothing
    room.run(10 * MINUTE)

    assert room.converged


def test_without_repair_it_mostly_does_not() -> None:
    converged = []
    for seed in range(10):
        room = Room(FIVE, lossy(0.1, seed), seed=seed, repair=False)
        chat(room)
        converged.append(room.converged)

    assert sum(converged) <= 2, converged
