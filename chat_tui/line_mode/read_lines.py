"""Read marks in line mode: who has read which of our newest lines, each reader of it said once."""

from collections.abc import Iterable
from typing import Final

from chat_tui.model.channel_marks import READERS_NAMED, words
from chat_tui.wording import sentences
from chat_tui.wording.channel_state import quoted
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.view import ChannelInfo, Line, Snapshot

LINES_MAX: Final = 64
"""Own lines of a channel that are remembered: marks are of the newest ones."""

READERS_SAID: Final = READERS_NAMED
"""Readers of a line that are said: a crowd would bury the conversation; /info names all."""


class ReadLines:
    """See the module docstring."""

    def __init__(self) -> None:
        self._own: dict[ChannelId, dict[MessageId, Line]] = {}
        self._said: dict[ChannelId, dict[MessageId, set[PeerId]]] = {}

    def note(self, line: Line) -> None:
        """Remember a line of ours."""
        if not line.own or line.act is not None or line.pending or line.parked:
            return
        own = self._own.setdefault(line.channel, {})
        own[line.message_id] = line
        if len(own) > LINES_MAX:
            del own[next(iter(own))]

    def news(self, snapshot: Snapshot, info: ChannelInfo, readers: Iterable[PeerId]) -> list[str]:
        """Return a sentence for each line of ours that is the newest that some have read now."""
        own = self._own.get(info.channel, {})
        said = self._said.setdefault(info.channel, {})
        found: dict[MessageId, list[PeerId]] = {}
        for peer in sorted(set(readers) - {snapshot.me}):
            mark = info.state.read(peer)
            if mark is None:
                continue
            place = (mark.lamport, mark.message_id)
            reached = [line for line in own.values() if line.position <= place]
            if not reached:
                continue
            newest = max(reached, key=lambda line: line.position)
            told = said.setdefault(newest.message_id, set())
            if peer not in told and len(told) < READERS_SAID:
                told.add(peer)
                found.setdefault(newest.message_id, []).append(peer)
        for gone in said.keys() - own.keys():
            del said[gone]
        return [f"{quoted(own[one])} {_by(snapshot, peers)}." for one, peers in found.items()]


def _by(snapshot: Snapshot, peers: Iterable[PeerId]) -> str:
    return words(sorted([sentences.name_of(snapshot, peer) for peer in peers]))
