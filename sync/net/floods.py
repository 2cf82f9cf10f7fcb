"""Notices about peers that send more than is read, repeated only after a while."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sync.entries.identity import short_fingerprint
from sync.machine import MINUTE, SECOND, Nanos, PeerId
from sync.view.view import Level, Notice

MANY: Final = 128
"""Frames of one peer that wait before it is worth a word; a pasted page is fewer."""

LASTING: Final[Nanos] = 2 * SECOND
"""Time for which they must have been so many: what is read within that disturbs nobody."""

AGAIN_AFTER: Final[Nanos] = 10 * MINUTE
"""Between two notices about one peer."""

FLOOD: Final = (
    "{who} sends more than can be read: {count:,} of its messages wait, and nobody else's wait for "
    "them. /block {key} keeps it out."
)


@dataclass(slots=True)
class Floods:
    """See the module docstring; `nick_of` returns what a peer is called, in its own bytes."""

    nick_of: Callable[[PeerId], str | None]
    _since: dict[PeerId, Nanos] = field(default_factory=dict)
    _told: dict[PeerId, Nanos] = field(default_factory=dict)

    def look(self, backlog: Mapping[PeerId, int], now: Nanos) -> list[Notice]:
        """Return what to tell now; `backlog` has how many frames of which peers wait."""
        many = {peer: count for peer, count in backlog.items() if count >= MANY}
        self._since = {peer: self._since.get(peer, now) for peer in many}
        self._told = {peer: at for peer, at in self._told.items() if now - at < AGAIN_AFTER}
        lasting = [peer for peer, since in self._since.items() if now - since >= LASTING]
        news = [peer for peer in lasting if peer not in self._told]
        self._told.update(dict.fromkeys(news, now))
        return [self._notice(peer, many[peer]) for peer in news]

    def _notice(self, peer: PeerId, count: int) -> Notice:
        key = short_fingerprint(peer)
        nick = "".join(filter(str.isprintable, self.nick_of(peer) or ""))
        who = f"{nick} ({key})" if nick else key
        return Notice(FLOOD.format(who=who, count=count, key=key), Level.INFO)
