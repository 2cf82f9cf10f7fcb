"""A profile that no chat has open, for `doctor` to look at and mend."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from msgspec import Struct

from chat_tui.client.setup import Setup
from storage.profile.profile import Profile
from storage.sqlite.damage.copying import replace_by_copy
from storage.sqlite.database import Database
from storage.sqlite.soundness import Place
from storage.sqlite.sqlite_errors import DamagedError
from sync.entries.identity import Identity
from sync.group.records import Discard, Record, SetLog
from sync.machine import ChannelId, MessageId, PeerId
from sync.net import clock


class ClosedProfile(Struct, frozen=True):
    """A profile and its database; nobody else has them open meanwhile."""

    profile: Profile
    database: Database

    async def mend(self) -> frozenset[str]:
        """Make indexes anew, and all else that follows from the messages.

        Returns:
            The tables that could not be read to the end.

        Raises:
            StorageError: that does not help, or the disk refused.
        """
        return await self.database.mend()

    async def set_aside(self, places: Sequence[Place]) -> None:
        """Set damaged messages aside.

        Raises:
            StorageError: the disk refused.
        """
        keys = self.profile.keys
        me = Identity.from_seed(keys.signing_seed, keys.noise_seed).peer_id
        await set_aside(self.database, me, places)


@asynccontextmanager
async def opened(setup: Setup) -> AsyncIterator[ClosedProfile]:
    """Open the profile and its database, and nothing of a chat.

    Raises:
        LocalError: the profile is in use, unreadable or damaged; says what to do.
    """
    profile = Profile.open(setup.data_dir, setup.profile, clock.draw)
    try:
        database = await Database.open(profile.database)
        try:
            yield ClosedProfile(profile, database)
        finally:
            await database.close()
    finally:
        profile.close()


async def mended(setup: Setup) -> frozenset[str]:
    """Mend a profile's database, also one that cannot be opened; returns what could not be read.

    Raises:
        LocalError: the profile is in use or unreadable, or that does not help.
    """
    try:
        async with opened(setup) as closed:
            return await closed.mend()
    except DamagedError:
        profile = Profile.open(setup.data_dir, setup.profile, clock.draw)
        try:
            return await asyncio.to_thread(replace_by_copy, profile.database)
        finally:
            profile.close()


async def set_aside(database: Database, me: PeerId, places: Sequence[Place]) -> None:
    """Set aside messages that no running machine knows.

    Our log goes on as a new one: the damaged may have been of it, and no number is signed twice.
    """
    from storage.sqlite.journal import SqliteJournal  # noqa: PLC0415  # a first paint needs none of it

    records: list[Record] = []
    for channel, stored_id in places:
        ours = ChannelId(channel.hex())
        records.append(Discard(ours, MessageId(stored_id.hex())))
        records.append(SetLog(ours, clock.draw_log()))
    await SqliteJournal(database, me).commit(records)
