"""Backlog: ranges without room in a payload resume in place, whatever the other side does."""

import random
from collections.abc import Sequence

import pytest

from sync.machine import Nanos
from sync.structures.ordered_set import SyncId
from sync.waku import answer, answerer, backlog
from sync.waku.backlog import UNKNOWN, Backlog
from sync.waku.division import NARROW, STRICT, Parameters
from sync.waku.message import Content, Items, Ranges, RangesData
from sync.waku.reconcile import Begin, Differences, PayloadReceived, Role, SendPayload
from tests.support.sync.waku.sets import handled, numbered, session

A, B, C, D, E = (bytes([number]) * 32 for number in range(5))


def ranges(*columns: tuple[Nanos, Content]) -> Ranges:
    """Ranges up to these timestamps."""
    made = Ranges()
    made.extend([upper for upper, _ in columns], [content for _, content in columns])
    return made


def told(made: Ranges) -> Sequence[tuple[Nanos, Content]]:
    return list(zip(made.timestamps, made.contents(), strict=True))


def put_off() -> Backlog:
    """From 10 on there was no room: 10 to 20 to 30 to 40 differ, the next is equal."""
    kept = Backlog()
    kept.keep(ranges((10, None), (20, A), (30, B), (40, C), (50, None)), 1)
    kept.end_turn()
    return kept


def test_what_was_put_off_takes_the_place_of_a_coarser_answer() -> None:
    coarse = ranges((5, D), (10, None), (50, E))

    resumed = put_off().resumed(coarse)

    assert told(resumed) == [(5, D), (10, None), (20, A), (30, B), (40, C), (50, None)]


def test_an_answer_that_is_cut_elsewhere_is_replaced_as_well() -> None:
    resumed = put_off().resumed(ranges((10, None), (17, D), (33, D), (50, E)))

    assert told(resumed) == [(10, None), (20, A), (30, B), (40, C), (50, None)]


def test_an_answer_that_is_finer_counts() -> None:
    resumed = put_off().resumed(ranges((10, None), (20, D), (25, D), (30, E), (50, E)))

    assert told(resumed) == [(10, None), (20, A), (25, D), (30, E), (40, C), (50, None)]


def test_an_item_set_counts_and_what_it_cuts_is_known_to_differ_only() -> None:
    items = Items((), reconciled=False)

    resumed = put_off().resumed(ranges((10, None), (25, D), (35, items), (50, E)))

    cut = [(10, None), (20, A), (25, UNKNOWN), (35, items), (40, UNKNOWN), (50, None)]
    assert told(resumed) == cut


def test_what_reaches_beyond_what_was_put_off_differs_there_too() -> None:
    resumed = put_off().resumed(ranges((5, None), (60, E), (70, None)))

    beyond = [(10, UNKNOWN), (20, A), (30, B), (40, C), (50, None), (60, UNKNOWN), (70, None)]
    assert told(resumed) == [(5, None), *beyond]


def test_what_was_put_off_goes_on_with_the_next_payload_of_a_turn() -> None:
    kept = put_off()

    first = kept.resumed(ranges((10, None), (25, D)))
    second = kept.resumed(ranges((25, None), (45, E), (50, None)))

    assert told(first) == [(10, None), (20, A), (25, UNKNOWN)]
    assert told(second) == [(25, None), (30, UNKNOWN), (40, C), (45, None), (50, None)]


def test_what_is_put_off_in_several_payloads_is_gone_on_with_together() -> None:
    kept = Backlog()
    kept.keep(ranges((10, None), (20, A)), 1)
    kept.keep(ranges((20, None), (30, B), (50, C)), 0)
    kept.end_turn()

    resumed = kept.resumed(ranges((10, None), (50, E)))

    assert told(resumed) == [(10, None), (20, A), (30, B), (50, C)]


def test_what_is_put_off_is_put_in_once() -> None:
    kept, coarse = put_off(), ranges((10, None), (50, E))
    kept.resumed(coarse)

    assert kept.resumed(coarse) is coarse


def test_only_so_much_is_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "BACKLOG_MAX", 2)

    resumed = put_off().resumed(ranges((10, None), (50, E)))

    assert told(resumed) == [(10, None), (20, A), (30, B), (50, UNKNOWN)]


@pytest.mark.parametrize(
    ("other", "most"), [(NARROW, 24), (STRICT, 14)], ids=["alike", "to the letter"]
)
@pytest.mark.parametrize("seed", range(2))
def test_payloads_with_little_room_find_every_difference_without_beginning_anew(
    seed: int, other: Parameters, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (answer, answerer):
        monkeypatch.setattr(module, "RANGES_MAX", 300)
    dice = random.Random(seed)
    pool = [numbered(number) for number in range(4_000)]
    lost = dice.sample(pool, 600)
    ours, theirs = set(pool) - set(lost[:300]), set(pool) - set(lost[300:])

    found, payloads = reconciled(ours, theirs, other)

    assert found == (set(lost[:300]), set(lost[300:]))
    assert payloads <= most, f"seed={seed}"


def reconciled(
    ours: set[SyncId], theirs: set[SyncId], other: Parameters
) -> tuple[tuple[set[SyncId], set[SyncId]], int]:
    """Reconcile two sets; return what we need and have, and the number of payloads."""
    sides = session(Role.INITIATOR, ours, NARROW), session(Role.RESPONDER, theirs, other)
    need: set[SyncId] = set()
    have: set[SyncId] = set()
    payload: RangesData | None = None
    for count in range(200):
        event = Begin() if payload is None else PayloadReceived(payload)
        effects = handled(sides[count % 2], event)
        for effect in effects:
            if isinstance(effect, Differences) and count % 2 == 0:
                need.update(effect.need)
                have.update(effect.have)
        sent = [effect.payload for effect in effects if isinstance(effect, SendPayload)]
        if not sent:
            return (need, have), count
        [payload] = sent
    raise AssertionError("it does not end")
