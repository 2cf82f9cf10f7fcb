"""Decoding two sketches against the plain definition, and symbols that no honest peer sends."""

from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.sketch import peeling
from sync.sketch.estimate import OPENING, are_too_few, asks, differences, further, needed
from sync.sketch.key import SketchKey, derived
from sync.sketch.peeling import Peeling, Progress
from sync.sketch.symbols import Symbols, rows_of
from tests.support.sync.sketch import model
from tests.support.sync.sketch.made import KEY, OF_MODEL, columns, sketch_of

MANY: Final = 2_048


def run(one: Peeling) -> Peeling:
    while one.progress is Progress.GOING:
        one.step()
    return one


def peeled(ours: Symbols, theirs: Symbols, *steps: int) -> Peeling:
    """Return what comes of the peer's symbols, told up to each of these places one by one."""
    one, at = Peeling(KEY, ours), 0
    for end in [*steps, len(theirs)]:
        if one.progress is Progress.STUCK and end > at:
            one.extend(theirs.part(at, end))
            run(one)
            at = end
    return one


def found(one: Peeling, sign: int) -> set[bytes]:
    return {row.tobytes() for row in one.hashes(sign)}


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60), st.integers(0, 99))
def test_what_differs_is_found_as_by_the_plain_definition(
    lacking: int, more: int, common: int, seed: int
) -> None:
    hashes = model.made(lacking + more + common, seed)
    ours, theirs = hashes[lacking:], [*hashes[:lacking], *hashes[lacking + more :]]
    one = peeled(sketch_of(ours, 96), sketch_of(theirs, 96))

    told = model.decoded(
        model.sketch(ours, OF_MODEL, 96), model.sketch(theirs, OF_MODEL, 96), OF_MODEL
    )
    assert (found(one, 1), found(one, -1)) == (told.theirs, told.ours)
    assert one.waves.tolist() == told.waves
    assert (one.progress is Progress.DONE) == told.whole
    if told.whole:
        assert told.theirs == set(theirs) - set(ours)
        assert told.ours == set(ours) - set(theirs)


@given(st.lists(st.integers(1, 96), max_size=5).map(sorted), st.integers(0, 99))
def test_symbols_that_come_little_by_little_tell_the_same(steps: list[int], seed: int) -> None:
    hashes = model.made(50, seed)
    ours, theirs = sketch_of(hashes[10:], 96), sketch_of(hashes[:40], 96)
    together, parts = peeled(ours, theirs), peeled(ours, theirs, *steps)

    assert parts.progress is together.progress is Progress.DONE
    for sign in (1, -1):
        assert found(parts, sign) == found(together, sign)


def test_a_wave_of_many_is_taken_out_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = model.made(300)
    ours, theirs = sketch_of(hashes[150:], 512), sketch_of(hashes[:150], 512)
    whole = peeled(ours, theirs)
    monkeypatch.setattr(peeling, "STEP_IDS", 7)
    one, steps = Peeling(KEY, ours), 0
    one.extend(theirs)
    while one.progress is Progress.GOING:
        one.step()
        steps += 1

    assert one.progress is Progress.DONE
    assert one.waves.tolist() == whole.waves.tolist()
    assert steps >= 300 // 7


def test_equal_sets_are_known_to_be_from_the_first_symbol() -> None:
    ours = sketch_of(model.made(100), 64)
    assert peeled(ours, ours.part(0, 1)).progress is Progress.DONE


@pytest.mark.parametrize("count", [1, 10, 30])
def test_the_opening_decodes_up_to_thirty(count: int) -> None:
    done = 0
    for seed in range(20):
        hashes = model.made(count, seed)
        one = peeled(sketch_of(hashes[::2], OPENING), sketch_of(hashes[1::2], OPENING))
        done += one.progress is Progress.DONE
    assert done >= 18


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("count", [40, 1_000])
def test_the_guess_is_near_whichever_side_has_more(count: int, share: float) -> None:
    guesses = []
    for seed in range(40):
        hashes = model.made(count, seed)
        theirs = sketch_of(hashes[: int(count * share)], OPENING)
        ours = sketch_of(hashes[int(count * share) :], OPENING)
        guesses.append(differences(theirs.less(ours)) / count)
    middle = sorted(guesses)[20]
    assert 0.85 < middle < 1.2
    assert min(guesses) > 0.5
    assert max(guesses) < 1.8


def test_as_many_symbols_as_are_asked_for_are_mostly_enough() -> None:
    done = 0
    for seed in range(20):
        hashes = model.made(500, seed)
        size = needed(500)
        one = peeled(sketch_of(hashes[::2], size), sketch_of(hashes[1::2], size))
        done += one.progress is Progress.DONE
    assert done >= 18


@pytest.mark.parametrize(
    ("differ", "symbols"), [(30, 62), (1_000, 1_809), (3_000, 4_602), (10_000, 14_110)]
)
def test_spare_symbols_are_a_part_of_few_and_worth_a_round_trip_of_more(
    differ: int, symbols: int
) -> None:
    assert needed(differ) == symbols


# --- Symbols that no honest peer sends ---------------------------------------------------------


def hostile(symbols: Symbols) -> Peeling:
    """Return what becomes of them where we hold nothing."""
    return peeled(Symbols.empty(len(symbols)), symbols)


@pytest.mark.parametrize(
    ("told", "more"), [(1, 1), (80, 20), (1_920, 480), (4_000, 480), (9_000, 900)]
)
def test_a_smaller_part_of_many_symbols_follows(told: int, more: int) -> None:
    assert further(told) == more


@pytest.mark.parametrize(
    ("known", "guess", "kept", "times"),
    [
        (80, 30, 1_024, 1),
        (80, 200, 1_024, 7),
        (80, 10_000, 1_024, 12),
        (11_000, 10_000, 16_384, 2),
        (13_000, 10_000, 16_384, 1),
        (16_383, 11_000, 16_384, 1),
    ],
)
def test_as_much_is_asked_for_at_once_as_the_guess_needs_and_the_peer_surely_has(
    known: int, guess: int, kept: int, times: int
) -> None:
    assert asks(known, guess, kept) == times
    assert known * 1.25 ** (times - 1) < kept


@pytest.mark.parametrize(
    ("known", "guess", "too_few"),
    [(80, 80, False), (80, 200, True), (11_000, 10_000, True), (13_400, 10_000, False)],
)
def test_symbols_that_are_surely_too_few_are_not_tried(
    known: int, guess: int, too_few: bool
) -> None:
    assert are_too_few(known, guess) is too_few


def test_a_guess_of_many_symbols_is_a_good_one() -> None:
    ids = model.made(1_000, 1)
    size = 1_000
    difference = sketch_of(ids[::2], size).less(sketch_of(ids[1::2], size))
    assert 900 < differences(difference) < 1_100


def test_noise_never_decodes() -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2**64, (MANY, 5), dtype=np.uint64)
    one = hostile(Symbols(rows, np.ones(MANY, np.int32)))
    assert one.progress is Progress.STUCK
    assert not len(one.hashes(1)) + len(one.hashes(-1))


def test_another_key_decodes_nothing() -> None:
    hashes = model.made(20)
    theirs = Symbols.empty(64)
    theirs.put(columns(hashes), SketchKey.of(derived(b"another")))
    one = hostile(theirs)
    assert one.progress is Progress.STUCK
    assert not len(one.hashes(1)) + len(one.hashes(-1))


def test_a_wrong_number_is_never_done() -> None:
    theirs = sketch_of(model.made(10), 64)
    theirs.counts[0] += 1
    assert hostile(theirs).progress is Progress.STUCK


def test_an_id_in_a_place_that_is_not_its_own_is_poison() -> None:
    hash_ = model.made(1)[0]
    theirs = sketch_of([hash_], 64)
    elsewhere = next(at for at in range(64) if theirs.counts[at] == 0)
    theirs.rows[elsewhere], theirs.counts[elsewhere] = theirs.rows[0], 1
    one = hostile(theirs)
    assert (one.progress, one.wave) == (Progress.POISONED, 1), "at once, not at some limit"


def test_something_left_behind_an_empty_first_symbol_is_poison() -> None:
    theirs = sketch_of(model.made(10), 64)
    theirs.rows[63] ^= np.uint64(1)
    theirs.counts[63] += 5
    assert hostile(theirs).progress is Progress.POISONED


def test_an_id_that_is_told_twice_is_poison() -> None:
    """Its places are those of one id, less one: so it comes out again and again."""
    hash_ = model.made(1)[0]
    theirs = sketch_of([hash_], 64)
    twice = model.below(hash_, OF_MODEL, 64)[1]
    theirs.rows[twice] = 0
    theirs.counts[twice] = 0
    assert hostile(theirs).progress is Progress.POISONED


def test_an_id_that_both_sides_are_said_to_have_alone_is_poison() -> None:
    rows = rows_of(columns(model.made(1)), KEY)
    one = Peeling(KEY, Symbols.empty(8))
    one._found = [(rows, np.array([sign], np.int32)) for sign in (1, -1)]
    one.extend(Symbols.empty(8))
    assert run(one).progress is Progress.POISONED


def test_more_ids_than_a_session_may_find_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peeling, "FOUND_MAX", 50)
    assert hostile(sketch_of(model.made(50), 256)).progress is Progress.DONE
    assert hostile(sketch_of(model.made(51), 256)).progress is Progress.MANY


def test_a_chain_without_end_is_followed_for_so_many_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    waves = hostile(sketch_of(model.made(50), 96)).wave
    monkeypatch.setattr(peeling, "WAVES_MAX", waves)
    assert hostile(sketch_of(model.made(50), 96)).progress is Progress.DONE
    monkeypatch.setattr(peeling, "WAVES_MAX", waves - 1)
    assert hostile(sketch_of(model.made(50), 96)).progress is Progress.POISONED


@given(
    st.lists(
        st.tuples(st.integers(0, 63), st.integers(0, 3), st.integers(-2, 2), st.booleans()),
        max_size=40,
    )
)
def test_whatever_symbols_say_decoding_ends(acts: list[tuple[int, int, int, bool]]) -> None:
    """Fuzz: ids put in any places, any number of times, with sums and checksums of others."""
    ids = model.made(4)
    theirs = Symbols.empty(64)
    for place, which, count, right in acts:
        row = np.empty(5, np.uint64)
        row[:4] = columns([ids[which]])[0]
        row[4] = np.uint64(model.checksum(ids[which], OF_MODEL)) if right else np.uint64(7)
        theirs.rows[place] ^= row
        theirs.counts[place] += count
    one = Peeling(KEY, Symbols.empty(64))
    one.extend(theirs)
    for _ in range(3 * peeling.FOUND_MAX):
        if one.progress is not Progress.GOING:
            break
        one.step()
    assert one.progress is not Progress.GOING
    if one.progress is Progress.DONE:
        rebuilt = Symbols.empty(64)
        rebuilt.put(one.hashes(1), KEY)
        rebuilt.put(one.hashes(-1), KEY, -1)
        assert theirs.less(rebuilt).is_empty
