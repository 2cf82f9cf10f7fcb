"""Channels and peers that a profile remembers."""

from pathlib import Path

from msgspec.structs import replace

from storage.profile.members import KnownPeer
from sync.machine import SECOND, ChannelId
from tests.support.storage.stores import OWN_LOG, membership, opened
from tests.support.sync.entries import CHANNEL, identity

OTHER = ChannelId("0d" * 16)
ANN, BOB = identity("ann").peer_id, identity("bob").peer_id


async def test_channels_come_back_in_the_order_of_joining(tmp_path: Path) -> None:
    earlier = replace(membership(OTHER, "lobby"), open=True, profile="waku", joined_ns=1)

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(earlier, log=7)
    async with opened(tmp_path / "chat.db") as store:
        channels = await store.members.channels()

    assert channels == [earlier, membership(CHANNEL)]


async def test_a_governed_channel_keeps_the_id_of_its_genesis(tmp_path: Path) -> None:
    governed = replace(membership(OTHER, "team"), genesis=b"\x0d" * 32)

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(governed, log=7)
        channels = await store.members.channels()

    assert {one.channel: (one.genesis, one.governed) for one in channels} == {
        CHANNEL: (None, False),
        OTHER: (b"\x0d" * 32, True),
    }


async def test_joining_again_keeps_our_log(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(replace(membership(), name="new"), log=OWN_LOG + 1)

        assert await store.members.channels() == [membership()]
        assert (await store.journal.restore(CHANNEL)).log_number == OWN_LOG


async def test_a_peer_keeps_its_first_time_and_its_last_address(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        remember = store.members.remember_peer
        await remember(ANN, nick="ann", address=("10.0.0.1", 46021), now=1 * SECOND)
        await remember(ANN, nick="Ann", address=None, now=2 * SECOND)
        await remember(BOB, nick="bob", address=None, now=3 * SECOND)
        first = await store.members.known_peers()
        await remember(ANN, nick="Ann", address=("10.0.0.2", 46022), now=4 * SECOND)
        second = await store.members.known_peers()

    bob = KnownPeer(BOB, "bob", None, None, 3 * SECOND, 3 * SECOND)
    assert first == [bob, KnownPeer(ANN, "Ann", "10.0.0.1", 46021, 1 * SECOND, 2 * SECOND)]
    assert second == [KnownPeer(ANN, "Ann", "10.0.0.2", 46022, 1 * SECOND, 4 * SECOND), bob]
