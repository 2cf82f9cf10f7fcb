"""Wording shared by the debug pane and line mode."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from chat_tui.debug import frame_text, state_sections
from sync.errors import LocalError
from sync.view.view import FrameInfo, ProbeInfo, Snapshot

ID: Final = re.compile(r"[0-9a-f]{6,64}")
"""The beginning of a message id; SDS has them as text, so a frame that is about one contains it."""


def choose(
    snapshot: Snapshot,
    frames: Sequence[FrameInfo],
    words: str,
    width: int = frame_text.WIDE,
    *,
    ascii_only: bool = False,
) -> list[tuple[FrameInfo, frame_text.FrameLine]]:
    """Return the frames that have all words in their line, newest first, each with its line.

    A word that is the beginning of an id also chooses the frames that name or ask for that.
    """
    wanted = words.casefold().split()
    lines = [
        (frame, frame_text.frame_line(snapshot, frame, width, ascii_only=ascii_only))
        for frame in reversed(frames)
    ]
    return [(frame, line) for frame, line in lines if _has_all(frame, line.text, wanted)]


def _has_all(frame: FrameInfo, line: str, wanted: Sequence[str]) -> bool:
    words = [one for one in wanted if not (ID.fullmatch(one) and one.encode() in frame.data)]
    return state_sections.has_all(line, words)


def file_named(name: str) -> Path:
    """Return the file a person means.

    Raises:
        LocalError: it begins with the home of somebody who has none.
    """
    try:
        return Path(name).expanduser().absolute()
    except RuntimeError as error:
        raise LocalError(f"{name} cannot be found: write the whole path of the file.") from error


def probe_text(probe: ProbeInfo) -> str:
    """Return a test of an id for line mode."""
    return f"{verdict(probe)}\nbits {bits(probe)}"


def verdict(probe: ProbeInfo) -> str:
    """Return what the filter says of an id, and whether it is right."""
    if not probe.maybe:
        return "no: surely not in the filter"
    return "maybe, and it is here" if probe.held else "maybe, but it is not here: a false maybe"


def bits(probe: ProbeInfo) -> str:
    """Return the positions of an id's bits, and whether they are set."""
    return ", ".join(f"{position:,} {'set' if on else 'clear'}" for position, on in probe.bits)
