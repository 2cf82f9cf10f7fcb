"""Presence of others over time: nobody yet, cut off since when, back with whom.

A snapshot only says who is here now; the rest comes from comparing one snapshot with the next.
"""

from typing import Final

from msgspec import Struct

from chat_tui.keys.table import USUAL, Chosen, with_keys
from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import time_of_day
from chat_tui.wording import sentences, unreceived
from sync.machine import SECOND, ChannelId, Nanos
from sync.view.view import ChannelInfo, PeerState, Snapshot

PATIENCE: Final[Nanos] = 10 * SECOND
"""Time to find everybody on a network that works: two announcements of the others."""

LINKS_AGAIN: Final[Nanos] = 2 * SECOND
"""Time in which a link that was closed on purpose is back: somebody left another channel."""

BACK_WITHIN: Final[Nanos] = 60 * SECOND
"""Time in which who came back may compare histories, for that to be told as news."""

NOBODY: Final = "Nobody yet. Ask somebody to start it too; /doctor tests, {demo} shows a demo."


class Seen(Struct):
    """Presence of others in one channel, as last seen."""

    alone_since: Nanos | None
    met: bool = False
    """Whether anybody was here in this run."""
    looked_at: Nanos = 0
    back_since: Nanos | None = None
    """When somebody came back, until it is told what that brought."""
    had: int = 0
    """Messages that were here while nobody else was."""


class Company:
    """Looks at snapshots, and says what there is to say of who is here."""

    def __init__(self) -> None:
        self._seen: dict[ChannelId, Seen] = {}

    def look(self, snapshot: Snapshot, info: ChannelInfo) -> str:
        """Take note of who is in the channel; returns news of who came back, empty for none."""
        seen = self._seen.setdefault(info.channel, Seen(snapshot.now))
        before, seen.looked_at = seen.looked_at, snapshot.now
        if not sentences.peers_of(snapshot, info):
            seen.back_since = None
            if seen.alone_since is None:
                seen.alone_since = snapshot.now
            seen.had = _held(info)
            return ""
        if seen.alone_since is not None and seen.met:
            seen.back_since = before
        seen.alone_since, seen.met = None, True
        return self._news(seen, snapshot, info)

    def _news(self, seen: Seen, snapshot: Snapshot, info: ChannelInfo) -> str:
        """Return what coming back has brought, once that is known; empty if it brought nothing.

        What several bring or lack may be the same, and some is no message, so no sum is told.
        """
        if seen.back_since is None:
            return ""
        since = seen.back_since
        sessions = [
            one
            for one in snapshot.sessions
            if one.channel == info.channel and one.began_at >= since
        ]
        held = max(0, _held(info) - seen.had)  # what is set aside meanwhile is no more here
        got = min(sum(one.got for one in sessions), held)
        gave = max((one.have for one in sessions), default=0)
        if not (got or gave) or any(one.ended_at is None for one in sessions):
            if snapshot.now - since > BACK_WITHIN:
                seen.back_since = None
            return ""
        seen.back_since = None
        names = dict.fromkeys(sentences.name_of(snapshot, one.peer) for one in sessions)
        return f"Back with {', '.join(names)}: {got:,} received, {gave:,} sent."

    def sentence(self, snapshot: Snapshot, info: ChannelInfo | None, chosen: Chosen = USUAL) -> str:
        """Return what to say while nobody is here; empty where there is more to say than that."""
        seen = None if info is None else self._seen.get(info.channel)
        if info is None or seen is None or seen.alone_since is None or info.missing_count:
            return ""
        if _somebody_up(snapshot):
            return ""  # they are on the network, and `reports` says how they get here
        if info.direct is not None:
            return ""  # who is away there has a name, and nobody else is awaited
        if seen.met:
            if snapshot.now - seen.alone_since < LINKS_AGAIN:
                return ""
            return _cut_off(snapshot, seen.alone_since, info)
        if info.outgoing_count or snapshot.port is None:
            return ""
        if snapshot.now - seen.alone_since < PATIENCE:
            return f"{clean_text(snapshot.network).rstrip('.')} (nobody yet)."
        return with_keys(NOBODY, chosen)

    def hint(
        self, snapshot: Snapshot, info: ChannelInfo | None, chosen: Chosen = USUAL
    ) -> tuple[str, ...]:
        """Return what else to do, as lines for the empty conversation of who has met nobody."""
        seen = None if info is None else self._seen.get(info.channel)
        if seen is None or seen.alone_since is None or seen.met:
            return ()
        if _somebody_up(snapshot) or (info is not None and info.direct is not None):
            return ()
        if seen.looked_at - seen.alone_since < PATIENCE:
            return ()
        return (
            "",
            "Nobody is here yet. Ask somebody on this network to start chat-tui.",
            "/doctor tests the network; /connect host:port dials an address.",
            with_keys("{demo} shows how it works, with pretend people.", chosen),
        )


def _somebody_up(snapshot: Snapshot) -> bool:
    """Return whether anybody is on the network, in whatever channel."""
    return any(peer.state is PeerState.UP for peer in snapshot.peers)


def _held(info: ChannelInfo) -> int:
    """Return how many messages are here, in their places or not yet."""
    return info.messages + info.loading + info.waiting_count


def _cut_off(snapshot: Snapshot, since: Nanos, info: ChannelInfo) -> str:
    if snapshot.port is None:  # there is no network, and this says what to do
        return f"Cut off since {time_of_day(since)}. {clean_text(snapshot.network)}"
    waiting = info.outgoing_count
    verb = "waits" if waiting == 1 else "wait"
    waits = f" {unreceived.said(info)} {verb}." if waiting else ""
    return f"Cut off since {time_of_day(since)}, or all have left. You can keep writing.{waits}"
