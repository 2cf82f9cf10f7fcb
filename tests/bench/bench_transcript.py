"""What the conversation on the screen costs, however long it is (UI.md 3, "Line API")."""

import asyncio
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from chat_tui.client import Client, Setup
from sync.machine import MILLISECOND, MINUTE
from tests.bench.measured_screen import DONE, PROFILE
from tests.bench.programs import COLUMNS, ROWS, Programs
from tests.bench.report import Params, Result, at_most, progress, quantile
from tests.conversations import NOON
from tests.entries import Author
from tests.stores import delivered

FIRST_PAINT_MS: Final = {1_000: 79.0, 10_000: 107.0, 100_000: 151.0}
APPEND_MS: Final = {1_000: 16.5, 10_000: 14.5, 100_000: 14.0}
RUNS: Final = 3

AT_ONCE: Final = 1_000
"""Messages written in one transaction, and in one author's log."""

NEWEST: Final = "the very newest one"
START_WITHIN_S: Final = 30.0
RUN_WITHIN_S: Final = 60.0

PHRASE: Final = (
    "switch cable projector the a of room three can you bring it please https://lan.example/notes "
    "東京 会議 こんにちは 🙂 👍🏽 naïve façade maybe tomorrow morning demo is at nine"
)
WORDS: Final = PHRASE.split()
LENGTHS: Final = ((0.55, 1, 6), (0.37, 7, 25), (0.08, 40, 110))
"""Share of messages, and how many words they have: short, medium and long ones."""


def transcript(place: Path) -> Iterator[Result]:
    """First paint and append at three lengths of the history, which grows in between."""
    held = 0
    for count in FIRST_PAINT_MS:
        progress(f"a history of {count} messages ...")
        asyncio.run(_extend(place, held, count))
        held = count
        yield from _of_length(place, count)


def _of_length(place: Path, count: int) -> Iterator[Result]:
    params: Params = {"messages": count, "columns": COLUMNS, "rows": ROWS, "runs": RUNS}
    runs = [_run(place) for _ in range(RUNS)]
    started, paints, appends = ([run[at] * 1000 for run in runs] for at in range(3))
    paint, append = quantile(paints, 0.5), quantile(appends, 0.5)
    yield at_most("transcript_first_paint", paint, "ms CPU", FIRST_PAINT_MS[count], params)
    yield at_most("transcript_append", append, "ms CPU", APPEND_MS[count], params)
    yield Result("transcript_start", quantile(started, 0.5), "ms", params=params)


def _run(place: Path) -> tuple[float, float, float]:
    """Seconds from the start of the program to the newest line; and the figures it measured."""
    command = [sys.executable, "-m", "tests.bench.measured_screen", str(place)]
    with Programs() as programs:
        began = time.perf_counter()
        screen = programs.start_in_terminal(command)
        shown = programs.wait_for(screen, NEWEST.encode(), since=0, within_s=START_WITHIN_S)
        programs.wait_for(screen, f"{DONE} {{".encode(), since=0, within_s=RUN_WITHIN_S)
        programs.wait_for(screen, b"}", since=screen.chunk_count - 1, within_s=RUN_WITHIN_S)
        figures = json.loads(screen.output.decode().rpartition(DONE)[2])
    return shown - began, figures["first_paint_s"], figures["append_s"]


async def _extend(place: Path, held: int, count: int) -> None:
    """Write the messages from `held` to `count` into the profile."""
    client = await Client.open(Setup(place, PROFILE))
    try:
        channel = client.first_channel
        assert channel is not None
        draw = random.Random(count)
        for start in range(held, count, AT_ONCE):
            bob = Author("bob", channel, log=start + 1)
            for number in range(start, start + AT_ONCE):
                text = NEWEST if number == count - 1 else _text(draw)
                created = NOON + number * MINUTE
                bob.write(text, lamport=created // MILLISECOND, created_ns=created)
            await client._journal.commit(delivered(*bob.entries))
    finally:
        await client.close()


def _text(draw: random.Random) -> str:
    [(_, least, most)] = draw.choices(LENGTHS, [share for share, *_ in LENGTHS])
    words = draw.choices(WORDS, k=draw.randint(least, most))
    return " ".join(words).replace(" please", " please\n")
