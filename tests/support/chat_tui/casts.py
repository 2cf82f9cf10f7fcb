"""Casts of the demo, for `asciinema play`: the program on a terminal of its own, as it was."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from tests.support.processes import ROOT

CASTS: Final = {
    "demo_lost": ("--scenario=3",),
    "demo_partition": ("--scenario=5", "--speed=4"),
    "demo_removed": ("--scenario=9", "--speed=4"),
}
"""Names of files, with the options of each: what paints more is smaller, and passes faster."""

SIZE_MAX: Final = 300_000
"""Bytes of a cast: what a page still loads at once."""


def take_all(directory: Path) -> None:
    """Record all of them at once: each takes as long as it lasts.

    Each is a program of its own, because a terminal's size and its environment are.
    """
    with ThreadPoolExecutor(len(CASTS)) as together:
        files = [directory / f"{name}.cast" for name in CASTS]
        list(together.map(_take, files, CASTS.values()))


def _take(file: Path, options: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "COLUMNS": "80",
            "LINES": "24",
        }
        subprocess.run(  # our own program
            [sys.executable, "-m", "chat_tui", "demo", *options, f"--cast={file}"],
            env=environment,
            cwd=ROOT,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    file.chmod(0o644)
    size = file.stat().st_size
    if size > SIZE_MAX:
        raise SystemExit(f"{file} has {size:,} bytes, more than {SIZE_MAX:,}.")


def checked(text: str) -> tuple[dict[str, Any], list[tuple[float, str, str]]]:
    """Read a cast as https://docs.asciinema.org/manual/asciicast/v2/ has it."""
    header, *rest = [json.loads(line) for line in text.splitlines()]
    assert header["version"] == 2
    for name in ("width", "height"):
        assert isinstance(header[name], int)
    assert isinstance(header.get("title", ""), str)
    assert all(isinstance(value, str) for value in header.get("env", {}).values())
    assert set(header) <= {
        "version", "width", "height", "timestamp", "duration", "idle_time_limit", "command",
        "title", "env", "theme",
    }  # fmt: skip
    before = 0.0
    for event in rest:
        at, code, data = event
        assert len(event) == 3
        assert isinstance(at, int | float)
        assert at >= before
        before = at
        assert code in {"o", "i", "m", "r"}
        assert isinstance(data, str)
    return header, [(at, code, data) for at, code, data in rest]
