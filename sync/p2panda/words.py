"""Messages of p2panda's replication in words, for people."""

from collections import Counter
from typing import Final, assert_never

from sync.p2panda.messages import (
    Announce,
    Done,
    EmptyPayload,
    EmptySet,
    Entry,
    Fingerprint,
    Have,
    LowerBound,
    Message,
    Payload,
    SyncDone,
    SyncRequest,
    Terminal,
)

MODES: Final = {0: "logheight", 1: "sets"}
"""Names of the modes of a request."""

DIGITS: Final = 8
"""Hex digits of a key or a fingerprint."""


def said(message: Message) -> str:  # one line for each message
    """Return what a message says."""
    match message:
        case Announce(version, _, schemas):
            return f"announces {_many(len(schemas), 'channel')}, version {version}"
        case SyncRequest(session, mode, _):
            return f"asks for session {session} by {MODES.get(mode, f'mode {mode}')}"
        case Entry(_, entry, operation):
            body = "no body" if operation is None else f"body of {len(operation):,} bytes"
            return f"entry of {len(entry):,} bytes, {body}"
        case SyncDone(_, live):
            return "all is sent, ready to go live" if live else "all is sent"
        case Have(_, heights):
            entries = sum([one.height for one in heights])
            return f"heights of {_many(len(heights), 'log')}, {_many(entries, 'entry')}"
        case EmptySet():
            return "has nothing at all: send everything"
        case LowerBound(_, bound):
            return f"ranges begin at log {_short(bound.key)}"
        case Payload(_, item):
            return f"log {_short(item.key)} is at {item.height:,}"
        case EmptyPayload(_, upper):
            return f"has nothing up to log {_short(upper.key)}"
        case Done(_, upper):
            return f"done up to log {_short(upper.key)}"
        case Fingerprint(_, fingerprint, upper):
            return f"fingerprint {_short(fingerprint)} up to log {_short(upper.key)}"
        case Terminal():
            return "end of the ranges"
        case _:
            assert_never(message)


def batch_said(counted: Counter[type[Message]]) -> str:
    """Return what a batch of set reconciliation says, from how many of each message it has."""
    parts = [
        _many(counted[Fingerprint], "fingerprint"),
        _many(counted[Payload], "height"),
        f"{counted[EmptyPayload]:,} asked for" if counted[EmptyPayload] else "",
        f"{counted[Done]:,} done" if counted[Done] else "",
    ]
    return f"batch: {', '.join(part for part in parts if part and not part.startswith('0 '))}"


def _many(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


def _short(value: bytes) -> str:
    return f"{value.hex()[:DIGITS]}…"
