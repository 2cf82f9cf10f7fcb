"""SDS-R in one channel: what it asks for, what it answers, and in which message."""

import pytest
from msgspec.structs import replace

from sync.machine import SECOND, Nanos, Tick
from sync.sds.channel import Channel
from sync.sds.events import (
    Answer,
    Broadcast,
    Connected,
    HeardCopy,
    Held,
    SetAside,
)
from sync.sds.message import HistoryEntry, Kind
from sync.sds.parameters import WAKU
from sync.sds.repair import Window
from sync.sds.timing import ASK_PAUSE
from tests.support.sync.channels import (
    NOW,
    advance,
    channel,
    hear,
    message,
    message_id,
    named,
    only,
    peer,
    received,
    say,
    sync_message,
)
from tests.support.sync.repairs import (
    ALICE,
    T_MAX,
    WINDOW,
    answered,
    asked,
    asks,
    entries,
    lacking,
    t_req,
)

# --- When SENDING a Message --------------------------------------------------------------------


def test_a_lost_message_is_asked_for_at_its_t_req_in_a_sync_message() -> None:
    alice = lacking("one")

    [broadcast, *_] = [
        (at, one.message)
        for at, one in advance(alice, t_req("one"))
        if isinstance(one, Broadcast) and one.message.repair_request
    ]

    at, sent = broadcast
    assert at == t_req("one")
    assert sent.kind is Kind.SYNC
    assert sent.repair_request == entries("one"), "with its hint and its sender"


def test_it_is_asked_for_in_a_content_message_where_that_comes_first() -> None:
    alice = lacking("one")

    sent = say(alice, "hello", t_req("one"))

    assert sent.repair_request == entries("one")
    assert asked(alice, t_req("one") + T_MAX) == []


def test_a_content_message_before_its_time_asks_for_nothing() -> None:
    alice = lacking("one")

    sent = say(alice, "hello", t_req("one") - 1)

    assert sent.repair_request == ()
    assert asked(alice, t_req("one")) == [(t_req("one"), [message_id("one")])]


def test_a_participant_with_an_empty_log_asks_too() -> None:
    alice = lacking("one")

    assert not len(alice.log.order)
    assert asked(alice, t_req("one")) == [(t_req("one"), [message_id("one")])]


def test_three_are_asked_for_in_one_message_lowest_t_req_first() -> None:
    letters = "abcdefgh"
    alice = lacking(*letters)

    requests = asked(alice, NOW + T_MAX + SECOND, since=NOW + T_MAX)

    order = [message_id(name) for name in sorted(letters, key=t_req)]
    assert requests == [
        (NOW + T_MAX, order[:3]),
        (NOW + T_MAX + ASK_PAUSE, order[3:6]),
        (NOW + T_MAX + 2 * ASK_PAUSE, order[6:]),
    ]


def test_the_other_profile_asks_after_half_a_minute() -> None:
    alice = channel("alice", parameters=WAKU)
    hear(alice, sync_message("bob", entries("one")))

    [(at, _)] = asked(alice, NOW + WAKU.t_max)

    assert at == NOW + Window.of(WAKU, 2).request_delay(ALICE, message_id("one"))
    assert WAKU.t_min <= at - NOW < WAKU.t_max


def test_nobody_is_asked_while_nobody_is_there() -> None:
    alice = lacking("one")
    alice.handle(Connected(0), NOW)
    alone = asked(alice, NOW + 2 * T_MAX)

    alice.handle(Connected(1), NOW + 2 * T_MAX)

    again = asked(alice, NOW + 3 * T_MAX, since=NOW + 2 * T_MAX)
    assert alone == []
    assert again == [(t_req("one") + 2 * T_MAX, [message_id("one")])], "in its time, counted anew"


def test_who_comes_back_with_others_leaves_the_asking_to_one_of_them() -> None:
    """Their T_req passed while nobody was there; all at once they would all ask."""
    everybody = [channel(name) for name in ("alice", "bob", "carol", "dave")]
    for one in everybody:
        hear(one, sync_message("erin", entries("one")))
        one.handle(Connected(0), NOW)
        one.handle(Connected(3), NOW + 3 * T_MAX)

    times = {one.repairs.asking.deadline() for one in everybody}

    assert len(times) == len(everybody)


# --- When RECEIVING a Message ------------------------------------------------------------------


def test_a_message_that_came_is_asked_for_no_more() -> None:
    alice = lacking("one", "two")

    hear(alice, message("one"))

    assert asked(alice, NOW + T_MAX) == [(t_req("two"), [message_id("two")])]


def test_a_message_that_came_and_waits_is_asked_for_no_more_but_what_it_waits_for_is() -> None:
    alice = lacking("two")

    hear(alice, message("two", after=entries("one")))

    assert asked(alice, NOW + T_MAX) == [(t_req("one"), [message_id("one")])]


def test_nobody_is_asked_for_what_waits_here_whoever_names_it() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=entries("one"), lamport=2))

    effects = hear(alice, message("three", after=entries("two"), lamport=3))
    hear(alice, sync_message("carol", entries("two", "three")))

    assert effects == [Held(message_id("three"))]
    assert list(alice.repairs.asking.requests) == [message_id("one")]


def test_nobody_is_asked_for_what_is_kept_aside_for_its_time() -> None:
    alice = lacking("one")

    alice.handle(SetAside(message_id("one")), NOW)
    hear(alice, sync_message("carol", entries("one")))

    assert asked(alice, NOW + T_MAX) == []


def test_who_hears_another_ask_does_not_ask_at_the_same_time() -> None:
    alice = lacking("one", "two")

    hear(alice, asks("carol", "one"), NOW + 1)

    assert asked(alice, NOW + T_MAX) == [(t_req("two"), [message_id("two")])]
    assert message_id("one") in alice.repairs.asking.requests


def test_who_hears_another_ask_asks_itself_when_no_answer_came() -> None:
    alice = lacking("one")
    hear(alice, asks("carol", "one"), NOW + 1)

    [(at, _), *_] = asked(alice, NOW + 3 * T_MAX)

    assert at == t_req("one") + 1 + T_MAX


def test_a_message_that_asks_for_one_thing_twice_asks_once() -> None:
    alice, carol = lacking("one"), channel("carol")
    hear(carol, message("one"))
    twice = asks("dave", "one", "one")

    hear(alice, twice, NOW + 1)
    hear(carol, twice, NOW + 1)

    assert alice.repairs.asking.requests[message_id("one")].asked == 1
    assert len(carol.repairs.answering.answers) == 1


def test_what_we_have_is_answered_at_its_t_resp() -> None:
    alice = channel("alice")
    hear(alice, message("one"))

    hear(alice, asks("carol", "one"))

    due = NOW + WINDOW.answer_delay(ALICE, peer("bob"), message_id("one"))
    assert answered(alice, NOW + T_MAX) == [(due, message_id("one"))]


def test_what_we_wrote_is_answered_at_once() -> None:
    alice = channel("alice")
    mine = say(alice, "hello")
    request = (HistoryEntry(mine.message_id, None, ALICE),)

    hear(alice, replace(sync_message("carol"), repair_request=request))

    assert alice.handle(Tick(), NOW)[0] == Answer(mine.message_id)


def test_what_is_held_back_is_answered_too_for_it_is_on_the_disk() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=entries("one")))

    hear(alice, asks("carol", "two"))

    assert [id_ for _, id_ in answered(alice, NOW + T_MAX)] == [message_id("two")]


def test_what_we_do_not_have_is_not_answered() -> None:
    alice = lacking("one")

    hear(alice, asks("carol", "one", "never heard of"))

    assert answered(alice, NOW + 3 * T_MAX) == []
    assert not alice.repairs.answering._rounds


@pytest.mark.parametrize("how", ["its author again", "somebody else"])
def test_an_answer_is_cancelled_when_somebody_else_sends_the_message(how: str) -> None:
    alice = channel("alice")
    hear(alice, message("one"))
    hear(alice, asks("carol", "one"))

    if how == "its author again":
        hear(alice, message("one"))
    else:
        alice.handle(HeardCopy(message_id("one"), peer("dave")), NOW)

    assert answered(alice, NOW + T_MAX) == []


def test_an_answer_is_cancelled_for_a_message_that_is_held_back_as_well() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=entries("one")))
    hear(alice, asks("carol", "two"))

    hear(alice, message("two", after=entries("one")))

    assert answered(alice, NOW + T_MAX) == []


def test_a_request_counts_only_on_the_link_of_who_asks() -> None:
    alice = lacking("other")
    hear(alice, message("one"))
    handed_on = replace(message("two"), repair_request=entries("one", "other"))

    alice.handle(received(handed_on, from_author=False), NOW)

    assert not alice.repairs.answering.answers
    assert alice.repairs.asking.requests[message_id("other")].asked == 0


def test_a_request_on_a_message_that_we_know_counts() -> None:
    alice = channel("alice")
    hear(alice, message("one"))
    hear(alice, message("two", sender="carol"))

    hear(alice, replace(message("two", sender="carol"), repair_request=entries("one")))

    assert list(alice.repairs.answering.answers) == [message_id("one")]


# --- Periodic sync messages with SDS-R ---------------------------------------------------------


def test_whoever_asks_is_not_kept_from_it_by_what_others_say() -> None:
    alice = lacking("one")
    hear(alice, message("old"))

    for tenth in range(10 * T_MAX // SECOND):
        at = NOW + tenth * SECOND // 10
        if at < t_req("one"):
            hear(alice, sync_message("bob", named("old")), at)

    assert asked(alice, t_req("one")) == [(t_req("one"), [message_id("one")])]


def next_sync(one: Channel) -> Nanos:
    assert one.next_sync_at is not None
    return one.next_sync_at


def test_a_sync_message_that_asks_does_not_keep_others_from_speaking() -> None:
    told, asked_for = channel("alice"), channel("alice")
    for alice in (told, asked_for):
        hear(alice, message("old"))
        hear(alice, sync_message("carol", named("old")))
    due = next_sync(told)

    hear(told, sync_message("bob", named("old")), due - 1)
    naming_and_asking = replace(sync_message("bob", named("old")), repair_request=entries("x"))
    hear(asked_for, naming_and_asking, due - 1)

    assert next_sync(told) > due
    assert next_sync(asked_for) == due


def test_an_answer_that_nobody_would_hear_is_not_given_and_not_counted_as_given() -> None:
    alice = channel("alice")
    hear(alice, message("one", "bob"))
    request = replace(sync_message("carol"), repair_request=entries("one"))
    hear(alice, request)
    alice.handle(Connected(0), NOW)
    alone = only(Answer, [one for _, one in advance(alice, NOW + 2 * T_MAX)])

    alice.handle(Connected(1), NOW + 2 * T_MAX)
    hear(alice, request, NOW + 3 * T_MAX)
    again = [one for _, one in advance(alice, NOW + 5 * T_MAX, since=NOW + 3 * T_MAX)]

    assert alone == []
    assert only(Answer, again) == [Answer(message_id("one"))]
