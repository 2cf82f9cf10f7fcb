"""Ancestry of messages in SQLite: which of ours lie under heads that somebody named."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from sync.machine import ChannelId, MessageId

WALKED_MAX: Final = 10_000
"""Descendants looked at for one message: a tick that lies deeper waits for another proof."""

DESCENDS: Final = """
    WITH RECURSIVE above (id) AS (
        SELECT ?1
        UNION
        SELECT messages.message_id FROM above
        CROSS JOIN parents ON parents.parent = above.id
        CROSS JOIN messages ON messages.number = parents.child
        WHERE messages.channel = ?2
        LIMIT ?3
    )
    SELECT id FROM above
"""


def under(
    db: sqlite3.Connection,
    channel: ChannelId,
    heads: Sequence[MessageId],
    wanted: Sequence[MessageId],
) -> tuple[MessageId, ...]:
    """Return those of `wanted` that are among `heads` or their ancestors, in that order."""
    named = {bytes.fromhex(head) for head in heads}
    return tuple([one for one in wanted if _leads_to(db, bytes.fromhex(channel), one, named)])


def _leads_to(
    db: sqlite3.Connection, channel: bytes, message_id: MessageId, heads: set[bytes]
) -> bool:
    """Return whether a message or one that builds on it is a head; walks only as far as needed."""
    rows = db.execute(DESCENDS, (bytes.fromhex(message_id), channel, WALKED_MAX))
    return any(found in heads for (found,) in rows)
