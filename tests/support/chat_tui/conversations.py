"""Builders of lines and conversations for the tests of the screen."""

import hashlib

from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Change, Changed, Inserted, Removed
from sync.machine import SECOND, ChannelId, MessageId, PeerId
from sync.sds.message import Delivery
from sync.view.view import Line

LOBBY = ChannelId("0" * 32)
NOON = 1_763_726_400 * SECOND
"""12:00 UTC on Friday, 21 November 2025."""


def peer(name: str) -> PeerId:
    return PeerId(hashlib.sha256(name.encode()).hexdigest())


def line(
    lamport: int,
    text: str = "",
    *,
    author: str = "bob",
    nick: str | None = None,
    delivery: Delivery | None = None,
    after_gap: bool = False,
    seconds: int | None = None,
    loading: bool = False,
) -> Line:
    """The message at `lamport`, a second of a day each; alice's are own ones."""
    own = author == "alice"
    return Line(
        channel=LOBBY,
        message_id=MessageId(hashlib.sha256(f"{author} {lamport}".encode()).hexdigest()),
        author=peer(author),
        nick=author if nick is None else nick,
        text=text or f"message {lamport}",
        lamport=lamport,
        created_ns=NOON + (lamport if seconds is None else seconds) * SECOND,
        own=own,
        after_gap=after_gap,
        delivery=delivery or (Delivery.UNACKNOWLEDGED if own else None),
        loading=loading,
    )


def conversation(*lines: Line) -> Conversation:
    """Alice's conversation, which somebody looks at and which holds all there is."""
    held = Conversation(LOBBY, peer("alice"), "alice")
    held.look()
    held.begin_load()
    held.add_older(lines, before=None, complete=True)
    return held


def lamports(held: Conversation) -> list[int]:
    return [row.line.lamport for row in held.rows]


def replay(ids: list[MessageId | None], changes: list[Change]) -> list[MessageId | None]:
    """Return a widget's known rows after `changes`: None where a row is new to it."""
    known = list(ids)
    for change in changes:
        match change:
            case Inserted(index, count):
                known[index:index] = [None] * count
            case Removed(index, count):
                del known[index : index + count]
            case Changed(index):
                known[index] = None
    return known
