"""Trust in peers: keys verified, peers blocked, names used, key changes."""

import sqlite3
from typing import NamedTuple

from storage.sqlite.columns import peer_id
from storage.sqlite.database import Database
from sync.machine import Nanos, PeerId
from sync.view.view import KeyWarning

NICKS_KEPT = 16
"""Names kept of one peer, those used last: a person has a few, a program may make up thousands."""


class NickUsed(NamedTuple):
    """A name of a peer, and when it was last used."""

    nick: str
    last_ns: Nanos


class TrustStore:
    """The trust part of the profile that `database` belongs to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def set_verified(self, peer: PeerId, nick: str, at: Nanos) -> None:
        """Note that the person compared the key of `peer` with its owner, at `at`."""
        await self._mark(peer, nick, "verified_ns", at, at)

    async def set_blocked(self, peer: PeerId, nick: str, at: Nanos | None, now: Nanos) -> None:
        """Note that `peer` is blocked since `at`; None: no longer."""
        await self._mark(peer, nick, "blocked_ns", at, now)

    async def note_nick(self, peer: PeerId, nick: str, now: Nanos) -> None:
        """Note that `peer`, whom we have met, goes by `nick`."""
        await self._database.write(lambda db: _note_nick(db, bytes.fromhex(peer), nick, now))

    async def nicks(self) -> dict[PeerId, tuple[NickUsed, ...]]:
        """Return the names of everybody, of each the one used last first."""
        return await self._database.read(_nicks)

    async def raise_warning(self, warning: KeyWarning) -> None:
        """Keep a warning until it is answered; one that was raised before stays as it is."""
        row = (
            bytes.fromhex(warning.peer),
            bytes.fromhex(warning.known),
            warning.nick,
            warning.verified,
            warning.raised_ns,
        )
        await self._database.write(
            lambda db: db.execute(
                "INSERT INTO key_warnings (participant, known, nick, verified, raised_ns) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                row,
            )
        )

    async def answer_warnings(self, peer: PeerId, now: Nanos) -> None:
        """Note that the person has decided about `peer`."""
        await self._database.write(
            lambda db: db.execute(
                "UPDATE key_warnings SET answered_ns = ? "
                "WHERE participant = ? AND answered_ns IS NULL",
                (now, bytes.fromhex(peer)),
            )
        )

    async def warnings(self) -> list[tuple[KeyWarning, bool]]:
        """Return every warning there was, the oldest first, and whether it is answered."""
        return await self._database.read(_warnings)

    async def _mark(
        self, peer: PeerId, nick: str, column: str, at: Nanos | None, now: Nanos
    ) -> None:
        """Set a time of a peer, whom we may never have met."""
        row = (bytes.fromhex(peer), nick, now, now, at)
        await self._database.write(
            lambda db: db.execute(
                f"INSERT INTO peers (participant, nick, first_seen_ns, last_seen_ns, {column}) "  # noqa: S608  # constants of ours
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT (participant) "
                f"DO UPDATE SET {column} = excluded.{column}",
                row,
            )
        )


def _note_nick(db: sqlite3.Connection, participant: bytes, nick: str, now: Nanos) -> None:
    db.execute(
        "INSERT INTO nicks (participant, nick, last_ns) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET last_ns = excluded.last_ns",
        (participant, nick, now),
    )
    db.execute(
        "DELETE FROM nicks WHERE participant = ?1 AND nick NOT IN "
        "(SELECT nick FROM nicks WHERE participant = ?1 ORDER BY last_ns DESC LIMIT ?2)",
        (participant, NICKS_KEPT),
    )


def _nicks(db: sqlite3.Connection) -> dict[PeerId, tuple[NickUsed, ...]]:
    found: dict[PeerId, tuple[NickUsed, ...]] = {}
    for participant, nick, last_ns in db.execute(
        "SELECT participant, nick, last_ns FROM nicks ORDER BY participant, last_ns DESC, nick"
    ):
        peer = peer_id(participant)
        found[peer] = (*found.get(peer, ()), NickUsed(nick, last_ns))
    return found


def _warnings(db: sqlite3.Connection) -> list[tuple[KeyWarning, bool]]:
    rows = db.execute(
        "SELECT participant, known, nick, verified, raised_ns, answered_ns FROM key_warnings "
        "ORDER BY raised_ns, participant, known"
    )
    return [
        (
            KeyWarning(peer_id(participant), peer_id(known), nick, bool(verified), raised_ns),
            answered_ns is not None,
        )
        for participant, known, nick, verified, raised_ns, answered_ns in rows
    ]
