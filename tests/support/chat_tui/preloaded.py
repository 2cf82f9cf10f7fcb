"""Profiles of people who have long been there, for programs that are started with a history."""

from collections.abc import Sequence

from storage.profile.members import Members
from storage.profile.profile import Profile
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.entries.identity import Identity
from sync.entries.membership import Membership
from sync.group.values import StoredMessage
from sync.machine import SECOND
from sync.net.clock import draw, draw_log
from sync.net.invite import Invite
from tests.support.processes import Person
from tests.support.storage.stores import delivered

ROWS_AT_ONCE = 5_000
"""Messages of one transaction."""


async def fill(person: Person, channel: Invite, messages: Sequence[StoredMessage]) -> None:
    """Make the profile of a person who has long been in an open channel."""
    profile = Profile.open(person.data_dir, person.name, draw)
    try:
        database = await Database.open(profile.database)
        try:
            membership = Membership(
                channel.channel, channel.name, channel.secret, True, channel.profile, SECOND
            )
            await Members(database).add_channel(membership, draw_log())
            keys = profile.keys
            me = Identity.from_seed(keys.signing_seed, keys.noise_seed).peer_id
            journal = SqliteJournal(database, me)
            for at in range(0, len(messages), ROWS_AT_ONCE):
                await journal.commit(delivered(*messages[at : at + ROWS_AT_ONCE]))
        finally:
            await database.close()
    finally:
        profile.close()
