"""Secrets of the channels we are in: one for a channel that nobody governs, else one an epoch.

Rules:
1. A secret leaves here to prove a channel, and to be handed over; it is never printed.
2. All epochs are tried on what peers prove. Shown are the newest, a few before it, and those that
   the peer has proved.
3. The newest is what the projection says, never the epoch of an op that came to nothing.
"""

from collections.abc import Iterator
from typing import Final

from sync.calimero.governance.keys import EpochSecret
from sync.machine import ChannelId

EPOCHS_SHOWN_MAX: Final = 8
"""Epochs of a channel that are proved unasked: the newest, and seven for those who were away."""

EPOCHS_KNOWN_MAX: Final = 1_024
"""Epochs of a channel that are tried: twice as many as it may have members. Of more, those with the
lowest numbers go; each link has 32 bytes an epoch."""


def plain(secret: bytes) -> tuple[EpochSecret, ...]:
    """Return the secret of a channel that nobody governs, as its only one."""
    return (EpochSecret(0, b"", secret),)


class ChannelSecrets:
    """See the module docstring."""

    def __init__(self) -> None:
        self._known: dict[ChannelId, tuple[EpochSecret, ...]] = {}
        """Highest number first."""
        self._newest: dict[ChannelId, bytes] = {}
        """The op of the newest epoch, as the projection has it."""

    def __repr__(self) -> str:
        return f"ChannelSecrets({len(self._known)} channels)"

    def __contains__(self, channel: object) -> bool:
        return channel in self._known

    def __iter__(self) -> Iterator[ChannelId]:
        return iter(self._known)

    def set_plain(self, channel: ChannelId, secret: bytes) -> None:
        """Keep the only secret of a channel that nobody governs."""
        self._known[channel] = plain(secret)

    def add_epoch(self, channel: ChannelId, epoch: EpochSecret) -> bool:
        """Keep the secret of an epoch; returns whether it is news.

        A secret that is here under another epoch is of this one from now on: who joins by a code
        learns only later which epoch its secret is of.
        """
        known = self._known.get(channel, ())
        if epoch in known:
            return False
        others = [one for one in known if epoch.op != one.op and epoch.secret != one.secret]
        ordered = sorted([*others, epoch], key=lambda one: (one.number, one.op), reverse=True)
        self._known[channel] = tuple(ordered[:EPOCHS_KNOWN_MAX])
        return True

    def set_newest(self, channel: ChannelId, op: bytes) -> None:
        """Learn which op began the newest epoch that counts."""
        self._newest[channel] = op

    def drop(self, channel: ChannelId) -> None:
        """Forget a channel: we left it."""
        self._known.pop(channel, None)
        self._newest.pop(channel, None)

    def is_governed(self, channel: ChannelId) -> bool:
        """Return whether a channel has epochs."""
        known = self._known.get(channel, ())
        return bool(known) and known[0].op != b""

    def known(self, channel: ChannelId) -> tuple[EpochSecret, ...]:
        """Return all secrets of a channel, the newest first; none if we are not in it."""
        known, op = self._known.get(channel, ()), self._newest.get(channel)
        if op is None or not known or known[0].op == op:
            return known
        return tuple(sorted(known, key=lambda one: one.op != op))

    def newest(self, channel: ChannelId) -> EpochSecret | None:
        """Return the secret of the newest epoch; None if it is not here.

        Until ops say which epoch is the newest, it is the one with the highest number.
        """
        known = self.known(channel)
        op = self._newest.get(channel)
        return known[0] if known and op in (None, known[0].op) else None

    def shown(self, channel: ChannelId) -> tuple[EpochSecret, ...]:
        """Return the secrets that are proved unasked, the newest first."""
        return self.known(channel)[:EPOCHS_SHOWN_MAX]
