"""The floor of a message: the same bytes and tables, OpenSSL, and no machines.

Whoever sends writes header and message as protobuf, hashes and signs them, and stores them; whoever
receives reads and writes them once more, since only canonical bytes are taken, verifies, and
stores. Both print a line of JSON for each message. The goals were set beside OpenSSL's signatures,
so floors keep these; `limits signatures` tells what a floor by libsodium takes, as the chat does.
"""

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TextIO

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from proto import entry_pb2, sds_pb2
from storage.sqlite.connections import PRAGMAS
from storage.sqlite.queries import STORE, STORE_PARENTS, STORE_TEXTS
from storage.sqlite.rows import STATEMENTS_CACHED, Row, execute_for_rows
from sync.entries.ed25519 import KeyPair, is_signature
from sync.entries.entry import Kind, lipmaa
from sync.waku.message import WakuMessage, content_topic, deterministic_hash, pubsub_topic
from tests.support.storage.stores import opened
from tests.support.sync.entries import CHANNEL

ROWS_OF_COMMIT: Final = 256
AUTHOR: Final = "alice"
SEED: Final = hashlib.sha256(b"signing alice").digest()
LOG: Final = 1
PARENTS: Final = 2
FIRST_NS: Final = 1_700_000_000_000_000_000

CHANNEL_ID: Final = bytes.fromhex(CHANNEL)
TOPICS: Final = pubsub_topic(CHANNEL), content_topic(CHANNEL)


class Written(NamedTuple):
    """One message: its ids, its bytes, and its rows."""

    id: bytes
    waku_hash: bytes
    payload: bytes
    row: Row
    parents: tuple[bytes, ...]
    text: str


class Signatures(Protocol):
    """A library's Ed25519."""

    public_key: bytes

    def sign(self, data: bytes) -> bytes:
        """Return the signature of the one author."""

    def check(self, public_key: bytes, signature: bytes, data: bytes) -> None:
        """Verify a signature."""


class OpenSsl:
    """OpenSSL's, with each key read once."""

    def __init__(self) -> None:
        self._mine = Ed25519PrivateKey.from_private_bytes(SEED)
        self.public_key = self._mine.public_key().public_bytes_raw()
        self.sign = self._mine.sign
        self._keys: dict[bytes, Ed25519PublicKey] = {}

    def check(self, public_key: bytes, signature: bytes, data: bytes) -> None:
        """Verify a signature."""
        key = self._keys.get(public_key)
        if key is None:
            key = self._keys[public_key] = Ed25519PublicKey.from_public_bytes(public_key)
        key.verify(signature, data)


class Sodium:
    """libsodium's, as the chat uses it."""

    def __init__(self) -> None:
        pair = KeyPair(SEED)
        self.public_key, self.sign = pair.public_key, pair.sign

    def check(self, public_key: bytes, signature: bytes, data: bytes) -> None:
        """Verify a signature."""
        assert is_signature(public_key, signature, data)


SIGNATURES: Final[dict[str, Callable[[], Signatures]]] = {"openssl": OpenSsl, "sodium": Sodium}


class Sender:
    """Writes the messages of one author, each after the two before."""

    def __init__(self, signatures: Signatures) -> None:
        self._me = signatures
        self._written: list[tuple[bytes, bytes]] = []

    def write(self, text: str) -> Written:
        """Return the next message, signed."""
        before, me = self._written, self._me.public_key
        seq = len(before) + 1
        body = entry_pb2.TextBody(nick=AUTHOR, text=text).SerializeToString()
        skipped = lipmaa(seq)
        parents = before[-PARENTS:]
        header = entry_pb2.Header(
            version=1,
            author=me,
            channel_id=CHANNEL_ID,
            log=LOG,
            seq=seq,
            backlink=before[-1][0] if before else None,
            skiplink=before[skipped - 1][0] if skipped and skipped != seq - 1 else None,
            created_ns=FIRST_NS + seq,
            lamport=seq,
            parents=[
                entry_pb2.Parent(message_id=one, author=me, waku_hash=waku) for one, waku in parents
            ],
            kind=entry_pb2.KIND_TEXT,
            body_size=len(body),
            body_hash=hashlib.sha256(body).digest(),
        )
        header_bytes = header.SerializeToString()
        signed = entry_pb2.SignedEntry(
            header=header_bytes, signature=self._me.sign(header_bytes), body=body
        )
        made = _message(me.hex(), header_bytes, header, signed.SerializeToString(), body, text)
        before.append((made.id, made.waku_hash))
        return made


class Receiver:
    """Reads what was sent, and checks it."""

    def __init__(self, signatures: Signatures) -> None:
        self._signatures = signatures

    def read(self, payload: bytes) -> Written:
        """Return the message in a frame, verified."""
        frame = sds_pb2.Message.FromString(payload)
        signed = entry_pb2.SignedEntry.FromString(frame.content)
        header_bytes, body = signed.header, signed.body
        header = entry_pb2.Header.FromString(header_bytes)
        assert header.SerializeToString() == header_bytes
        assert signed.SerializeToString() == frame.content
        assert hashlib.sha256(body).digest() == header.body_hash
        self._signatures.check(header.author, signed.signature, header_bytes)
        text = entry_pb2.TextBody.FromString(body).text
        return _message(frame.sender_id, header_bytes, header, frame.content, body, text)


def _message(
    sender: str,
    header_bytes: bytes,
    header: entry_pb2.Header,
    content: bytes,
    body: bytes,
    text: str,
) -> Written:
    """Return what is stored: the canonical bytes are encoded once, at either end."""
    message_id = hashlib.sha256(header_bytes).digest()
    frame = sds_pb2.Message(
        sender_id=sender,
        message_id=message_id.hex(),
        channel_id=CHANNEL,
        lamport_timestamp=header.lamport,
        content=content,
    )
    parents = []
    for parent in header.parents:
        parents.append(parent.message_id)
        frame.causal_history.add(
            message_id=parent.message_id.hex(),
            retrieval_hint=parent.waku_hash,
            sender_id=parent.author.hex(),
        )
    payload = frame.SerializeToString()
    waku_hash = deterministic_hash(TOPICS[0], WakuMessage(payload, TOPICS[1], header.created_ns))
    row = (
        CHANNEL_ID, message_id, waku_hash, header.created_ns - 2**63, header.lamport - 2**63,
        header.author, LOG - 2**63, header.seq - 2**63, header.backlink or None, Kind.TEXT, 0, 0,
        None, 0, len(body), payload,
    )  # fmt: skip
    return Written(message_id, waku_hash, payload, row, tuple(parents), text)


class Tables:
    """A database with the tables and indices of a profile, which does nothing but store."""

    def __init__(self, path: Path) -> None:
        with ThreadPoolExecutor(1) as aside:  # where a loop may run already
            aside.submit(asyncio.run, _make(path)).result()
        self._db = sqlite3.connect(path, isolation_level=None, cached_statements=STATEMENTS_CACHED)
        for pragma in PRAGMAS:
            self._db.execute(pragma)
        self._last = 0

    def store(self, written: Sequence[Written]) -> None:
        """Store messages, durably when it returns."""
        db, first = self._db, self._last + 1
        self._last += len(written)
        numbered = list(enumerate(written, first))
        db.execute("BEGIN IMMEDIATE")
        execute_for_rows(db, STORE, [(number, *one.row) for number, one in numbered])
        parents = [(number, parent) for number, one in numbered for parent in one.parents]
        execute_for_rows(db, STORE_PARENTS, parents)
        execute_for_rows(db, STORE_TEXTS, [(number, AUTHOR, one.text) for number, one in numbered])
        db.execute("COMMIT")

    def close(self) -> None:
        """Close the database."""
        self._db.close()


async def _make(path: Path) -> None:
    async with opened(path):
        pass


def print_line(one: Written, out: TextIO) -> None:
    """Print a message as `plain --json` does."""
    shown = {
        "event": "message", "channel": "#tea", "id": one.id.hex(), "author": one.row[5].hex(),
        "nick": AUTHOR, "text": one.text, "lamport": one.row[4] + 2**63,
        "created_ns": one.row[3] + 2**63, "own": False, "after_gap": False, "edited": False,
        "deleted": False, "hidden_by": None, "late": None, "reactions": [], "delivery": None,
        "waits": 0, "old": False,
    }  # fmt: skip
    out.write(json.dumps(shown, ensure_ascii=False) + "\n")
