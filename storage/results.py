"""Results of the pipeline, as whoever reads them finds them: only what the manifest names counts.

OUT/manifest.json             which run of each job is the published one, and its figures
OUT/runs/<job>-<number>/      the tables of one run

Those without Spark read them too. They may come from anybody: no path leads out of `runs`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from sync.errors import LocalError

FORMAT: Final = 1
"""Of the manifest."""

MANIFEST: Final = "manifest.json"
RUNS: Final = "runs"

MANIFEST_MAX: Final = 64 * 1024 * 1024
"""Characters: `fingerprints` of 100,000 exports names them all, and takes half of it."""

Figures: TypeAlias = dict[str, Any]
"""Findings of a job, as JSON: small, for the manifest, the terminal and the report."""


@dataclass(frozen=True, slots=True)
class Published:
    """A finished run: where its tables are, its figures, and how it was made."""

    directory: Path
    figures: Figures
    made: Mapping[str, Any] = field(default_factory=dict)
    """`command`, `from` (exports), `sources` (how many) and `at`; results of earlier versions have
    nothing of it."""


def has_results(directory: Path) -> bool:
    """Return whether `directory` holds results; a `manifest.json` alone may be anybody's."""
    return (directory / MANIFEST).is_file() and (directory / RUNS).is_dir()


def published_in(out: Path, job: str) -> Published | None:
    """Return the last good run of a job, None if there is none.

    Raises:
        LocalError: the manifest cannot be read, or is of another version.
    """
    run = manifest_of(out).get(job)
    if run is None:
        return None
    try:
        place, figures = str(run["directory"]), dict(run["figures"])
        made = dict(run.get("made") or {})
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(out, f"it does not say where {job} is") from error
    if not re.fullmatch(rf"{RUNS}/{job}-[0-9]{{1,18}}", place):
        raise _unreadable(out, f"what it says of {job} is no place in {RUNS}")
    return Published(out / place, figures, made)


def manifest_of(out: Path) -> Mapping[str, Any]:
    """Return what the manifest says of each job, nothing where there is none.

    Raises:
        LocalError: it cannot be read, or is of another version.
    """
    try:
        manifest = json.loads(small_text(out / MANIFEST, MANIFEST_MAX))
        if manifest["format"] == FORMAT:
            return dict(manifest["jobs"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _unreadable(out, error) from error
    raise LocalError(
        f"{out / MANIFEST} is of another version of chat-tui; run the job again, with a new --out."
    )


def small_text(path: Path, most: int) -> str:
    """Return what is in a text file.

    Raises:
        OSError, ValueError: it cannot be read, or has more than `most` characters.
    """
    if not path.is_file() and path.exists():  # a pipe would be waited for, for ever
        raise ValueError("it is no ordinary file")
    with path.open(encoding="utf-8") as file:
        text = file.read(most + 1)
    if len(text) > most:
        raise ValueError(f"it is larger than {most} characters")
    return text


def _unreadable(out: Path, why: object) -> LocalError:
    return LocalError(
        f"{out / MANIFEST} cannot be read ({why}); copy all of {out} again, or remove it and run "
        "the job again."
    )
