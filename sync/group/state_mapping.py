"""Between the state of a channel and its group: entries that stand, as effects."""

from sync.calimero.state.contents import StateKind
from sync.group import values
from sync.group.stating import StateNews
from sync.machine import ChannelId, PeerId


def stated(channel: ChannelId, news: StateNews, peer: PeerId | None) -> list[values.Effect]:
    """Return what entries that came are to the group, records first; `peer` brought them."""
    effects: list[values.Effect] = []
    kinds: set[StateKind] = set()
    authors: set[PeerId] = set()
    for entry, kept in news.taken:
        effects.append(values.StoreState(channel, entry.content))
        if kept.pushed_out is not None:
            effects.append(values.DropState(channel, kept.pushed_out.key))
            kinds.add(kept.pushed_out.kind)
        kinds.add(entry.kind)
        authors.add(PeerId(entry.author.hex()))
    if kinds:
        effects.append(values.StateChanged(frozenset(kinds), frozenset(authors)))
    if peer is not None:
        effects += [values.Refused(peer, reason) for reason in news.refused]
    return effects
