"""Dialling: addresses whose time has come, and those that the person names.

Rule: an address is only where somebody answered; who answers there is who the handshake proves.
"""

import contextlib
from collections.abc import Callable, Collection, Container
from typing import Final

from sync.entries.identity import Identity
from sync.errors import LocalError, RemoteError
from sync.machine import Nanos, PeerId
from sync.net.clock import Clock, draw_key
from sync.net.links.addresses import BESIDE_A_LINK, Addresses, Candidate
from sync.net.links.frames import Open, encode
from sync.net.links.handshake import OwnKeyError
from sync.net.links.link import PROTOCOL
from sync.net.links.listener import Serve, Spawn
from sync.net.links.stream import (
    CONNECT_TIMEOUT,
    HANDSHAKE_DEADLINE,
    SecureStream,
    patience,
)

DIALS_MAX: Final = 32
"""Addresses dialled at once: forged ones take 3 s each and must not hold up the others for long."""


class Dialler:
    """See the module docstring.

    Args:
        identity: whose handshake it is.
        clock: of this computer.
        addresses: what is known of each, and when it is due.
        blocked: with whom no link is kept.
        linked_at: where the link of a peer leads, if it has one.
        trip_to: how slow the way to a peer is, or was a while ago.
        take: makes a link of a stream and the address it was dialled at; returns what serves it.
        refused: counts what peers did wrong.
        twin: hears where another program answers with our key.
        spawn: starts a task.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # it stands between the addresses and the links
        self,
        identity: Identity,
        clock: Clock,
        addresses: Addresses,
        blocked: Container[PeerId],
        linked_at: Callable[[PeerId], tuple[str, int] | None],
        trip_to: Callable[[PeerId | None], Nanos],
        take: Callable[[SecureStream, tuple[str, int]], Serve],
        refused: Callable[[str, str], None],
        twin: Callable[[str, int], None],
        spawn: Spawn,
    ) -> None:
        self.hosts: Collection[str] = ()
        """The addresses at which we listen."""
        self.port = 0
        """Where we listen, which is told to whom we dial; 0 while we do not."""
        self.local_address: str | None = None
        """The address to dial from; None lets the system choose."""
        self._identity, self._clock, self._addresses = identity, clock, addresses
        self._blocked, self._linked_at, self._take = blocked, linked_at, take
        self._trip_to = trip_to
        self._refused, self._twin, self._spawn = refused, twin, spawn
        self._dials = 0

    def dial_due(self) -> None:
        """Dial the addresses whose time has come and whose peer has no link."""
        now = self._clock.now()
        for candidate in self._addresses.due(now):
            if self._dials >= DIALS_MAX:
                return
            if self._is_spare(candidate):
                candidate.next_at = now + BESIDE_A_LINK
                continue
            self._begin(candidate)
            self._spawn("dialling", self._dial(candidate))

    def _is_spare(self, candidate: Candidate) -> bool:
        """Return whether who answers at an address is linked with already, or not wanted.

        Where another program is announced since, that holds for a link to there alone.
        """
        peer = candidate.peer or candidate.claimed_by
        if peer is None:
            return False
        address = self._linked_at(peer)
        if candidate.renewed:
            return address == (candidate.host, candidate.port)
        return peer in self._blocked or address is not None

    async def connect(self, host: str, port: int) -> PeerId:
        """Dial an address that the person named.

        Raises:
            LocalError: nobody of ours answers there.
        """
        candidate = self._addresses.add(host, port, self._clock.now(), named=True)
        self._begin(candidate)
        try:
            stream = await self._dialled(candidate)
        except RemoteError as error:
            why = str(error).removeprefix(f"{host}:{port} ")
            raise LocalError(
                f"Nobody answers at {host}:{port} ({why}). Look whether chat-tui runs there and "
                "which port its /whoami names; it is tried again from time to time."
            ) from error
        self._spawn("link", self._serve(stream, candidate))  # one that is not wanted it closes
        if stream.peer in self._blocked:
            raise LocalError(
                f"You have blocked who answers at {host}:{port}: /unblock comes first."
            )
        return stream.peer

    def _begin(self, candidate: Candidate) -> None:
        candidate.dialling = True
        self._dials += 1

    async def _dial(self, candidate: Candidate) -> None:
        with contextlib.suppress(RemoteError):  # `_dialled` has taken note
            await self._serve(await self._dialled(candidate), candidate)

    async def _serve(self, stream: SecureStream, candidate: Candidate) -> None:
        await self._take(stream, (candidate.host, candidate.port))()

    async def _dialled(self, candidate: Candidate) -> SecureStream:
        trip = self._trip_to(candidate.peer)
        try:
            stream = await SecureStream.dial(
                candidate.host,
                candidate.port,
                self._identity,
                draw_key,
                local_address=self.local_address,
                connect_timeout=patience(CONNECT_TIMEOUT, trip),
                handshake_deadline=patience(HANDSHAKE_DEADLINE, trip),
            )
        except OwnKeyError:
            self._addresses.led_to_ourselves(candidate, self._clock.now())
            if not (candidate.named or self._is_ours(candidate)):  # a named one may be forwarded
                self._twin(candidate.host, candidate.port)
            raise
        except RemoteError:
            self._addresses.failed(candidate, self._clock.now())
            raise
        finally:
            candidate.dialling = False
            self._dials -= 1
        if candidate.peer not in (None, stream.peer):
            where = f"{candidate.host}:{candidate.port}"
            self._refused(where, f"{stream.peer} answers where {candidate.peer} did before")
        stream.send(encode(Open(PROTOCOL, self.port)))
        self._addresses.answered(candidate, stream.peer, self._clock.now())
        return stream

    def _is_ours(self, candidate: Candidate) -> bool:
        """Return whether this program listens at an address."""
        return candidate.port == self.port and candidate.host in self.hosts
