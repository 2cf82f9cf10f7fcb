"""The tab Now: its sections over a real channel, what each row opens, and what it costs closed."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from chat_tui.debug import now_sections
from chat_tui.debug.now_details import ACK_BOUNDS, NowInfo, acks_of, collect, quantile
from chat_tui.debug.section import Section, in_words
from chat_tui.debug.tab_table import Tab
from sync.machine import MILLISECOND, SECOND
from sync.view.departures import DepartureInfo, Left
from sync.view.frame_tap import Tap
from sync.view.rates import SECONDS, RatesInfo, Series, Sort
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import NOON as NOW
from tests.support.chat_tui.panes import opened
from tests.support.chat_tui.scenes import ALICE, BOB, Scene
from tests.support.chat_tui.snapshots_of_state import absent, present, snapshot
from tests.support.sync.channels import message_id

ONE, OTHER = message_id("one"), message_id("other")


def series(sort: Sort, *last: int, sent: bool = False) -> Series:
    """A series whose last seconds had so many frames of 100 bytes."""
    frames = (0,) * (SECONDS - len(last)) + last
    return Series(sort, sent, frames, tuple(100 * one for one in frames))


def rates(*all_: Series, since: int = SECONDS) -> RatesInfo:
    return RatesInfo(NOW, NOW - since * SECOND, all_)


def words(section: Section) -> list[str]:
    return [in_words(row) for row in section.rows]


def left(how: Left, took_ms: int = 0) -> DepartureInfo:
    return DepartureInfo(ONE, how, NOW, NOW - took_ms * MILLISECOND)


def test_traffic_counts_by_way_and_by_kind() -> None:
    both = series(Sort.MESSAGE, 1, 0, sent=True), series(Sort.MESSAGE, 2, 3)

    section = now_sections.traffic(rates(*both, series(Sort.SYNC, 4)))

    assert section.total == 10
    assert section.note == "100 B out, 900 B in"
    assert words(section) == [
        "out     100 B/s",
        "in      200 B/s",
        "MSG     6, 600 B",
        "SYNC    4, 400 B",
    ]
    assert section.rows[2].spark[-2:] == (3, 3)


@pytest.mark.parametrize("sort", Sort)
def test_the_rows_of_each_kind_open_and_say_what_it_is(sort: Sort) -> None:
    section = now_sections.traffic(rates(series(sort, 1, sent=True), series(sort, 2)))
    opened_rows = [row.opens() for row in section.rows if row.opens is not None]

    assert len(opened_rows) == 3  # out, in, and the kind
    assert all(sort.value in " ".join((one.title, *one.facts)) for one in opened_rows)
    assert opened_rows[2].plain.startswith("These are ")


def test_traffic_says_what_it_does_not_know() -> None:
    assert now_sections.traffic(rates(since=12)).note.endswith("known of the last 12 s alone")


def test_the_time_to_acknowledge_has_quantiles_and_a_shape() -> None:
    took = [100, 300, 300, 700, 20_000]
    acks = tuple(left(Left.ACKNOWLEDGED, one) for one in took)

    section = now_sections.acknowledged(snapshot(), NowInfo(rates(), (*acks, left(Left.FOUND, 1))))

    assert (section.total, words(section)) == (5, ["ack     p50 300 ms, p99 20 s"])
    assert list(section.rows[0].spark) == [1, 2, 1, 0, 0, 0, 0, 1]
    assert len(section.rows[0].spark) == len(ACK_BOUNDS) + 1


@pytest.mark.parametrize(
    ("values", "share", "wanted"),
    [
        ([1], 0.5, 1),
        ([1, 2], 0.5, 1),
        ([1, 2, 3], 0.5, 2),
        (range(1, 101), 0.99, 99),
        ([5], 0.0, 5),
    ],
)
def test_a_quantile_is_one_of_the_values(values: Sequence[int], share: float, wanted: int) -> None:
    assert quantile(values, share) == wanted


def test_an_acknowledgement_without_its_beginning_is_not_timed() -> None:
    assert acks_of([DepartureInfo(ONE, Left.ACKNOWLEDGED, NOW)]) == []


def test_repairs_say_when_how_long_and_by_whom() -> None:
    bob = present("bob")
    came = DepartureInfo(ONE, Left.FOUND, NOW - 36 * SECOND, NOW - 41 * SECOND, bob.peer)
    gone = DepartureInfo(OTHER, Left.LOST, NOW - SECOND)

    section = now_sections.repairs(snapshot(bob), NowInfo(rates(), (gone, came)))

    assert words(section) == [
        f"{OTHER[:6]} 1 s ago: given up as lost",
        f"{ONE[:6]} 36 s ago: came from bob, after 5.0 s",
    ]


def test_links_that_are_gone_come_last_and_say_since_when() -> None:
    here = replace(present("erin", rtt=MILLISECOND), rtts=(2 * MILLISECOND, MILLISECOND))

    section = now_sections.links(snapshot(absent("dave"), here), None)

    assert section.total == 1
    assert words(section) == [
        "erin     1.0 ms, here, nothing compared yet",
        "dave     gone since 11:56:00",
    ]
    assert section.rows[0].spark == (2 * MILLISECOND, MILLISECOND)


@pytest.mark.slow
def test_every_row_over_a_real_channel_opens_with_a_sentence() -> None:
    scene = scenes.coming_back()
    scenes.history(scene)
    scene.world.run(30 * SECOND)
    shot = scene.snapshot()
    [info] = shot.channels
    sections = now_sections.now_sections(shot, info, collect(scene.chat.inspection, shot, info))

    rows = [row for section in sections for row in section.rows]
    details = [row.opens() for row in rows if row.opens is not None]

    assert len(details) == len(rows) > 8
    assert all(detail.plain.endswith((".", ")")) for detail in details)


@pytest.mark.slow
async def test_it_moves_while_frames_pass_and_holds_while_it_is_frozen() -> None:
    async with opened(scenes.repairing, "0") as screen:
        before = screen.text()
        await screen.second()
        after = screen.text()
        await screen.press("space")
        held = screen.text()
        await screen.second()

        assert before != after
        assert screen.text() == held
        assert screen.pane.tab is Tab.NOW


@pytest.mark.slow
async def test_nothing_is_counted_for_it_while_another_tab_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opened(scenes.repairing, "1") as screen:
        asked: list[str] = []
        monkeypatch.setattr(Tap, "rates", lambda *_: asked.append("rates"))
        await screen.second()

        assert asked == []


@pytest.mark.slow
async def test_a_row_opens_and_goes_on_telling_what_is_true_now() -> None:
    async with opened(scenes.repairing, "0", "j", "enter") as screen:
        assert "Out, last 60 s" in screen.text()
        before = screen.text()
        await screen.second()
        await screen.second()

        assert "this row is gone" not in screen.text()
        assert screen.text() != before


def test_what_waits_is_counted_like_in_the_buffers() -> None:
    scene = Scene("alice", "bob")
    scene.world.crash(BOB)
    scene.say(ALICE, "anybody?", then=SECOND)
    shot = scene.snapshot()

    section = now_sections.waiting(shot, shot.channels[0])

    assert section.total == 1
    assert words(section) == [
        "for parents 0, to request 0, to answer 0, unacknowledged 1",
    ]
