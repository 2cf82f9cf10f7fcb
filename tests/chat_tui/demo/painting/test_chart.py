"""The sequence chart: what sets out grows, what is lost stops and stays, what is over dims."""

from itertools import combinations

import pytest
from textual.content import Content

from chat_tui.demo.pacing.bending import Bent, Timetable
from chat_tui.demo.pacing.score import Score
from chat_tui.demo.pacing.traffic import Traffic, Wait, kind_of
from chat_tui.demo.painting.chart import GLOW, ROWS_MAX, chart, lanes_of
from chat_tui.demo.painting.kinds import kind_style
from chat_tui.demo.painting.setting import Setting, person_style
from chat_tui.demo.run import Run
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from chat_tui.settings.schema import THEME
from chat_tui.wording.glyphs import UNICODE
from chat_tui.wording.panels import BAD, DIM
from sync.machine import MILLISECOND, SECOND, MessageId
from sync.sim.watch import Cause, Flight
from tests.support.chat_tui.demos import SEED, finished, scored

STAGE = Stage(scenario(3), SEED)
ALICE, BOB, CAROL = range(3)
BEGAN = STAGE.run.began
TEXT = MessageId("ab" * 32)
LANES = lanes_of(3, 80)


def flight(
    sender: int, receiver: int, at: int, *, lost: bool = False, cause: Cause = Cause.NEW
) -> Flight:
    sent = BEGAN + at * MILLISECOND
    message_id = TEXT if cause is Cause.NEW else None
    return Flight(sender, receiver, cause, message_id, False, sent, sent + 40 * MILLISECOND, lost)


def traffic(*flights: Flight, waits: tuple[Wait, ...] = ()) -> Traffic:
    made = Traffic(40 * MILLISECOND)
    made.flights += flights
    made.waits += waits
    return made


def drawn(
    of: Traffic, milliseconds: float, *, moves: bool = True, height: int = 14
) -> list[Content]:
    ends = BEGAN + 60 * SECOND
    bent = Bent(BEGAN, ends, Timetable([(one.sent_at, one.at) for one in of.flights]))
    at = Setting(
        width=80, height=24, glyphs=UNICODE, theme="nord", selected=0, running=True, speed=1,
        formulas=False, now=BEGAN + int(milliseconds * MILLISECOND), traffic=of,
        score=Score(BEGAN, ends, bent, ()), moves=moves,
    )  # fmt: skip
    return chart(STAGE.shot, at, STAGE.titles, height)


def styles(line: Content, sign: str) -> set[str]:
    return {str(span.style) for span in line.spans if sign in line.plain[span.start : span.end]}


def test_a_frame_grows_from_its_sender_to_its_receiver() -> None:
    one = traffic(flight(ALICE, BOB, 1000))

    ends = [drawn(one, 1000 + after)[1].plain.index("▶") for after in (0, 10, 20, 30, 39, 40)]

    assert ends == sorted(ends)
    assert len(set(ends)) >= 5
    assert ends[-1] == LANES[BOB]
    assert drawn(one, 999)[1].plain.strip() == "┊                  ┊                  ┊".strip()


def test_without_motion_it_is_where_it_goes_at_once() -> None:
    one = traffic(flight(CAROL, ALICE, 1000))

    assert drawn(one, 1000, moves=False)[1].plain.index("◀") == LANES[ALICE]


def test_frames_to_several_people_are_one_line() -> None:
    one = traffic(flight(BOB, ALICE, 1000), flight(BOB, CAROL, 1000))

    line = drawn(one, 2000)[1].plain

    assert (line.index("◀"), line.index("▶")) == (LANES[ALICE], LANES[CAROL])
    assert "message" in line


def test_what_is_lost_stops_with_a_cross_and_keeps_its_colour() -> None:
    one = traffic(flight(ALICE, BOB, 1000), flight(ALICE, CAROL, 1000, lost=True))

    for later in (1040, 59_000):
        line = drawn(one, later)[1]
        assert line.plain.index("✗") == LANES[CAROL] - 1
        assert "message, lost" in line.plain
        assert styles(line, "✗") == {BAD}
    assert "✗" not in drawn(one, 1039)[1].plain


def test_a_line_glows_for_two_seconds_of_the_viewers_and_is_dim_then() -> None:
    one = traffic(flight(ALICE, BOB, 1000), flight(BOB, ALICE, 1400, cause=Cause.SYNC))
    bent = Bent(
        BEGAN, BEGAN + 60 * SECOND, Timetable([(one.sent_at, one.at) for one in one.flights])
    )
    ends = bent.viewed(BEGAN + 1040 * MILLISECOND)
    glows = (bent.simulated(ends + GLOW) - BEGAN) / MILLISECOND

    assert styles(drawn(one, glows - 1)[1], "▶") == {kind_style("message", "nord")}
    assert styles(drawn(one, glows + 1)[1], "▶") == {DIM}


def test_the_last_dozen_stay() -> None:
    many = traffic(*[flight(n % 3, (n + 1) % 3, 1000 * n, cause=Cause.SYNC) for n in range(40)])

    lines = drawn(many, 50_000, height=20)

    assert len(lines) == 20
    assert sum("sync" in line.plain for line in lines) == ROWS_MAX
    assert lines[1].plain.split()[0] == "28.0"
    assert lines[ROWS_MAX].plain.split()[0] == "39.0"


def test_a_history_that_is_handed_over_is_one_line_with_its_number() -> None:
    many = traffic(*[flight(ALICE, CAROL, 1000, cause=Cause.TRANSFER) for _ in range(240)])

    lines = drawn(many, 2000)

    assert "240 x transfer" in lines[1].plain
    assert "transfer" not in lines[2].plain


def test_a_wait_counts_down_where_it_waits() -> None:
    began = BEGAN + SECOND
    wait = Wait(CAROL, True, TEXT, began, began + 4 * SECOND)
    one = traffic(waits=(wait,))

    assert "▰▱▱▱▱ 4.0 s" in drawn(one, 1001)[1].plain
    line = drawn(one, 3000)[1].plain
    assert "▰▰▰▱▱ 2.0 s" in line
    assert "to ask" in line
    assert line.index("▰") < LANES[CAROL] < line.index("2.0 s")
    assert "waits 4.0 s" in drawn(one, 3000, moves=False)[1].plain
    wait.ended = began + SECOND  # somebody was faster
    assert "waited 1.0 s" in drawn(one, 3000)[1].plain


BASE = {"message", "sync", "check"}
LINKED = BASE | {"ranges", "transfer"}
SEEN = {
    1: BASE | {"ranges"},
    2: {"message", "sync"},
    3: {"message", "sync", "request", "answer"},
    4: LINKED | {"request", "answer"},
    5: LINKED,
    6: LINKED,
    8: BASE | {"request", "answer", "logs", "entry"},
    9: LINKED | {"operation", "request", "heads", "logs"},
    10: LINKED | {"operation", "request", "heads", "logs"},
    11: LINKED | {"entry", "root", "handshake", "hashes", "request"},
    12: BASE | {"root", "request", "entry", "handshake", "filter", "hashes"},
    13: BASE | {"handshake", "request", "page", "root", "filter", "entry"},
    14: {"message", "sync", "check", "handshake", "symbols", "request", "entry"},
}
"""By scenario, the kinds of frames that are on their way in it."""


@pytest.mark.parametrize("number", [one.number for one in SCENARIOS if not one.people])
def test_every_kind_of_frame_has_its_word_and_its_colour(number: int) -> None:
    run, score, stage = finished(number), scored(number), Stage(scenario(number), SEED)
    first = {kind_of(one): one for one in run.traffic.flights}

    assert set(first) == SEEN[number]
    for kind, one in first.items():
        at = Setting(
            width=140, height=40, glyphs=UNICODE, theme="nord", selected=0, running=True, speed=1,
            formulas=False, now=one.sent_at, traffic=run.traffic, score=score,
        )  # fmt: skip
        lines = chart(stage.shot, at, stage.titles, 14)
        line = next(line for line in reversed(lines) if kind in line.plain.split())
        assert kind_style(kind, "nord") in styles(line, kind)


@pytest.mark.parametrize("theme", THEME.kind.choices)
def test_people_of_one_demo_never_share_a_colour(theme: str) -> None:
    most = max(len(one.names) for one in SCENARIOS)

    for one, other in combinations(range(most), 2):
        assert person_style(one, theme) != person_style(other, theme)


def test_frames_that_nobody_hears_are_lost_where_they_came() -> None:
    run = Run(scenario(5), SEED)
    run.finish()

    lost = [one for one in run.traffic.flights if one.lost]
    assert lost
    assert all({one.sender, one.receiver} & {0, 1} != {one.sender, one.receiver} for one in lost)
    assert all(run.began < one.sent_at < one.at for one in lost)


def test_the_newest_lines_are_kept_where_the_chart_is_low() -> None:
    many = traffic(*[flight(n % 3, (n + 1) % 3, 1000 * n, cause=Cause.SYNC) for n in range(40)])

    assert [line.plain.split()[0] for line in drawn(many, 50_000, height=4)[1:]] == [
        "37.0", "38.0", "39.0",
    ]  # fmt: skip
