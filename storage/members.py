"""The channels this profile is in, and the peers it has met."""

import sqlite3
from dataclasses import dataclass

from storage.columns import from_u64, peer_id
from storage.database import Database
from sync.journal import Membership
from sync.machine import ChannelId, Nanos, PeerId


@dataclass(frozen=True, slots=True)
class KnownPeer:
    """A peer we have had a link with, by our own clock, and where it answered last."""

    peer: PeerId
    nick: str
    host: str | None
    port: int | None
    first_seen_ns: Nanos
    last_seen_ns: Nanos


class Members:
    """Who is where: memberships and peers of the profile that `database` belongs to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def channels(self) -> list[Membership]:
        """Return the channels we are in, the one joined first first."""
        rows = await self._database.read(
            lambda db: db.execute(
                "SELECT channel, name, secret, open, profile, joined_ns FROM channels "
                "ORDER BY joined_ns, channel"
            ).fetchall()
        )
        return [
            Membership(ChannelId(channel.hex()), name, secret, bool(is_open), profile, joined_ns)
            for channel, name, secret, is_open, profile, joined_ns in rows
        ]

    async def add_channel(self, membership: Membership, log: int) -> None:
        """Join a channel, with `log` (u64, drawn at random) as the number of our log in it.

        A channel we are in already stays as it is: our log goes on.
        """
        row = (
            bytes.fromhex(membership.channel),
            membership.name,
            membership.secret,
            membership.open,
            membership.profile,
            membership.joined_ns,
            from_u64(log),
        )
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO channels (channel, name, secret, open, profile, joined_ns, own_log) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                row,
            )
        )

    async def remember_peer(
        self, peer: PeerId, *, nick: str, address: tuple[str, int] | None, now: Nanos
    ) -> None:
        """Note that `peer` has been seen now, and under which name.

        `address` is the (host, port) where it accepts links; None keeps the one known before.
        """
        host, port = address or (None, None)
        row = (bytes.fromhex(peer), nick, host, port, now, now)
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO peers (participant, nick, host, port, first_seen_ns, last_seen_ns) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (participant) DO UPDATE SET "
                "nick = excluded.nick, host = coalesce(excluded.host, host), "
                "port = coalesce(excluded.port, port), last_seen_ns = excluded.last_seen_ns",
                row,
            )
        )

    async def known_peers(self) -> list[KnownPeer]:
        """Return every peer we have met, the one seen last first."""
        return await self._database.read(_known_peers)


def _known_peers(db: sqlite3.Connection) -> list[KnownPeer]:
    rows = db.execute(
        "SELECT participant, nick, host, port, first_seen_ns, last_seen_ns FROM peers "
        "ORDER BY last_seen_ns DESC, participant"
    )
    return [KnownPeer(peer_id(participant), *rest) for participant, *rest in rows]
