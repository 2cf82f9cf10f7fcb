"""Secrets that members hand over: kept until the op of their epoch is here, then believed or not.

A secret is believed if it opens one that its epoch wraps under it (`keys.open_older`): only the
true one does. The secret of the genesis wraps none, and is never taken this way: it comes with a
code, or under a later one.
"""

from collections.abc import Callable, Sequence
from typing import Final

from sync.calimero.governance.keys import EpochName, EpochSecret, open_older
from sync.calimero.governance.ops import OpId, Remove, Rotate
from sync.calimero.governance.wire import decode
from sync.errors import DecodeError
from sync.machine import ChannelId, PeerId

KEPT_MAX: Final = 64
"""Secrets kept that wait for their op, of all channels; the first that came goes first."""

KEPT_OF_A_PEER_MAX: Final = 8
"""The same of one peer: one of each channel that it might have with us newly."""


class HandedOver:
    """See the module docstring; `believed` is told, `refused(who, reason)` counts what is wrong."""

    def __init__(
        self,
        believed: Callable[[ChannelId, EpochSecret], None],
        refused: Callable[[str, str], None],
    ) -> None:
        self._believed = believed
        self._refused = refused
        self._kept: dict[tuple[ChannelId, bytes, PeerId], EpochSecret] = {}

    def __repr__(self) -> str:
        return f"HandedOver({len(self._kept)} waiting)"

    def keep(self, peer: PeerId, channel: ChannelId, given: EpochSecret) -> None:
        """Keep a secret until its op can be looked at."""
        of_peer = [at for at in self._kept if at[2] == peer]
        if len(of_peer) >= KEPT_OF_A_PEER_MAX:
            del self._kept[of_peer[0]]
        self._kept[channel, given.op, peer] = given
        if len(self._kept) > KEPT_MAX:
            del self._kept[next(iter(self._kept))]

    def awaited(self, channel: ChannelId, ops: Sequence[OpId]) -> list[OpId]:
        """Return which of the ops that came are those of secrets that wait."""
        waits = {op for at, op, _ in self._kept if at == channel}
        return [op for op in ops if op in waits]

    def check(self, channel: ChannelId, content: bytes) -> None:
        """See which of the secrets for an op, of its bytes, are right."""
        try:
            op = decode(content)
        except DecodeError:
            return  # it has rotted; it comes again
        for at in [one for one in self._kept if one[:2] == (channel, op.id)]:
            given = self._kept.pop(at)
            if isinstance(op.op, Remove | Rotate) and op.op.epoch.number == given.number:
                name = EpochName(op.signed.group, op.signed.signer, given.number)
                if any(open_older(name, op.op.epoch, given.secret)):
                    self._believed(channel, given)
                    continue
            self._refused(at[2], "the secret of an epoch that it handed over is not the right one")
