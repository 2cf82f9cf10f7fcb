"""Programs that go by a wrong clock: libfaketime tells them another wall clock than the system's.

Rules:
1. The monotonic clock is left alone: libfaketime 0.9.10 would let it run on the wall clock's time,
   and whatever waits in a thread would wait for ever.
2. With that, `time.sleep` fails in threads (EINVAL); a program under test sleeps in its loop alone.
3. Shared memory of libfaketime goes with the process: a killed one cannot clean up.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sync.machine import HOUR, SECOND, Nanos

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
SHARED_MEMORY = Path("/dev/shm")  # where libfaketime keeps its state

DAY: Nanos = 24 * HOUR


def off_by(offset: Nanos) -> tuple[str, ...]:
    """Return a command prefix that sets its wall clock `offset` ahead (less than 0: behind)."""
    if not LIBRARIES:
        pytest.skip("libfaketime is not installed (apt install faketime)")
    return (
        "env",
        f"LD_PRELOAD={LIBRARIES[0]}",
        f"FAKETIME={offset / SECOND:+.0f}",
        "FAKETIME_DONT_FAKE_MONOTONIC=1",
        "NO_FAKE_STAT=1",
    )


@contextmanager
def nothing_left() -> Iterator[None]:
    """Take away what libfaketime leaves behind of the processes that end inside."""
    before = set(SHARED_MEMORY.glob("*faketime_*"))
    try:
        yield
    finally:
        for left in set(SHARED_MEMORY.glob("*faketime_*")) - before:
            if not Path(f"/proc/{left.name.rpartition('_')[2]}").exists():
                left.unlink(missing_ok=True)
