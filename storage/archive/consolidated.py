"""A published history of `consolidate`, as a directory: each message once, whoever held it.

    OUT/manifest.json, OUT/runs/consolidate-<number>/           as all results
    .../history/channel=<hex>/day=<YYYY-MM-DD>/*.parquet        `IN_FILES`: what all nodes hold
    .../channels.json                                           names of channels by id

The files of a day of a channel are in the order of the chat: by name, and inside by (lamport,
message_id). Earlier versions had no directories of days, and one order of all. It stands in place
of the exports that it was made of, for the pipeline and for an import. It says nothing of nodes.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import pyarrow as pa
from msgspec import Struct

from storage.archive.tables import HISTORY, HISTORY_DIR, replace_text
from storage.results import has_results, published_in, small_text
from sync.errors import LocalError
from sync.machine import ChannelId

CONSOLIDATE: Final = "consolidate"
"""The job that makes it."""

NAMES: Final = "channels.json"

NAMES_MAX: Final = 16 * 1024 * 1024
"""Characters: 100,000 channels take half of it."""

IN_FILES: Final = pa.schema([field for field in HISTORY if field.name not in ("node", "channel")])
"""The columns of its files; the channel stands in their path."""


class Consolidated(Struct, frozen=True):
    """A run of `consolidate`, in the results `out`."""

    out: Path
    directory: Path

    @classmethod
    def find(cls, out: Path) -> "Consolidated | None":
        """Return the history that is published in `out`, None if there is none.

        Raises:
            LocalError: there are results, and they cannot be read, or its rows are gone.
        """
        published = published_in(out, CONSOLIDATE) if has_results(out) else None
        if published is None:
            return None
        found = cls(out, published.directory)
        if not found.table.is_dir():
            raise LocalError(
                f"{found.table} is not there, though {out} says so; copy all of {out} again, or "
                "run `chat-tui pipeline consolidate` again."
            )
        return found

    @property
    def table(self) -> Path:
        """The directory of the rows."""
        return self.directory / HISTORY_DIR

    @property
    def names(self) -> Mapping[str, str]:
        """The names of its channels, as far as they are known."""
        with suppress(OSError, ValueError, AttributeError, RecursionError):
            named = json.loads(small_text(self.directory / NAMES, NAMES_MAX)).items()
            return {str(channel): str(name) for channel, name in named}
        return {}

    def files(self) -> Mapping[ChannelId, list[Path]]:
        """Return the files of each channel, in their order."""
        found: dict[ChannelId, list[Path]] = {}
        for file in sorted(self.table.rglob("*.parquet")):
            channel = ChannelId(file.relative_to(self.table).parts[0].removeprefix("channel="))
            found.setdefault(channel, []).append(file)
        return found


def write_names(directory: Path, names: Mapping[str, str]) -> None:
    """Write the names of channels beside a history that is being made."""
    replace_text(directory / NAMES, json.dumps(dict(sorted(names.items()))) + "\n")
