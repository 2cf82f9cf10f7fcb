"""Lines that were begun and not sent, kept in the profile: a small file, written whole.

Rule: a damaged file counts as none, and nothing of it is ever sent by itself.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from storage.profile.profile import read_small, write_whole
from sync.machine import ChannelId

CHANNELS_MAX: Final = 20
"""Channels whose draft is kept, the last ones: more than anybody writes in at a time."""

LENGTH_MAX: Final = 64_000
"""Characters kept of one: four times what a message holds."""

SIZE_MAX: Final = 16_000_000
"""Bytes of a file that is read at all: as many drafts, each character being twelve (emoji)."""


class Drafts:
    """The drafts in the file at `path`; all of this waits for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[ChannelId, str]:
        """Return what was begun in each channel; none if the file is not there or damaged."""
        drafts = read_small(self._path, SIZE_MAX)
        if not all(isinstance(text, str) for text in drafts.values()):
            return {}
        return {ChannelId(channel): text for channel, text in drafts.items()}

    def save(self, drafts: Mapping[ChannelId, str]) -> None:
        """Keep these instead of those of before.

        Raises:
            OSError: the disk refuses; those of before are still there.
        """
        kept = {one: text[:LENGTH_MAX] for one, text in list(drafts.items())[-CHANNELS_MAX:]}
        write_whole(self._path, json.dumps(kept, separators=(",", ":")) + "\n")
