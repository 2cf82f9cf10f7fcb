"""The outgoing repair request buffer: what is asked for, when, how often, and by whose word."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.machine import HOUR, MILLISECOND, SECOND, Nanos
from sync.sds.asking import (
    BACKOFF_MAX,
    LEFT_TO_MAX,
    REQUESTS_MAX,
    REQUESTS_PER_LINK_MAX,
    STALE_MAX,
    Asking,
)
from sync.sds.message import HistoryEntry
from sync.sds.parameters import LAN, WAKU
from sync.sds.repair import Window
from tests.support.sync.alone.asked import (
    ALICE,
    T_MAX,
    WINDOW,
    asked_for,
    asking_for,
    by_t_req,
    delay,
    entry,
    fill,
)
from tests.support.sync.channels import NOW, message_id, peer

# --- T_req -------------------------------------------------------------------------------------


def test_what_is_missing_is_asked_for_at_its_t_req_and_not_before() -> None:
    asking = asking_for("one")
    due = NOW + delay("one")

    assert asking.deadline() == due
    assert asked_for(asking, due - 1) == []
    assert asked_for(asking, due) == [message_id("one")]


def test_the_lowest_t_req_is_asked_for_first_and_three_at_most() -> None:
    letters = "abcdefgh"
    asking = asking_for(*letters)

    rounds = [asked_for(asking, NOW + T_MAX) for _ in range(4)]

    order = by_t_req(*letters)
    assert rounds == [order[:3], order[3:6], order[6:], []]


@given(st.lists(st.sampled_from("abcdefghijklmnop"), unique=True), st.integers(0, 7))
def test_only_those_whose_time_has_come_are_asked_for(letters: list[str], seconds: int) -> None:
    asking = asking_for(*letters)
    now = NOW + seconds * SECOND

    due = [name for name in letters if NOW + delay(name) <= now]

    assert asked_for(asking, now, most=16) == by_t_req(*due)


def test_what_is_named_again_keeps_its_time() -> None:
    asking = asking_for("one")

    asking.want(entry("one"), peer("carol"), WINDOW, NOW + SECOND)

    assert asking.deadline() == NOW + delay("one")
    assert len(asking) == 1


def test_what_came_is_asked_for_no_more() -> None:
    asking = asking_for("one")

    asking.drop(message_id("one"), WINDOW, NOW)

    assert asking.deadline() is None
    assert asked_for(asking, NOW + HOUR) == []
    assert not asking


def test_what_was_never_wanted_may_come() -> None:
    asking = asking_for("one")

    asking.drop(message_id("other"), WINDOW, NOW)
    asking.heard(message_id("other"), peer("carol"), WINDOW, NOW)

    assert list(asking.requests) == [message_id("one")]


def test_one_who_names_it_again_may_add_who_wrote_it_and_how_to_fetch_it() -> None:
    asking = asking_for("one")
    with_hint = HistoryEntry(message_id("one"), b"hint")
    with_sender = HistoryEntry(message_id("one"), b"other hint", peer("dave"))

    for told in (with_hint, with_sender):
        asking.want(told, peer("carol"), WINDOW, NOW)

    [request] = asking.ask(3, WINDOW, NOW + T_MAX)
    assert request.entry == HistoryEntry(message_id("one"), b"hint", peer("dave"))
    assert request.namer == peer("bob")


# --- Asking again ------------------------------------------------------------------------------


def test_an_answer_has_its_time_before_the_message_is_asked_for_again_ever_later() -> None:
    asking = asking_for("one")
    times = []
    while (due := asking.deadline()) is not None and due < NOW + 600 * SECOND:
        assert asked_for(asking, due) == [message_id("one")]
        times.append(due)

    pauses = [later - earlier - delay("one") for earlier, later in pairwise(times)]
    most = (2**BACKOFF_MAX - 1) * T_MAX
    assert pauses == [T_MAX, *[most] * (len(times) - 2)]
    assert len(times) >= 20


def test_within_the_time_until_it_is_lost_a_message_is_asked_for_seven_times() -> None:
    for participants in (2, 200, 1000):
        window = Window.of(LAN, participants)
        asking = Asking(ALICE)
        asking.want(entry("one"), peer("bob"), window, NOW)

        times = 0
        while (due := asking.deadline()) is not None and due <= NOW + window.lost_after:
            times += len(asking.ask(3, window, due))

        assert times >= 7


def test_what_the_person_asks_for_again_is_asked_for_now_and_the_rest_in_its_time() -> None:
    asking = asking_for("one", "two")

    asking.hurry({message_id("two")}, WINDOW, NOW)

    assert asked_for(asking, NOW) == [message_id("two")]
    assert asking.deadline() == NOW + delay("one")

    asking.hurry((), WINDOW, NOW)

    assert asked_for(asking, NOW) == [message_id("one")]
    assert asking.deadline() == NOW + T_MAX, "the answers to the other have their time first"


def test_however_often_a_person_wishes_it_one_request_goes_out_in_t_max() -> None:
    asking = asking_for("one")
    times = []

    for tenths in range(100 * T_MAX // SECOND):
        now = NOW + tenths * SECOND // 10
        asking.hurry({message_id("one")}, WINDOW, now)
        if asked_for(asking, now):
            times.append(now)

    assert len(times) == 10
    assert times[0] == NOW
    assert all(later - earlier == T_MAX for earlier, later in pairwise(times))
    assert asking.requests[message_id("one")].asked_at == times[-1]


def test_a_wish_never_puts_off_what_is_asked_for_sooner_anyway() -> None:
    asking = asking_for("one")
    due = NOW + delay("one")

    asking.hurry({message_id("one")}, WINDOW, due)
    asking.hurry({message_id("unknown")}, WINDOW, NOW)

    assert asking.deadline() == due


def test_who_hears_another_ask_leaves_it_to_them_and_asks_later() -> None:
    asking = asking_for("one", "two")

    asking.heard(message_id("one"), peer("carol"), WINDOW, NOW + SECOND)

    request = asking.requests[message_id("one")]
    assert request.t_req == NOW + SECOND + T_MAX + delay("one")
    assert request.asked == 1
    assert asked_for(asking, NOW + T_MAX) == [message_id("two")]
    assert asked_for(asking, request.t_req) == [message_id("one")]


def test_asking_and_hearing_count_alike() -> None:
    asked, heard = asking_for("one"), asking_for("one")
    due = NOW + delay("one")

    asked_for(asked, due)
    heard.heard(message_id("one"), peer("carol"), WINDOW, due)

    one = message_id("one")
    assert asked.requests[one].asked == heard.requests[one].asked == 1
    assert asked.requests[one].t_req == heard.requests[one].t_req
    assert asked.deadline() == heard.deadline()


def test_a_request_that_is_heard_twice_at_once_is_asked_for_once() -> None:
    asking = asking_for("one")
    for _ in range(5):
        asking.heard(message_id("one"), peer("carol"), WINDOW, NOW)

    due = asking.deadline()

    assert due is not None
    assert asked_for(asking, due) == [message_id("one")]


def test_a_flood_of_requests_by_others_fills_no_memory() -> None:
    asking = asking_for("one", "two")

    for number in range(5 * STALE_MAX):
        asking.heard(message_id("one"), peer(f"peer {number}"), WINDOW, NOW + number * T_MAX)

    assert len(asking._links[peer("bob")].heap) <= 2 * len(asking.requests) + STALE_MAX
    assert asked_for(asking, NOW + T_MAX) == [message_id("two")]


def test_who_asks_every_second_keeps_the_others_from_asking_no_longer_than_once_in_t_max() -> None:
    asking = asking_for("one")

    for number in range(100):
        asking.heard(message_id("one"), peer("carol"), WINDOW, NOW + number * T_MAX // 100)

    assert asking.requests[message_id("one")].asked == 1
    assert asking.deadline() == NOW + T_MAX + delay("one")


def test_who_asks_again_and_again_silences_nobody_for_ever() -> None:
    asking = asking_for("one")
    asked = 0

    for second in range(600):
        now = NOW + second * SECOND
        asking.heard(message_id("one"), peer("mallory"), WINDOW, now)
        asked += len(asked_for(asking, now))

    assert asked >= 600 * SECOND // (8 * T_MAX)


def test_however_many_ask_by_turns_we_ask_ourselves_in_the_end() -> None:
    asking = asking_for("one")
    asked = 0

    for number in range(2 * LEFT_TO_MAX):
        now = NOW + number * T_MAX
        asking.heard(message_id("one"), peer(f"mallory {number}"), WINDOW, now)
        asked += len(asked_for(asking, now))

    assert asked > 0


def test_links_have_turns_where_more_is_due_than_one_message_may_ask_for() -> None:
    asking = Asking(ALICE)
    fill(asking, "mallory", 200)
    asking.want(entry("honest"), peer("carol"), WINDOW, NOW + T_MAX, peer("carol"))

    asked = asked_for(asking, NOW + 2 * T_MAX)

    assert message_id("honest") in asked


def test_when_all_places_are_taken_who_named_most_gives_one_up_for_who_named_less() -> None:
    asking = Asking(ALICE)
    for number in range(REQUESTS_MAX // REQUESTS_PER_LINK_MAX):
        fill(asking, f"mallory {number}", REQUESTS_PER_LINK_MAX)
    everything = len(asking)

    honest = fill(asking, "carol", 1)

    assert honest[0] in asking.requests
    assert len(asking.requests) == REQUESTS_MAX
    assert len(asking) == everything + 1, "what gave way stands in line"
    asking.drop(honest[0], WINDOW, NOW)
    assert len(asking.requests) == REQUESTS_MAX, "and is called again"


@pytest.mark.parametrize("name", ["one", "another", "a third"])
def test_in_the_profile_waku_a_message_waits_for_the_answer_to_the_fifth_asking(name: str) -> None:
    window = Window.of(WAKU, 2)
    asking = Asking(ALICE)
    asking.want(entry(name), peer("bob"), window, NOW)

    times: list[Nanos] = []
    while (due := asking.deadline()) is not None and len(times) < 5:
        asking.ask(3, window, due)
        times.append(due)

    assert times[-1] + window.t_max <= NOW + window.gap_after
    assert NOW + 16 * window.t_max <= NOW + window.gap_after, "whatever its T_req"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["want", "drop", "heard", "ask"]),
            st.sampled_from("abcdef"),
            st.integers(0, 8_000),
        ),
        max_size=40,
    )
)
def test_the_heap_and_a_plain_search_agree(events: list[tuple[str, str, int]]) -> None:
    asking = Asking(ALICE)
    now = NOW
    for what, name, pause in events:
        now += pause * MILLISECOND
        if what == "want":
            asking.want(entry(name), peer("bob"), WINDOW, now)
        elif what == "drop":
            asking.drop(message_id(name), WINDOW, now)
        elif what == "heard":
            asking.heard(message_id(name), peer("carol"), WINDOW, now)
        else:
            due = [(one.t_req, id_) for id_, one in asking.requests.items() if one.t_req <= now]
            assert asked_for(asking, now, most=2) == [id_ for _, id_ in sorted(due)[:2]]

        assert asking.deadline() == min(
            (one.t_req for one in asking.requests.values()), default=None
        )
