"""The driver of governance: what the person does in a governed channel, with all that is drawn.

An op is built here, with its secrets wrapped and logs sealed, and signed by the channel's machine,
which refuses what one has no right to. What follows from ops of others is in `epochs` and
`entering`.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence, Set
from typing import Any, Final, Protocol

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.acts import Drawn, batches, founding, new_epoch
from sync.calimero.governance.epochs import noise_of
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import SECRET_SIZE, EpochSecret
from sync.calimero.governance.ops import (
    Access,
    Add,
    GroupId,
    Key,
    Leave,
    Op,
    OpId,
    Owner,
    Remove,
    Role,
    Rotate,
    Seal,
    SetPolicy,
    SetRole,
)
from sync.calimero.governance.rights import FOUNDING
from sync.calimero.governance.signing import group_of, sign
from sync.calimero.governance.wire import SALT_SIZE
from sync.entries.identity import Identity
from sync.entries.membership import Membership
from sync.errors import LEFT, LocalError
from sync.group.governing import NOT_FOUNDED
from sync.group.records import StoredOp
from sync.machine import ChannelId, Nanos, PeerId
from sync.net import clock as system
from sync.net import invite
from sync.net.governance import entering, epochs
from sync.net.governance.caught_up import CaughtUp
from sync.net.governance.codes import Codes, code_of
from sync.net.governance.entering import Entering
from sync.net.governance.epochs import Epochs
from sync.net.governance.key_store import KeyStore, Ticket
from sync.net.links.frames import Told
from sync.sds.parameters import LAN

PLAIN: Final = "Nobody governs this channel: /govern founds a governed one that goes on after it."
NEVER_SEEN: Final = (
    "Nothing is known of them yet but their key: they can be let in once they were connected here, "
    "or asked to be let in."
)
HEARD_WITHIN: Final = 1.0
"""Seconds for which who leaves waits for somebody to hear it, before that is left for later."""

LEARNT_WITHIN: Final = 60.0
"""Seconds for which who is said to be out waits for the acts that say so, or that let them in."""

OVERTAKEN: Final = 3
"""Tries of an op whose epoch another one's overtook while it was built."""


class Host(epochs.Host, entering.Host, Protocol):
    """The node, as far as acts lead back to it."""

    async def settled(self) -> None:
        """Return when all that was read from the disk or given to the machines is handled."""

    def is_caught_up(self, channel: ChannelId) -> bool:
        """Return whether the ops of a member who is there are here; so too if nobody is there."""

    def membership(self, channel: ChannelId) -> Membership | None:
        """Return a channel that we are in."""

    def ask_for_ops(self, channel: ChannelId) -> None:
        """Ask whoever gives us ops of a channel, and not all of it, for those that we lack."""

    def is_given_all(self, channel: ChannelId) -> bool:
        """Return whether everything of a channel is exchanged with anybody who has a link."""

    def next_lamport(self, channel: ChannelId) -> int:
        """Return a Lamport time above all that is delivered in a channel."""

    def noise_key(self, peer: PeerId) -> bytes | None:
        """Return the Noise key of a peer that is connected."""

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        """Run something under the node's care."""


class GroupDriver:
    """See the module docstring."""

    def __init__(
        self,
        identity: Identity,
        store: KeyStore,
        host: Host,
        wall: Callable[[], Nanos],
        nick: Callable[[], str],
    ) -> None:
        self.epochs = Epochs(identity, store, host)
        self.entering = Entering(identity, store, host, nick)
        self._codes = Codes(store)
        self._identity = identity
        self._key = Key(identity.public_key)
        self._store = store
        self._host = host
        self._wall = wall
        self._leaving: dict[ChannelId, asyncio.Event] = {}
        """Channels that we are about to leave: set once a member says that we are out."""
        self.on_heard: Callable[[ChannelId], None] = lambda _channel: None
        """Is told of a channel that we left, once a member says that we are out; takes note only.
        """
        self._caught_up = CaughtUp(host.is_caught_up)
        self.learnt_within = LEARNT_WITHIN
        self._doubting: dict[ChannelId, set[PeerId]] = {}
        """Those who say that we are out of a channel, where that is not known here: of those who
        have links."""
        self._rotating: set[ChannelId] = set()
        """Channels that we shall rotate, unless another one does."""

    # --- Channels ------------------------------------------------------------------------------

    async def found(
        self, name: str, predecessor: ChannelId | None = None, *, called: str | None = None
    ) -> Membership:
        """Found a channel that we own, on the disk alone.

        Args:
            name: of the channel, with or without its sign.
            predecessor: the channel that it goes on after.
            called: the name that it has here; None for the same.

        Raises:
            LocalError: not a usable name.
            StorageError: the disk refused: there is no such channel.
        """
        name, now = invite.channel_name(name), self._wall()
        owner = Owner(self._key, self._identity.noise_public)
        before = None if predecessor is None else GroupId(bytes.fromhex(predecessor))
        genesis = founding(name, LAN.name, system.draw(SALT_SIZE), owner, now, before)
        if predecessor is not None:  # after all that was written there within this millisecond
            least = self._host.next_lamport(predecessor)
            genesis = replace(genesis, lamport=max(genesis.lamport, least))
        op = sign(genesis, self._identity.sign)
        membership = Membership(
            channel=ChannelId(group_of(op).hex()),
            name=called or name,
            secret=system.draw(SECRET_SIZE),
            open=False,
            profile=LAN.name,
            joined_ns=now,
            genesis=op.id,
        )
        log = system.draw_log()
        await self._store.found(membership, log, StoredOp(op.content, FOUNDING))
        return membership

    async def take_up(self, membership: Membership) -> None:
        """Take up a governed channel's keys from the disk.

        Raises:
            StorageError: the disk cannot be read.
        """
        await self.epochs.load(membership)
        await self.entering.load(membership.channel)

    def drop(self, channel: ChannelId) -> None:
        """Let go of a channel."""
        self._caught_up.drop(channel)
        self.epochs.drop(channel)
        self.entering.drop(channel)

    def governed(self, channel: ChannelId, ops: tuple[OpId, ...]) -> None:
        """Do what follows from ops that were taken in, or read from the disk at a start (none)."""
        del ops
        self._host.spawn("governance", self._follow(channel))

    async def _follow(self, channel: ChannelId) -> None:
        await self.epochs.open_all(channel)
        await self.entering.enter(channel)
        if channel not in self._rotating and self.epochs.rotates(channel):
            self._rotating.add(channel)
            self._host.spawn("rotation", self._rotate_when_due(channel))

    async def _rotate_when_due(self, channel: ChannelId) -> None:
        try:
            await self.epochs.rotate_when_due(channel, self.rotate)
        finally:
            self._rotating.discard(channel)

    def enter_by(self, membership: Membership, ticket: Ticket) -> None:
        """Enter by a code that is on the disk, if the channel is taken up."""
        if self._host.membership(membership.channel) is not None and ticket.secret is not None:
            self.epochs.add_loose(membership, ticket.secret)
            self.entering.add(membership.channel, ticket)
            self._host.ask_for_ops(membership.channel)  # its invitation may be newer than these
            self._host.spawn("governance", self._follow(membership.channel))

    def on_secret(self, channel: ChannelId, secret: EpochSecret) -> None:
        """Keep a secret that a member handed over, and that is believed."""
        self._host.spawn("a secret", self.epochs.on_secret(channel, secret))

    def on_told(self, peer: PeerId, channel: ChannelId, told: Told) -> None:
        """A peer says why it gives us nothing of a channel."""
        if told is Told.ENDED:
            self.entering.on_stale(channel)
            return
        governance = self._host.governance(channel)
        if governance is not None and governance.now.role(Key(bytes.fromhex(peer))) is Role.NONE:
            return  # strangers may say so, too
        if channel in self._doubting:
            self._doubting[channel].add(peer)
        elif self.entering.is_in_doubt(channel):
            self._doubting[channel] = {peer}
            self._host.spawn("governance", self._doubt(channel))
        if governance is not None and governance.now.role(self._key) is Role.NONE:
            if channel in self._leaving:
                self._leaving[channel].set()
            self.on_heard(channel)

    async def _doubt(self, channel: ChannelId) -> None:
        """Tell the person that members take them for out, if the reason does not come here.

        They have come in, or mean to, by a code that had ended where it was not heard of.
        """
        try:
            await asyncio.sleep(self.learnt_within)
            if self._is_believed(channel, self._doubting[channel]):
                self.entering.on_doubt(channel)
        finally:
            del self._doubting[channel]

    def _is_believed(self, channel: ChannelId, peers: Set[PeerId]) -> bool:
        """Return whether what `peers` said holds: one of them is in, and nobody gives us all.

        With a member who has learnt meanwhile that we are in, everything is exchanged.
        """
        if self._host.is_given_all(channel):
            return False
        governance = self._host.governance(channel)
        keys = [Key(bytes.fromhex(peer)) for peer in peers]
        return governance is None or any(governance.now.role(key) is not Role.NONE for key in keys)

    # --- Codes ---------------------------------------------------------------------------------

    async def invite(self, channel: ChannelId, role: Role = Role.MEMBER) -> str:
        """Return a code by which one enters; the same as before while that one is valid.

        Raises:
            LocalError: we may not invite; says why.
            StorageError: the disk refused.
        """
        governance = await self._governance(channel)
        self.epochs.newest(channel)  # or there is nothing to put into a code
        seed = await self._codes.valid(channel, governance, role)
        if seed is None:
            seed, invitation = await self._codes.draw(channel, role)
            await self._act(channel, invitation)
        membership = self._host.membership(channel)
        assert membership is not None
        return code_of(governance, membership, self.epochs.newest(channel), seed)

    async def end_invites(self, channel: ChannelId) -> None:
        """End all codes that were given out: the channel's secret changes.

        Raises:
            LocalError: we may not; says why.
        """
        await self.rotate(channel)

    # --- Members -------------------------------------------------------------------------------

    async def add(self, channel: ChannelId, peer: PeerId, role: Role = Role.MEMBER) -> bool:
        """Let somebody in; returns whether they surely have the channel: they ask to be let in.

        Who left or was removed may have let go of it, which nobody else hears.

        Raises:
            LocalError: we may not, or their keys are not known; says which.
        """
        key = Key(bytes.fromhex(peer))
        governance = await self._governance(channel)
        asking = {one.key for one in governance.asking(governance.now)}
        await self._act(channel, Add(key, await self._noise_of(governance, peer), role))
        return key in asking

    async def _noise_of(self, governance: Governance, peer: PeerId) -> bytes:
        """Return somebody's Noise key: of their link, of what they signed, or of earlier links.

        Raises:
            LocalError: it is not known.
        """
        key = Key(bytes.fromhex(peer))
        noise = self._host.noise_key(peer)
        if noise is None:
            asked = [one.op for one in governance.asking(governance.now) if one.key == key]
            standing = governance.now.people.get(key)
            if asked:
                noise = noise_of(governance, key, governance.act(asked[0]).number)
            elif standing is not None:
                noise = noise_of(governance, key, standing.since)
        if noise is None:
            noise = await self._store.noise_key(peer)
        if noise is None:
            raise LocalError(NEVER_SEEN)
        return noise

    async def remove(self, channel: ChannelId, peers: Sequence[PeerId], reason: str = "") -> None:
        """Remove people; those who stay get a new secret, and all codes end.

        Raises:
            LocalError: we may not, or one of them is not in; says which. Of very many, some may
                be out by then.
        """
        governance = await self._governance(channel)
        keys = [Key(bytes.fromhex(peer)) for peer in peers]
        seals: dict[Key, list[Seal]] = {
            key: await self._store.seals(channel, key, limits.SEALS_MAX) for key in keys
        }
        for some, sealed in batches(governance, keys, seals):

            def removal(
                drawn: Drawn, some: tuple[Key, ...] = some, sealed: tuple[Seal, ...] = sealed
            ) -> Remove:
                epoch = new_epoch(
                    governance, self._key, drawn, self.epochs.known(channel), frozenset(some)
                )
                return Remove(some, epoch, reason, sealed)

            await self._begin_epoch(channel, removal)

    async def rotate(self, channel: ChannelId) -> None:
        """Change the channel's secret, which ends all codes.

        Raises:
            LocalError: we may not; says why.
        """
        governance = await self._governance(channel)

        def rotation(drawn: Drawn) -> Rotate:
            return Rotate(new_epoch(governance, self._key, drawn, self.epochs.known(channel)))

        await self._begin_epoch(channel, rotation)

    async def _begin_epoch(self, channel: ChannelId, build: Callable[[Drawn], Op]) -> None:
        """Publish an op with a new secret, built anew where another's epoch overtook it."""
        await self._caught_up.wait(channel)
        await self.epochs.open_all(channel)
        governance = await self._governance(channel)
        for left in reversed(range(OVERTAKEN)):
            begun = governance.now.epoch
            drawn = Drawn(system.draw(SECRET_SIZE), X25519PrivateKey.generate())
            try:
                await self._act(channel, build(drawn))
            except LocalError:
                if not left or governance.now.epoch == begun:
                    raise
                await self.epochs.open_all(channel)
            else:
                break
        await self.epochs.open_all(channel)  # our own: a code has it from now on

    async def set_role(self, channel: ChannelId, peer: PeerId, role: Role) -> None:
        """Give somebody who is in another role.

        Raises:
            LocalError: we may not, or they are not in; says which.
        """
        await self._governance(channel)
        await self._act(channel, SetRole(Key(bytes.fromhex(peer)), role))

    async def set_policy(self, channel: ChannelId, **fields: Access) -> None:
        """Say who may `write`, `invite`, set the `topic` and pin (`pins`); others stay as they are.

        Raises:
            LocalError: we may not, or it is so already.
        """
        policy = (await self._governance(channel)).now.policy
        await self._act(channel, SetPolicy(policy._replace(**fields)))

    async def leave(self, channel: ChannelId) -> bool:
        """Say that we go, unless we are out already or never were in.

        Returns whether that is over: somebody has heard it, or nobody is left to hear it. If not,
        `on_heard` is told once somebody has.

        Raises:
            LocalError: the op was refused, or the disk refused it.
        """
        governance = self._host.governance(channel)
        if governance is None or governance.now.role(self._key) is Role.NONE:
            return True
        heard = self._leaving[channel] = asyncio.Event()
        try:
            await self._act(channel, Leave())
            if not any(standing.member for standing in governance.now.people.values()):
                return True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(HEARD_WITHIN):
                    await heard.wait()
            return heard.is_set()
        finally:
            del self._leaving[channel]

    async def taken_up(self, channel: ChannelId) -> None:
        """Return once our ops of a channel are read from the disk.

        Raises:
            LocalError: nobody governs it, or there are none.
        """
        await self._governance(channel)

    async def _act(self, channel: ChannelId, op: Op) -> OpId:
        """Publish an op; the first of a run once the ops of somebody who is there are here.

        A profile that was restored from a backup would sign twice with one nonce.
        """
        await self._caught_up.wait(channel)
        return await self._host.act(channel, op)

    async def _governance(self, channel: ChannelId) -> Governance:
        """Return the governance of a channel of ours, whose ops may just be read from the disk.

        Raises:
            LocalError: nobody governs it, or it is not known yet who is in.
        """
        membership = self._host.membership(channel)
        if membership is None:
            raise LocalError(LEFT)
        if not membership.governed:
            raise LocalError(PLAIN)
        if self._host.governance(channel) is None:
            await self._host.settled()
        governance = self._host.governance(channel)
        if governance is None:
            raise LocalError(NOT_FOUNDED)
        return governance
