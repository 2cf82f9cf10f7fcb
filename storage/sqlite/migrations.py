"""The schema, as the steps that made it: a database at version n has had the first n steps.

A step that was ever released is never changed; a new one is added below it. Texts, edits and all
that comes stay in `messages` as they were signed: nothing there is ever deleted.

Columns marked u64 are written and read by `columns.to_u64` and `from_u64` only. The numbers of
`status` and `delivery` are those of `columns`.
"""

import sqlite3
from collections.abc import Callable
from typing import Final, TypeAlias

Step: TypeAlias = str | Callable[[sqlite3.Connection], None]
"""SQL, or what is done with the database where SQL is not enough."""

FIRST: Final = """
CREATE TABLE channels (
    channel   BLOB NOT NULL PRIMARY KEY,
    name      TEXT NOT NULL,
    secret    BLOB NOT NULL,
    open      INTEGER NOT NULL,
    profile   TEXT NOT NULL,
    joined_ns INTEGER NOT NULL,
    own_log   INTEGER NOT NULL                          -- u64
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    number     INTEGER PRIMARY KEY,                     -- in the order of arrival
    channel    BLOB NOT NULL REFERENCES channels,
    message_id BLOB NOT NULL UNIQUE,
    waku_hash  BLOB NOT NULL,
    created_ns INTEGER NOT NULL,                        -- u64
    lamport    INTEGER NOT NULL,                        -- u64
    author     BLOB NOT NULL,
    log        INTEGER NOT NULL,                        -- u64
    seq        INTEGER NOT NULL,                        -- u64
    backlink   BLOB,
    kind       INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    after_gap  INTEGER NOT NULL,
    delivery   INTEGER,                                 -- own messages only
    attempts   INTEGER NOT NULL,
    body_size  INTEGER NOT NULL,
    payload    BLOB NOT NULL                            -- canonical SDS bytes; they end in the body
) STRICT;

-- The last column makes these two enough by themselves: SQLite checks the status of every row.
CREATE INDEX messages_in_order ON messages (channel, lamport, message_id, status)
    WHERE status = 0;
CREATE INDEX messages_by_time ON messages (channel, created_ns, waku_hash, status)
    WHERE status != 2;
CREATE INDEX messages_held_back ON messages (channel, status) WHERE status != 0;
CREATE INDEX messages_by_hash ON messages (waku_hash);
CREATE INDEX messages_by_log ON messages (channel, author, log, seq);
CREATE INDEX messages_unacknowledged ON messages (channel)
    WHERE delivery IS NOT NULL AND delivery != 2;

-- Named so that queries say what they mean, and use the partial indexes above.
CREATE VIEW delivered AS SELECT * FROM messages WHERE status = 0;
CREATE VIEW lines AS
    SELECT number, channel, message_id, author, lamport, created_ns, after_gap, delivery, kind,
        substr(payload, length(payload) - body_size + 1) AS body
    FROM messages WHERE status = 0;
CREATE VIEW unparked AS SELECT * FROM messages WHERE status != 2;
CREATE VIEW held_back AS SELECT * FROM messages WHERE status != 0;
CREATE VIEW unacknowledged AS
    SELECT * FROM messages WHERE delivery IS NOT NULL AND delivery != 2;

-- The causal history, read from the named message to the ones that name it.
CREATE TABLE parents (
    parent BLOB NOT NULL,
    child  INTEGER NOT NULL,
    PRIMARY KEY (parent, child)
) STRICT, WITHOUT ROWID;

-- Search only: the words are in the payloads, so the index keeps no copy of them.
CREATE VIRTUAL TABLE texts USING fts5 (
    nick, text, content = '', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE peers (
    participant   BLOB NOT NULL PRIMARY KEY,
    nick          TEXT NOT NULL,
    host          TEXT,
    port          INTEGER,
    first_seen_ns INTEGER NOT NULL,
    last_seen_ns  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

GAPS: Final = """
CREATE INDEX messages_after_gap ON messages (channel, lamport, message_id)
    WHERE status = 0 AND after_gap;
"""

LOADING: Final = """
CREATE INDEX messages_loading ON messages (channel, status, lamport, message_id)
    WHERE status = 3;
"""

CHANGES: Final = """
-- What edits (kind 2), reactions (3) and redactions (4) are about, delivered or not. Of those of
-- one author about one message, reactions apart, the newest delivered one counts.
CREATE TABLE changes (
    message_id BLOB NOT NULL PRIMARY KEY,
    channel    BLOB NOT NULL,
    target     BLOB NOT NULL,
    reacts     INTEGER NOT NULL,
    author     BLOB NOT NULL,
    lamport    INTEGER NOT NULL,                        -- u64
    number     INTEGER NOT NULL REFERENCES messages,
    counts     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX changes_in_order
    ON changes (channel, target, reacts, author, lamport, message_id, number);
CREATE INDEX changes_that_count ON changes (channel, target, reacts, author, number)
    WHERE counts;

-- Changes are no lines. The last two columns make the index enough by itself.
DROP VIEW lines;
CREATE INDEX messages_as_lines ON messages (channel, lamport, message_id, status, kind)
    WHERE status = 0 AND kind NOT IN (2, 3, 4);
CREATE VIEW lines AS
    SELECT number, channel, message_id, author, lamport, created_ns, after_gap, delivery, kind,
        substr(payload, length(payload) - body_size + 1) AS body
    FROM messages WHERE status = 0 AND kind NOT IN (2, 3, 4);
"""

PEOPLE: Final = """
ALTER TABLE channels ADD COLUMN direct BLOB;             -- the other one in a channel of two
ALTER TABLE channels ADD COLUMN left_ns INTEGER;         -- no longer a member; the history stays
ALTER TABLE peers ADD COLUMN noise_key BLOB;
ALTER TABLE peers ADD COLUMN verified_ns INTEGER;
ALTER TABLE peers ADD COLUMN blocked_ns INTEGER;
CREATE INDEX peers_blocked ON peers (participant) WHERE blocked_ns IS NOT NULL;

CREATE TABLE nicks (
    participant BLOB NOT NULL REFERENCES peers,
    nick        TEXT NOT NULL,
    last_ns     INTEGER NOT NULL,
    PRIMARY KEY (participant, nick)
) STRICT, WITHOUT ROWID;

-- A key that goes by the name another one is known by, and when the person answered that.
CREATE TABLE key_warnings (
    participant BLOB NOT NULL,
    known       BLOB NOT NULL,
    nick        TEXT NOT NULL,
    verified    INTEGER NOT NULL,
    raised_ns   INTEGER NOT NULL,
    answered_ns INTEGER,
    PRIMARY KEY (participant, known)
) STRICT, WITHOUT ROWID;

-- Whoever is blocked is kept and passed on like everybody else, and shown nowhere.
DROP VIEW lines;
CREATE VIEW lines AS
    SELECT number, channel, message_id, author, lamport, created_ns, after_gap, delivery, kind,
        substr(payload, length(payload) - body_size + 1) AS body
    FROM messages WHERE status = 0 AND kind NOT IN (2, 3, 4)
        AND author NOT IN (SELECT participant FROM peers WHERE blocked_ns IS NOT NULL);
"""

DAMAGED: Final = """
-- Rows that were no longer what was stored, as they were found; their numbers are not given again.
CREATE TABLE damaged (
    number     INTEGER PRIMARY KEY,                     -- in messages
    channel    BLOB NOT NULL,
    message_id BLOB NOT NULL,
    payload    BLOB NOT NULL
) STRICT;

-- Links of author logs to entries that are not here yet: what they are is looked at once they come.
CREATE TABLE awaited_links (
    target BLOB NOT NULL,
    child  INTEGER NOT NULL,
    PRIMARY KEY (target, child)
) STRICT, WITHOUT ROWID;

-- With what tells whether a row is still what was stored.
DROP VIEW lines;
CREATE VIEW lines AS
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        number, after_gap, delivery, kind
    FROM messages WHERE status = 0 AND kind NOT IN (2, 3, 4)
        AND author NOT IN (SELECT participant FROM peers WHERE blocked_ns IS NOT NULL);
"""


WITHHELD: Final = """
-- Redactions whose rows rotted: what they hid stays hidden while nobody can read them any more.
CREATE TABLE IF NOT EXISTS withheld (
    channel    BLOB NOT NULL,
    target     BLOB NOT NULL,
    author     BLOB NOT NULL,
    lamport    INTEGER NOT NULL,                        -- u64
    message_id BLOB NOT NULL,                           -- of the redaction
    PRIMARY KEY (channel, target, author, message_id)
) STRICT, WITHOUT ROWID;
"""


def _adopt(db: sqlite3.Connection) -> None:
    from storage.sqlite.changes import adopt  # noqa: PLC0415  # once in the life of an old profile

    db.execute(WITHHELD)  # which looks are asked of, and which comes later
    _add_hides(db)  # so does this
    adopt(db)


def _add_hides(db: sqlite3.Connection) -> None:
    """Note which redactions are those of admins, who may hide lines of others."""
    for table in ("changes", "withheld"):
        columns = [column[1] for column in db.execute(f"PRAGMA table_info({table})")]
        if "hides" not in columns:
            db.execute(f"ALTER TABLE {table} ADD COLUMN hides INTEGER NOT NULL DEFAULT 0")
    db.execute(
        "CREATE INDEX IF NOT EXISTS changes_hiding "
        "ON changes (channel, target, lamport, message_id, author) WHERE hides AND counts"
    )


CLOCKS: Final = """
-- What was answered about this computer's clock, a channel. Times are of the machines' clock.
CREATE TABLE clocks (
    channel        BLOB NOT NULL PRIMARY KEY REFERENCES channels,
    answer         TEXT NOT NULL,
    shift_ns       INTEGER NOT NULL,
    stayed_ns      INTEGER,
    asked_ns       INTEGER NOT NULL,
    asked_ahead_ns INTEGER
) STRICT, WITHOUT ROWID;
"""

AUTHORS: Final = """
-- What each author takes on this disk, counted as messages come and go; asked: whether the person
-- was asked what to do about it.
CREATE TABLE authors (
    author   BLOB NOT NULL PRIMARY KEY,
    messages INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,                          -- of their payloads
    asked    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO authors (author, messages, bytes)
    SELECT author, count(*), sum(length(payload)) FROM messages GROUP BY author;
CREATE TRIGGER authors_gain AFTER INSERT ON messages BEGIN
    INSERT INTO authors (author, messages, bytes) VALUES (new.author, 1, length(new.payload))
        ON CONFLICT DO UPDATE SET
            messages = messages + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER authors_lose AFTER DELETE ON messages BEGIN
    UPDATE authors SET messages = messages - 1, bytes = bytes - length(old.payload)
        WHERE author = old.author;
END;
"""

CONTRADICTIONS: Final = """
-- What was found of entries that contradict each other, once each: no flag of a message.
CREATE TABLE contradictions (
    number     INTEGER PRIMARY KEY,
    channel    BLOB NOT NULL,
    author     BLOB NOT NULL,
    what       TEXT NOT NULL,                           -- sync.group.records.Contradicts
    log        INTEGER NOT NULL,                        -- u64
    seq        INTEGER NOT NULL,                        -- u64
    message_id BLOB NOT NULL,                           -- of the later one, or the one that names
    other      BLOB NOT NULL
) STRICT;

-- What authors take is counted when somebody asks, up to this message: no commit waits for it.
DROP TRIGGER authors_gain;
DROP TRIGGER authors_lose;
CREATE TABLE counted (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    number INTEGER NOT NULL                             -- in messages
) STRICT;
INSERT INTO counted SELECT 1, coalesce(max(number), 0) FROM messages;
CREATE TRIGGER authors_lose AFTER DELETE ON messages
    WHEN old.number <= (SELECT number FROM counted) BEGIN
    UPDATE authors SET messages = messages - 1, bytes = bytes - length(old.payload)
        WHERE author = old.author;
END;
"""


def _note_contradictions(db: sqlite3.Connection) -> None:
    from storage.sqlite.contradictions import note_all  # noqa: PLC0415  # as above

    note_all(db)


PRIVATE: Final = """
-- When it last proved a channel that is not open to everybody; NULL if it never did.
ALTER TABLE peers ADD COLUMN private_ns INTEGER;
"""

AWAIT_UNKNOWN: Final = (
    """
INSERT OR IGNORE INTO awaited_links SELECT backlink, number FROM messages AS later
    WHERE backlink IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM messages WHERE message_id = later.backlink AND channel = later.channel
    )
""",
    """
INSERT OR IGNORE INTO awaited_links SELECT x'', number FROM messages
    WHERE (backlink IS NULL) != (seq = -9223372036854775807)
""",
)
"""Links that lead nowhere are awaited; x'' is by entries that have a backlink and are the first, or
have none and are not."""

AWAITED: Final = ";".join(AWAIT_UNKNOWN)
"""The same for a history from before they were."""

ANNOUNCED: Final = """
-- The counter of our last announcement: it rises over restarts.
CREATE TABLE announced (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    counter INTEGER NOT NULL                            -- u64
) STRICT;
"""

COMPARED: Final = """
-- When everything in a channel was last compared with a peer, and was equal then.
CREATE TABLE compared (
    channel BLOB NOT NULL,
    peer    BLOB NOT NULL,                              -- public key
    at_ns   INTEGER NOT NULL,                           -- u64
    PRIMARY KEY (channel, peer)
) STRICT, WITHOUT ROWID;
"""

GOVERNANCE: Final = """
-- Id of the op that founded a governed channel; NULL: nobody governs it.
ALTER TABLE channels ADD COLUMN genesis BLOB;

-- Signed ops of governance, ancestors first, and what each is at its own parents.
CREATE TABLE group_ops (
    number  INTEGER PRIMARY KEY,
    channel BLOB NOT NULL,
    op_id   BLOB NOT NULL,
    content BLOB NOT NULL,
    rank    INTEGER NOT NULL,
    lowers  INTEGER NOT NULL,
    touched INTEGER NOT NULL,                           -- bits: fields of the policy
    asks    INTEGER NOT NULL,
    UNIQUE (channel, op_id)
) STRICT;

-- Entries that wait for ops: in no other table, so they count nowhere.
CREATE TABLE pending_entries (
    number     INTEGER PRIMARY KEY,
    channel    BLOB NOT NULL,
    message_id BLOB NOT NULL,
    waku_hash  BLOB NOT NULL,
    payload    BLOB NOT NULL,
    UNIQUE (channel, message_id)
) STRICT;

-- Ids of entries that were dropped, for their authors might not write them.
CREATE TABLE dropped_entries (
    number     INTEGER PRIMARY KEY,
    channel    BLOB NOT NULL,
    message_id BLOB NOT NULL,
    label      TEXT NOT NULL,                           -- sync.calimero.governance.pending.Dropped
    UNIQUE (channel, message_id)
) STRICT;
"""

CHANNEL_KEYS: Final = """
-- Secrets of governed channels, by the op that began the epoch of each.
CREATE TABLE epochs (
    channel BLOB NOT NULL REFERENCES channels,
    op_id   BLOB NOT NULL,
    number  INTEGER NOT NULL,
    secret  BLOB NOT NULL,
    PRIMARY KEY (channel, op_id)
) STRICT, WITHOUT ROWID;

-- Tickets of invitations: of codes we gave out, and of those we enter by until we are in. Their
-- secret is that of an epoch; which one, the code does not say.
CREATE TABLE tickets (
    channel BLOB NOT NULL REFERENCES channels,
    ticket  BLOB NOT NULL,                              -- public half
    seed    BLOB NOT NULL,
    secret  BLOB,                                       -- of a code we enter by
    PRIMARY KEY (channel, ticket)
) STRICT, WITHOUT ROWID;

-- When we left a governed channel whose members have not heard of it yet.
ALTER TABLE channels ADD COLUMN leaving_ns INTEGER;
"""

STATE: Final = """
-- Signed entries of the state of channels: of each register the one that stands.
CREATE TABLE state_entries (
    channel  BLOB NOT NULL,
    register BLOB NOT NULL,                             -- SHA-256 of author, kind and name
    leaf     BLOB NOT NULL,                             -- SHA-256 of what is signed
    content  BLOB NOT NULL,
    PRIMARY KEY (channel, register)
) STRICT, WITHOUT ROWID;
"""

STAGING: Final = """
-- Snapshots on their way to channels that were empty: whose governance and how old what is in them
-- is, where they go on, and their pages as they came, with the SHA-256 of each.
CREATE TABLE staged_snapshots (
    channel BLOB NOT NULL PRIMARY KEY,
    scope   BLOB NOT NULL,
    floor   INTEGER NOT NULL,                           -- u64
    cursor  BLOB NOT NULL,                              -- lamport, big-endian, and message id
    count   INTEGER NOT NULL                            -- entries in the pages
) STRICT, WITHOUT ROWID;
CREATE TABLE staged_pages (
    channel BLOB NOT NULL,
    number  INTEGER NOT NULL,
    digest  BLOB NOT NULL,
    chunk   BLOB NOT NULL,
    PRIMARY KEY (channel, number)
) STRICT;
"""

SWAPPING: Final = """
-- Whether some of a snapshot is in messages already: until all is, no page of the transcript has a
-- line of it. What we write meanwhile is in our own log.
ALTER TABLE staged_snapshots ADD COLUMN swapping INTEGER NOT NULL DEFAULT 0;
DROP VIEW lines;
CREATE VIEW lines AS
    SELECT channel, message_id, author, lamport, created_ns, waku_hash, body_size, payload,
        number, after_gap, delivery, kind
    FROM messages WHERE status = 0 AND kind NOT IN (2, 3, 4)
        AND author NOT IN (SELECT participant FROM peers WHERE blocked_ns IS NOT NULL)
        AND (
            channel NOT IN (SELECT channel FROM staged_snapshots WHERE swapping)
            OR log IN (SELECT own_log FROM channels)
        );
"""

ONE_ORDER: Final = """
-- One index of what is delivered, in order: that of lines alone held nearly the same. The last two
-- columns make it enough by itself, also where reactions are passed over.
DROP INDEX messages_as_lines;
DROP INDEX messages_in_order;
CREATE INDEX messages_in_order ON messages (channel, lamport, message_id, status, kind)
    WHERE status = 0;
"""

TIMED_HASHES: Final = """
-- Whoever looks a hash up knows the time of it, too: the index by time has both.
DROP INDEX messages_by_hash;
"""

MIGRATIONS: Final[tuple[Step, ...]] = (
    FIRST, GAPS, LOADING, CHANGES, _adopt, PEOPLE, DAMAGED, CLOCKS, AUTHORS,
    CONTRADICTIONS, _note_contradictions, PRIVATE, WITHHELD, AWAITED, ANNOUNCED, COMPARED,
    GOVERNANCE, CHANNEL_KEYS, STATE, _add_hides, STAGING,
    SWAPPING, ONE_ORDER, TIMED_HASHES,
)  # fmt: skip
"""Step n, counted from 1, brings a database from version n - 1 to n."""
