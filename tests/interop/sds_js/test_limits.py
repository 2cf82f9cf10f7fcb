"""Each side reads whatever the other sends with its default options."""

import pytest

from sync.errors import DecodeError
from sync.machine import ChannelId
from sync.sds.message import HistoryEntry, Message
from sync.sds.parameters import LAN, WAKU
from sync.sds.wire import decode, encode
from tests.interop.sds_js.members import SYNC_EVERY, Ours, Theirs
from tests.interop.sds_js.node import SdsNode, to_json
from tests.interop.sds_js.room import Room
from tests.support.sync.channels import NOW, message_id, named, peer

pytestmark = [pytest.mark.net]

DEFAULTS: dict[str, object] = {}
THEIR_HISTORY = 200

SENDER = peer("alice")
CHANNEL = ChannelId("c0" * 16)
FILTER = bytes(WAKU.bloom.size_bytes)
FULL = tuple(
    HistoryEntry(message_id(str(number)), bytes.fromhex(message_id(str(number))), SENDER)
    for number in range(16)
)


def test_their_default_of_two_hundred_names_is_read_in_a_waku_channel(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW, DEFAULTS)
    room = Room(alice, bob)
    for number in range(THEIR_HISTORY):
        room.say(bob, f"line {number}")

    [payload] = bob.say("and one more", NOW)
    [last] = room.transmit(bob, [payload])

    assert len(last.causal_history) == THEIR_HISTORY
    assert len(payload) > 50_000
    assert alice.log() == bob.log()
    with pytest.raises(DecodeError, match="200 history"):
        decode(payload, LAN.limits)


def test_we_speak_with_somebody_whose_every_message_names_two_hundred(node: SdsNode) -> None:
    alice, bob = Ours("alice"), Theirs(node, "bob", NOW, DEFAULTS)
    room = Room(alice, bob)

    for number in range(THEIR_HISTORY + 40):
        room.say((alice, bob)[number % 2], f"line {number}")
    room.run(room.now + SYNC_EVERY)

    assert bob.log() == alice.log()
    assert not alice.channel.outgoing.pending
    assert bob.outgoing() == {"unacknowledged": [], "possibly_acknowledged": []}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("content", Message(SENDER, message_id("one"), CHANNEL, 7, content=b"hello")),
        (
            "content",
            Message(SENDER, message_id("one"), CHANNEL, 7, FULL, FILTER, FULL[:3], b"hello"),
        ),
        ("content", Message(SENDER, message_id("one"), CHANNEL, 7, named("two"), content=b"hi")),
        ("sync", Message(SENDER, message_id("one"), CHANNEL, 7, FULL, FILTER)),
        ("sync", Message(SENDER, message_id("one"), CHANNEL, 7, (), FILTER, FULL[:1])),
        ("ephemeral", Message(SENDER, message_id("one"), CHANNEL, None, content=b"hello")),
    ],
)
def test_they_read_ours_and_would_write_the_same_bytes(
    node: SdsNode, kind: str, message: Message
) -> None:
    payload = encode(message)

    read = node.request("decode", {"payload": to_json(payload)})

    assert read["kind"] == kind
    assert read["encoded_again"] == to_json(payload)
    assert [entry["message_id"] for entry in read["repair_request"]] == [
        entry.message_id for entry in message.repair_request
    ]
