"""`limits rate`: two programs in line mode at full rate, beside the floor of two processes."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench.bench_chat import arrivals, plain_pair, warm_up
from tests.bench.limits import floor_pair
from tests.bench.limits.figures import Figure, Limit
from tests.bench.programs import Programs
from tests.bench.report import Params

LINES: Final = 8_000
WITHIN_S: Final = 120.0
REST_S: Final = 0.5
"""For what comes behind the last line: acknowledgements, the protocol log."""


def measure(place: Path, _words: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of one run: rate, and processor time of each side."""
    floor = floor_pair.measure(place, LINES)
    with Programs() as programs:
        alice, bob = plain_pair(programs, place)
        warm_up(programs, alice, bob)
        texts = [f"sustained {number}" for number in range(LINES)]
        before = alice.cpu_s, bob.cpu_s
        began = time.perf_counter()
        programs.feed(alice, "".join(f"{text}\n" for text in texts).encode())
        times = arrivals(programs, bob, texts, within_s=WITHIN_S)
        programs.run(REST_S)
        sender, receiver = (
            (one.cpu_s - then) / LINES * 1e6 for one, then in zip((alice, bob), before, strict=True)
        )
    rate = LINES / (max(times) - began)
    params: Params = {"lines": LINES}
    yield Figure("rate", rate, floor.rate, "messages/s", 0.65, largest_wins=True, params=params)
    yield Figure("sender", sender, floor.sender_us, "us a message", 2.2, params=params)
    yield Figure("receiver", receiver, floor.receiver_us, "us a message", 1.6, params=params)


LIMIT: Final = Limit("rate", measure)
