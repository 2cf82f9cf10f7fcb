"""The rule that picks a kind of session: each row of it, at its boundaries."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from sync.sessions import selection
from sync.sessions.handshake import (
    SPREAD_HASH_SIZE,
    EntityState,
    LogState,
    SyncHandshake,
    SyncKind,
    flags,
)
from sync.sessions.selection import (
    FEW_CHANGED,
    LARGE_TREE,
    MORE_CHANGED,
    SET_LOGS,
    SKETCH_DIFFERENCES_MAX,
    SKETCH_IDS_MIN,
    Selection,
    Verdict,
    other_state,
    select,
    verdict,
)
from sync.sessions.sync_config import CONFIG, SyncConfig
from sync.sessions.values import Plane

SKETCHES: Final = flags(*SyncKind)
ALL: Final = SKETCHES & ~SyncKind.SKETCH.bit
"""Kinds of two that keep symbols, and of two that keep none."""

ONE: Final = b"\x01" * 32
OTHER: Final = b"\x02" * 32
HEAD: Final = b"\x07" * 32
SPREAD: Final = b"\x05" * 128

OURS: Final = SyncHandshake(
    bytes(32),
    LogState(ONE, 20_000, heads=(HEAD,), logs=18),
    EntityState(ONE, 2_000, 3, SPREAD),
    ALL,
)
THEIRS: Final = replace(
    OURS, log=replace(OURS.log, root=OTHER), state=replace(OURS.state, root=OTHER)
)


def log_kind(ours: LogState, theirs: LogState, *failed: SyncKind, speaks: int = ALL) -> Selection:
    """Return what is chosen for the messages of two ends."""
    return select(
        replace(OURS, log=ours), replace(THEIRS, log=theirs, supported=speaks), Plane.LOG, failed
    )


def state_kind(changed: int, count: int, *failed: SyncKind, speaks: int = ALL) -> SyncKind | None:
    """Return what is chosen where so many first-level nodes of the state differ."""
    size = changed * SPREAD_HASH_SIZE
    ours = replace(OURS, state=EntityState(ONE, count, 3, SPREAD))
    state = EntityState(OTHER, count, 3, bytes(size) + SPREAD[size:])
    theirs = replace(THEIRS, state=state, supported=speaks)
    return select(ours, theirs, Plane.STATE, failed).kind


def test_other_heads_of_governance_come_first_in_both_planes() -> None:
    other = replace(THEIRS, scope=ONE)
    for plane in Plane:
        assert verdict(OURS, other, plane) is Verdict.GOVERNANCE
        assert select(OURS, other, plane).kind is SyncKind.GOVERNANCE
        equal = replace(OURS, scope=ONE)
        assert select(OURS, equal, plane).kind is SyncKind.GOVERNANCE


def test_equal_roots_are_agreement_whatever_else_is_claimed() -> None:
    claims = replace(OURS, log=replace(OURS.log, count=7, floor=9, holes=3))
    for plane in Plane:
        assert select(OURS, claims, plane).kind is None
        assert verdict(OURS, claims, plane) is Verdict.CONVERGED


def test_equal_counts_with_other_content_are_no_agreement() -> None:
    assert OURS.log.count == THEIRS.log.count
    for plane in Plane:
        assert select(OURS, THEIRS, plane).kind is not None


def test_an_empty_end_takes_a_snapshot_and_the_other_leaves_it_to_begin() -> None:
    empty = LogState(HEAD, 0)
    assert log_kind(empty, THEIRS.log).kind is SyncKind.SNAPSHOT
    assert log_kind(empty, replace(THEIRS.log, floor=5)).kind is SyncKind.SNAPSHOT
    assert log_kind(OURS.log, empty).kind is None
    old = flags(SyncKind.LOG_HEIGHT, SyncKind.WAKU)
    assert log_kind(empty, THEIRS.log, speaks=old).kind is SyncKind.LOG_HEIGHT
    assert log_kind(empty, THEIRS.log, SyncKind.SNAPSHOT).kind is SyncKind.LOG_HEIGHT


@pytest.mark.parametrize("claimed", [LogState(OTHER, 1), THEIRS.log, replace(THEIRS.log, floor=1)])
def test_no_claim_leads_to_a_snapshot_onto_who_has_anything(claimed: LogState) -> None:
    assert log_kind(replace(OURS.log, count=1), claimed).kind is not SyncKind.SNAPSHOT


def test_a_floor_on_either_side_leaves_waku_sync() -> None:
    floor = replace(OURS.log, floor=1)
    assert log_kind(floor, THEIRS.log).kind is SyncKind.WAKU
    assert log_kind(OURS.log, replace(THEIRS.log, floor=1)).kind is SyncKind.WAKU


@pytest.mark.parametrize(
    ("logs", "kind"), [(SET_LOGS, SyncKind.LOG_HEIGHT), (SET_LOGS + 1, SyncKind.SETS)]
)
def test_without_holes_heights_are_told_up_to_a_number_of_logs(logs: int, kind: SyncKind) -> None:
    assert log_kind(OURS.log, replace(THEIRS.log, logs=logs)).kind is kind
    assert log_kind(replace(OURS.log, logs=logs), THEIRS.log).kind is kind


def test_the_number_is_that_of_the_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "CONFIG", SyncConfig(delta_sync_threshold=3))
    four = log_kind(replace(OURS.log, holes=4), THEIRS.log)

    assert four.kind is SyncKind.WAKU
    assert four.why == "over 3 messages are missing"
    assert log_kind(replace(OURS.log, holes=3), THEIRS.log).kind is SyncKind.DELTA


@pytest.mark.parametrize(
    ("holes", "kind"),
    [
        (1, SyncKind.DELTA),
        (CONFIG.delta_sync_threshold, SyncKind.DELTA),
        (CONFIG.delta_sync_threshold + 1, SyncKind.WAKU),
    ],
)
def test_holes_are_asked_for_by_their_ids_up_to_a_number(holes: int, kind: SyncKind) -> None:
    assert log_kind(replace(OURS.log, holes=holes), THEIRS.log).kind is kind
    assert log_kind(OURS.log, replace(THEIRS.log, holes=holes)).kind is kind


def test_holes_without_a_head_known_to_both_leave_waku_sync() -> None:
    ours = replace(OURS.log, holes=1)
    assert log_kind(ours, replace(THEIRS.log, heads=(ONE,))).kind is SyncKind.WAKU
    assert log_kind(ours, replace(THEIRS.log, heads=())).kind is SyncKind.WAKU


def test_after_a_kind_that_failed_comes_the_next_and_at_last_waku_sync() -> None:
    heights = log_kind(OURS.log, THEIRS.log).kind
    assert heights is SyncKind.LOG_HEIGHT
    delta = log_kind(OURS.log, THEIRS.log, heights).kind
    assert delta is SyncKind.DELTA
    assert log_kind(OURS.log, THEIRS.log, heights, delta).kind is SyncKind.WAKU
    assert log_kind(OURS.log, THEIRS.log, *SyncKind).kind is SyncKind.WAKU


def by_sketch(
    ours: LogState, theirs: LogState, *failed: SyncKind, speaks: int = SKETCHES
) -> Selection:
    """Return what is chosen by two that keep symbols."""
    opener = replace(OURS, log=ours, supported=SKETCHES)
    answerer = replace(THEIRS, log=theirs, supported=speaks)
    return select(opener, answerer, Plane.LOG, failed)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"floor": 1}, "one side has let go of what is old"),
        ({"heads": (ONE,)}, "no head is known to both"),
        ({"holes": CONFIG.delta_sync_threshold + 1}, "over 4,096 messages are missing"),
    ],
)
def test_sets_are_compared_by_symbols_where_both_keep_them(
    fields: dict[str, Any], why: str
) -> None:
    holes = {"holes": 1} | fields  # without one, heights are cheaper
    for ours, theirs in (
        (OURS.log, replace(THEIRS.log, **holes)),
        (replace(OURS.log, **holes), THEIRS.log),
    ):
        chosen = by_sketch(ours, theirs)
        assert (chosen.kind, chosen.why) == (SyncKind.SKETCH, why)
        without = by_sketch(ours, theirs, speaks=SKETCHES & ~SyncKind.SKETCH.bit)
        assert (without.kind, without.why) == (SyncKind.WAKU, why)
        assert by_sketch(ours, theirs, SyncKind.SKETCH).kind is SyncKind.WAKU


@pytest.mark.parametrize(
    ("count", "kind"),
    [(SKETCH_IDS_MIN, SyncKind.WAKU), (SKETCH_IDS_MIN + 1, SyncKind.SKETCH)],
)
def test_symbols_are_for_more_than_a_thousand_messages(count: int, kind: SyncKind) -> None:
    few, floor = LogState(ONE, count), LogState(OTHER, SKETCH_IDS_MIN + 1, floor=1)
    for left, right in ((few, floor), (floor, replace(few, root=OTHER))):
        opener = replace(OURS, log=replace(left, root=ONE), supported=SKETCHES)
        answerer = replace(THEIRS, log=replace(right, root=OTHER), supported=SKETCHES)
        assert select(opener, answerer, Plane.LOG).kind is kind


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        (SKETCH_DIFFERENCES_MAX, SyncKind.SKETCH),
        (SKETCH_DIFFERENCES_MAX + 1, SyncKind.WAKU),
    ],
)
def test_symbols_tell_so_many_differences_and_no_more(more: int, kind: SyncKind) -> None:
    ours, theirs = OURS.log, replace(THEIRS.log, count=OURS.log.count + more, floor=1)
    assert by_sketch(ours, theirs).kind is kind
    assert by_sketch(replace(ours, floor=1), replace(theirs, floor=0)).kind is kind
    holes = replace(THEIRS.log, heads=(ONE,), holes=more)
    assert by_sketch(OURS.log, holes).kind is kind


def test_heights_and_deltas_stay_where_they_are_cheaper() -> None:
    assert by_sketch(OURS.log, THEIRS.log).kind is SyncKind.LOG_HEIGHT
    assert by_sketch(OURS.log, replace(THEIRS.log, holes=1)).kind is SyncKind.DELTA
    most = replace(THEIRS.log, holes=CONFIG.delta_sync_threshold)
    assert by_sketch(OURS.log, most).kind is SyncKind.DELTA
    heights, delta = SyncKind.LOG_HEIGHT, SyncKind.DELTA
    assert by_sketch(OURS.log, THEIRS.log, heights, delta).kind is SyncKind.SKETCH


def test_heights_of_very_many_logs_cost_more_than_symbols() -> None:
    """45 B a log and one round trip, against 2.7 kB, two, and 100 B for each that differs."""
    for logs, kind in ((252, SyncKind.LOG_HEIGHT), (253, SyncKind.SKETCH)):
        ours, theirs = replace(OURS.log, logs=logs), replace(THEIRS.log, logs=logs)
        assert by_sketch(ours, theirs).kind is kind
    ours = replace(OURS.log, logs=SET_LOGS + 1)
    assert by_sketch(ours, replace(THEIRS.log, count=OURS.log.count + 372)).kind is SyncKind.SKETCH
    assert by_sketch(ours, replace(THEIRS.log, count=OURS.log.count + 373)).kind is SyncKind.SETS


def test_equal_roots_and_empty_ends_need_no_symbols() -> None:
    assert by_sketch(OURS.log, replace(THEIRS.log, root=OURS.log.root)).kind is None
    empty = replace(OURS, log=LogState(HEAD, 0), supported=SKETCHES)
    theirs = replace(THEIRS, supported=SKETCHES)
    assert select(empty, theirs, Plane.LOG).kind is SyncKind.SNAPSHOT


def test_older_programs_are_compared_with_by_waku_sync() -> None:
    assert log_kind(OURS.log, THEIRS.log, speaks=flags(SyncKind.WAKU)).kind is SyncKind.WAKU
    assert state_kind(1, 2_000, speaks=flags(SyncKind.WAKU)) is None


@pytest.mark.parametrize(
    ("changed", "count", "kind"),
    [
        (1, 20, SyncKind.HASH),
        (FEW_CHANGED, LARGE_TREE, SyncKind.HASH),
        (FEW_CHANGED + 1, LARGE_TREE, SyncKind.LEVEL),
        (FEW_CHANGED + 1, LARGE_TREE + 1, SyncKind.HASH),
        (MORE_CHANGED, LARGE_TREE + 1, SyncKind.HASH),
        (MORE_CHANGED + 1, LARGE_TREE + 1, SyncKind.LEVEL),
        (16, 20_000, SyncKind.LEVEL),
    ],
)
def test_few_changes_are_descended_to_and_many_compared_by_level(
    changed: int, count: int, kind: SyncKind
) -> None:
    assert state_kind(changed, count) is kind


def test_a_comparison_of_state_that_failed_is_followed_by_the_other() -> None:
    assert state_kind(1, 100, SyncKind.HASH) is SyncKind.LEVEL
    assert state_kind(16, 100, SyncKind.LEVEL) is SyncKind.HASH
    assert state_kind(16, 100, SyncKind.LEVEL, SyncKind.HASH) is None


def test_every_choice_says_why_and_what_it_expects() -> None:
    for plane in Plane:
        chosen = select(OURS, THEIRS, plane)
        assert chosen.why
        assert chosen.estimate > 0


@pytest.mark.parametrize(
    ("opener", "answerer", "then"),
    [
        (OURS, THEIRS, True),
        (OURS, replace(THEIRS, log=OURS.log), True),
        (OURS, replace(THEIRS, state=OURS.state), False),
        (replace(OURS, log=LogState(ONE, 0)), replace(THEIRS, log=LogState(ONE, 0)), True),
        (OURS, replace(THEIRS, scope=OTHER), None),
        (replace(OURS, log=LogState(HEAD, 0)), THEIRS, None),
        (OURS, replace(THEIRS, log=LogState(HEAD, 0)), None),
    ],
    ids=["both", "equal logs", "equal state", "empty", "governance", "snapshot", "other empty"],
)
def test_other_state_is_compared_next_unless_governance_or_a_snapshot_comes_first(
    opener: SyncHandshake, answerer: SyncHandshake, then: bool | None
) -> None:
    assert other_state(opener, answerer, select(opener, answerer, Plane.LOG)) is then
