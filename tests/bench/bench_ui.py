"""Cost of the screen: the conversation (UI.md 3, "Line API"), a start, and doing nothing."""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from chat_tui.client.live import Client
from chat_tui.client.setup import Setup
from chat_tui.debug.tabs.now import NowPage
from chat_tui.debug.tabs.page import Shown
from chat_tui.wording.glyphs import UNICODE
from storage.sqlite.journal import SqliteJournal
from sync.machine import MILLISECOND, MINUTE
from sync.view.frame_tap import Tap
from sync.view.view import FrameKind
from tests.bench.measured_screen import BEGIN, DONE, PROFILE
from tests.bench.measured_start import DONE as START_DONE
from tests.bench.programs import COLUMNS, ROWS, Program, Programs
from tests.bench.report import Params, Result, at_most, progress, quantile
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import NOON
from tests.support.storage.stores import delivered
from tests.support.sync.entries import Author

LENGTHS_MEASURED: Final = (1_000, 10_000, 100_000)
FIRST_PAINT_MS: Final = {1_000: 79.0, 10_000: 107.0, 100_000: 150.0}
APPEND_MS: Final = {1_000: 16.5, 10_000: 14.5, 100_000: 13.0}
BURST_MS: Final = 30.0
KEY_MS: Final = 9.0
MIDDLE_INSERT_MS: Final = 2.0
RE_WRAP_MS: Final = 60.0
MEMORY_MB: Final = 4.0
TICK_KB: Final = 0.3
RUNS: Final = 3

PROGRAM: Final = (sys.executable, "-m", "chat_tui")

START_S: Final = 0.7
BESIDE_EMPTY: Final = 2.0
BESIDE_NO_HISTORY: Final = 1.1
START_RUNS: Final = 7
EMPTY_APP: Final = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("{text}")
Empty().run()
"""

IDLE_PEERS: Final = 5
IDLE_PORT: Final = 47_311
IDLE_S: Final = 30.0
IDLE_SETTLE_S: Final = 20.0
"""Until everybody has met, compared and has nothing left to say."""
IDLE_CLOSED: Final = 1.0
IDLE_OPEN: Final = 3.0
OPEN_PANE: Final = b"\x1bp"
CLOSE_PANE: Final = OPEN_PANE
TAB_NOW: Final = b"0"

FRAMES_NOTED: Final = 20_000
FRAMES_A_SECOND: Final = 100
SECONDS_DRAWN: Final = 100

AT_ONCE: Final = 1_000
"""Messages written in one transaction, and in one author's log."""

NEWEST: Final = "the very newest one"
START_WITHIN_S: Final = 30.0
RUN_WITHIN_S: Final = 60.0

KEYS: Final = b"a line as it is typed"
KEY_REST_S: Final = 0.15
WIDTHS: Final = (130, 140) * 4
"""Another width of the text, and the same panes beside it."""

PHRASE: Final = (
    "switch cable projector the a of room three can you bring it please https://lan.example/notes "
    "東京 会議 こんにちは 🙂 👍🏽 naïve façade maybe tomorrow morning demo is at nine"
)
WORDS: Final = PHRASE.split()
LENGTHS: Final = ((0.55, 1, 6), (0.37, 7, 25), (0.08, 40, 110))
"""Share of messages, and how many words they have: short, medium and long ones."""


def transcript(place: Path) -> Iterator[Result]:
    """Every action at three lengths of the history, which grows in between."""
    held = 0
    memory: list[float] = []
    for count in LENGTHS_MEASURED:
        progress(f"a history of {count} messages ...")
        asyncio.run(extend(place, held, count))
        held = count
        params: Params = {"messages": count, "columns": COLUMNS, "rows": ROWS, "runs": RUNS}
        runs = [_run(place) for _ in range(RUNS)]
        figures = {name: quantile([run[name] for run in runs], 0.5) for name in runs[0]}
        memory.append(figures["rss_mb"])
        yield from _of_length(figures, params, count)
    added = memory[-1] - memory[0]
    yield at_most("transcript_memory_added", added, "MB", MEMORY_MB, {"messages": held})


def _of_length(figures: dict[str, float], params: Params, count: int) -> Iterator[Result]:
    for name, figure, goal in (
        ("first_paint", "first_paint_s", FIRST_PAINT_MS[count]),
        ("append", "append_s", APPEND_MS[count]),
        ("burst_of_100", "burst_s", BURST_MS),
        ("key_typed", "key_s", KEY_MS),
        ("middle_insert", "middle_insert_s", MIDDLE_INSERT_MS),
        ("re_wrap", "re_wrap_s", RE_WRAP_MS),
    ):
        yield at_most(f"transcript_{name}", figures[figure] * 1000, "ms CPU", goal, params)
    tick_kb = figures["tick_bytes"] / 1000
    yield at_most("transcript_tick_bytes", tick_kb, "kB", TICK_KB, params)
    yield Result("transcript_start", figures["start_s"] * 1000, "ms", params=params)


def _run(place: Path) -> dict[str, float]:
    """One program: what keys and widths cost, seen from outside; the rest it measures itself."""
    command = [sys.executable, "-m", "tests.bench.measured_screen", str(place)]
    with Programs() as programs:
        began = time.perf_counter()
        screen = programs.start_in_terminal(command)
        shown = programs.wait_for(screen, NEWEST.encode(), since=0, within_s=START_WITHIN_S)
        programs.run(1.0)
        outside = {
            "start_s": shown - began,
            "key_s": _typed(programs, screen),
            "re_wrap_s": _re_wrapped(programs, screen),
        }
        programs.feed(screen, BEGIN)
        programs.wait_for(screen, f"{DONE} {{".encode(), since=0, within_s=RUN_WITHIN_S)
        programs.wait_for(screen, b"}", since=screen.chunk_count - 1, within_s=RUN_WITHIN_S)
        inside: dict[str, float] = json.loads(screen.output.decode().rpartition(DONE)[2])
    return outside | inside


def _typed(programs: Programs, screen: Program) -> float:
    took: list[float] = []
    for key in KEYS:
        began = screen.cpu_s
        programs.feed(screen, bytes([key]))
        programs.run(KEY_REST_S)
        took.append(screen.cpu_s - began)
    return quantile(took, 0.5)


def _re_wrapped(programs: Programs, screen: Program) -> float:
    took: list[float] = []
    for columns in WIDTHS:
        began = screen.cpu_s
        screen.resize(columns, ROWS)
        programs.run(2 * KEY_REST_S)
        took.append(screen.cpu_s - began)
    return quantile(took, 0.5)


def start(place: Path) -> Iterator[Result]:
    """From the command to the newest line on the screen, beside an empty Textual application.

    Everything is compiled, as it is from the second start on, or by whoever installs it.
    """
    chat = [*PROGRAM, "--profile", PROFILE, "--interface", "127.0.0.1", "--data-dir"]
    empty = [sys.executable, "-c", EMPTY_APP.format(text=NEWEST)]
    little, much = place / "little", place / "much"
    progress("a history of 100,000 messages ...")
    for directory, count in ((little, AT_ONCE), (much, LENGTHS_MEASURED[-1])):
        directory.mkdir()
        asyncio.run(extend(directory, 0, count, only_newest=count == AT_ONCE))
    commands = {"empty": empty, "little": [*chat, str(little)], "much": [*chat, str(much)]}
    took: dict[str, list[float]] = {name: [] for name in commands}
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(place / "compiled")}
    shares: list[dict[str, float]] = []
    with Programs() as programs:
        for run in range(1 + START_RUNS):
            for name, command in commands.items():
                took[name].append(cpu_until(programs, command, compiled))
            shares.append(_shares(programs, much, compiled))
            if run == 0:  # which compiled
                took, shares = {name: [] for name in commands}, []
        others = programs.others
    whole, without, app = (quantile(took[one], 0.5) for one in ("much", "little", "empty"))
    params: Params = {"messages": LENGTHS_MEASURED[-1], "runs": START_RUNS, "others": others}
    yield at_most("start_to_first_paint", whole, "s CPU", START_S, params)
    yield at_most("start_beside_no_history", whole / without, "x", BESIDE_NO_HISTORY, params)
    yield Result(
        "start_beside_empty_app",
        whole / app,
        "x",
        BESIDE_EMPTY,
        whole <= BESIDE_EMPTY * app,
        params,
        peer=app,
        ratio=app / whole,
    )
    for name in shares[0]:
        share = quantile([one[name] for one in shares], 0.5)
        yield Result(f"start_share_{name}", share * 1000, "ms CPU", params=params)


def _shares(programs: Programs, place: Path, environment: Mapping[str, str]) -> dict[str, float]:
    """Return the shares of a start's processor time, as the program itself measures them."""
    command = [sys.executable, "-m", "tests.bench.measured_start", str(place)]
    screen = programs.start_in_terminal(command, environment)
    programs.wait_for(screen, f"{START_DONE} {{".encode(), since=0, within_s=START_WITHIN_S)
    programs.wait_for(screen, b"}", since=screen.chunk_count - 1, within_s=START_WITHIN_S)
    shares: dict[str, float] = json.loads(screen.output.decode().rpartition(START_DONE)[2])
    programs.end(screen)
    return shares


def cpu_until(programs: Programs, command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the processor time of a program until the newest line is on its screen."""
    screen = programs.start_in_terminal(command, environment)
    programs.wait_for(screen, NEWEST.encode(), since=0, within_s=START_WITHIN_S)
    took = screen.cpu_s
    programs.end(screen)
    return took


def idle(place: Path) -> Iterator[Result]:
    """Nobody says anything: five peers are connected, and the protocol's drawer closed or open."""
    # Without discovery, so that no other chat on this computer is among the peers.
    loopback = ["--interface", "127.0.0.1", "--no-discovery", "--data-dir", str(place)]
    ports = [str(IDLE_PORT + number) for number in range(IDLE_PEERS)]
    with Programs() as programs:
        for port in ports:
            who = ["--profile", f"p{port}", "--name", f"p{port}", "--port", port]
            programs.start_piped([*PROGRAM, "plain", *who, *loopback])
        asyncio.run(extend(place, 0, AT_ONCE))
        dialled = [f"--connect=127.0.0.1:{port}" for port in ports]
        screen = programs.start_in_terminal([*PROGRAM, "--profile", PROFILE, *loopback, *dialled])
        met = f"{IDLE_PEERS} others here".encode()
        programs.wait_for(screen, met, since=0, within_s=START_WITHIN_S)
        programs.run(IDLE_SETTLE_S)
        for name, goal, then in (
            ("closed", IDLE_CLOSED, OPEN_PANE),
            ("open", IDLE_OPEN, TAB_NOW),
            ("now", IDLE_OPEN, CLOSE_PANE),
            ("closed_again", IDLE_CLOSED, b""),
        ):
            began = screen.cpu_s
            programs.run(IDLE_S)
            share = (screen.cpu_s - began) / IDLE_S * 100
            params: Params = {"peers": IDLE_PEERS, "seconds": IDLE_S}
            yield at_most(f"idle_pane_{name}", share, "% of a core", goal, params)
            programs.feed(screen, then)
            programs.run(1.0)


def lively(_place: Path) -> Iterator[Result]:
    """The tab Now in a lively chat: what a frame costs while it is closed, and a second while open.

    A second has 100 frames, which are counted, and all its lines made anew.
    """
    scene = scenes.repairing()
    inspection, shot = scene.chat.inspection, scene.snapshot()
    shown = Shown(shot, shot.channels[0], UNICODE)
    frames = [one for one in inspection.frames() if one.kind is FrameKind.SDS]
    tap, page = Tap(), NowPage(inspection)
    at, took = shot.now, dict[str, float]()
    for name in ("closed", "open"):
        if name == "open":
            tap.rates(at)
        began = time.process_time()
        for number in range(FRAMES_NOTED):
            one = frames[number % len(frames)]
            tap.note_frame(at, one.channel, one.peer, one.kind, one.data, sent=one.sent)
        took[name] = (time.process_time() - began) / FRAMES_NOTED
        yield Result(f"now_frame_{name}", took[name] * 1e6, "us", params={"frames": FRAMES_NOTED})
    began = time.process_time()
    for second in range(SECONDS_DRAWN):
        later = replace(shown, snapshot=replace(shot, now=at + second))
        page.lines(later, COLUMNS)
    drawn = (time.process_time() - began) / SECONDS_DRAWN
    share = (drawn + FRAMES_A_SECOND * (took["open"] - took["closed"])) * 100
    params: Params = {"frames": FRAMES_A_SECOND, "columns": COLUMNS}
    yield at_most("now_open", share, "% of a core", IDLE_OPEN, params)


async def extend(place: Path, held: int, count: int, *, only_newest: bool = False) -> None:
    """Write the messages from `held` to `count` into the profile; or nothing but the last one."""
    client = await Client.open(Setup(place, PROFILE))
    try:
        channel = client.first_channel
        assert channel is not None
        journal = SqliteJournal(client._database, client.identity.peer_id)
        draw = random.Random(count)
        for start in range(held, count, AT_ONCE):
            bob = Author("bob", channel, log=start + 1)
            for number in range(count - 1 if only_newest else start, start + AT_ONCE):
                text = NEWEST if number == count - 1 else _text(draw)
                created = NOON + number * MINUTE
                bob.write(text, lamport=created // MILLISECOND, created_ns=created)
            await journal.commit(delivered(*bob.entries))
    finally:
        await client.close()


def _text(draw: random.Random) -> str:
    [(_, least, most)] = draw.choices(LENGTHS, [share for share, *_ in LENGTHS])
    words = draw.choices(WORDS, k=draw.randint(least, most))
    return " ".join(words).replace(" please", " please\n")


BENCHMARKS: Final = (transcript, start, idle, lively)


def main() -> None:
    """Print every figure as soon as it is known."""
    parser = argparse.ArgumentParser(prog="tests.bench.bench_ui", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    parser.parse_args()
    for benchmark in BENCHMARKS:
        with tempfile.TemporaryDirectory(prefix="chat-tui-bench-") as place:
            for result in benchmark(Path(place)):
                print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
