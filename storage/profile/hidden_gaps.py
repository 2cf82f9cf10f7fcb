"""The lines about missing messages that a person hid, kept in the profile: a small file.

Rule: what is lost with this file is that such a line is shown again, and nothing else. So a damaged
file counts as none.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from storage.profile.profile import read_small, write_whole
from sync.machine import ChannelId, MessageId

GAPS_MAX: Final = 200
"""Kept of a channel, those hidden last: more than anybody hides one by one."""
CHANNELS_MAX: Final = 50
"""Channels of which any are kept; all together some 700 kB."""

SIZE_MAX: Final = 1_000_000
"""Bytes of a file that is read at all."""


class HiddenGaps:
    """The ids of the messages below hidden lines, in the file at `path`; waits for the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[ChannelId, list[MessageId]]:
        """Return what is hidden in each channel; none if the file is not there or damaged."""
        hidden: dict[ChannelId, list[MessageId]] = {}
        for channel, ids in read_small(self._path, SIZE_MAX).items():
            if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
                return {}
            hidden[ChannelId(channel)] = [MessageId(one) for one in ids]
        return hidden

    def save(self, hidden: Mapping[ChannelId, Sequence[MessageId]]) -> None:
        """Keep these instead of those of before.

        Raises:
            OSError: the disk refuses; those of before are still there.
        """
        last = [(channel, list(ids)[-GAPS_MAX:]) for channel, ids in hidden.items() if ids]
        kept = dict(last[-CHANNELS_MAX:])
        write_whole(self._path, json.dumps(kept, separators=(",", ":")) + "\n")
