"""Secrets of our governed channels: opened from ops, kept on the disk, changed when that is due.

The only one who unwraps. What was opened is on the disk before anybody is shown a proof of it; a
crash before that loses nothing, for the op has it wrapped for us.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from sync.calimero.governance.epochs import rotation_wanted
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import EpochSecret, tag_of
from sync.calimero.governance.opening import Reader, epochs_of, opened
from sync.calimero.governance.ops import Epoch, Key, OpId, Remove, Role, Rotate
from sync.calimero.governance.wire import decode
from sync.entries.identity import Identity
from sync.entries.membership import Membership
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.net import clock as system
from sync.net.governance.key_store import KeyStore

OPENED_AT_ONCE: Final = 16
"""Ops whose epochs are loaded together: 1 MiB of the largest."""

LOOSE_MAX: Final = 8
"""Secrets of a channel whose epochs are not known: those of codes."""

ROTATE_AFTER: Final = (5.0, 30.0)
"""Seconds, drawn between these, until an admin's node rotates because that is wanted; another
admin's was faster, then."""

ROTATE_LATER_MAX: Final = 3600.0
"""Seconds between two rotations of our own accord, at most: each doubles the time before the next,
so that nobody who can make them wanted fills the channel."""


class Host(Protocol):
    """The node, as far as secrets lead back to it."""

    def governance(self, channel: ChannelId) -> Governance | None:
        """Return the governance of a channel; None until its genesis is here."""

    async def load_ops(self, channel: ChannelId, ops: Iterable[OpId]) -> tuple[bytes, ...]:
        """Return the bytes of ops that are here."""

    def learn_epoch(self, channel: ChannelId, secret: EpochSecret) -> None:
        """Prove a channel by a secret from now on."""


@dataclass(slots=True)
class _Seen:
    """Ops of a channel whose epochs were looked at."""

    read: set[bytes] = field(default_factory=set)
    """All that they wrap is known."""
    tried: set[bytes] = field(default_factory=set)
    """Nothing that was known then opened them."""


class Epochs:
    """See the module docstring."""

    def __init__(self, identity: Identity, store: KeyStore, host: Host) -> None:
        self.rotate_after = ROTATE_AFTER
        self._reader = Reader(Key(identity.public_key), identity.noise_key)
        self._store = store
        self._host = host
        self._known: dict[ChannelId, dict[bytes, EpochSecret]] = {}
        """Secrets by the ops that began their epochs."""
        self._loose: dict[ChannelId, list[bytes]] = {}
        """Secrets whose epochs are not known yet; the first that came goes first."""
        self._opened_ops: dict[ChannelId, _Seen] = {}
        self._opening: dict[ChannelId, asyncio.Lock] = {}
        self._waits: dict[ChannelId, float] = {}
        """Seconds that the next rotation of our own accord waits longer, by channel."""
        self._random = random.Random(system.draw(32))  # noqa: S311  # only delays

    async def load(self, membership: Membership) -> None:
        """Take up the secrets of a channel from the disk.

        Raises:
            StorageError: the disk cannot be read.
        """
        channel = membership.channel
        kept = await self._store.epochs(channel)
        self._known[channel] = {secret.op: secret for secret in kept}
        for secret in kept:
            self._host.learn_epoch(channel, secret)
        self.add_loose(membership, membership.secret)
        for ticket in await self._store.tickets(channel):
            if ticket.secret is not None:
                self.add_loose(membership, ticket.secret)

    def add_loose(self, membership: Membership, secret: bytes) -> None:
        """Take a secret up whose epoch is not known yet, as that of a code: it proves already."""
        channel = membership.channel
        assert membership.genesis is not None
        loose = self._loose.setdefault(channel, [])
        known = {one.secret for one in self._known.setdefault(channel, {}).values()}
        if secret in known or secret in loose:
            return
        loose.append(secret)
        del loose[:-LOOSE_MAX]
        self._try_again(channel)
        self._host.learn_epoch(channel, EpochSecret(0, membership.genesis, secret))

    def drop(self, channel: ChannelId) -> None:
        """Forget a channel; the disk keeps what it has."""
        for table in (
            self._known,
            self._loose,
            self._opened_ops,
            self._opening,
            self._waits,
        ):
            table.pop(channel, None)

    def known(self, channel: ChannelId) -> Mapping[bytes, bytes]:
        """Return the secrets of a channel by the ops that began their epochs."""
        governance, loose = self._host.governance(channel), self._loose.get(channel)
        secrets = {op: one.secret for op, one in self._known.get(channel, {}).items()}
        if governance is not None and loose and not governance.projection.relations.epochs:
            secrets.setdefault(governance.dag.acts[0].id, loose[-1])  # there is no other epoch
        return secrets

    def newest(self, channel: ChannelId) -> bytes:
        """Return the secret of the newest epoch that counts.

        Raises:
            LocalError: it has not come here yet.
        """
        governance = self._host.governance(channel)
        known = self.known(channel)
        if governance is not None:
            secret = known.get(governance.dag.acts[governance.now.epoch].id)
            if secret is not None:
                return secret
        raise LocalError(
            "The channel's newest secret has not come here yet: wait until another member is here."
        )

    async def open_all(self, channel: ChannelId) -> None:
        """Open what the ops that are here wrap for us, and keep it.

        Raises:
            StorageError: the disk refused; the next call opens it.
        """
        async with self._opening.setdefault(channel, asyncio.Lock()):
            while (governance := self._host.governance(channel)) is not None:
                news = await self._open_some(channel, governance)
                if not news:
                    return
                await self._store.keep_epochs(channel, news)
                known = self._known.get(channel)
                if known is None:
                    return  # we left meanwhile
                for secret in news:
                    known[secret.op] = secret
                    self._host.learn_epoch(channel, secret)
                placed = {one.secret for one in known.values()}
                loose = self._loose.get(channel, [])
                loose[:] = [one for one in loose if one not in placed]

    async def _open_some(self, channel: ChannelId, governance: Governance) -> list[EpochSecret]:
        """Return secrets that were not known, of a few ops, the newest first.

        With an op's own secret come those before it, so of many the newest is often enough.
        """
        seen = self._seen(channel, governance)
        lacking = [op for op in epochs_of(governance) if op not in seen.read]
        known = self._known[channel]
        lacking = [op for op in lacking if op in known or op not in seen.tried]
        for first in range(0, len(lacking), OPENED_AT_ONCE):
            some = lacking[first : first + OPENED_AT_ONCE]
            news: dict[bytes, EpochSecret] = {}
            for content in await self._host.load_ops(channel, some):
                op = decode(content)
                assert isinstance(op.op, Remove | Rotate)
                seen.tried.add(op.id)
                for secret in self._opened(channel, governance, op.id, op.op.epoch):
                    seen.read.add(op.id)
                    news.setdefault(secret.op, secret)
            fresh = [secret for secret in news.values() if secret.op not in known]
            if fresh:
                return fresh
        return []

    def _seen(self, channel: ChannelId, governance: Governance) -> "_Seen":
        """Return which ops need not be read; after a start those whose secrets are all known."""
        seen = self._opened_ops.get(channel)
        if seen is None:
            seen = self._opened_ops[channel] = _Seen()
            known = self._known[channel]
            begun = epochs_of(governance)
            if governance.dag.acts[0].id in known and known.keys() >= set(begun):
                seen.read.update(begun)
        return seen

    def _opened(
        self, channel: ChannelId, governance: Governance, op: OpId, epoch: Epoch
    ) -> list[EpochSecret]:
        known, loose = self._known[channel], self._loose.get(channel, ())
        secrets = {one: secret.secret for one, secret in known.items()}
        return opened(governance, op, epoch, self._reader, secrets, loose)

    async def on_secret(self, channel: ChannelId, secret: EpochSecret) -> None:
        """Keep a secret that a member handed over, and that opens what its op wraps.

        Raises:
            StorageError: the disk refused; it is handed over again on the next link.
        """
        known = self._known.get(channel)
        if known is not None and secret.op not in known:
            await self._store.keep_epochs(channel, [secret])
            known[secret.op] = secret
            await self.open_all(channel)

    def _try_again(self, channel: ChannelId) -> None:
        """Have ops read again that nothing opened: there is another secret."""
        if channel in self._opened_ops:
            self._opened_ops[channel].tried.clear()

    # --- Rotations of our own accord -----------------------------------------------------------

    def rotates(self, channel: ChannelId) -> bool:
        """Return whether we are an admin and the secret should change."""
        governance = self._host.governance(channel)
        if governance is None or governance.now.role(self._reader.key) < Role.ADMIN:
            return False
        if rotation_wanted(governance, governance.now) is not None:
            return True
        newest = governance.dag.acts[governance.now.epoch]
        wrapped = tag_of(self._reader.key) in governance.dag.tags_of(newest)
        return wrapped and newest.id not in self.known(channel)  # what opens nothing

    async def rotate_when_due(
        self, channel: ChannelId, rotate: Callable[[ChannelId], Awaitable[object]]
    ) -> None:
        """Wait for another admin's node to rotate, and rotate if none does."""
        longer = self._waits.get(channel, 0.0)
        await asyncio.sleep(self._random.uniform(*self.rotate_after) + longer)
        if not self.rotates(channel):
            return
        self._waits[channel] = min(max(2 * longer, self.rotate_after[1]), ROTATE_LATER_MAX)
        await rotate(channel)
