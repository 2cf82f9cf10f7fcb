"""Counts of the last minute: what is counted as what, from when on, and only for who looks."""

import pytest

from sync.machine import SECOND, ChannelId, Nanos, PeerId
from sync.sds.message import Kind, Message
from sync.sds.wire import encode
from sync.view.frame_tap import FRAMES_MAX, Tap
from sync.view.rates import SECONDS, WATCHED_FOR, RatesInfo, Sort, sort_of, summed
from sync.view.view import FrameInfo, FrameKind
from tests.support.sync.channels import message_id

HERE = ChannelId("0c" * 16)
BOB, CAROL = PeerId("b0" * 32), PeerId("ca" * 32)
NOW: Nanos = 1_000 * SECOND


def sds(lamport: int | None = 7, content: bytes = b"words", author: PeerId = BOB) -> bytes:
    return encode(Message(author, message_id("one"), HERE, lamport, (), None, (), content))


def noted(tap: Tap, at: Nanos, *, kind: FrameKind = FrameKind.TRANSFER, sent: bool = False) -> None:
    tap.note_frame(at, HERE, BOB, kind, b"12345", sent=sent)


def totals(rates: RatesInfo) -> dict[tuple[Sort, bool], tuple[int, int]]:
    return {(one.sort, one.sent): (sum(one.frames), sum(one.bytes)) for one in rates.series}


def test_what_passed_before_the_first_look_is_made_up_from_kept_frames() -> None:
    tap = Tap()
    noted(tap, NOW - 61 * SECOND)
    noted(tap, NOW - 2 * SECOND)
    noted(tap, NOW, sent=True)

    rates = tap.rates(NOW)

    assert totals(rates) == {(Sort.PUSH, False): (1, 5), (Sort.PUSH, True): (1, 5)}
    assert rates.since == NOW - SECONDS * SECOND


def test_each_second_has_a_place_of_its_own() -> None:
    tap = Tap()
    tap.rates(NOW)
    for after in (0, 0, 1, 3):
        noted(tap, NOW + after * SECOND)

    [series] = tap.rates(NOW + 3 * SECOND).series

    assert series.frames[-4:] == (2, 1, 0, 1)
    assert series.bytes[-4:] == (10, 5, 0, 5)
    assert len(series.frames) == SECONDS


def test_nothing_is_counted_once_nobody_has_looked_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tap = Tap()
    tap.rates(NOW)
    counted: list[FrameInfo] = []
    monkeypatch.setattr(tap._rates, "note_frame", counted.append)
    noted(tap, NOW + WATCHED_FOR - 1)
    noted(tap, NOW + WATCHED_FOR)

    assert [frame.at for frame in counted] == [NOW + WATCHED_FOR - 1]


def test_a_look_after_a_pause_counts_no_frame_twice() -> None:
    tap = Tap()
    noted(tap, NOW)
    tap.rates(NOW)
    noted(tap, NOW + 1)
    later = NOW + 2 * WATCHED_FOR
    noted(tap, later)

    assert totals(tap.rates(later)) == {(Sort.PUSH, False): (3, 15)}


def test_more_than_is_kept_is_counted_while_somebody_looks() -> None:
    tap = Tap()
    tap.rates(NOW)
    for _ in range(3 * FRAMES_MAX):
        noted(tap, NOW)

    assert totals(tap.rates(NOW)) == {(Sort.PUSH, False): (3 * FRAMES_MAX, 15 * FRAMES_MAX)}


def test_it_says_from_when_on_all_is_counted_where_frames_are_gone() -> None:
    tap = Tap()
    for number in range(2 * FRAMES_MAX):
        noted(tap, NOW + number)

    rates = tap.rates(NOW + SECOND)

    assert rates.since == NOW + FRAMES_MAX
    assert tap.rates(NOW + SECOND).since == NOW + FRAMES_MAX


def test_seconds_older_than_a_minute_are_let_go_of() -> None:
    tap = Tap()
    for second in range(3 * SECONDS):
        tap.rates(NOW + second * SECOND)
        noted(tap, NOW + second * SECOND)

    assert len(tap._rates._seconds) == SECONDS + 1
    assert totals(tap.rates(NOW + (3 * SECONDS - 1) * SECOND)) == {(Sort.PUSH, False): (60, 300)}


@pytest.mark.parametrize(
    ("data", "peer", "sort"),
    [
        (sds(), BOB, Sort.MESSAGE),
        (sds(), None, Sort.MESSAGE),
        (sds(author=CAROL), BOB, Sort.REPAIR),
        (sds(content=b""), BOB, Sort.SYNC),
        (sds(lamport=None), BOB, Sort.EPHEMERAL),
        (b"\xff", BOB, Sort.UNREADABLE),
    ],
)
def test_frames_of_sds_are_told_apart_by_what_they_are_for(
    data: bytes, peer: PeerId | None, sort: Sort
) -> None:
    frame = FrameInfo(1, NOW, peer is None, peer, HERE, FrameKind.SDS, len(data), data)

    assert sort_of(frame) is sort
    assert {kind.value for kind in Kind} == {"content", "sync", "ephemeral"}


def test_every_other_kind_of_frame_has_a_sort() -> None:
    others = [kind for kind in FrameKind if kind is not FrameKind.SDS]
    sorts = {sort_of(FrameInfo(1, NOW, True, None, HERE, kind, 1, b"x")) for kind in others}

    assert len(sorts) == len(others)


def test_series_are_added_up_second_by_second() -> None:
    assert summed([(1, 2), (3, 4)]) == (4, 6)
    assert summed([]) == (0,) * SECONDS
