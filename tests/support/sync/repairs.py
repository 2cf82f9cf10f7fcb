"""Builders for the tests of SDS-R: who lacks what, who asks for it, and when."""

from msgspec.structs import replace

from sync.machine import MessageId, Nanos
from sync.sds.channel import Channel
from sync.sds.events import Answer, Broadcast
from sync.sds.message import HistoryEntry, Message
from sync.sds.parameters import LAN
from sync.sds.repair import Window
from tests.support.sync.channels import (
    NOW,
    advance,
    channel,
    hear,
    message_id,
    names,
    peer,
    sync_message,
)

ALICE = peer("alice")
WINDOW = Window.of(LAN, 2)
T_MAX = WINDOW.t_max


def t_req(name: str) -> Nanos:
    """Return the time at which alice asks for a message that she was told of now."""
    return NOW + WINDOW.request_delay(ALICE, message_id(name))


def entries(*of: str, sender: str = "bob") -> tuple[HistoryEntry, ...]:
    """Names of messages, with hints and their sender."""
    return tuple(
        HistoryEntry(message_id(name), b"hint " + name.encode(), peer(sender)) for name in of
    )


def asks(who: str, *of: str) -> Message:
    """A sync message that names nothing and asks for messages of bob."""
    return replace(sync_message(who), repair_request=entries(*of))


def lacking(*of: str) -> Channel:
    """Alice, who was told of messages that she does not have."""
    alice = channel("alice")
    for start in range(0, len(of), 16):
        hear(alice, sync_message("bob", entries(*of[start : start + 16])))
    return alice


def asked(one: Channel, until: Nanos, since: Nanos = 0) -> list[tuple[Nanos, list[MessageId]]]:
    """Return the times of its repair requests, each with the messages asked for."""
    return [
        (at, names(effect.message.repair_request))
        for at, effect in advance(one, until, since)
        if isinstance(effect, Broadcast) and effect.message.repair_request
    ]


def answered(one: Channel, until: Nanos) -> list[tuple[Nanos, MessageId]]:
    """Return the times of its answers, each with the message."""
    return [
        (at, effect.message_id) for at, effect in advance(one, until) if isinstance(effect, Answer)
    ]
