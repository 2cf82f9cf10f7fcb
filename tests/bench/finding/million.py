"""A profile's database with very many lines, made in a minute.

Rows are what the chat would have stored but for headers and signatures, which nothing here looks
at: each is sound to `storage.sqlite.soundness`, its text is readable, its words are in the index,
and the logs of its authors have no holes, so a chat starts over it.
"""

import hashlib
import random
import sqlite3
from binascii import hexlify
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import accumulate, islice
from pathlib import Path
from typing import Final, NamedTuple

from storage.sqlite.columns import from_u64
from storage.sqlite.database import Database
from storage.sqlite.soundness import BODY, CHANNEL, LAMPORT, MESSAGE, SENDER
from sync.entries.entry import Text, encode_text
from sync.machine import SECOND, ChannelId
from sync.sds.wire import CONTENT
from sync.structures.codec import encode_uvarint
from sync.waku.topics import content_topic, pubsub_topic

VOCABULARY: Final = 50_000
WORDS: Final = 8
"""Of a text, as people write."""

PEOPLE: Final = 200
LAST_SPOKE: Final = 5
"""Lines of the person who wrote least, among the oldest."""

COMMON: Final = "the"
COMMON_SHARE: Final = 0.81
RARE: Final = "zygote"
RARE_EACH: Final = 50_000
LINK_SHARE: Final = 0.03
MENTION_SHARE: Final = 0.002
ME: Final = "alice"

LARGE: Final = ChannelId("a1" * 16)
SMALL: Final = ChannelId("b2" * 16)
SMALL_SHARE: Final = 0.001
"""Of all lines; the rest is in the large channel."""

FIRST_NS: Final = 1_700_000_000 * SECOND
APART_NS: Final = 30 * SECOND
AT_ONCE: Final = 20_000

CHANNEL_ROW: Final = (
    "INSERT INTO channels VALUES (?, ?, x'', 1, 'lan', 0, 0, NULL, NULL, NULL, NULL)"
)
MESSAGE_ROW: Final = (
    "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, NULL, 1, 0, ?, NULL, 0, ?, ?)"
)
WORDS_ROW: Final = "INSERT INTO texts (rowid, nick, text) VALUES (?, ?, ?)"


class Written(NamedTuple):
    """One line to be stored."""

    number: int
    channel: ChannelId
    author: bytes
    nick: str
    text: str


def person(number: int) -> tuple[bytes, str]:
    """Return the key and the name of a participant."""
    return hashlib.sha256(b"person %d" % number).digest(), f"person{number}"


def lines(count: int, seed: int = 1) -> Iterator[Written]:
    """Yield that many lines, the oldest first; who wrote least is `person(0)`."""
    dice = random.Random(seed)
    words = [f"w{hashlib.sha256(b'%d' % rank).hexdigest()[:7]}" for rank in range(VOCABULARY)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))
    people = [person(number) for number in range(PEOPLE)]
    for number in range(1, count + 1):
        said = dice.choices(words, cum_weights=weights, k=WORDS)
        if dice.random() < COMMON_SHARE:
            said.insert(0, COMMON)
        if number % RARE_EACH == 0:
            said.append(RARE)
        if dice.random() < LINK_SHARE:
            said.append(f"https://example.org/{said[0]}")
        if dice.random() < MENTION_SHARE:
            said.append(f"@{ME}")
        author, nick = people[0 if number <= LAST_SPOKE else dice.randrange(1, PEOPLE)]
        channel = SMALL if dice.random() < SMALL_SHARE else LARGE
        yield Written(number, channel, author, nick, " ".join(said))


async def make(path: Path, count: int) -> None:
    """Make a database at `path` with that many lines."""
    await (await Database.open(path)).close()  # with all its tables
    with closing(sqlite3.connect(path)) as db:
        for channel, name in ((LARGE, "large"), (SMALL, "small")):
            db.execute(CHANNEL_ROW, (bytes.fromhex(channel), name))
        db.commit()
    store(path, lines(count))


def store(path: Path, written: Iterable[Written], *, after_gaps: bool = False) -> None:
    """Put lines of channels that are there already into the database at `path`.

    With `after_gaps`, something is missing before each of them.
    """
    left, tops = iter(written), Counter[tuple[ChannelId, bytes]]()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        while batch := list(islice(left, AT_ONCE)):
            for line in batch:
                tops[line.channel, line.author] += 1
                row = _row(line, tops[line.channel, line.author], after_gap=after_gaps)
                db.execute(MESSAGE_ROW, row)
            db.executemany(WORDS_ROW, [(line.number, line.nick, line.text) for line in batch])
        db.execute("COMMIT")


def _row(line: Written, seq: int, *, after_gap: bool) -> tuple[object, ...]:
    stored_id = hashlib.sha256(b"line %d" % line.number).digest()
    created_ns = FIRST_NS + line.number * APART_NS
    lamport = created_ns // 1_000_000
    body = encode_text(Text(line.nick, line.text))
    content = BODY + encode_uvarint(len(body)) + body
    payload = (
        SENDER + hexlify(line.author) + MESSAGE + hexlify(stored_id)
        + CHANNEL + line.channel.encode() + LAMPORT + encode_uvarint(lamport)
        + CONTENT + encode_uvarint(len(content)) + content
    )  # fmt: skip
    topics = pubsub_topic(line.channel).encode(), content_topic(line.channel).encode()
    time = created_ns.to_bytes(8, "big", signed=True)
    waku_hash = hashlib.sha256(topics[0] + payload + topics[1] + time).digest()
    return (
        line.number, bytes.fromhex(line.channel), stored_id, waku_hash, from_u64(created_ns),
        from_u64(lamport), line.author, from_u64(seq), after_gap, len(body), payload,
    )  # fmt: skip
