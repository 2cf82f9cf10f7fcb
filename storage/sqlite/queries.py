"""SQL statements of the journal. Views and columns are those of `storage.sqlite.migrations`."""

from typing import Final

from storage.sqlite.columns import STATUS
from sync.group import status
from sync.group.status import Status

STORE: Final = """
    INSERT INTO messages (
        number, channel, message_id, waku_hash, created_ns, lamport, author, log, seq, backlink,
        kind, status, after_gap, delivery, attempts, body_size, payload
    ) VALUES
"""
STORE_PARENTS: Final = "INSERT INTO parents (child, parent) VALUES"
STORE_TEXTS: Final = "INSERT INTO texts (rowid, nick, text) VALUES"
SET_STATUS: Final = "UPDATE messages SET status = column3, after_gap = column4 FROM (VALUES"
SET_DELIVERY: Final = "UPDATE messages SET delivery = column3, attempts = column4 FROM (VALUES"
OF_MESSAGE: Final = ") WHERE channel = column1 AND message_id = column2"
SET_LOG: Final = "UPDATE channels SET own_log = column2 FROM (VALUES"
OF_CHANNEL: Final = ") WHERE channel = column1"
SET_CLOCK: Final = "INSERT OR REPLACE INTO clocks VALUES"
CLOCK: Final = """
    SELECT answer, shift_ns, stayed_ns, asked_ns, asked_ahead_ns FROM clocks WHERE channel = ?
"""

# The first eight columns are those that `storage.sqlite.soundness.is_sound` takes.
LOAD: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        after_gap, delivery FROM messages WHERE message_id = ? AND channel = ?
"""
LOAD_BY_SYNC_ID: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        after_gap, delivery FROM messages
    WHERE created_ns = ? AND waku_hash = ? AND channel = ? AND status != 2
"""
LOG: Final = """
    SELECT lamport, message_id FROM delivered WHERE channel = ? ORDER BY lamport, message_id
"""
SYNC_IDS: Final = """
    SELECT created_ns, waku_hash FROM unparked WHERE channel = ? ORDER BY created_ns, waku_hash
"""
NEWEST_TIPS: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM delivered
    WHERE channel = ? ORDER BY lamport DESC, message_id DESC LIMIT ?
"""

# CROSS JOIN keeps the order of the tables: few messages name one tip, many are in its channel.
UNNAMED_TIPS: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM delivered AS tip
    WHERE channel = ? AND NOT EXISTS (
        SELECT 1 FROM parents CROSS JOIN delivered AS child ON child.number = parents.child
        WHERE parents.parent = tip.message_id AND child.channel = tip.channel
    ) ORDER BY lamport DESC, message_id DESC LIMIT ?
"""
LOADING_IDS: Final = "SELECT message_id FROM held_back WHERE channel = ? AND status = ?"
LOADING_AFTER: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages
    WHERE channel = ? AND status = 3 AND (lamport, message_id) > (?, ?)
    ORDER BY lamport, message_id LIMIT ?
"""
HELD_BACK: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM held_back
    WHERE channel = ? AND status = ? ORDER BY number
"""
SET_COUNTER: Final = """
    INSERT INTO announced VALUES (1, ?) ON CONFLICT DO UPDATE SET counter = excluded.counter
"""
COUNTER: Final = "SELECT counter FROM announced"
SET_COMPARED: Final = """
    INSERT INTO compared VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at_ns = excluded.at_ns
"""
FORGET_COMPARED: Final = """
    DELETE FROM compared WHERE channel = ? AND peer IN (
        SELECT peer FROM compared WHERE channel = ? ORDER BY at_ns DESC LIMIT -1 OFFSET ?
    )
"""
COMPARED: Final = "SELECT peer, at_ns FROM compared WHERE channel = ? ORDER BY peer"
# Both indexes of what is delivered have this order, and SQLite takes the one that has all.
GAPS: Final = """
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload
    FROM messages INDEXED BY messages_after_gap
    WHERE channel = ? AND status = 0 AND after_gap ORDER BY lamport DESC, message_id DESC LIMIT ?
"""

# From the newest down, until one is ours: of whoever never wrote that would be all.
NEWEST_OWN: Final = """
    SELECT max(created_ns) FROM unparked WHERE channel = ?1 AND author = ?2
        AND EXISTS (SELECT 1 FROM messages WHERE channel = ?1 AND author = ?2)
"""
REPLACED: Final = """
    SELECT held_back.message_id FROM held_back CROSS JOIN changes ON target = held_back.message_id
        AND changes.channel = held_back.channel AND reacts IN (2, 3)
        AND changes.author = held_back.author
    WHERE held_back.channel = ? AND status = ? AND held_back.author = ?
"""
UNSENT: Final = f"""
    SELECT message_id FROM held_back
    WHERE channel = ? AND status = {STATUS[Status.PARKED]} AND attempts = {status.UNSENT}
"""  # noqa: S608  # numbers of ours
DAMAGED_CHILDREN: Final = """
    UPDATE messages SET after_gap = 1 WHERE status = 0 AND number IN (
        SELECT child FROM parents WHERE parent = ?
    ) AND channel = ?
"""
SET_ASIDE: Final = """
    INSERT INTO damaged SELECT number, channel, message_id, payload FROM messages
    WHERE channel = ? AND message_id = ?
"""
PLACE_IN_LOG: Final = "SELECT author, log, seq FROM messages WHERE channel = ? AND message_id = ?"
AWAIT_IN_LOG: Final = "INSERT OR IGNORE INTO awaited_links SELECT x'', number FROM (VALUES"
AWAIT_IN_LOG_REST: Final = """
    ) CROSS JOIN messages ON channel = column1 AND author = column2 AND log = column3
        AND seq = column4
"""
FORGET_PARENTS: Final = """
    DELETE FROM parents WHERE child IN (
        SELECT number FROM messages WHERE channel = ? AND message_id = ?
    )
"""
FORGET: Final = "DELETE FROM messages WHERE channel = ? AND message_id = ?"
LAST_NUMBER: Final = """
    SELECT max(
        (SELECT coalesce(max(number), 0) FROM messages),
        (SELECT coalesce(max(number), 0) FROM damaged)
    )
"""
FORKS: Final = """
    SELECT author, log, seq, message_id FROM messages
    WHERE channel = ?1 AND (author, log, seq) IN (
        SELECT author, log, seq FROM messages WHERE channel = ?1
        GROUP BY author, log, seq HAVING count(*) > 1
    ) ORDER BY author, log, seq, message_id
"""
HOLES: Final = """
    SELECT DISTINCT author, log, seq, backlink FROM messages AS later
    WHERE channel = ?1 AND backlink IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM messages WHERE message_id = later.backlink AND channel = ?1
    ) ORDER BY author, log, seq, backlink
"""

BLOCKED_AUTHORS: Final = "SELECT participant FROM peers WHERE blocked_ns IS NOT NULL"
