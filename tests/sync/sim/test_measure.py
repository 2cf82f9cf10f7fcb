"""Measures of a run: percentiles, losses and traffic."""

import pytest
from msgspec.structs import replace

from sync.machine import SECOND, ChannelId, MessageId, PeerId
from sync.runner.batch import Batch
from sync.sds.message import HistoryEntry, Message
from sync.sim.measure import Meter, Sent, Sort, Spread

A, B = MessageId("a" * 64), MessageId("b" * 64)
ALICE, CHANNEL = PeerId("f" * 64), ChannelId("c" * 32)


def asking(*message_ids: MessageId) -> Message:
    request = tuple(HistoryEntry(message_id, None, ALICE) for message_id in message_ids)
    return Message(ALICE, MessageId("e" * 64), CHANNEL, 1, (), b"", request)


@pytest.mark.parametrize(
    ("numbers", "spread"),
    [
        ([], Spread(0, 0, 0, 0, 0)),
        ([3], Spread(1, 3, 3, 3, 3)),
        ([2, 1], Spread(2, 1, 2, 2, 2)),
        (range(1, 101), Spread(100, 50, 95, 99, 100)),
        (range(1000, 0, -1), Spread(1000, 500, 950, 990, 1000)),
    ],
)
def test_percentiles_are_numbers_that_were_there(numbers: list[float], spread: Spread) -> None:
    assert Spread.of(numbers) == spread


def test_a_loss_counts_what_was_sent_for_it_between_missing_and_coming() -> None:
    meter = Meter()
    meter.broadcast(asking(A), b"before")
    meter.missed(1, A, 10 * SECOND)
    meter.broadcast(asking(A, B), b"request")
    meter.broadcast(asking(B), b"another's")
    meter.answered(A, b"answer")
    meter.answered(A, b"and again")
    meter.came(1, A, 12 * SECOND)
    meter.answered(A, b"too late")

    repairs = meter.repairs()

    assert meter.losses == [(A, 1, 2, 2 * SECOND)]
    assert (repairs.losses, repairs.unasked, repairs.open, repairs.messages) == (1, 0, 0, 1)
    assert (repairs.requests.p50, repairs.responses.p50) == (1, 2)
    assert repairs.seconds.max == 2
    assert (repairs.requests_of_message.p50, repairs.responses_of_message.p50) == (2, 3)


def test_each_who_lost_a_message_is_a_loss_of_its_own() -> None:
    meter = Meter()
    meter.missed(1, A, 0)
    meter.missed(2, A, 0)
    meter.broadcast(asking(A), b"")
    meter.came(1, A, SECOND)
    meter.broadcast(asking(A), b"")

    repairs = meter.repairs()

    assert (repairs.losses, repairs.open, repairs.messages) == (2, 1, 1)
    assert [requests for _, requests, _, _ in meter.losses] == [1]


def test_what_is_missed_again_after_a_crash_is_one_loss_and_what_came_unmissed_none() -> None:
    meter = Meter()
    meter.missed(1, A, 0)
    meter.broadcast(asking(A), b"")
    meter.missed(1, A, SECOND)
    meter.came(1, A, 2 * SECOND)
    meter.came(1, B, 2 * SECOND)

    assert meter.losses == [(A, 1, 0, 2 * SECOND)]


def test_a_loss_that_ends_by_itself_is_unasked() -> None:
    meter = Meter()
    meter.missed(1, A, 0)
    meter.came(1, A, SECOND)

    assert meter.repairs().unasked == 1


def test_frames_are_counted_by_what_they_are_for() -> None:
    meter = Meter()
    meter.broadcast(asking(A), b"12345")
    meter.broadcast(replace(asking(), content=b"text"), b"123")
    meter.broadcast(replace(asking(), content=b"typing", lamport=None), b"12")
    meter.resent(b"1234")
    meter.answered(A, b"1")
    meter.answered(A, b"12")

    assert meter.sent == {
        Sort.SYNC: Sent(1, 5),
        Sort.CONTENT: Sent(1, 3),
        Sort.EPHEMERAL: Sent(1, 2),
        Sort.RESEND: Sent(1, 4),
        Sort.ANSWER: Sent(2, 3),
    }


def test_latency_is_from_the_author_to_the_others() -> None:
    meter = Meter()
    meter.written(0, A, 5 * SECOND)
    meter.delivered(0, A, 5 * SECOND)
    meter.delivered(1, A, 6 * SECOND)
    meter.delivered(2, A, 8 * SECOND)

    assert meter.latency() == Spread(2, 1000, 3000, 3000, 3000)
    assert meter.newest_delivery == 8 * SECOND


def test_the_digest_tells_runs_apart_by_times_bytes_and_end() -> None:
    def digest(*, at: int = 1, payload: bytes = b"x", end: str = "end") -> str:
        meter = Meter()
        for step in range(5000):
            meter.turned(at + step, 0, Batch())
        meter.resent(payload)
        return meter.digest(end)

    assert digest() == digest()
    assert len({digest(), digest(at=2), digest(payload=b"y"), digest(end="other")}) == 4
