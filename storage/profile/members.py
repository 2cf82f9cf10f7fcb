"""The channels this profile is in, and the peers it has met."""

import sqlite3
from collections.abc import Mapping, Sequence, Set
from functools import partial
from typing import Final

from msgspec import Struct

from storage.sqlite.columns import from_u64, peer_id
from storage.sqlite.database import Database
from sync.entries.membership import Membership
from sync.machine import DAY, ChannelId, Nanos, PeerId

ONCE_MAX: Final = 1024
"""People remembered who were met on one day only and of whom nothing else is here: keys cost
nothing to make up, and a fair has no more visitors that one looks up again."""

OFTEN_MAX: Final = 4096
"""The same of people who came again a day later: whoever makes up keys may have them come twice."""

FORGETTABLE: Final = """
    SELECT participant FROM peers
    WHERE verified_ns IS NULL AND blocked_ns IS NULL AND private_ns IS NULL
        AND (last_seen_ns - first_seen_ns >= ?) = ?
        AND participant NOT IN (SELECT direct FROM channels WHERE direct IS NOT NULL)
        AND participant NOT IN (SELECT participant FROM key_warnings WHERE answered_ns IS NULL)
        AND participant NOT IN (SELECT known FROM key_warnings WHERE answered_ns IS NULL)
        AND NOT EXISTS (
            SELECT 1 FROM channels CROSS JOIN messages
            WHERE messages.channel = channels.channel AND author = participant
        )
    ORDER BY last_seen_ns DESC, participant LIMIT -1 OFFSET ?
"""
"""Beyond so many, the ones met longest ago of whom nothing else is known than that they were met
on one day, or on several."""

OURS: Final = """
    SELECT channel, name, secret, open, profile, joined_ns, direct, genesis FROM channels
    WHERE left_ns IS NULL ORDER BY joined_ns, channel
"""
LEFT: Final = """
    SELECT channel, name, secret, open, profile, joined_ns, direct, genesis FROM channels
    WHERE left_ns IS NOT NULL ORDER BY left_ns, channel
"""


LEAVING: Final = """
    SELECT channel, name, secret, open, profile, joined_ns, direct, genesis FROM channels
    WHERE leaving_ns IS NOT NULL ORDER BY leaving_ns, channel
"""


class KnownPeer(Struct, frozen=True):
    """A peer we have had a link with, by our own clock, and where it answered last."""

    peer: PeerId
    nick: str
    host: str | None
    port: int | None
    first_seen_ns: Nanos
    last_seen_ns: Nanos
    noise_key: bytes | None = None
    """Its Noise static key, 32 bytes: what a channel of two is derived from."""
    verified_ns: Nanos | None = None
    blocked_ns: Nanos | None = None


class Members:
    """Memberships and peers of the profile that `database` belongs to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def channels(self) -> list[Membership]:
        """Return the channels we are in, the one joined first first."""
        return await self._database.read(partial(_channels, OURS))

    async def left_channels(self) -> list[Membership]:
        """Return the channels we were in and have left."""
        return await self._database.read(partial(_channels, LEFT))

    async def leaving_channels(self) -> list[Membership]:
        """Return the channels we have left whose members have not heard of it."""
        return await self._database.read(partial(_channels, LEAVING))

    async def leave_channel(self, channel: ChannelId, now: Nanos, *, heard: bool = True) -> None:
        """Be in a channel no more; what was written there stays.

        `heard`: nobody there need be told of it any more.
        """
        row = (now, None if heard else now, bytes.fromhex(channel))
        await self._database.write(
            lambda db: db.execute(
                "UPDATE channels SET left_ns = ?, leaving_ns = ? WHERE channel = ?", row
            )
        )

    async def add_channel(self, membership: Membership, log: int) -> None:
        """Join a channel, with `log` (u64, drawn at random) as the number of our log in it.

        A channel we are in already stays as it is, and so does one we had left: our log goes on.
        """
        row = membership_row(membership, log)
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO channels "
                "(channel, name, secret, open, profile, joined_ns, own_log, direct, genesis) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (channel) DO UPDATE SET "
                "name = iif(left_ns IS NULL, name, excluded.name), left_ns = NULL, "
                "leaving_ns = NULL",
                row,
            )
        )

    async def remember_peer(
        self,
        peer: PeerId,
        *,
        nick: str,
        address: tuple[str, int] | None,
        now: Nanos,
        noise_key: bytes | None = None,
        private: bool = False,
    ) -> None:
        """Note that `peer` has been seen now, and under which name.

        `address` is the (host, port) where it accepts links; None keeps the one known before, and
        so for `noise_key`. `private` says that it has proved a channel that is not open.
        """
        host, port = address or (None, None)
        private_ns = now if private else None
        row = (bytes.fromhex(peer), nick, host, port, now, now, noise_key, private_ns)
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO peers "
                "(participant, nick, host, port, first_seen_ns, last_seen_ns, noise_key, "
                "private_ns) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (participant) DO UPDATE SET "
                "nick = excluded.nick, host = coalesce(excluded.host, host), "
                "port = coalesce(excluded.port, port), last_seen_ns = excluded.last_seen_ns, "
                "noise_key = coalesce(excluded.noise_key, noise_key), "
                "private_ns = coalesce(excluded.private_ns, private_ns)",
                row,
            )
        )

    async def note_seen(self, until: Mapping[PeerId, Nanos]) -> None:
        """Note until when people were seen."""
        rows = [(at, bytes.fromhex(peer)) for peer, at in until.items()]
        await self._database.write(
            lambda db: db.executemany(
                "UPDATE peers SET last_seen_ns = max(last_seen_ns, ?) WHERE participant = ?", rows
            )
        )

    async def forget_peer(self, peer: PeerId) -> None:
        """Know nothing more of a person: name, address, keys, trust; messages stay."""
        await self._database.write(partial(_forget, [(bytes.fromhex(peer),)]))

    async def known_peers(self) -> list[KnownPeer]:
        """Return every peer we have met, the one seen last first."""
        return await self._database.read(_known_peers)

    async def forget_strangers(self, here: Set[PeerId]) -> list[PeerId]:
        """Forget whom nothing speaks for beyond the limits, and return them; nobody of `here`."""
        kept = {bytes.fromhex(peer) for peer in here}
        return await self._database.write(partial(_forget_strangers, kept))


def membership_row(membership: Membership, log: int) -> tuple[object, ...]:
    """Return the columns of a channel we are in, with the number of our log there, u64."""
    return (
        bytes.fromhex(membership.channel),
        membership.name,
        membership.secret,
        membership.open,
        membership.profile,
        membership.joined_ns,
        from_u64(log),
        None if membership.direct is None else bytes.fromhex(membership.direct),
        membership.genesis,
    )


def _forget_strangers(here: Set[bytes], db: sqlite3.Connection) -> list[PeerId]:
    going: list[bytes] = []
    for often, limit in ((0, ONCE_MAX), (1, OFTEN_MAX)):
        found = db.execute(FORGETTABLE, (DAY, often, limit))
        going += [participant for (participant,) in found if participant not in here]
    _forget([(participant,) for participant in going], db)
    return [peer_id(participant) for participant in going]


def _forget(people: Sequence[tuple[bytes]], db: sqlite3.Connection) -> None:
    db.executemany("DELETE FROM nicks WHERE participant = ?", people)
    db.executemany("DELETE FROM peers WHERE participant = ?", people)


def _channels(query: str, db: sqlite3.Connection) -> list[Membership]:
    rows = db.execute(query)
    return [
        Membership(
            ChannelId(channel.hex()),
            name,
            secret,
            bool(is_open),
            profile,
            joined_ns,
            None if direct is None else peer_id(direct),
            genesis,
        )
        for channel, name, secret, is_open, profile, joined_ns, direct, genesis in rows
    ]


def _known_peers(db: sqlite3.Connection) -> list[KnownPeer]:
    rows = db.execute(
        "SELECT participant, nick, host, port, first_seen_ns, last_seen_ns, noise_key, "
        "verified_ns, blocked_ns FROM peers ORDER BY last_seen_ns DESC, participant"
    )
    return [KnownPeer(peer_id(participant), *rest) for participant, *rest in rows]
