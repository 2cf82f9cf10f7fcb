"""Ctrl+C: whatever it falls into, a stop by the person ends as a stop, and never as an error.

Rules:
1. Jobs run in threads, and the main thread, which Python interrupts, only waits for them. So a stop
   cuts neither a call into Java, whose Python side then talks to it in a broken state, nor a
   publishing in two.
2. Errors after a stop follow from it: Spark's failures are not reported then.
3. The first one counts. A further signal while all is tidied up cuts nothing short but the end of
   Java, which may take its time: it is killed.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from storage.pipeline.errors import PipelineError

STATUS: Final = 130
"""Of a command that Ctrl+C ended, as shells have it: 128 and the number of the signal."""


class Stopped(PipelineError):  # noqa: N818  # no error
    """The person stopped it; what was published before is whole."""

    exit_code = STATUS


class Stop:
    """Flag that is true once the person has stopped us."""

    def __init__(self) -> None:
        self._heard = False
        self._ending: Any = None

    def __bool__(self) -> bool:
        return self._heard

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """Handle the signal."""
        first, self._heard = not self._heard, True
        if self._ending is not None:
            self._ending.proc.kill()
        elif first:
            raise KeyboardInterrupt

    @contextmanager
    def ending(self, gateway: Any) -> Iterator[None]:  # noqa: ANN401  # py4j tells no types
        """End the JVM when the block is interrupted: that is what ends the jobs in it.

        After the block, a stop only makes the JVM end at once.

        Raises:
            KeyboardInterrupt: there was a stop.
        """
        try:
            self._check()
            yield
        except KeyboardInterrupt:
            gateway.proc.terminate()
            raise
        finally:
            self._ending = gateway

    def _check(self) -> None:
        """End what a stop should have: what Python raises while it frees something is dropped."""
        if self._heard:
            raise KeyboardInterrupt


@contextmanager
def stoppable(out: Path) -> Iterator[Stop]:
    """Hear Ctrl+C in the block; however the block ends then, it ends in `Stopped`.

    Where interrupts are ignored, as in what a shell started with `&`, they still are.

    Raises:
        Stopped: the person stopped it.
    """
    stop = Stop()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not main or before is not signal.default_int_handler:
        yield stop
        return
    signal.signal(signal.SIGINT, stop.hear)
    try:
        yield stop
    except (Exception, KeyboardInterrupt):
        if not stop:
            raise
    finally:
        signal.signal(signal.SIGINT, before)
    if stop:
        raise Stopped(f"Stopped; {out} keeps what was finished.")
