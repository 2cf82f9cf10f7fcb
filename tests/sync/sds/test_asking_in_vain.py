"""Names that nothing comes of: they are asked for ever less, and keep no others waiting."""

import random

import pytest

from sync.machine import HOUR, MINUTE, SECOND, MessageId, Nanos
from sync.sds.asking import REQUESTS_PER_LINK_MAX, VAIN_MAX, Asking
from sync.sds.message import HistoryEntry
from sync.sds.timing import ASK_PAUSE
from tests.support.sync.alone.asked import ALICE, T_MAX, WINDOW, asked_for, entry, fill
from tests.support.sync.channels import NOW, message_id, peer


def told_in(asking: Asking, begin: Nanos, seconds: int) -> list[list[MessageId]]:
    """Return what is asked for in so many seconds, three at a time, as soon as it is due."""
    told = []
    while (due := asking.deadline()) is not None and due < begin + seconds * SECOND:
        told.append(asked_for(asking, max(due, begin)))
    return told


def test_where_nothing_comes_of_many_names_they_are_asked_for_ever_less() -> None:
    asking = Asking(ALICE)
    fill(asking, "mallory", REQUESTS_PER_LINK_MAX)

    first = told_in(asking, NOW, 60)
    counts = [len(told_in(asking, NOW + minute * MINUTE, 60)) for minute in range(1, 10)]

    assert {id_ for ids in first for id_ in ids} == set(asking.requests)  # each once
    assert max(counts[2:]) <= 3
    assert sum(counts) <= VAIN_MAX
    assert counts[-1] >= 1, "but never not at all"


def test_an_answer_has_those_asked_for_again_that_nothing_came_of() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "mallory", REQUESTS_PER_LINK_MAX)
    told_in(asking, NOW, 300)
    now = NOW + 300 * SECOND
    in_vain = told_in(asking, now, 5)

    asking.drop(ids[0], WINDOW, now + 5 * SECOND, found=False)  # given up: no news
    given_up = asked_for(asking, now + 5 * SECOND)
    asking.drop(ids[1], WINDOW, now + 5 * SECOND)
    answered = asked_for(asking, now + 5 * SECOND)

    assert in_vain == []
    assert given_up == []
    assert len(answered) == 3


def test_who_stood_in_line_on_a_link_where_nothing_comes_waits_for_its_turn() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "mallory", REQUESTS_PER_LINK_MAX + 100)
    told_in(asking, NOW, 300)
    now = NOW + 300 * SECOND

    for given_up in ids[:100]:
        asking.drop(given_up, WINDOW, now, found=False)
    asked = told_in(asking, now, 60)

    assert set(ids[-100:]) <= set(asking.requests)
    assert len(asked) <= 2


def test_somebody_new_is_asked_once_and_a_person_s_wish_begins_anew() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "mallory", REQUESTS_PER_LINK_MAX)
    told_in(asking, NOW, 300)
    now = NOW + 300 * SECOND

    asking.try_again(now)
    for_the_new_one = told_in(asking, now, 5)
    asking.hurry({ids[0]}, WINDOW, now + 5 * SECOND)
    wished = told_in(asking, now + 5 * SECOND, 1)

    assert [len(names) for names in for_the_new_one] == [3]
    assert [ids[0]] in wished or any(ids[0] in names for names in wished)
    assert len(wished) > VAIN_MAX // 2


def test_a_name_that_comes_on_another_link_too_is_asked_for_as_if_it_were_new() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "mallory", REQUESTS_PER_LINK_MAX)
    told_in(asking, NOW, 300)
    now = NOW + 300 * SECOND

    asking.want(HistoryEntry(ids[0]), peer("carol"), WINDOW, now, peer("carol"))
    asked = told_in(asking, now, T_MAX // SECOND)

    assert asked == [[ids[0]]]
    assert asking.requests[ids[0]].via == peer("carol")
    assert len(asking) == REQUESTS_PER_LINK_MAX


def test_a_name_that_moves_to_another_link_keeps_what_is_known_and_leaves_its_place() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "mallory", REQUESTS_PER_LINK_MAX + 1)
    asking.want(HistoryEntry(ids[0], b"hint"), peer("mallory"), WINDOW, NOW, peer("mallory"))
    told_in(asking, NOW, 300)

    asking.want(HistoryEntry(ids[0]), peer("carol"), WINDOW, NOW + HOUR, peer("carol"))

    moved = asking.requests[ids[0]]
    assert (moved.entry.retrieval_hint, moved.namer) == (b"hint", peer("mallory"))
    assert ids[-1] in asking.requests, "who stood in line has its place"


def test_one_answer_takes_back_only_so_much_of_what_was_in_vain() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "mallory", REQUESTS_PER_LINK_MAX)
    told_in(asking, NOW, 1200)
    now = NOW + 1200 * SECOND

    asking.drop(ids[0], WINDOW, now)

    assert 1 <= len(told_in(asking, now, 30)) <= 2


def test_answers_buy_no_asking_beyond_what_everybody_has() -> None:
    asking = Asking(ALICE)
    ids = fill(asking, "mallory", REQUESTS_PER_LINK_MAX)
    told_in(asking, NOW, 20)
    for answered in ids[:100]:
        asking.drop(answered, WINDOW, NOW + 20 * SECOND)

    asked = told_in(asking, NOW + 20 * SECOND, 580)

    assert len(asked) <= 3 * VAIN_MAX


def test_others_do_not_wait_where_one_link_names_what_nothing_comes_of() -> None:
    asking = Asking(ALICE)
    fill(asking, "mallory", REQUESTS_PER_LINK_MAX)
    told_in(asking, NOW, 300)
    now = NOW + 300 * SECOND

    asking.want(entry("honest"), peer("carol"), WINDOW, now, peer("carol"))
    asking.want(entry("a new one"), peer("mallory"), WINDOW, now, peer("mallory"))
    asked = [id_ for ids in told_in(asking, now, 60) for id_ in ids]

    assert asked.count(message_id("honest")) >= 2


@pytest.mark.parametrize("seed", range(3))
def test_of_names_that_are_answered_at_thirty_percent_loss_none_waits(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_here_after() -> Nanos:
        rng = random.Random(seed)
        asking = Asking(ALICE)
        fill(asking, "bob", REQUESTS_PER_LINK_MAX)
        now = NOW
        while asking:
            due = asking.deadline()
            assert due is not None
            now = max(due, now + ASK_PAUSE)
            for name in asked_for(asking, now):
                if rng.random() < 0.7 * 0.7:
                    asking.drop(name, WINDOW, now)
        return now - NOW

    ever_later = all_here_after()
    monkeypatch.setattr("sync.sds.asking.VAIN_MAX", 1_000_000)

    assert ever_later == all_here_after()
