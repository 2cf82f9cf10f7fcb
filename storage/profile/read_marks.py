"""Read marks of the channels, kept in the profile: a small file, written whole.

Rule: losing this file loses only how many messages were unread. So a damaged file counts as none.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from storage.profile.profile import read_small, write_whole
from sync.machine import ChannelId, MessageId
from sync.view.view import Position

CHANNELS_MAX: Final = 1_000
"""Channels whose mark is kept, the last ones: some 150 kB, and more than anybody is in."""

SIZE_MAX: Final = 1_000_000
"""Bytes of a file that is read at all."""

LAMPORT_MAX: Final = 2**64 - 1


class ReadMarks:
    """The marks in the file at `path`; all of this waits for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[ChannelId, Position]:
        """Return the mark of each channel; none if the file is not there or cannot be read."""
        marks: dict[ChannelId, Position] = {}
        for channel, mark in read_small(self._path, SIZE_MAX).items():
            match mark:
                case [int() as lamport, str() as message_id] if 0 <= lamport <= LAMPORT_MAX:
                    marks[ChannelId(channel)] = (lamport, MessageId(message_id))
                case _:
                    return {}
        return marks

    def save(self, marks: Mapping[ChannelId, Position]) -> None:
        """Keep these instead of those of before.

        Raises:
            OSError: the disk refuses; those of before are still there.
        """
        kept = list(marks.items())[-CHANNELS_MAX:]
        write_whole(self._path, json.dumps(dict(kept), separators=(",", ":")) + "\n")
