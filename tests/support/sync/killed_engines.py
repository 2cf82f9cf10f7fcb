"""An engine that is killed while it commits groups of lines, again and again, by `kill -9`.

`python -m tests.support.sync.killed_engines PLACE ROUNDS SEED` prints the id of each line that was
told to be committed before the kill, a round's on a line.
"""

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

from tests.support.sync.engines import turning

LINES = 400
TOLD_MAX = 250
"""Lines told in a round at most: it is killed within some group before all are written."""

ID_SIZE = 64


async def write(place: Path, number: int, pipe: int) -> None:
    """Write lines that all wait at once; tell each that is committed."""
    async with turning(place) as bench:
        bench.released.listener = lambda message_id: os.write(pipe, message_id.encode())
        await bench.write(*[f"round {number} line {line}" for line in range(LINES)])


def killed(place: Path, number: int, told: int) -> list[str]:
    """Have a process write, kill it once it has told so many ids; return all it told."""
    ours, theirs = os.pipe()
    child = os.fork()  # no thread and no loop runs here
    if not child:
        asyncio.run(write(place, number, theirs))
        os._exit(0)
    os.close(theirs)
    heard = b""
    while len(heard) < told * ID_SIZE and (data := os.read(ours, 4096)):
        heard += data
    os.kill(child, signal.SIGKILL)
    while data := os.read(ours, 4096):
        heard += data
    os.close(ours)
    os.waitpid(child, 0)
    return [heard[at : at + ID_SIZE].decode() for at in range(0, len(heard), ID_SIZE)]


def main() -> None:
    """Kill so many of them."""
    place, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    dice = random.Random(seed)
    for number in range(rounds):
        print(*killed(place, number, dice.randint(1, TOLD_MAX)), flush=True)


if __name__ == "__main__":
    main()
