"""The incoming repair request buffer: who answers, when, how often, and for whom."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.machine import MILLISECOND, SECOND, MessageId, Nanos
from sync.sds.answering import (
    ANSWERS_BURST,
    ANSWERS_MAX,
    ANSWERS_PER_SECOND,
    FORGOTTEN_AFTER,
    ROUNDS_MAX,
    Answering,
    Forestalled,
)
from sync.sds.message import HistoryEntry
from sync.sds.parameters import LAN, WAKU
from sync.sds.repair import Window, is_in_response_group
from tests.support.sync.channels import NOW, message_id, peer

ALICE, BOB, CAROL = peer("alice"), peer("bob"), peer("carol")
WINDOW = Window.of(LAN, 2)
CROWD = Window.of(WAKU, 1024)
T_MAX = WINDOW.t_max
BURST = int(ANSWERS_BURST)


def entry(name: str, sender: str = "author") -> HistoryEntry:
    return HistoryEntry(message_id(name), None, peer(sender))


def delay(name: str, sender: str = "author") -> Nanos:
    return WINDOW.answer_delay(ALICE, peer(sender), message_id(name))


def answering_for(*names: str) -> Answering:
    answering = Answering(ALICE)
    for name in names:
        answering.requested(entry(name), BOB, WINDOW, NOW)
    return answering


def answered_in(groups: int) -> str:
    """The name of a message that alice may answer for in so many groups, and in no more."""
    for number in count():
        name = f"m{number}"
        wide = [
            half
            for half in (8, 4, 2, 1)
            if is_in_response_group(ALICE, peer("author"), message_id(name), half)
        ]
        if wide[0] == groups:
            return name
    raise AssertionError


# --- T_resp ------------------------------------------------------------------------------------


def test_a_request_is_answered_at_its_t_resp_and_not_before() -> None:
    answering = answering_for("one")
    due = NOW + delay("one")

    assert answering.deadline() == due
    assert answering.due(due - 1) == []
    assert answering.due(due) == [message_id("one")]
    assert answering.deadline() is None
    assert answering.due(due + T_MAX) == []


def test_its_author_answers_at_once() -> None:
    answering = Answering(ALICE)

    answering.requested(entry("mine", sender="alice"), BOB, WINDOW, NOW)

    assert answering.due(NOW) == [message_id("mine")]


def test_answers_are_given_lowest_t_resp_first() -> None:
    letters = "abcdefgh"
    answering = answering_for(*letters)

    assert answering.due(NOW + T_MAX) == [message_id(one) for one in sorted(letters, key=delay)]


def test_what_is_requested_twice_is_answered_once_and_for_the_first() -> None:
    answering = answering_for("one", "one")
    answering.requested(entry("one"), peer("carol"), WINDOW, NOW + 1)

    assert answering.answers[message_id("one")].requester == BOB
    assert answering.due(NOW + T_MAX) == [message_id("one")]


def test_who_does_not_know_its_sender_takes_no_part_in_the_repair() -> None:
    answering = Answering(ALICE)

    answering.requested(HistoryEntry(message_id("one")), BOB, WINDOW, NOW)

    assert not answering.answers
    assert not answering._rounds


def test_an_answer_that_somebody_else_gave_is_not_given() -> None:
    answering = answering_for("one", "two")

    answering.heard(message_id("one"), CAROL, NOW)
    answering.heard(message_id("never asked for"), CAROL, NOW)

    assert answering.due(NOW + T_MAX) == [message_id("two")]
    assert list(answering.forestalled) == [Forestalled(message_id("one"), BOB, CAROL, NOW)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["requested", "heard", "due"]),
            st.sampled_from("abcdef"),
            st.integers(0, 8_000),
        ),
        max_size=40,
    )
)
def test_the_heap_and_a_plain_search_agree(events: list[tuple[str, str, int]]) -> None:
    answering = Answering(ALICE)
    now = NOW
    for what, name, pause in events:
        now += pause * MILLISECOND
        if what == "requested":
            answering.requested(entry(name), BOB, WINDOW, now)
        elif what == "heard":
            answering.heard(message_id(name), CAROL, NOW)
        else:
            due = [(one.t_resp, id_) for id_, one in answering.answers.items() if one.t_resp <= now]
            assert answering.due(now) == [id_ for _, id_ in sorted(due)]

        planned = [one.t_resp for one in answering.answers.values()]
        assert answering.deadline() == min(planned, default=None)


# --- Once in T_max -----------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["given", "heard"])
def test_what_was_answered_is_answered_again_only_after_t_max(how: str) -> None:
    answering = answering_for("one")
    if how == "given":
        answering.due(NOW + T_MAX)
    else:
        answering.heard(message_id("one"), CAROL, NOW)

    answering.requested(entry("one"), peer("carol"), WINDOW, NOW + T_MAX - 1)
    too_soon = dict(answering.answers)
    answering.requested(entry("one"), peer("carol"), WINDOW, NOW + T_MAX)

    assert too_soon == {}
    assert list(answering.answers) == [message_id("one")]


def test_a_requester_who_waits_as_long_as_it_must_is_always_answered() -> None:
    answering = Answering(ALICE)
    now, given_out = NOW, []
    for number in range(10):
        answering.requested(entry("one"), peer(f"peer {number}"), WINDOW, now)
        now += T_MAX + WINDOW.t_min
        given_out.append(answering.due(now))

    assert given_out == [[message_id("one")]] * 10


def test_from_the_third_asking_on_an_answer_heard_silences_nobody_and_later_two_do_not() -> None:
    answering = Answering(ALICE)
    given = []
    for asked, heard in enumerate((1, 1, 1, 3)):
        now = NOW + asked * 2 * T_MAX
        answering.requested(entry("one"), BOB, WINDOW, now)
        for _ in range(heard):
            answering.heard(message_id("one"), CAROL, NOW)
        given.append(answering.due(now + T_MAX))

    assert given == [[], [], [message_id("one")], [message_id("one")]]


def test_enough_answers_silence_in_every_round() -> None:
    answering = Answering(ALICE)
    for asked in range(4):
        now = NOW + asked * 2 * T_MAX
        answering.requested(entry("one"), BOB, WINDOW, now)
        for _ in range(1 << max(0, asked - 1)):
            answering.heard(message_id("one"), CAROL, NOW)

        assert answering.due(now + T_MAX) == []


# --- Response groups ---------------------------------------------------------------------------


def test_only_those_in_the_response_group_answer() -> None:
    inside, outside = Answering(peer("peer 1")), []
    ids = [message_id(str(number)) for number in range(40)]
    for id_ in ids:
        inside.requested(HistoryEntry(id_, None, peer("author")), BOB, CROWD, NOW)
        if not is_in_response_group(peer("peer 1"), peer("author"), id_, CROWD.groups):
            outside.append(id_)

    assert CROWD.groups == 8
    assert 20 <= len(outside) < 40
    assert set(inside.answers) == set(ids) - set(outside)


@pytest.mark.parametrize(("groups", "rounds"), [(8, 1), (4, 2), (2, 3), (1, 4)])
def test_each_request_after_t_max_lets_twice_as_many_answer(groups: int, rounds: int) -> None:
    name = answered_in(groups)
    answering = Answering(ALICE)

    planned = []
    for asked in range(rounds):
        answering.requested(entry(name), BOB, CROWD, NOW + asked * CROWD.t_max)
        planned.append(bool(answering.answers))

    assert planned == [False] * (rounds - 1) + [True]


def test_requests_within_t_max_are_one_round() -> None:
    name = answered_in(4)
    answering = Answering(ALICE)

    for number in range(100):
        answering.requested(entry(name), peer(f"peer {number}"), CROWD, NOW + number * SECOND)

    assert not answering.answers
    assert answering._rounds[message_id(name)].count == 0


@pytest.mark.parametrize("beyond", [0, 1])
def test_so_many_requested_ids_are_remembered_and_no_more(beyond: int) -> None:
    answering = Answering(ALICE)
    name = answered_in(4)
    answering.requested(entry(name), BOB, CROWD, NOW)

    for number in range(ROUNDS_MAX - 1 + beyond):
        answering.requested(entry(f"other {number}"), BOB, CROWD, NOW)
    answering.requested(entry(name), BOB, CROWD, NOW + CROWD.t_max)

    assert len(answering._rounds) == ROUNDS_MAX
    assert (message_id(name) in answering.answers) is (beyond == 0), "the oldest begins anew"


# --- Limits ------------------------------------------------------------------------------------


def request_many(answering: Answering, requests: int, requester: str, now: Nanos = NOW) -> None:
    for number in range(requests):
        answering.requested(entry(f"{requester} {number} {now}"), peer(requester), WINDOW, now)


@pytest.mark.parametrize("beyond", [0, 1, 5])
def test_one_requester_causes_so_many_answers_and_no_more(beyond: int) -> None:
    answering = Answering(ALICE)

    request_many(answering, BURST + beyond, "mallory")
    request_many(answering, 1, "carol")

    assert len(answering.answers) == BURST + 1
    assert answering.declined == beyond


def test_a_requester_may_ask_on_as_tokens_flow_in() -> None:
    answering = Answering(ALICE)
    request_many(answering, BURST, "bob")

    request_many(answering, 100, "bob", NOW + SECOND)

    assert len(answering.answers) == BURST + int(ANSWERS_PER_SECOND)
    assert answering.declined == 100 - int(ANSWERS_PER_SECOND)


def test_asking_for_what_is_not_ours_to_give_uses_up_nothing() -> None:
    answering = Answering(ALICE)
    name = answered_in(4)
    for _ in range(2 * BURST):
        answering.requested(entry(name), BOB, CROWD, NOW)
        answering.requested(HistoryEntry(message_id("of nobody")), BOB, CROWD, NOW)

    request_many(answering, BURST, "bob")

    assert len(answering.answers) == BURST


def test_a_request_that_was_declined_is_answered_when_it_is_made_again() -> None:
    answering = Answering(ALICE)
    request_many(answering, BURST, "bob")
    answering.requested(entry("one more"), BOB, WINDOW, NOW)
    declined = message_id("one more") not in answering.answers

    answering.requested(entry("one more"), BOB, WINDOW, NOW + SECOND)

    assert declined
    assert message_id("one more") in answering.answers


@pytest.mark.parametrize("beyond", [0, 1, 100])
def test_so_many_answers_are_planned_and_no_more(beyond: int) -> None:
    answering = Answering(ALICE)
    requesters = ANSWERS_MAX // 50
    for number in range(requesters):
        request_many(answering, 50, f"peer {number}")

    request_many(answering, beyond, "late")

    assert len(answering.answers) == ANSWERS_MAX
    assert planned_for(answering, "late") == []
    answering.due(NOW + T_MAX)
    request_many(answering, beyond, "late")
    assert len(planned_for(answering, "late")) == min(beyond, BURST), "who asks again is heard"


def planned_for(answering: Answering, requester: str) -> list[MessageId]:
    planned = answering.answers.values()
    return [answer.message_id for answer in planned if answer.requester == peer(requester)]


def test_answers_and_cancellations_without_end_fill_no_memory() -> None:
    answering = Answering(ALICE)
    for number in range(20_000):
        now = NOW + number * 100 * MILLISECOND
        answering.requested(entry(f"m{number}"), peer(f"peer {number % 9}"), WINDOW, now)
        answering.heard(message_id(f"m{number}"), CAROL, NOW)
        answering.due(now)

    per_t_max = T_MAX // (100 * MILLISECOND)
    assert len(answering._heap) <= per_t_max
    assert len(answering._rounds) == ROUNDS_MAX


def test_a_message_requested_again_much_later_is_a_new_one() -> None:
    window = Window.of(LAN, 1000)
    asked = Answering(ALICE)
    wanted = next(
        one
        for number in range(1000)
        if not is_in_response_group(
            ALICE, peer("bob"), (one := message_id(f"m{number}")), window.groups // 2
        )
    )
    request = HistoryEntry(wanted, None, peer("bob"))

    for again in range(20):
        later = NOW + again * FORGOTTEN_AFTER * window.t_max
        asked.requested(request, peer(f"newcomer {again}"), window, later)

    assert not asked.answers
