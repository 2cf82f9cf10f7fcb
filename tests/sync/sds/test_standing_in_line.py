"""The line for places in the buffer of repair requests: who stands in it, and who is called."""

import pytest

from sync.machine import HOUR
from sync.sds.asking import REQUESTS_MAX, REQUESTS_PER_LINK_MAX, Asking
from sync.sds.message import HistoryEntry
from tests.support.sync.alone.asked import ALICE, WINDOW, fill, waiting_in_line
from tests.support.sync.channels import NOW, peer


@pytest.mark.parametrize("beyond", [0, 1, 5])
def test_one_author_names_so_many_and_the_next_stand_in_line(beyond: int) -> None:
    asking = Asking(ALICE)

    fill(asking, "mallory", REQUESTS_PER_LINK_MAX + beyond)
    honest = fill(asking, "carol", 1)

    assert len(asking.requests) == REQUESTS_PER_LINK_MAX + 1
    assert waiting_in_line(asking) == beyond
    assert honest[0] in asking.requests


@pytest.mark.parametrize("beyond", [0, 1, 5])
def test_all_together_name_so_many_and_the_next_stand_in_line(beyond: int) -> None:
    asking = Asking(ALICE)
    full = REQUESTS_MAX // REQUESTS_PER_LINK_MAX

    for number in range(full):
        fill(asking, f"peer {number}", REQUESTS_PER_LINK_MAX)
    fill(asking, "late", beyond)

    assert len(asking.requests) == REQUESTS_MAX
    assert waiting_in_line(asking) == beyond


def test_who_stands_in_line_is_called_when_a_place_becomes_free_and_gets_a_new_t_req() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "bob", REQUESTS_PER_LINK_MAX + 2)

    asking.drop(ids[0], WINDOW, NOW + HOUR)

    called, still = ids[-2:]
    assert called in asking.requests
    assert still not in asking.requests
    assert asking.requests[called].t_req == NOW + HOUR + WINDOW.request_delay(ALICE, called)


def test_a_place_of_one_author_is_not_given_to_another_beyond_its_share() -> None:
    asking = Asking(ALICE)
    of_mallory = fill(asking, "mallory", REQUESTS_PER_LINK_MAX + 1)
    of_carol = fill(asking, "carol", 1)

    asking.drop(of_carol[0], WINDOW, NOW)

    assert of_mallory[-1] not in asking.requests
    asking.drop(of_mallory[0], WINDOW, NOW)
    assert of_mallory[-1] in asking.requests


def test_everybody_in_line_is_called_in_the_end() -> None:
    asking = Asking(ALICE)
    for number in range(6):
        fill(asking, f"peer {number}", 300)
    everybody = len(asking)

    while asking:
        for one in list(asking.requests)[:50]:
            asking.drop(one, WINDOW, NOW)
        room = len(asking.requests) < REQUESTS_MAX
        left_out = {waiting.via for waiting in asking.in_line.values()}
        counts = [asking._links[one].count for one in left_out]
        assert not room or counts == [REQUESTS_PER_LINK_MAX] * len(counts)

    assert everybody == 1800
    assert not asking._links


def test_what_came_while_it_stood_in_line_is_not_called() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "bob", REQUESTS_PER_LINK_MAX + 2)

    asking.drop(ids[-2], WINDOW, NOW)
    asking.drop(ids[0], WINDOW, NOW)

    assert ids[-2] not in asking.requests
    assert ids[-1] in asking.requests


def test_what_stands_in_line_for_one_link_is_not_asked_for_on_behalf_of_another() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "bob", REQUESTS_PER_LINK_MAX + 1)

    asking.want(HistoryEntry(ids[-1]), peer("carol"), WINDOW, NOW, peer("carol"))

    assert ids[-1] not in asking.requests
    assert len(asking) == REQUESTS_PER_LINK_MAX + 1


def test_what_stands_in_line_stands_there_once() -> None:
    asking = Asking(ALICE)
    fill(asking, "bob", REQUESTS_PER_LINK_MAX + 2)

    fill(asking, "bob", REQUESTS_PER_LINK_MAX + 2)

    assert len(asking) == REQUESTS_PER_LINK_MAX + 2
