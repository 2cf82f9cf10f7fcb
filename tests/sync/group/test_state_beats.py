"""Beats with roots: when they are told, and which of them lead to a session."""

import random
from typing import Final

import pytest

from sync.group.inputs import transfers
from sync.group.state_beats import AGAIN_AFTER, BEATS, EVERY, SETTLED_AFTER, StateBeats
from sync.machine import SECOND, Nanos, PeerId
from sync.sessions.values import GOVERNANCE, Outcome, Plane, SessionEnded
from tests.support.sync.groups import Member

NOW: Final = 1_000 * SECOND
ALICE, BOB = PeerId("aa" * 32), PeerId("bb" * 32)
OURS, THEIRS = b"\x01" * 32, b"\x02" * 32


def beats_of(me: PeerId, *peers: PeerId) -> StateBeats:
    beats = StateBeats(me, random.Random(1))
    beats.due(OURS, NOW - 60 * SECOND)
    for peer in peers:
        beats.linked(peer, NOW)
    return beats


def step(beats: StateBeats) -> tuple[Nanos, list[PeerId]]:
    """Go to the next time at which something is due."""
    due = beats.deadline()
    assert due is not None
    return due, beats.due(OURS, due)


def test_who_came_is_told_soon_and_everybody_every_half_minute() -> None:
    beats = beats_of(ALICE, BOB)
    first, told = step(beats)
    assert NOW < first <= NOW + SECOND
    assert told == [BOB]
    second, told = step(beats)
    assert NOW + EVERY * 9 // 10 <= second <= NOW + EVERY * 11 // 10
    assert told == [BOB]
    beats.gone(BOB)
    assert beats.deadline() is None


def test_after_a_link_the_first_other_root_leads_to_a_session_of_the_smaller_key() -> None:
    assert beats_of(ALICE, BOB).heard(BOB, THEIRS, OURS, NOW + SECOND)
    other = beats_of(BOB, ALICE)
    assert not other.heard(ALICE, THEIRS, OURS, NOW + SECOND)
    assert other.heard(ALICE, THEIRS, OURS, NOW + 31 * SECOND)


def test_the_larger_key_needs_no_beat_more_where_it_alone_may_be_able_to_dial() -> None:
    beats = beats_of(BOB)
    beats.joined(ALICE, dialled=True, again=False)
    beats.linked(ALICE, NOW)
    assert not beats.heard(ALICE, THEIRS, OURS, NOW + SECOND), "the handshake tells as much"
    assert beats.heard(ALICE, THEIRS, OURS, NOW + 31 * SECOND)
    assert not beats.heard(ALICE, OURS, OURS, NOW + 61 * SECOND)
    assert not beats.heard(ALICE, THEIRS, OURS, NOW + 91 * SECOND)
    assert beats.heard(ALICE, THEIRS, OURS, NOW + 121 * SECOND)
    assert not beats.heard(ALICE, OURS, OURS, NOW + 151 * SECOND)
    beats.joined(ALICE, dialled=False, again=True)
    for number in (6, 7):
        assert not beats.heard(ALICE, THEIRS, OURS, NOW + number * EVERY), "it dials us, too"
    assert beats.heard(ALICE, THEIRS, OURS, NOW + 8 * EVERY)


def test_later_two_beats_in_a_row_are_needed() -> None:
    beats = beats_of(ALICE, BOB)
    assert not beats.heard(BOB, OURS, OURS, NOW)
    for number in range(1, BEATS):
        assert not beats.heard(BOB, THEIRS, OURS, NOW + number * EVERY)
    assert beats.heard(BOB, THEIRS, OURS, NOW + BEATS * EVERY)
    assert not beats.heard(BOB, OURS, OURS, NOW + 3 * EVERY)
    assert not beats.heard(BOB, THEIRS, OURS, NOW + 4 * EVERY)


def test_another_root_does_not_count_while_ours_is_changing() -> None:
    beats = beats_of(ALICE, BOB)
    changed = b"\x03" * 32
    beats.due(changed, NOW + SECOND)
    assert not beats.heard(BOB, THEIRS, changed, NOW + SECOND + SETTLED_AFTER - 1)
    assert beats.heard(BOB, THEIRS, changed, NOW + SECOND + SETTLED_AFTER)


def test_what_changed_long_before_a_peer_came_does_not_keep_its_root_from_counting() -> None:
    changed = b"\x03" * 32
    beats = beats_of(ALICE)
    beats.changed(NOW)
    beats.linked(BOB, NOW + 10 * SECOND)
    assert beats.heard(BOB, THEIRS, changed, NOW + 11 * SECOND)
    again = beats_of(ALICE, BOB)
    again.changed(NOW)
    assert not again.heard(BOB, THEIRS, changed, NOW + SETTLED_AFTER - 1)


def test_whoever_has_no_link_is_not_listened_to() -> None:
    beats = beats_of(ALICE)
    assert not beats.heard(BOB, THEIRS, OURS, NOW)
    assert beats.deadline() is None


def test_roots_that_rightly_differ_are_compared_again_once_one_changes_or_after_minutes() -> None:
    other = b"\x04" * 32
    beats = beats_of(ALICE, BOB)
    beats.agreed(BOB, NOW)
    assert not any(beats.heard(BOB, THEIRS, OURS, NOW + beat * EVERY) for beat in range(1, 9))
    assert not beats.heard(BOB, other, OURS, NOW + 9 * EVERY)
    assert beats.heard(BOB, other, OURS, NOW + AGAIN_AFTER)
    later = beats_of(ALICE, BOB)
    later.agreed(BOB, NOW)
    due = [beat for beat in range(1, 13) if later.heard(BOB, THEIRS, OURS, NOW + beat * EVERY)]
    assert due == [11, 12]  # two beats after five minutes
    later.gone(BOB)
    later.linked(BOB, NOW + 13 * EVERY)
    assert later.heard(BOB, THEIRS, OURS, NOW + 13 * EVERY)


def test_the_first_handshake_of_a_link_compares_whatever_changed_and_beats_count_from_then() -> (
    None
):
    beats = beats_of(ALICE, BOB)
    beats.changed(NOW)
    assert beats.handshake(BOB, differs=True)
    assert not beats.handshake(BOB, differs=True), "the next ones are for beats to judge"
    later = NOW + SETTLED_AFTER
    heard = [beats.heard(BOB, THEIRS, OURS, later + beat * EVERY) for beat in range(BEATS)]
    assert heard == [False] * (BEATS - 1) + [True]
    beats.gone(BOB)
    assert not beats.handshake(BOB, differs=True), "it has no link"
    beats.linked(BOB, NOW)
    assert not beats.handshake(BOB, differs=False)
    assert not beats.heard(BOB, THEIRS, OURS, later)


@pytest.mark.parametrize(
    ("rounds", "then", "counts"), [(0, "", True), (1, GOVERNANCE, True), (1, "", False)]
)
def test_roots_count_on_after_a_session_that_compared_nothing(
    rounds: int, then: str, counts: bool
) -> None:
    alice = Member("alice")
    alice.advance(NOW)
    beats = alice.group.state_beats
    beats.linked(BOB, NOW)
    ended = SessionEnded(
        1, BOB, "state", "test", "", Outcome.BENIGN, rounds, 0, 0, 0, plane=Plane.STATE, then=then
    )
    transfers.on_session_over(alice.group, ended)
    heard = [beats.heard(BOB, THEIRS, OURS, NOW + beat * EVERY) for beat in range(1, 5)]
    assert any(heard) is counts
