"""Names of channels and people: channels by the notes of exports, people as they called themselves.

Everybody chooses their own name, and changes it at will: beside each name stands its key.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from storage.archive.consolidated import CONSOLIDATE, Consolidated
from storage.pipeline.answers.local_results import open_dataset
from storage.report import printable
from storage.results import Published
from sync.entries.entry import decode_text
from sync.errors import RemoteError

ROWS_READ_MAX: Final = 500_000
"""Rows of the history that are read for names: people who write have one soon."""

SHORT: Final = 8
"""Characters of a key or an id in a sentence."""

NICK_SHOWN: Final = 24


@dataclass(slots=True)
class Names:
    """Names of people by key, of channels by id."""

    people: dict[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)

    def person(self, key: str) -> str:
        """Return a person in a sentence."""
        short = printable(key, 64)[:SHORT]
        nick = self.people.get(key)
        return f"{nick} ({short})" if nick else short

    def channel(self, key: str) -> str:
        """Return a channel in a sentence."""
        name = self.channels.get(key)
        return f"#{printable(name, NICK_SHOWN)}" if name else printable(key, 64)[:SHORT]


def names_of(results: Mapping[str, Published], keys: Iterable[str] = ()) -> Names:
    """Return the names of all channels, and of the people with these keys, as far as known."""
    consolidated = results.get(CONSOLIDATE)
    if consolidated is None:
        return Names()
    history = Consolidated(consolidated.directory, consolidated.directory)
    names = Names(channels=history.names)
    wanted = {key for key in keys if key}
    if wanted and history.table.is_dir():
        with suppress(OSError, pa.ArrowException):
            names.people = nicks(open_dataset(history.table), wanted)
    return names


def nicks(rows: Any, wanted: set[str]) -> dict[str, str]:  # noqa: ANN401  # pyarrow has no types
    """Return the names of people by one message of each, as far as a dataset has one soon."""
    found: dict[str, str] = {}
    # read in the order of the chat: a filter in the scan would read all of a history that one of
    # them never wrote in
    seen = 0
    for batch in rows.to_batches(columns=["author", "body"], batch_readahead=2):
        seen += batch.num_rows
        chosen = batch.filter(pc.is_in(batch.column("author"), pa.array(sorted(wanted))))
        authors, bodies = (chosen.column(name) for name in ("author", "body"))
        for author, body in zip(authors.to_pylist(), bodies, strict=True):
            if author in wanted and (nick := _nick(body.as_py())):
                found[author] = nick
                wanted.discard(author)
        if not wanted or seen >= ROWS_READ_MAX:
            break
    return found


def _nick(body: Any) -> str:  # noqa: ANN401  # whatever a file has there
    with suppress(RemoteError, TypeError, ValueError):
        return printable(decode_text(body).nick, NICK_SHOWN)
    return ""
