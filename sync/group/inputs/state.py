"""Take in state entries, of peers and ours, and compare roots."""

from sync.calimero.state.contents import StateKind
from sync.errors import LocalError
from sync.group import values
from sync.group.governing import NOT_FOUNDED
from sync.group.machines import Machines
from sync.group.stating import StateNews
from sync.machine import ChannelId, PeerId
from sync.sessions import values as session_values


def on_state(
    group: Machines, event: values.SetState | values.StateArrived | values.RootTold
) -> list[values.Effect]:
    """Take in state entries of a peer, or its root, or set a register of ours."""
    reference = group.now + group.aside.offset
    if isinstance(event, values.RootTold):
        root = group.stating.registers.tree.root
        differs = group.state_beats.heard(event.peer, event.root, root, group.now)
        return [values.StateDiffers(event.peer)] if differs else []
    if isinstance(event, values.StateArrived):
        return take_news(group, group.stating.on_live(event, reference, group.now), event.peer)
    heads = () if group.governing is None else group.governing.cut()
    if group.governing is not None and not heads:
        raise LocalError(NOT_FOUNDED)
    taken = group.stating.on_set(event, reference, heads)
    ours = tuple([one.entry.content for one in taken])
    effects = take_news(group, StateNews(taken))
    return [*effects, values.StateSet(event.token), values.TellState(ours)]


def on_brought(group: Machines, brought: session_values.AcceptedState) -> list[values.Effect]:
    """Take in what a session brought; who brings what is false ends it."""
    news = group.stating.on_brought(brought.contents, group.now + group.aside.offset)
    effects = take_news(group, news, brought.peer)
    if news.refused:
        refused = session_values.EntryRefused(brought.session, news.refused[0])
        effects += group.feed_sessions(refused)
    return effects


def take_news(group: Machines, news: StateNews, peer: PeerId | None = None) -> list[values.Effect]:
    """Keep entries that stand now, and tell what is different by them."""
    effects = _stated(group.channel, news, peer)
    if group.governing is not None and news.lacking:
        effects += group.lack_ops(peer, group.governing.governance.dag.missing(news.lacking))
    return effects


def _stated(channel: ChannelId, news: StateNews, peer: PeerId | None) -> list[values.Effect]:
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
