"""Four ways to find differences against the plain one, set difference: all must say the same."""

import random
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.structures.ordered_set import SyncId
from sync.waku.division import NARROW, STRICT, Parameters
from sync.waku.reconcile import (
    Begin,
    Differences,
    Effect,
    Finished,
    PayloadReceived,
    Reconciliation,
    Result,
    Role,
    SendPayload,
)
from sync.waku.wire import decode_ranges, encode_ranges
from tests.support.sync.waku.sets import NOW, handled, numbered, session

Found: TypeAlias = tuple[list[SyncId], list[SyncId], Result]
"""Ids a side lacks, ids only it has, and its result."""

MODES: dict[str, tuple[Parameters, Parameters]] = {
    "strict": (STRICT, STRICT),
    "narrow": (NARROW, NARROW),
    "narrow asks strict": (NARROW, STRICT),
    "strict asks narrow": (STRICT, NARROW),
}


def plain(mine: set[SyncId], theirs: set[SyncId]) -> Found:
    """The model: no ranges, no fingerprints, no rounds."""
    result = Result.EQUAL if mine == theirs else Result.RECONCILED
    return sorted(theirs - mine), sorted(mine - theirs), result


def found(ours: set[SyncId], theirs: set[SyncId], mode: str) -> tuple[Found, Found]:
    """Return what initiator and responder find, every payload encoded and decoded."""
    asking, answering = MODES[mode]
    sides = (session(Role.INITIATOR, ours, asking), session(Role.RESPONDER, theirs, answering))
    effects: tuple[list[Effect], list[Effect]] = ([], [])
    pending, turn = take(sides[0], Begin(), effects[0]), 1
    while pending is not None:
        received = PayloadReceived(decode_ranges(pending))
        pending, turn = take(sides[turn], received, effects[turn]), 1 - turn
    return summary(effects[0]), summary(effects[1])


def take(
    side: Reconciliation, event: Begin | PayloadReceived, effects: list[Effect]
) -> bytes | None:
    """Give a side its input, note what it does; returns what it sends."""
    done = handled(side, event)
    effects += done
    sent = [encode_ranges(effect.payload) for effect in done if isinstance(effect, SendPayload)]
    assert len(sent) <= 1
    return sent[0] if sent else None


def summary(effects: list[Effect]) -> Found:
    differences = [effect for effect in effects if isinstance(effect, Differences)]
    [finished] = [effect for effect in effects if isinstance(effect, Finished)]
    need = sorted(one for each in differences for one in each.need)
    have = sorted(one for each in differences for one in each.have)
    return need, have, finished.result


def assert_all_agree(ours: set[SyncId], theirs: set[SyncId]) -> None:
    expected = plain(ours, theirs), plain(theirs, ours)
    for mode in MODES:
        assert found(ours, theirs, mode) == expected, mode


@settings(max_examples=100)
@given(
    size=st.integers(0, 600),
    common=st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]),
    timestamps=st.sampled_from([1, 2, 50, 10**6, 10**12]),
    seed=st.integers(0, 2**32),
)
def test_every_mode_finds_what_set_difference_finds(
    size: int, common: float, timestamps: int, seed: int
) -> None:
    dice = random.Random(seed)
    ours: set[SyncId] = set()
    theirs: set[SyncId] = set()
    for number in range(size):
        one = numbered(seed % 1000 * 1000 + number, NOW + dice.randrange(timestamps))
        holders = (ours, theirs) if dice.random() < common else (dice.choice((ours, theirs)),)
        for holder in holders:
            holder.add(one)

    assert_all_agree(ours, theirs)


@pytest.mark.parametrize("recent", [False, True])
@pytest.mark.parametrize("differences", [1, 30, 1_000])
def test_every_mode_agrees_on_large_sets_too(differences: int, *, recent: bool) -> None:
    dice = random.Random(differences)
    everything = [numbered(number) for number in range(20_000)]
    chosen = everything[-differences:] if recent else dice.sample(everything, differences)
    lacked: tuple[set[SyncId], set[SyncId]] = (set(), set())
    for one in chosen:
        dice.choice(lacked).add(one)

    assert_all_agree(set(everything) - lacked[0], set(everything) - lacked[1])
