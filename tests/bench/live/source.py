"""A node that has a history, in a program of its own: `python -m tests.bench.live.source DIR`.

It prints its port once it listens, and runs until its input ends.
"""

import asyncio
import sys
from pathlib import Path
from typing import Final

from chat_tui.client import gc_policy
from sync.manager.registry import WITH_CALIMERO
from tests.support.sync.nodes import host

NAME: Final = "tea"


async def serve(place: Path) -> None:
    """Run until nobody needs it."""
    gc_policy.settle()
    async with host(place, "source", NAME, protocols=WITH_CALIMERO) as source:
        print(source.port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
