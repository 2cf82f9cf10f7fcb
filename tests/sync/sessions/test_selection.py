"""The rule that picks a kind of session: each row of it, at its boundaries."""

from dataclasses import replace
from typing import Final

import pytest

from sync.sessions.handshake import (
    SPREAD_HASH_SIZE,
    EntityState,
    LogState,
    SyncHandshake,
    SyncKind,
    flags,
)
from sync.sessions.selection import (
    DELTA_SYNC_THRESHOLD,
    FEW_CHANGED,
    LARGE_TREE,
    MORE_CHANGED,
    SET_LOGS,
    Selection,
    Verdict,
    select,
    verdict,
)
from sync.sessions.values import Plane

ALL: Final = flags(*SyncKind)
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


@pytest.mark.parametrize(
    ("holes", "kind"),
    [
        (1, SyncKind.DELTA),
        (DELTA_SYNC_THRESHOLD, SyncKind.DELTA),
        (DELTA_SYNC_THRESHOLD + 1, SyncKind.WAKU),
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
