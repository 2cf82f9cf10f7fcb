"""Admission of messages to a transfer: only what its own session found missing."""

import hashlib

import pytest

from sync.machine import SECOND, Nanos, Tick
from sync.sessions.receiving import (
    INACTIVITY_MAX,
    TRANSITIONS,
    WAITING_BYTES_MAX,
    WAITING_MAX,
    Accept,
    Arrived,
    Decline,
    Here,
    Phase,
    Reason,
    ReconciliationFinished,
    RemoteFinished,
    Transfer,
    TransferFinished,
    Wanted,
)
from sync.structures.ordered_set import SyncId

NOW: Nanos = 1_700_000_000 * SECOND


def numbered(number: int) -> SyncId:
    return SyncId(NOW + number, hashlib.sha256(number.to_bytes(8, "big")).digest())


def arrived(number: int, size: int = 100) -> Arrived:
    return Arrived(numbered(number), f"item {number}", size)


def wanting(*numbers: int) -> Transfer:
    """A transfer whose reconciliation goes on and has found these missing so far."""
    transfer = Transfer()
    assert transfer.handle(Wanted(tuple(map(numbered, numbers))), NOW) == []
    return transfer


def test_a_wanted_message_is_accepted() -> None:
    transfer = wanting(1, 2)

    assert transfer.handle(arrived(2), NOW) == [Accept("item 2")]


def test_a_message_is_accepted_once() -> None:
    transfer = wanting(1, 2)
    transfer.handle(arrived(1), NOW)

    assert transfer.handle(arrived(1), NOW) == [Decline(numbered(1), Reason.DUPLICATE)]


def test_a_message_found_missing_twice_is_still_accepted_once() -> None:
    transfer = wanting(1)
    transfer.handle(arrived(1), NOW)

    transfer.handle(Wanted((numbered(1),)), NOW)

    assert transfer.handle(ReconciliationFinished(), NOW) == [TransferFinished(1, ())]


def test_a_message_that_comes_before_its_range_is_decided_waits_for_it() -> None:
    transfer = wanting(1)

    early = transfer.handle(arrived(7), NOW)
    decided = transfer.handle(Wanted((numbered(6), numbered(7))), NOW)

    assert early == []
    assert decided == [Accept("item 7")]


def test_a_message_nobody_missed_is_declined_when_everything_is_decided() -> None:
    transfer = wanting(1)
    transfer.handle(arrived(7), NOW)

    assert transfer.handle(ReconciliationFinished(), NOW) == [
        Decline(numbered(7), Reason.NOT_WANTED)
    ]
    assert transfer.handle(arrived(8), NOW) == [Decline(numbered(8), Reason.NOT_WANTED)]
    assert transfer.handle(arrived(1), NOW) == [Accept("item 1"), TransferFinished(1, ())]


def test_a_message_waits_only_once() -> None:
    transfer = Transfer()
    transfer.handle(arrived(7), NOW)

    assert transfer.handle(arrived(7), NOW) == [Decline(numbered(7), Reason.DUPLICATE)]


def test_only_so_many_messages_wait() -> None:
    transfer = Transfer()
    for number in range(WAITING_MAX):
        assert transfer.handle(arrived(number), NOW) == []

    over = transfer.handle(arrived(WAITING_MAX), NOW)

    assert over == [Decline(numbered(WAITING_MAX), Reason.TOO_MUCH_WAITING)]


def test_only_so_many_bytes_wait_and_leaving_ones_make_room() -> None:
    transfer = Transfer()
    transfer.handle(arrived(1, size=WAITING_BYTES_MAX), NOW)

    over = transfer.handle(arrived(2, size=1), NOW)
    transfer.handle(Wanted((numbered(1),)), NOW)
    fits = transfer.handle(arrived(2, size=WAITING_BYTES_MAX), NOW)

    assert over == [Decline(numbered(2), Reason.TOO_MUCH_WAITING)]
    assert fits == []


def test_a_declined_early_message_that_turns_out_wanted_is_reported_missing() -> None:
    transfer = Transfer()
    transfer.handle(arrived(1, size=WAITING_BYTES_MAX + 1), NOW)
    transfer.handle(Wanted((numbered(1),)), NOW)
    transfer.handle(ReconciliationFinished(), NOW)

    assert transfer.handle(RemoteFinished(), NOW) == [TransferFinished(0, (numbered(1),))]


def test_limits_do_not_touch_what_is_wanted() -> None:
    transfer = wanting(*range(WAITING_MAX + 1))

    effects = [transfer.handle(arrived(n, size=1 << 20), NOW) for n in range(WAITING_MAX + 1)]

    assert effects == [[Accept(f"item {n}")] for n in range(WAITING_MAX + 1)]


def test_nothing_missing_ends_with_the_reconciliation() -> None:
    transfer = Transfer()

    assert transfer.handle(ReconciliationFinished(), NOW) == [TransferFinished(0, ())]
    assert transfer.phase is Phase.FINISHED


def test_a_transfer_ends_with_the_last_wanted_message() -> None:
    transfer = wanting(1, 2)
    transfer.handle(ReconciliationFinished(), NOW)

    first = transfer.handle(arrived(1), NOW)
    second = transfer.handle(arrived(2), NOW)

    assert first == [Accept("item 1")]
    assert second == [Accept("item 2"), TransferFinished(2, ())]
    assert transfer.deadline() is None


def test_what_the_peer_did_not_push_is_reported_missing() -> None:
    transfer = wanting(3, 1, 2)
    transfer.handle(ReconciliationFinished(), NOW)
    transfer.handle(arrived(2), NOW)

    ended = transfer.handle(RemoteFinished(), NOW)

    assert ended == [TransferFinished(1, (numbered(1), numbered(3)))]


def test_a_peer_may_end_its_stream_before_the_reconciliation_is_over() -> None:
    transfer = Transfer()
    transfer.handle(arrived(1), NOW)

    ended = transfer.handle(RemoteFinished(), NOW)
    decided = transfer.handle(Wanted((numbered(1), numbered(2))), NOW)
    over = transfer.handle(ReconciliationFinished(), NOW)

    assert ended == []
    assert decided == [Accept("item 1")]
    assert over == [TransferFinished(1, (numbered(2),))]


def test_a_stream_that_ended_early_with_everything_ends_complete() -> None:
    transfer = wanting(1)
    transfer.handle(arrived(1), NOW)
    transfer.handle(RemoteFinished(), NOW)

    assert transfer.handle(ReconciliationFinished(), NOW) == [TransferFinished(1, ())]


def test_a_peer_that_owes_messages_and_is_silent_is_given_up() -> None:
    transfer = wanting(1, 2)
    during = transfer.deadline()
    transfer.handle(ReconciliationFinished(), NOW)
    transfer.handle(arrived(1), NOW + 10 * SECOND)

    early = transfer.handle(Tick(), NOW + INACTIVITY_MAX)
    late = transfer.handle(Tick(), NOW + 10 * SECOND + INACTIVITY_MAX)
    again = transfer.handle(Tick(), NOW + 1_000 * SECOND)

    assert during is None
    assert early == again == []
    assert late == [TransferFinished(1, (numbered(2),))]


def test_unwanted_messages_do_not_keep_a_transfer_alive() -> None:
    transfer = wanting(1)
    transfer.handle(ReconciliationFinished(), NOW)
    before = transfer.deadline()

    transfer.handle(arrived(9), NOW + SECOND)

    assert transfer.deadline() == before == NOW + INACTIVITY_MAX


def test_after_its_end_a_transfer_lets_in_only_what_it_still_lacked_and_once() -> None:
    transfer = wanting(1)
    transfer.handle(ReconciliationFinished(), NOW)
    transfer.handle(RemoteFinished(), NOW)

    unwanted = transfer.handle(arrived(2), NOW)
    late = transfer.handle(arrived(1), NOW)
    again = transfer.handle(arrived(1), NOW)
    ended_again = transfer.handle(RemoteFinished(), NOW)

    assert unwanted == [Decline(numbered(2), Reason.NOT_WANTED)]
    assert late == [Accept(arrived(1).item)]
    assert again == [Decline(numbered(1), Reason.NOT_WANTED)]
    assert ended_again == []


def test_wanting_more_after_the_reconciliation_is_our_own_mistake() -> None:
    transfer = wanting(1)
    transfer.handle(ReconciliationFinished(), NOW)

    with pytest.raises(AssertionError):
        transfer.handle(Wanted((numbered(2),)), NOW)


def test_every_phase_has_its_row_and_every_phase_but_the_last_leads_there() -> None:
    assert set(TRANSITIONS) == set(Phase)
    for phase, row in TRANSITIONS.items():
        assert (Phase.FINISHED in row.values()) is (phase is not Phase.FINISHED)


def test_what_somebody_else_brings_is_no_longer_waited_for_and_its_copy_is_no_fault() -> None:
    transfer = wanting(1, 2)
    transfer.handle(ReconciliationFinished(), NOW)
    transfer.handle(arrived(1), NOW)

    assert transfer.handle(Here(numbered(3)), NOW) == []
    assert transfer.handle(Here(numbered(2)), NOW) == [TransferFinished(1, ())]
    assert transfer.handle(arrived(2), NOW) == [Decline(numbered(2), Reason.ELSEWHERE)]


def test_what_is_here_before_the_reconciliation_is_over_ends_nothing() -> None:
    transfer = wanting(1)

    assert transfer.handle(Here(numbered(1)), NOW) == []
    assert transfer.handle(Wanted((numbered(2),)), NOW) == []
    assert transfer.handle(ReconciliationFinished(), NOW) == []
    assert transfer.missing == (numbered(2),)
