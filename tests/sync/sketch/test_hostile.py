"""A session by sketch with a peer that lies: it costs a bounded time, and never data."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from sync.errors import RemoteError
from sync.group.status import Status
from sync.machine import HOUR, MILLISECOND
from sync.sketch import floors, lookup, session
from sync.sketch.estimate import OPENING
from sync.sketch.key import SketchKey, derived, words_of
from sync.sketch.messages import (
    FLOOR_MAX,
    SYMBOLS_MAX,
    AskMore,
    Done,
    Entries,
    MoreSymbols,
    Opening,
    Reason,
    Wanted,
    encode,
)
from sync.sketch.peeling import FOUND_MAX, STEP_IDS, WAVES_MAX, Peeling, Progress
from sync.sketch.places import Placed
from sync.sketch.prefix import IDS_MANY, SLICE, SYMBOLS_FEW
from sync.sketch.session import WAVES_AT_ONCE
from sync.sketch.symbols import Symbols
from sync.structures.differences import Role
from sync.structures.ordered_set import HASH_BYTES, SyncId
from sync.structures.set_digest import LEAF_BITS
from sync.structures.sorted_run import Words, split
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW_MS
from tests.support.sync.sketch import model
from tests.support.sync.sketch.made import columns
from tests.support.sync.sketch.pairs import lines
from tests.support.sync.sketch.scenes import KEY, SCENE_KEY, Scene, noise
from tests.support.sync.sketch.work import Work


@pytest.fixture(autouse=True)
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    """Hold all scenes to what a step may do, whatever they are told."""
    noted = Work(monkeypatch)
    yield noted
    noted.check()


def test_symbols_that_never_decode_are_heard_to_the_last_and_no_further(work: Work) -> None:
    scene = Scene()
    at, size, heard = 0, 0, 80
    while scene.finished is None:
        part = noise(SYMBOLS_MAX).part(at, heard)
        message = MoreSymbols(at, 2**31 - 1, part)
        size += len(encode(message))
        scene.hear(message)
        at, heard = heard, min(heard + heard // 4, SYMBOLS_MAX)

    assert scene.stopped(Reason.SPENT)
    assert at == SYMBOLS_MAX
    assert size <= 750_000
    assert work.whole.put == 0
    with pytest.raises(RemoteError):
        scene.hear(MoreSymbols(at, 2**31 - 1, noise(1)))


def test_an_opening_of_noise_is_answered_by_symbols_or_not_at_all() -> None:
    few = Scene(Role.RESPONDER).opened(noise(OPENING))
    assert isinstance(few.said[0], MoreSymbols)
    huge = noise(OPENING)
    huge.counts[:] = 10_000
    assert Scene(Role.RESPONDER).opened(huge).stopped(Reason.MANY)


def test_more_is_told_until_all_is() -> None:
    scene = Scene(Role.RESPONDER).opened(noise(OPENING))
    told = 0
    while told < SYMBOLS_MAX:
        [*_, last] = scene.said
        assert isinstance(last, MoreSymbols)
        told = last.first + len(last.symbols)
        if told < SYMBOLS_MAX:
            scene.hear(AskMore())
    assert scene.hear(AskMore()).stopped(Reason.SPENT)


@pytest.mark.parametrize("role", Role)
def test_symbols_that_are_surely_too_few_are_not_tried(
    role: Role, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "Peeling", None)
    scene = Scene(role)
    symbols = scene.symbols.copy()
    symbols.put(columns(model.made(400)), SketchKey.of(KEY))
    if role is Role.RESPONDER:
        [told] = scene.opened(symbols).said
        assert isinstance(told, MoreSymbols)
    else:
        scene.hear(MoreSymbols(0, 2**31 - 1, symbols.part(0, 100)))
        assert set(map(type, scene.said[1:])) == {AskMore}


@pytest.mark.parametrize(("first", "more"), [(1, 0), (8, 0), (OPENING - 1, 0), (200, 19)])
def test_fewer_symbols_than_need_be_are_all_there_are(first: int, more: int) -> None:
    scene = Scene().hear(MoreSymbols(0, 40, noise(first)))
    if more:
        assert scene.finished is None
        awaited = scene.exchange._asked.awaited
        scene.hear(MoreSymbols(first, 40, noise(more)))
        if awaited > 1:
            with pytest.raises(RemoteError, match="do not follow"):
                scene.hear(MoreSymbols(first + more, 40, noise(64)))
            return
    assert scene.stopped(Reason.SPENT)


def test_symbols_that_come_a_few_at_a_time_cost_no_more_than_all_at_once(work: Work) -> None:
    symbols = Scene().symbols
    symbols.put(np.random.default_rng(3).integers(0, 2**64, (9_000, 4), np.uint64), SCENE_KEY)
    symbols.rows[0, 0] ^= np.uint64(1)  # else they are known before the last has come
    slow, drip = Scene(), Scene()
    at, number = 0, 12_500
    while slow.finished is None:
        slow.hear(MoreSymbols(at, 2**31 - 1, symbols.part(at, at + number)))
        at, number = at + number, min((at + number) // 10, SYMBOLS_MAX - at - number)
    drip.hear(MoreSymbols(0, 2**31 - 1, symbols.part(0, 12_500)))
    drops = [MoreSymbols(at, 2**31 - 1, symbols.part(at, at + 1)) for at in range(12_500, 12_504)]
    with pytest.raises(RemoteError, match=r"out of turn|do not follow"):
        drip.hear(*drops)

    assert slow.stopped(Reason.SPENT)
    assert work.whole.put <= 6 * 9_000, "each time that more come, and once for the drip"


def test_ids_found_before_are_taken_out_of_new_symbols_in_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[int] = []
    put_at = Symbols.put_at

    def counted(symbols: Symbols, where: Placed, ids: Words, signs: NDArray[np.int32]) -> None:
        taken.append(len(ids))
        put_at(symbols, where, ids, signs)

    monkeypatch.setattr(Symbols, "put_at", counted)
    peeling = Peeling(SCENE_KEY, Symbols.empty(SYMBOLS_MAX))
    theirs = Symbols.empty(SYMBOLS_MAX)
    ids = np.random.default_rng(3).integers(0, 2**64, (9_000, 4), np.uint64)
    theirs.put(ids, SCENE_KEY)
    theirs.rows[0, 0] ^= np.uint64(1)
    for at in range(12_500, SYMBOLS_MAX, 1_300):
        before = len(peeling.hashes(1))
        taken.clear()
        peeling.extend(theirs.part(len(peeling), at))
        assert not taken, "extending does no work of its own"
        while peeling.progress is Progress.GOING:
            peeling.step()
        assert max(taken) <= STEP_IDS
        assert not before or sum(taken) == len(peeling.hashes(1))
    assert len(peeling.hashes(1)) == 9_000
    assert peeling.taken > 2 * 9_000


def test_so_many_differences_that_a_session_may_not_ask_for_them_are_no_poison() -> None:
    symbols = Scene().symbols
    rng = np.random.default_rng(4)
    symbols.put(rng.integers(0, 2**64, (FOUND_MAX + 50, 4), np.uint64), SCENE_KEY)
    assert Scene().hear(MoreSymbols(0, 2**31 - 1, symbols)).stopped(Reason.MANY)


@pytest.mark.parametrize(("ids", "spent"), [(IDS_MANY, True), (IDS_MANY + 1, False)])
def test_one_that_has_few_ids_is_not_asked_for_more_symbols_than_it_keeps(
    ids: int, spent: bool
) -> None:
    scene = Scene().hear(MoreSymbols(0, ids, noise(SYMBOLS_FEW)))
    if spent:
        assert scene.stopped(Reason.SPENT)
    else:
        assert set(map(type, scene.said[1:])) == {AskMore}


def test_one_that_may_have_few_symbols_is_asked_for_no_more_at_once() -> None:
    scene = Scene()
    symbols = scene.symbols.copy()
    symbols.put(columns(model.made(800)), SketchKey.of(KEY))
    scene.hear(MoreSymbols(0, 2**31 - 1, symbols.part(0, 600)))
    assert scene.said[1:] == [AskMore()] * 3, "a quarter more each time is 1,171"


def test_a_million_claimed_ids_are_too_many() -> None:
    scene = Scene(Role.RESPONDER)
    symbols = scene.symbols.part(0, OPENING).copy()
    symbols.counts[0] += 1_000_000
    assert scene.opened(symbols).stopped(Reason.MANY)


def test_symbols_are_tried_once_all_that_were_asked_for_have_come_and_no_others_may() -> None:
    scene = Scene()
    symbols = scene.symbols.copy()
    symbols.put(columns(model.made(200)), SketchKey.of(KEY))

    def more(first: int, end: int) -> MoreSymbols:
        return MoreSymbols(first, 240, symbols.part(first, end))

    scene.hear(more(0, 80))
    [_, *asked] = scene.said
    assert asked == [AskMore()] * len(asked)
    scene.hear(*(more(at, at + 100) for at in range(80, 80 + 100 * len(asked) - 100, 100)))
    assert scene.said[1:] == asked
    scene.hear(more(100 * len(asked) - 20, 100 * len(asked) + 80))
    [wanted] = [one for one in scene.said if isinstance(one, Wanted)]
    assert len(wanted.hashes) == 200 * HASH_BYTES
    with pytest.raises(RemoteError, match="out of turn"):
        scene.hear(more(100 * len(asked) + 80, 100 * len(asked) + 81))


def test_symbols_that_do_not_follow_those_before_are_refused() -> None:
    for wrong in (
        MoreSymbols(81, 40, noise(8)),
        MoreSymbols(80, 41, noise(8)),
        MoreSymbols(80, 40, Symbols.empty(0)),
        MoreSymbols(80, 40, noise(SYMBOLS_MAX - 79)),
    ):
        scene = Scene().hear(MoreSymbols(0, 40, noise(80)))
        with pytest.raises(RemoteError, match=r"do not follow|a list of"):
            scene.hear(wrong)


def test_another_key_is_never_done() -> None:
    scene = Scene()
    theirs = Symbols.empty(SYMBOLS_MAX)
    theirs.put(columns(model.made(50)), SketchKey.of(derived(b"another")))
    assert scene.hear(MoreSymbols(0, 50, theirs)).stopped(Reason.SPENT)


def test_poison_is_no_answer() -> None:
    scene = Scene(Role.RESPONDER)
    symbols = scene.symbols.copy()
    symbols.rows[OPENING - 1] ^= np.uint64(1)
    symbols.counts[OPENING - 1] += 5
    assert scene.opened(symbols).stopped(Reason.POISONED)


def test_ids_that_are_said_to_be_ours_and_are_not_here_are_poison() -> None:
    scene = Scene(Role.RESPONDER)
    symbols = scene.symbols.copy()
    invented = Symbols.empty(SYMBOLS_MAX)
    invented.put(columns(model.made(3)), SketchKey.of(KEY))
    symbols.rows ^= invented.rows
    symbols.counts -= invented.counts
    assert symbols.counts[:OPENING].min() >= 0, "these numbers travel"
    assert scene.opened(symbols).stopped(Reason.POISONED)


def test_hashes_that_nobody_holds_are_asked_for_once_and_then_the_check_decides() -> None:
    scene = Scene(Role.RESPONDER)
    symbols = scene.symbols.copy()
    invented = model.made(20)
    symbols.put(columns(invented), SketchKey.of(KEY))
    scene.opened(symbols).hear(Done())

    [wanted] = [one for one in scene.said if isinstance(one, Wanted)]
    assert sorted(split(words_of(wanted.hashes))) == sorted(invented)
    assert scene.finished is not None
    assert (scene.finished.checked, scene.finished.brought, scene.brought) == (True, True, 0)


def test_no_more_is_found_than_a_session_may_ask_for(work: Work) -> None:
    scene = Scene()
    symbols = scene.symbols.copy()
    rng = np.random.default_rng(3)
    symbols.put(rng.integers(0, 2**64, (FOUND_MAX, 4), dtype=np.uint64), SketchKey.of(KEY))
    scene.hear(MoreSymbols(0, 2**31 - 1, symbols))

    if scene.finished is None:
        [wanted] = [one for one in scene.said if isinstance(one, Wanted)]
        assert len(wanted.hashes) <= HASH_BYTES * FOUND_MAX
    assert work.whole.put <= FOUND_MAX


def test_wanted_hashes_that_are_not_here_bring_nothing() -> None:
    scene = Scene().hear(Wanted(0, b"".join(model.made(500))))
    assert scene.said[1:] == [Done()]
    assert scene.hear(Done()).finished is not None


def test_each_line_is_sent_once_and_in_order_however_it_is_asked_for() -> None:
    told = lines(40)
    hashes = b"".join([one.waku_hash for one in told[::-1]])
    scene = Scene(told=told).hear(Wanted(0, hashes))
    sent = [content for one in scene.said if isinstance(one, Entries) for content in one.contents]
    assert sent == [one.entry.content for one in told]
    with pytest.raises(RemoteError, match="out of turn"):
        scene.hear(Wanted(0, hashes))


def test_a_line_that_waits_aside_is_sent_to_nobody() -> None:
    ahead = Author("early").write("early", lamport=NOW_MS + HOUR // MILLISECOND)
    scene = Scene(told=[*lines(3), ahead])
    assert scene.member.disk.rows[ahead.entry.message_id].status is Status.PARKED
    assert scene.hear(Wanted(0, ahead.waku_hash)).said[1:] == [Done()]


def test_an_opening_from_the_last_bucket_on_is_too_far_and_one_behind_it_is_none() -> None:
    many = [SyncId(at, one) for at, one in enumerate(model.made(floors.BETWEEN_MAX + 1))]
    scene = Scene(Role.RESPONDER, more=many)
    assert scene.opened(scene.symbols, floor=FLOOR_MAX).stopped(Reason.FLOORS)
    few = Scene(Role.RESPONDER)
    assert few.opened(few.symbols, floor=FLOOR_MAX).said, "it is answered"
    for floor in (FLOOR_MAX + 1, 2**32 - 1):
        with pytest.raises(RemoteError, match="bucket"):
            Scene(Role.RESPONDER).opened(few.symbols, floor=floor)


@pytest.mark.parametrize("floor", [2**62, 2**63, 2**64 - 1])
def test_a_floor_in_the_far_future_is_too_far(floor: int, work: Work) -> None:
    many = [SyncId(at, one) for at, one in enumerate(model.made(floors.BETWEEN_MAX + 1))]
    scene = Scene(more=many, floor=floor)
    assert scene.stopped(Reason.FLOORS)
    assert work.whole.put == 0


def test_twenty_thousand_between_two_floors_are_taken_out_and_one_more_is_not(work: Work) -> None:
    bucket = 3 << LEAF_BITS
    for count in (floors.BETWEEN_MAX, floors.BETWEEN_MAX + 1):
        old = [SyncId(at, one) for at, one in enumerate(model.made(count))]
        scene = Scene(more=old, floor=bucket)
        if count > floors.BETWEEN_MAX:
            assert scene.stopped(Reason.FLOORS)
        else:
            [opening] = scene.said
            assert isinstance(opening, Opening)
            assert (opening.floor, opening.ids) == (3, 40)
            assert opening.symbols.counts[0] == 40
            assert [step.put for step in work.steps if step.put] == [
                *[SLICE] * 4,
                20_000 - 4 * SLICE,
            ]


def test_what_is_too_old_for_the_peer_is_not_sent_though_its_bucket_is_compared() -> None:
    told = lines(40)
    floor = told[15].entry.header.created_ns
    scene = Scene(told=told, floor=floor)
    scene.hear(Wanted(0, b"".join([one.waku_hash for one in told])))
    sent = [content for one in scene.said if isinstance(one, Entries) for content in one.contents]
    assert sorted(sent) == sorted([one.entry.content for one in told[15:]])


def test_a_claimed_floor_below_ours_is_no_opening() -> None:
    scene = Scene(Role.RESPONDER, floor=3 << LEAF_BITS)
    assert scene.opened(scene.symbols, floor=2).stopped(Reason.FLOORS)


def test_an_id_that_is_found_and_put_back_without_end_is_poison_in_short_steps(work: Work) -> None:
    """One symbol tells it; without it, its other places do, so that each wave undoes the last."""
    scene = Scene()
    symbols = scene.symbols.part(0, 80).copy()
    alone = Symbols.empty(80)
    alone.put(columns(model.made(1)), SCENE_KEY)
    [*others, place] = np.flatnonzero(alone.counts)
    assert others
    symbols.rows[place] ^= alone.rows[place]
    symbols.counts[place] += 1

    assert scene.hear(MoreSymbols(0, 40, symbols)).stopped(Reason.POISONED)
    assert sum(step.waves for step in work.steps) > WAVES_MAX
    first, *later = [step.waves for step in work.steps if step.waves]
    assert first == WAVES_AT_ONCE + 2, "one of them with the symbols"
    assert max(later) == WAVES_AT_ONCE + 1


def test_what_is_wanted_is_looked_up_in_steps(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "STEP", 64)
    monkeypatch.setattr(lookup, "BLOCK", 16)
    Scene(told=lines(200)).hear(Wanted(0, b"".join(model.made(500))))

    looked = [step.looked for step in work.steps if step.looked]
    assert sum(looked) == 200
    assert len(looked) == 4


def test_many_ids_are_taken_out_in_steps(work: Work) -> None:
    symbols = Scene().symbols
    symbols.put(np.random.default_rng(3).integers(0, 2**64, (9_000, 4), np.uint64), SCENE_KEY)
    said = Scene().hear(MoreSymbols(0, 2**31 - 1, symbols)).said

    assert Wanted in map(type, said)
    assert sum(step.put for step in work.steps) == 9_000
    assert sum(step.put > 0 for step in work.steps) >= 9_000 // (2 * STEP_IDS)
