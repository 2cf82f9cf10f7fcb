"""The node process: start it, ask it, end it.

Requests and replies are lines of JSON; `peer.mjs` says which there are. Whoever starts it ends it,
whatever happens, and it ends by itself when our side of its standard input is gone.
"""

import base64
import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, Self

from tests.interop.sds_js.install import HERE, Installation

PACKAGE_VERSION: Final = "0.0.8"

REPLY_WITHIN_S: Final = 30.0
"""A reply takes milliseconds; the first one half a second, on a busy machine several."""

BENCH_WITHIN_S: Final = 300.0
"""Making a log of 50,000 messages and receiving 100 more takes 15 s."""

EXIT_WITHIN_S: Final = 5.0

CHUNK_BYTES: Final = 1 << 16

STDERR_SHOWN: Final = 4000
"""Characters of it, the last ones, when the process fails."""


class NodeError(Exception):
    """The process ended, kept silent, or says that it failed."""


class SdsNode:
    """One node process with the package in it; any number of participants live there.

    They share one clock: the `now_ms` of the newest request, and never the computer's.
    """

    def __init__(self, installation: Installation) -> None:
        self._command = [
            *installation.node,
            str(HERE / "peer.mjs"),
            str(installation.directory),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed on exit
        self._unread = bytearray()

    def __enter__(self) -> Self:
        # DEBUG would make the package print a line for everything it does.
        environment = {name: value for name, value in os.environ.items() if name != "DEBUG"}
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
            cwd=Path(self._command[-1]),
        )
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.close()
            process.wait(EXIT_WITHIN_S)
        except (subprocess.TimeoutExpired, OSError):
            process.kill()
            process.wait()
        finally:
            process.stdout.close()
            self._stderr.close()

    def request(
        self,
        op: str,
        fields: Mapping[str, object] | None = None,
        now_ms: int = 0,
        within_s: float = REPLY_WITHIN_S,
    ) -> Any:  # noqa: ANN401 - whatever JSON the operation answers with
        """Ask for `op` at the time `now_ms`, and return its result.

        Raises:
            NodeError: the process failed, or did not answer in time.
        """
        assert self._process is not None, "not started"
        assert self._process.stdin is not None
        line = json.dumps({"op": op, "now": now_ms, **(fields or {})}) + "\n"
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise NodeError(f"node is gone: {self._last_words()}") from error
        reply = json.loads(self._read_line(within_s))
        if "error" in reply:
            raise NodeError(f"{op}: {reply['error']}")
        return reply["result"]

    def _read_line(self, within_s: float) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        give_up_at = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                if not selector.select(give_up_at - time.monotonic()):
                    raise NodeError(f"node kept silent for {within_s} s: {self._last_words()}")
                chunk = os.read(self._process.stdout.fileno(), CHUNK_BYTES)
                if not chunk:
                    raise NodeError(f"node ended: {self._last_words()}")
                self._unread += chunk
        line, _, rest = bytes(self._unread).partition(b"\n")
        self._unread = bytearray(rest)
        return line

    def _last_words(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read().decode(errors="replace")[-STDERR_SHOWN:].strip()


def to_json(data: bytes) -> str:
    """Return bytes as `peer.mjs` wants them."""
    return base64.b64encode(data).decode()


def from_json(text: str) -> bytes:
    """Return the bytes that `peer.mjs` wrote."""
    return base64.b64decode(text)
