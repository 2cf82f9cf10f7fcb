"""Levels of a governed channel on a link: what somebody gets of it, by who they are.

| the peer proves | level | it gets |
|---|---|---|
| an epoch, and is in | full | everything |
| the newest epoch, and is not known | governance | all ops; it may push a join |
| an ended epoch, and is not known | notice | no op, but that its code has ended |
| an epoch, and is out | stub | the op that took it out, and what that stands on |
| nothing | none | nothing |

Authority is the key and the projection at our heads, never the secret: it only says that somebody
knows of the channel. Whoever is not in exchanges ops alone, with whoever proves an epoch.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Final, TypeAlias

from sync.machine import ChannelId, PeerId
from sync.net.links.channel_proofs import Membership
from sync.net.links.channel_secrets import ChannelSecrets
from sync.net.links.frames import Told

IsIn: TypeAlias = Callable[[PeerId, ChannelId], bool | None]
"""Whether somebody is in a governed channel; False: was in, and is out; None: is not known."""


class Level(IntEnum):
    """Level of a governed channel on a link, rising."""

    NONE = 0
    NOTICE = 1
    STUB = 2
    GOVERNANCE = 3
    FULL = 4


NOTICES: Final = {Level.NOTICE: Told.ENDED, Level.STUB: Told.OUT}
"""Notices to peers who reach a level."""


class Levels:
    """Decides levels by what peers have proved and by who is in."""

    def __init__(self, me: PeerId, secrets: ChannelSecrets, is_in: IsIn) -> None:
        self._me = me
        self._secrets = secrets
        self._is_in = is_in

    def hides(self, peer: PeerId, channel: ChannelId) -> bool:
        """Return whether a peer is out, and gets no proof unless it proves the newest epoch."""
        return self._secrets.is_governed(channel) and self._is_in(peer, channel) is False

    def level(self, peer: PeerId, proofs: Membership, channel: ChannelId) -> Level:
        """Return the level of a governed channel on a link, by what is known now."""
        if channel not in proofs.proved:
            return Level.NONE
        peer_in, here = self._is_in(peer, channel), self._is_in(self._me, channel)
        if peer_in is False:
            return Level.STUB
        if here is not True:
            return Level.GOVERNANCE
        if peer_in:
            return Level.FULL
        return Level.GOVERNANCE if self.has_newest(proofs, channel) else Level.NOTICE

    def has_newest(self, proofs: Membership, channel: ChannelId) -> bool:
        """Return whether a peer has proved the newest epoch on a link."""
        newest = self._secrets.newest(channel)
        return newest is not None and proofs.has_heard(newest.secret)

    def takes_ops(self, level: Level, proofs: Membership, channel: ChannelId) -> bool:
        """Return whether a peer may push ops: members, who joins, and who asks to be let in again.

        What such a one tells of its heads is heard as well: an op is pushed once, and may be lost.

        Others who are out know the ops of before, which members have; what they signed alone since
        is judged where members bring it.
        """
        if level is Level.STUB:
            return self.has_newest(proofs, channel)
        return level >= Level.GOVERNANCE
