"""Words for where somebody is: here, away as they say themselves, or gone since a time.

Rule: `away` is said only of who says so. Who has no link is gone, since they were heard of last.
"""

from typing import Final

from chat_tui.text.safe_text import clean_text, clip_cells
from chat_tui.text.times import milliseconds, since
from chat_tui.wording import clocks
from sync.machine import PeerId
from sync.structures.made_once import made_once
from sync.view.view import ChannelInfo, PeerInfo, PeerState, Snapshot

AWAY_CELLS: Final = 40
"""Of why somebody is away, beside their name."""

ELSEWHERE: Final = "here, not in this channel"
"""Said of the other end of a channel of two who has not taken it up, or has left it."""


def met(snapshot: Snapshot, peer: PeerId) -> PeerInfo | None:
    """Return what is known of somebody; None if they were never met."""
    return _met(snapshot).get(peer)


@made_once
def _met(snapshot: Snapshot) -> dict[PeerId, PeerInfo]:
    """Return everybody by key: a list of hundreds of people asks for each of them."""
    return {one.peer: one for one in snapshot.peers}


def presence(snapshot: Snapshot, peer: PeerInfo) -> list[str]:
    """Return whether a peer is here, and what its link measures."""
    if peer.state is PeerState.DOWN:
        return [gone_since(snapshot, peer)]
    words = ["comparing histories" if peer.syncing else "here"]
    if peer.away:
        words = [f"away: {away_words(peer)}"]
    if peer.address:
        words.append(clean_text(peer.address))
    if peer.rtt_ns is not None:
        words.append(milliseconds(peer.rtt_ns))
    if peer.clock_offset_ns is not None:
        words.append(f"clock {clocks.offset(peer.clock_offset_ns)}")
    if peer.waiting:
        words.append(f"{peer.waiting:,} of its messages wait: it sends more than can be read")
    return words


def away_words(peer: PeerInfo) -> str:
    """Return why a peer says it is away, safe to show, in one line."""
    return clip_cells(" ".join(clean_text(peer.away).split()), AWAY_CELLS)


def whereabouts(snapshot: Snapshot, peer: PeerInfo) -> str:
    """Return whether a peer is here, in a word or few."""
    if peer.state is PeerState.DOWN:
        return gone_since(snapshot, peer)
    return "away" if peer.away else "here"


def gone_since(snapshot: Snapshot, peer: PeerInfo) -> str:
    """Return since when somebody is gone, as `gone since 14:02`."""
    return "gone" if peer.last_seen_ns is None else f"gone since {_seen(snapshot, peer)}"


def gone_shortly(snapshot: Snapshot, peer: PeerInfo) -> str:
    """Return the same for a narrow list, as `gone 14:02` or `gone 21 Nov`."""
    if peer.last_seen_ns is None:
        return "gone"
    return f"gone {since(peer.last_seen_ns, snapshot.now, short=True)}"


def seen(snapshot: Snapshot, peer: PeerInfo) -> str:
    """Return when somebody who is gone was heard of last, as `14:02`; empty if nobody knows."""
    return "" if peer.last_seen_ns is None else since(peer.last_seen_ns, snapshot.now, short=True)


def other_end(snapshot: Snapshot, info: ChannelInfo) -> PeerInfo | None:
    """Return the other one of a channel of two; None if it is none, or they were never met."""
    return None if info.direct is None else met(snapshot, info.direct)


def of_two(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return where the other one of a channel of two is."""
    peer = other_end(snapshot, info)
    if peer is None:
        return "not here"
    if peer.state is PeerState.UP and peer.peer not in info.peers:
        return ELSEWHERE
    return f"away: {away_words(peer)}" if peer.away else whereabouts(snapshot, peer)


def of_member(snapshot: Snapshot, peer: PeerId, *, short: bool = False) -> str:
    """Return where somebody is who may never have been met; empty of who was not."""
    if peer == snapshot.me:
        return "you"
    known = met(snapshot, peer)
    if known is None:
        return ""
    is_gone = short and known.state is PeerState.DOWN
    return gone_shortly(snapshot, known) if is_gone else whereabouts(snapshot, known)


def _seen(snapshot: Snapshot, peer: PeerInfo) -> str:
    assert peer.last_seen_ns is not None
    return since(peer.last_seen_ns, snapshot.now)
