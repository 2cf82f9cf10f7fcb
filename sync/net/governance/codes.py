"""Codes of governed channels that we give out: the same one while it is valid."""

from sync.calimero.governance.dag import Act, founder
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Invite, Join, Role
from sync.calimero.governance.rights import code_ended
from sync.calimero.governance.tickets import invitation, public_half
from sync.entries.membership import Membership
from sync.machine import ChannelId
from sync.net import clock as system
from sync.net import invite
from sync.net.governance.key_store import KeyStore, Ticket


class Codes:
    """Tickets of our codes, which the disk keeps; those that ended are forgotten."""

    def __init__(self, store: KeyStore) -> None:
        self._store = store

    async def valid(self, channel: ChannelId, governance: Governance, role: Role) -> bytes | None:
        """Return the seed of a code of ours that lets everybody in with a role; None if none does.

        One by which somebody entered who has left lets them in no more.

        Raises:
            StorageError: the disk refused.
        """
        seed: bytes | None = None
        ended: list[Ticket] = []
        for ticket in await self._store.tickets(channel):
            if ticket.secret is not None:
                continue  # of a code by which we enter
            given = _valid(governance, ticket)
            if given is None:
                ended.append(ticket)
            elif _role_of(given) is role and not _was_left(governance, given):
                seed = ticket.seed
        await self._store.forget_tickets(channel, ended)
        return seed

    async def draw(self, channel: ChannelId, role: Role) -> tuple[bytes, Invite]:
        """Return the seed of a new code, which the disk has, and the op that makes it valid.

        Raises:
            StorageError: the disk refused.
        """
        seed = system.draw(invite.TICKET_SEED_SIZE)
        public = public_half(seed)
        await self._store.keep_ticket(channel, Ticket(public, seed))
        return seed, Invite(public, role)


def code_of(governance: Governance, membership: Membership, secret: bytes, seed: bytes) -> str:
    """Return the code of a ticket: with the channel's own name, whatever it is called here."""
    assert membership.genesis is not None
    entry = invite.Entry(membership.genesis, seed)
    name = founder(governance.dag.acts[0]).name
    return invite.encode(invite.Invite(name, membership.channel, secret, membership.profile, entry))


def _valid(governance: Governance, ticket: Ticket) -> Act | None:
    """Return the invitation of a ticket of ours; None if it lets in nobody, or nobody any more."""
    given, state = invitation(governance, ticket.public), governance.now
    if given is None or not state.counting & given.bit:
        return None
    return None if code_ended(governance.projection, given.number, state) else given


def _role_of(given: Act) -> Role:
    assert isinstance(given.op, Invite)
    return given.op.role


def _was_left(governance: Governance, given: Act) -> bool:
    """Return whether somebody who entered by an invitation is out."""
    return any(
        isinstance(act.op, Join)
        and act.op.invite == given.id
        and governance.now.role(act.signer) is Role.NONE
        for act in governance.dag.acts
    )
