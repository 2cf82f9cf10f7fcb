"""A node with a history, in a program of its own: `python -m tests.bench.live.source DIR [BY]`.

It prints its port once it listens, and runs until its input ends. `BY` names the one protocol that
it can compare by; `snapshot`, as without, stands for all.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from chat_tui.client import gc_policy
from sync.manager.registry import WHOLE_BY, WITH_CALIMERO
from sync.sessions.protocol import Protocols
from tests.support.processes import ROOT
from tests.support.sync.nodes import host

NAME: Final = "tea"


@contextmanager
def running(place: Path, *by: str) -> Iterator[int]:
    """Run the program over the history in `place`, and return its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.live.source", str(place), *by],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.communicate()


async def serve(place: Path, protocols: Protocols) -> None:
    """Run until nobody needs it."""
    gc_policy.settle()
    async with host(place, "source", NAME, protocols=protocols) as source:
        print(source.port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), WHOLE_BY.get(" ".join(sys.argv[2:]), WITH_CALIMERO)))
