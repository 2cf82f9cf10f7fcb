"""Entering governed channels by a code: the join is signed once the ops are here that allow it."""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from sync.calimero.governance.dag import Act
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Join, Key, Op, OpId, Role
from sync.calimero.governance.rights import code_ended
from sync.calimero.governance.tickets import invitation, join_by
from sync.entries.identity import Identity
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.net.governance.key_store import KeyStore, Ticket
from sync.view.view import Level, Notice

STALE: Final = "The code for {name} is no longer valid: ask for a new one."
ONLY_ASKS: Final = (
    "You were removed from {name} before, so your code only asks to be let in again: "
    "an admin there does it with /add."
)

NOT_IN: Final = (
    "Somebody who is in {name} says that you are not: your code may have ended, or you were "
    "removed. If nobody answers you there, ask for a new code."
)


class Host(Protocol):
    """The node, as far as entering leads back to it."""

    def governance(self, channel: ChannelId) -> Governance | None:
        """Return the governance of a channel; None until its genesis is here."""

    async def act(self, channel: ChannelId, op: Op) -> OpId:
        """Sign an op and publish it; returns once it is committed."""

    def title(self, channel: ChannelId) -> str:
        """Return the name of a channel, with its sign."""

    def notify(self, notice: Notice) -> None:
        """Tell the person."""


class Entering:
    """See the module docstring."""

    def __init__(
        self, identity: Identity, store: KeyStore, host: Host, nick: Callable[[], str]
    ) -> None:
        self._identity = identity
        self._key = Key(identity.public_key)
        self._store = store
        self._host = host
        self._nick = nick
        self._tickets: dict[ChannelId, dict[bytes, Ticket]] = {}
        """Tickets of codes by which we enter, by their public halves."""
        self._busy = asyncio.Lock()
        self._told: set[ChannelId] = set()
        """Channels of which the person knows that the code is not valid."""

    async def load(self, channel: ChannelId) -> None:
        """Take up the codes by which we enter a channel.

        Raises:
            StorageError: the disk cannot be read.
        """
        tickets = await self._store.tickets(channel)
        self._tickets[channel] = {one.public: one for one in tickets if one.secret is not None}

    def drop(self, channel: ChannelId) -> None:
        """Let go of a channel."""
        self._tickets.pop(channel, None)
        self._told.discard(channel)

    def add(self, channel: ChannelId, ticket: Ticket) -> None:
        """Enter by one more code, which is on the disk."""
        self._tickets.setdefault(channel, {})[ticket.public] = ticket
        self._told.discard(channel)

    async def enter(self, channel: ChannelId) -> None:
        """Sign a join, if there is one to sign and its invitation is here.

        Raises:
            StorageError: the disk refused; the next call tries again.
        """
        async with self._busy:
            for ticket in list(self._tickets.get(channel, {}).values()):
                governance = self._host.governance(channel)
                if governance is None:
                    return
                if governance.now.role(self._key) is not Role.NONE:
                    await self._done(channel)
                    return
                await self._enter_by(channel, governance, ticket)

    async def _enter_by(self, channel: ChannelId, governance: Governance, ticket: Ticket) -> None:
        given = invitation(governance, ticket.public)
        if given is None:
            return  # it may yet come
        noise, nick = self._identity.noise_public, self._nick()
        join = join_by(ticket.seed, governance.group, given.id, self._key, noise, nick)
        before = self._joined_by(governance, join)
        if before is not None or code_ended(governance.projection, given.number, governance.now):
            await self._forget(channel, ticket)
            asks = before is not None and before.judgement.asks
            self._tell(channel, ONLY_ASKS if asks else STALE)
            return
        try:
            op = await self._host.act(channel, join)
        except LocalError:
            await self._forget(channel, ticket)
            self._tell(channel, STALE)
            return
        if governance.act(op).judgement.asks:
            await self._forget(channel, ticket)
            self._tell(channel, ONLY_ASKS)
        else:
            await self._done(channel)

    def _joined_by(self, governance: Governance, join: Join) -> Act | None:
        """Return how we entered by that invitation before, which something undid; None if never."""
        ours = map(governance.dag.acts.__getitem__, governance.dag.by_signer.get(self._key, ()))
        for act in ours:
            if isinstance(act.op, Join) and act.op.invite == join.invite:
                return act
        return None

    def on_stale(self, channel: ChannelId) -> None:
        """A member says that what we prove is no longer valid."""
        if self._tickets.get(channel):
            self._tell(channel, STALE)

    def is_in_doubt(self, channel: ChannelId) -> bool:
        """Return whether we think that we are in, or that a code is about to let us in."""
        governance = self._host.governance(channel)
        is_in = governance is not None and governance.now.role(self._key) is not Role.NONE
        return is_in or bool(self._tickets.get(channel))

    def on_doubt(self, channel: ChannelId) -> None:
        """A member says that we are out, and what it knows of that came, or has had its time to."""
        if self.is_in_doubt(channel):
            self._tell(channel, NOT_IN)

    def _tell(self, channel: ChannelId, sentence: str) -> None:
        if channel not in self._told:
            self._told.add(channel)
            text = sentence.format(name=self._host.title(channel))
            self._host.notify(Notice(text, Level.ERROR, out_of=channel))

    async def _done(self, channel: ChannelId) -> None:
        """We are in: no code is needed any more."""
        tickets = list(self._tickets.get(channel, {}).values())
        await self._store.forget_tickets(channel, tickets)
        self._tickets.pop(channel, None)

    async def _forget(self, channel: ChannelId, ticket: Ticket) -> None:
        await self._store.forget_tickets(channel, [ticket])
        self._tickets.get(channel, {}).pop(ticket.public, None)
