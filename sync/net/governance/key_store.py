"""Interface of the disk for keys of governed channels, which no machine sees.

`storage.profile.channel_keys` implements it.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.ops import Key, Seal
from sync.calimero.governance.tickets import public_half
from sync.entries.membership import Membership
from sync.group.records import StoredOp
from sync.machine import ChannelId, PeerId
from sync.net.invite import Invite


class Ticket(NamedTuple):
    """A ticket of ours; its text never shows what is secret."""

    public: bytes
    """The half that its invitation shows, 32 bytes."""

    seed: bytes
    """The half that the code carries, 16 bytes."""

    secret: bytes | None = None
    """Secret of some epoch, from a code we enter by; None of a code we gave out."""

    def __repr__(self) -> str:
        return f"Ticket({self.public.hex()[:8]})"


def ticket_of(code: Invite) -> Ticket:
    """Return the ticket by which one enters with a code of a governed channel."""
    assert code.entry is not None
    return Ticket(public_half(code.entry.ticket_seed), code.entry.ticket_seed, code.secret)


class KeyStore(Protocol):
    """Keeps secrets and tickets of governed channels."""

    async def found(self, membership: Membership, log: int, genesis: StoredOp) -> None:
        """Be in a channel that we found: its genesis, our membership and its secret, or none.

        Args:
            membership: with the first secret.
            log: number of our author log there, u64.
            genesis: the op, as it is stored.
        """

    async def epochs(self, channel: ChannelId) -> list[EpochSecret]:
        """Return the secrets of a channel, the one of the lowest number first."""

    async def keep_epochs(self, channel: ChannelId, secrets: Sequence[EpochSecret]) -> None:
        """Keep secrets; one that is here under an op takes the place of the one before."""

    async def tickets(self, channel: ChannelId) -> list[Ticket]:
        """Return the tickets of a channel."""

    async def keep_ticket(self, channel: ChannelId, ticket: Ticket) -> None:
        """Keep a ticket."""

    async def forget_tickets(self, channel: ChannelId, tickets: Sequence[Ticket]) -> None:
        """Forget tickets that are of no use any more."""

    async def seals(self, channel: ChannelId, author: Key, limit: int) -> list[Seal]:
        """Return the highest entry stored of each log of an author, above gaps and forks too.

        Of more than `limit` logs those written to last.
        """

    async def noise_key(self, peer: PeerId) -> bytes | None:
        """Return the Noise key of somebody who was ever connected."""
