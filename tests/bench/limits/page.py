"""The page LIMITS.md from results: `python -m tests.bench.limits.page [FILE]`.

FILE has lines that `python -m tests.bench limits` printed; they take the place of those of the same
name in `measured.jsonl`, and the table of the page is made anew from that.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.support.processes import ROOT

Line: TypeAlias = Mapping[str, Any]

MEASURED: Final = Path(__file__).with_name("measured.jsonl")
PAGE: Final = ROOT / "LIMITS.md"
BEGIN: Final = "<!-- begin figures -->\n"
END: Final = "<!-- end figures -->"

THEN: Final[Mapping[str, float]] = {
    "rate": 0.40,
    "sender": 3.7,
    "receiver": 2.3,
    "latency_1000_p99": 12,
    "screen_p50": 3.5,
    "start": 1.75,
    "stalls_newcomer": 2.64,
}
"""Ratios before this work, on another day and machine."""

REST: Final[Mapping[str, str]] = {
    "rate": "the two loops, as below; two programs, their disks and this measurement share two "
    "processors",
    "sender": "a line is two rows written and two events, where the floor has one of each, and "
    "hundreds of calls of Python, none of which takes a twentieth",
    "latency_1000_p99": "lines come in small commits, which cost most, so they wait for a "
    "processor in some runs",
    "latency_2500_p99": "both programs and this measurement take 1.70 of two processors at 2,500 "
    "lines a second, so lines wait for one, and in batches on both sides: 36 ms in the middle",
    "newcomer_seconds": "of 2.8 s (one run, other work beside) the loop handled messages for 1.0 "
    "and awaited checks of signatures for 0.8: threads need the interpreter's lock in between "
    "(DECISIONS 319)",
    "stalls_key_p99": "few of a hundred letters, each in a callback of 7 to 15 ms: the first page "
    "of history, the end of the snapshot, an input that grows by a line (DECISIONS 352)",
    "stalls_newcomer": "one paint of the transcript is one callback of Textual's",
    "stalls_resize_too": "all that is in sight is laid out anew in one callback",
    "stalls_gaps": "the first time, the pane and all that shines through it are drawn at once",
    "start": "our imports, styles of our own, and the newest page from the disk",
}
"""Causes: what takes the rest, of each figure that misses its goal."""


def table(lines: Iterable[Line]) -> str:
    """Return the table of results.

    Raises:
        ValueError: one misses its goal, and `REST` says nothing of it.
    """
    rows = [
        "| figure | then | now (spread) | goal | figure, floor | where the rest goes |",
        "|---|---|---|---|---|---|",
    ]
    for one in lines:
        name, (low, high) = one["name"], one["spread"]
        missed = one["met"] is False
        if missed and name not in REST:
            raise ValueError(f"{name} misses its goal: say in REST where the rest goes")
        then = f"{THEN[name]:g}" if name in THEN else "-"
        goal = "-" if one["goal"] is None else f"{one['goal']:g}"
        rows.append(
            f"| `{name}` | {then} | {one['value']:.2f} ({low:.2f} to {high:.2f}) | "
            f"{goal}{', met' if one['met'] else ''} | "
            f"{one['figure']:,.4g}, {one['floor']:,.4g} {one['of']} | "
            f"{REST[name] if missed else ''} |"
        )
    return "\n".join(rows)


def with_table(page: str, lines: Iterable[Line]) -> str:
    """Return the page with the table of these lines."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}{table(lines)}\n{END}{rest.partition(END)[2]}"


def read(path: Path) -> dict[str, Line]:
    """Return the results in a file by their names."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["name"]: line for line in lines}


def main() -> None:
    """Take results in, and write the page."""
    measured = read(MEASURED) if MEASURED.exists() else {}
    for name in sys.argv[1:]:
        measured |= read(Path(name))
    text = "".join(json.dumps(one) + "\n" for one in measured.values())
    MEASURED.write_text(text, encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_table(page, measured.values()), encoding="utf-8")


if __name__ == "__main__":
    main()
