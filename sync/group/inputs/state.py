"""Take in state entries, of peers and ours, and compare roots."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from sync.calimero.state.contents import Held, Read, StateKind
from sync.calimero.state.registers import Kept
from sync.errors import LocalError
from sync.group import values
from sync.group.governing import NOT_FOUNDED
from sync.group.machines import Machines
from sync.group.stating import StateNews, Taken
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds import events as sds
from sync.sessions import values as session_values

WANTED_MAX: Final = 64
"""Messages of ours that one mark is asked about: the oldest that nobody has acknowledged."""


def on_state(
    group: Machines,
    event: values.SetState | values.StateArrived | values.RootTold | values.HeldLoaded,
) -> list[values.Effect]:
    """Take in state entries of a peer, its root, or what its mark proves, or set a register."""
    reference = group.now + group.aside.offset
    if isinstance(event, values.HeldLoaded):
        return group.feed_sds(sds.HeldBy(event.peer, event.message_ids))
    if isinstance(event, values.RootTold):
        root = group.stating.registers.tree.root
        differs = group.state_beats.heard(event.peer, event.root, root, group.now)
        return [values.StateDiffers(event.peer)] if differs else []
    if isinstance(event, values.StateArrived):
        if group.snapshots.holds_back:
            group.state_beats.missed(event.peer)
            return []  # it comes with the snapshot, or by a session
        return take_news(group, group.stating.on_live(event, reference, group.now), event.peer)
    heads = () if group.governing is None else group.governing.cut()
    if group.governing is not None and not heads:
        raise LocalError(NOT_FOUNDED)
    taken = group.stating.on_set(event, reference, heads)
    ours = tuple([one.entry.content for one in taken])
    effects = take_news(group, StateNews(taken))
    told = [values.TellState(ours)] if ours else []  # a frame of no entries is refused
    return [*effects, values.StateSet(event.token), *told]


def on_brought(group: Machines, brought: session_values.AcceptedState) -> list[values.Effect]:
    """Take in what a session brought; who brings what is false ends it."""
    news = group.stating.on_brought(brought.contents, group.now + group.aside.offset)
    effects = take_news(group, news, brought.peer)
    if news.refused:
        refused = session_values.EntryRefused(brought.session, news.refused[0])
        effects += group.feed_sessions(refused)
    return effects


def followed(group: Machines, beat: Nanos) -> list[values.Effect]:
    """Tell our root and what we hold, if it is time; `beat` is when the root is due."""
    effects: list[values.Effect] = []
    if beat <= group.now:
        root = group.stating.registers.tree.root
        if told := group.state_beats.due(root, group.now):
            effects += _renewed(group)
            root = group.stating.registers.tree.root
            effects.append(values.TellRoot(tuple(told), root))
    if not group.snapshots.holds_back:
        effects += [values.StateDiffers(peer) for peer in group.state_beats.to_compare()]
    if group.stating.counts:
        group.held_marks.grown(len(group.sds.log.order), group.now)
    marked = group.held_marks.deadline()
    if marked is not None and marked <= group.now:
        effects += _mark(group)
    return effects


def _renewed(group: Machines) -> list[values.Effect]:
    """Sign anew what a wrong clock put so far ahead that nobody else keeps it."""
    reference = group.now + group.aside.offset
    heads = () if group.governing is None else group.governing.cut()
    if not group.stating.is_ahead(reference) or (group.governing is not None and not heads):
        return []
    taken = group.stating.renewed(reference, heads)
    if not taken:
        return []
    ours = tuple([one.entry.content for one in taken])
    return [*take_news(group, StateNews(taken)), values.TellState(ours)]


def _mark(group: Machines) -> list[values.Effect]:
    """Sign and tell what we hold; who may not set anything here tells nothing."""
    tips = [(lamport, one.message_id) for lamport, one in group.sds.log.tips.values()]
    gaps = len(group.sds.incoming.missing) + len(group.sds.incoming.lost)
    held = group.held_marks.due(tips, gaps, group.now)
    heads = () if group.governing is None else group.governing.cut()
    if held is None or (group.governing is not None and not heads):
        return []
    try:
        taken = group.stating.set(held, group.now + group.aside.offset, heads)
    except LocalError:
        return []
    effects = take_news(group, StateNews((taken,)))
    return [*effects, values.TellState((taken.entry.content,))]


def restored(group: Machines) -> list[values.Effect]:
    """Look what the marks on the disk prove."""
    marks = group.stating.registers.of_kind(StateKind.HELD).values()
    return proofs_of(group, [Taken(mark, Kept()) for mark in marks])


def proofs_of(group: Machines, taken: Sequence[Taken]) -> list[values.Effect]:
    """Look what the marks of others prove of our messages that nobody has acknowledged.

    Who says to have read a line has it; of what stands before it nothing is known by that.
    """
    effects: list[values.Effect] = []
    wanted = tuple(islice(group.sds.outgoing.pending, WANTED_MAX))
    for entry, _ in taken:
        peer = PeerId(entry.author.hex())
        if not wanted or peer == group.author.me:
            continue
        match entry.says:
            case Held(heads=heads, gaps=0):
                named = tuple([MessageId(head.hex()) for head in heads])
                effects.append(values.LoadHeld(peer, named, wanted))
            case Held(heads=heads):
                effects += _held_by(group, peer, heads)
            case Read(message_id=message_id):
                effects += _held_by(group, peer, (message_id,))
            case _:
                pass
    return effects


def _held_by(group: Machines, peer: PeerId, named: Sequence[bytes]) -> list[values.Effect]:
    """Settle those of our messages that a mark names: nothing is said of what stands before."""
    ids = [MessageId(one.hex()) for one in named]
    ours = tuple([one for one in ids if one in group.sds.outgoing.pending])
    return list(group.feed_sds(sds.HeldBy(peer, ours))) if ours else []


def take_news(group: Machines, news: StateNews, peer: PeerId | None = None) -> list[values.Effect]:
    """Keep entries that stand now, and tell what is different by them."""
    effects = _stated(group.channel, news, peer)
    if news.taken:
        group.state_beats.changed(group.now)
    if group.governing is not None and news.lacking:
        effects += group.lack_ops(peer, group.governing.governance.dag.missing(news.lacking))
    return [*effects, *proofs_of(group, news.taken)]


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
