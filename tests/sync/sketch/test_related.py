"""Ids that an enemy made for the key, so that they hide each other: they cost time, never data."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Final

import numpy as np
import pytest

from sync.group.values import StoredMessage
from sync.machine import SECOND
from sync.sessions.values import Outcome
from sync.sketch import prefix
from sync.sketch.messages import Done, MoreSymbols, Reason, Stop, Wanted
from sync.sketch.symbols import Symbols, rows_of
from sync.structures.differences import Role
from sync.structures.ordered_set import SyncId
from tests.support.sync.groups import NOW, Member
from tests.support.sync.sketch import model
from tests.support.sync.sketch.made import columns
from tests.support.sync.sketch.pairs import SketchPair, from_few, lines, sketch_pair
from tests.support.sync.sketch.related import choose_hashes, related
from tests.support.sync.sketch.scenes import KEY, SCENE_KEY, Scene, noise
from tests.support.sync.sketch.work import Work

HOLDERS: Final = tuple(product(("one", "other", "nobody"), repeat=4))
"""Of each of four related lines: who holds it before the two meet."""

HIDDEN: Final = [
    holders for holders in HOLDERS if holders.count("one") == holders.count("other") == 2
]


@pytest.fixture(autouse=True)
def _symbols_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    from_few(monkeypatch)
    monkeypatch.setattr(prefix, "SYMBOLS_FEW", 128)


@pytest.fixture(autouse=True)
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    noted = Work(monkeypatch)
    yield noted
    noted.check()


def test_four_related_ids_are_each_the_xor_of_the_others_in_all_their_places() -> None:
    a, b, c, d = ids = related(SCENE_KEY)
    assert len(set(ids)) == 4
    assert len({tuple(model.below(one, KEY, 1_024)) for one in ids}) == 1
    rows = rows_of(columns([a, b, c]), SCENE_KEY)
    assert (np.bitwise_xor.reduce(rows) == rows_of(columns([d]), SCENE_KEY)[0]).all()


# --- Two stores --------------------------------------------------------------------------------


@cache
def written(name: str, count: int) -> Sequence[StoredMessage]:
    """Return lines, signed once; related ones have the hashes that were chosen for them."""
    return lines(count, name)


def apart(holders: Sequence[str], plain: int) -> tuple[SketchPair, set[bytes]]:
    """Return two who share a past, but for related lines and some plain ones, and all payloads."""
    pair = sketch_pair()
    both = written("writer", 20)
    told = [*written("related", len(holders)), *written("plain", 2 * plain)]
    holders = [*holders, *("one", "other") * plain]
    for one in (pair.one, pair.other):
        for line in both:
            one.hear(line)
        but = [at for at, name in enumerate(holders) if getattr(pair, name, None) is not one]
        pair.hold(one, told, but)
    held = [line for line, name in zip(told, holders, strict=True) if name != "nobody"]
    return pair, {line.payload for line in [*both, *held]}


def payloads(one: Member) -> set[bytes]:
    return {row.message.payload for row in one.disk.rows.values()}


@pytest.mark.parametrize("plain", [0, 5])
@pytest.mark.parametrize("opener", ["one", "other"])
def test_whoever_holds_related_ids_both_end_with_the_same_log(
    opener: str, plain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_hashes(monkeypatch, related(Member("alice").group.prefix._key))
    for holders in HOLDERS[plain::8]:
        pair, whole = apart(holders, plain)

        pair.meet(getattr(pair, opener))

        assert len(pair.said) <= 16, holders
        assert not pair.converged or pair.same, holders
        for ours in map(payloads, (pair.one, pair.other)):
            assert ours <= whole, holders
        if {one.then for one in pair.ended} == {"waku"}:
            pair.start(pair.one)
            pair.run(NOW + SECOND)
        assert payloads(pair.one) == payloads(pair.other) == whole, holders


@pytest.mark.parametrize("holders", HIDDEN, ids=" ".join)
def test_what_no_symbol_shows_the_check_finds(
    holders: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_hashes(monkeypatch, related(Member("alice").group.prefix._key))
    pair, whole = apart(holders, 0)

    pair.meet()

    assert pair.kinds().count(Wanted) == 1
    [wanted] = [one for _, one in pair.said if isinstance(one, Wanted)]
    assert (wanted.owed, wanted.hashes) == (0, b""), "nothing seemed to differ"
    assert {one.outcome for one in pair.ended} == {Outcome.NOT_CONVERGED}
    assert payloads(pair.one) == payloads(pair.other) == whole
    pair.meet()
    assert pair.converged


def test_an_id_that_others_seem_to_be_is_asked_for_and_never_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The difference of two lines and a third looks like a fourth, which nobody wrote."""
    ids = related(Member("alice").group.prefix._key)
    choose_hashes(monkeypatch, ids)
    pair, whole = apart(("one", "one", "other", "nobody"), 0)

    pair.meet(pair.one)

    [wanted] = [one for _, one in pair.said if isinstance(one, Wanted)]
    assert (wanted.owed, wanted.hashes) == (0, ids[3])
    assert {one.outcome for one in pair.ended} == {Outcome.NOT_CONVERGED}
    assert payloads(pair.one) == payloads(pair.other) == whole, "the check found them"


def test_an_id_of_ours_that_others_seem_to_be_is_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    choose_hashes(monkeypatch, related(Member("alice").group.prefix._key))
    pair, _ = apart(("one", "one", "other", "nobody"), 0)

    pair.meet(pair.other)

    assert pair.said[-1] == (pair.one.name, Stop(Reason.POISONED))
    assert {(one.outcome, one.then) for one in pair.ended} == {(Outcome.NOT_CONVERGED, "waku")}


# --- Symbols as they come ----------------------------------------------------------------------


@pytest.mark.parametrize("role", Role)
def test_a_thousand_that_cancel_each_other_are_left_to_the_check(role: Role) -> None:
    fours = [related(SCENE_KEY, seed) for seed in range(250)]
    ours = [SyncId(1, one) for four in fours for one in four[:2]]
    theirs = columns([one for four in fours for one in four[2:]])
    symbols = Scene().symbols
    symbols.put(theirs, SCENE_KEY)
    scene = Scene(role, more=ours)
    if role is Role.RESPONDER:
        scene.opened(symbols)
    else:
        scene.hear(MoreSymbols(0, 540, symbols.part(0, 80)))

    assert Wanted(0, b"") in scene.said
    scene.hear(Done())
    assert scene.finished is not None
    assert (scene.finished.checked, scene.brought) == (True, 0)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("seems", ["empty", "pure"])
def test_a_first_symbol_that_tells_all_though_others_do_not_is_poison(
    role: Role, seems: str
) -> None:
    scene = Scene(role)
    symbols = scene.symbols.part(0, 80).copy()
    symbols.rows[1:] ^= noise(79).rows
    if seems == "pure":
        invented = Symbols.empty(80)
        invented.put(columns(model.made(1)), SCENE_KEY)
        symbols.rows[0] ^= invented.rows[0]
        symbols.counts[0] += 1
    if role is Role.RESPONDER:
        scene.opened(symbols)
    else:
        scene.hear(MoreSymbols(0, 41, symbols))

    assert scene.stopped(Reason.POISONED)
