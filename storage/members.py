"""The channels this profile is in, and the peers it has met."""

import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import Final

from storage.columns import from_u64, peer_id
from storage.database import Database
from sync.machine import ChannelId, Nanos, PeerId
from sync.membership import Membership

OURS: Final = """
    SELECT channel, name, secret, open, profile, joined_ns, direct FROM channels
    WHERE left_ns IS NULL ORDER BY joined_ns, channel
"""
LEFT: Final = """
    SELECT channel, name, secret, open, profile, joined_ns, direct FROM channels
    WHERE left_ns IS NOT NULL ORDER BY left_ns, channel
"""


@dataclass(frozen=True, slots=True)
class KnownPeer:
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
    """Who is where: memberships and peers of the profile that `database` belongs to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def channels(self) -> list[Membership]:
        """Return the channels we are in, the one joined first first."""
        return await self._database.read(partial(_channels, OURS))

    async def left_channels(self) -> list[Membership]:
        """Return the channels we were in and have left."""
        return await self._database.read(partial(_channels, LEFT))

    async def leave_channel(self, channel: ChannelId, now: Nanos) -> None:
        """Be in a channel no more; what was written there stays."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE channels SET left_ns = ? WHERE channel = ?", (now, bytes.fromhex(channel))
            )
        )

    async def add_channel(self, membership: Membership, log: int) -> None:
        """Join a channel, with `log` (u64, drawn at random) as the number of our log in it.

        A channel we are in already stays as it is, and so does one we had left: our log goes on.
        """
        row = (
            bytes.fromhex(membership.channel),
            membership.name,
            membership.secret,
            membership.open,
            membership.profile,
            membership.joined_ns,
            from_u64(log),
            None if membership.direct is None else bytes.fromhex(membership.direct),
        )
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO channels "
                "(channel, name, secret, open, profile, joined_ns, own_log, direct) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (channel) DO UPDATE SET "
                "name = iif(left_ns IS NULL, name, excluded.name), left_ns = NULL",
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
    ) -> None:
        """Note that `peer` has been seen now, and under which name.

        `address` is the (host, port) where it accepts links; None keeps the one known before, and
        so for `noise_key`.
        """
        host, port = address or (None, None)
        row = (bytes.fromhex(peer), nick, host, port, now, now, noise_key)
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO peers "
                "(participant, nick, host, port, first_seen_ns, last_seen_ns, noise_key) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (participant) DO UPDATE SET "
                "nick = excluded.nick, host = coalesce(excluded.host, host), "
                "port = coalesce(excluded.port, port), last_seen_ns = excluded.last_seen_ns, "
                "noise_key = coalesce(excluded.noise_key, noise_key)",
                row,
            )
        )

    async def known_peers(self) -> list[KnownPeer]:
        """Return every peer we have met, the one seen last first."""
        return await self._database.read(_known_peers)


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
        )
        for channel, name, secret, is_open, profile, joined_ns, direct in rows
    ]


def _known_peers(db: sqlite3.Connection) -> list[KnownPeer]:
    rows = db.execute(
        "SELECT participant, nick, host, port, first_seen_ns, last_seen_ns, noise_key, "
        "verified_ns, blocked_ns FROM peers ORDER BY last_seen_ns DESC, participant"
    )
    return [KnownPeer(peer_id(participant), *rest) for participant, *rest in rows]
