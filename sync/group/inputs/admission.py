"""Take in checked entries: judge, store, deliver or hold back, by the one way for all of them.

Frames, sessions, retrievers and the ops that entries waited for all end in `judge` or `drain`.
"""

from collections.abc import Sequence
from typing import Final

from sync.calimero.governance.ops import Key, Verdict
from sync.calimero.governance.pending import Dropped
from sync.entries.entry import Header
from sync.group import values
from sync.group.future_entries import TOO_MANY_AHEAD
from sync.group.governing import Governing
from sync.group.ingest import message_of, outline_of
from sync.group.inputs import state
from sync.group.logs import place_of
from sync.group.machines import Machines
from sync.machine import MessageId, PeerId
from sync.sds import events as sds
from sync.sds.incoming import Content
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sessions import values as session_values
from sync.structures.ordered_set import SyncId

RESTORED: Final = (
    "This profile was restored from a backup or runs twice; what it had written since comes back "
    "from the others, and new messages go into a new log."
)


def judge(
    group: Machines,
    message: Message,
    stored: values.StoredMessage,
    *,
    via: PeerId | None,
    bulk: bool = False,
) -> list[values.Effect]:
    """Take in a checked entry whose author was in at the cut it names; see `_accept`."""
    if group.governing is None:
        return _accept(group, message, stored, via=via, bulk=bulk)
    header, message_id = stored.entry.header, stored.entry.message_id
    match group.governing.judge(header):
        case Verdict.YES:
            effects = _accept(group, message, stored, via=via, bulk=bulk)
            if group.governing.observe_peer_identity(header.author):
                effects.append(values.Observed(header.author))
            return effects
        case Verdict.UNKNOWN:
            gone = group.governing.wait(stored)
            effects = [
                values.StorePending(stored),
                values.Pends(message_id, stored.entry),
                *group.feed_sds(sds.Postpone(frozenset((message_id,)))),
                *forget(group, gone),
            ]
            if lacking := group.governing.lacking(header):
                effects += group.lack_ops(via, lacking)
            if gone:
                effects += drain(group, group.governing)
        case label:
            assert isinstance(label, Dropped)
            effects = _drop(group, group.governing, message_id, label)
    effects += _tell_sessions(group, stored)
    return effects


def _accept(
    group: Machines,
    message: Message,
    stored: values.StoredMessage,
    *,
    via: PeerId | None,
    bulk: bool = False,
) -> list[values.Effect]:
    """Take in a checked entry that is new: store it, and deliver it or hold it back.

    It came on the link of `via`; None where it was fetched elsewhere. `bulk`: it is a part of a
    history that is transferred.
    """
    from_author = message.sender_id == via
    header = stored.entry.header
    own = header.author == group.author.me
    effects: list[values.Effect] = []
    if own and header.log == group.writer.log.number:
        effects += _restart_log(group)
    delivery = Delivery.ACKNOWLEDGED if own else None
    effects += _tell_sessions(group, stored)
    if group.is_ahead(header):
        return [*effects, *_park(group, stored, delivery), *beside(group, message, via=via)]
    effects += insert_item(group, stored, via)
    group.loading.came(stored.waku_hash, group.now)
    if group.loading.waits(message.causal_history, group.sds.log.order.__contains__):
        direct = from_author and not own
        return [
            *effects,
            *_wait_for_history(group, message, stored, delivery, via, direct=direct),
            *beside(group, message, via=via),
        ]
    received = sds.Received(message, stored.waku_hash, from_author, via, bulk)
    effects += group.feed_sds(received, stored, delivery)
    return [*effects, *_seek_backlink(group, stored, via)]


def _tell_sessions(group: Machines, stored: values.StoredMessage) -> list[values.Effect]:
    """Tell the sessions that an entry is here, if one awaits it."""
    sync_id, message_id = sync_id_of(stored), stored.entry.message_id
    if not group.sessions.running or not group.sessions.awaits(sync_id, message_id):
        return []
    return group.feed_sessions(session_values.Here(sync_id, message_id))


def _park(
    group: Machines, stored: values.StoredMessage, delivery: Delivery | None
) -> list[values.Effect]:
    """Keep aside an entry from the future; bounded per author, and over all."""
    entry = stored.entry
    author = entry.header.author
    if group.aside.is_full(author):
        return [values.Refused(author, TOO_MANY_AHEAD)]
    group.aside.parked.add(outline_of(stored))
    return [
        *group.feed_sds(sds.SetAside(entry.message_id)),
        values.StoreMessage(stored, values.Status.PARKED, delivery=delivery),
        values.SetAside(entry.message_id, entry, delivery),
        *group.aside.warn_of(entry, group.now),
    ]


def _wait_for_history(  # an entry, and how it came
    group: Machines,
    message: Message,
    stored: values.StoredMessage,
    delivery: Delivery | None,
    via: PeerId | None,
    *,
    direct: bool,
) -> list[values.Effect]:
    """Keep an entry on the disk until what it names, which is on its way, is here."""
    message_id = stored.entry.message_id
    shown: list[values.Effect] = []
    if group.loading.add(message_id, message.causal_history, group.now, direct=direct):
        shown.append(values.Previewed(message_id, stored.entry, delivery))
    named = sds.Seek(message.causal_history, message_id, message.sender_id, via)
    return [
        values.StoreMessage(stored, values.Status.LOADING, delivery=delivery),
        *group.feed_sds(sds.Postpone(frozenset((message_id,)))),
        *group.feed_sds(named),
        *shown,
    ]


def beside(group: Machines, message: Message, *, via: PeerId | None) -> list[values.Effect]:
    """Use filter and repair request of a message that waits, from its author (PROTOCOL 3)."""
    if message.sender_id != via or not (message.bloom_filter or message.repair_request):
        return []
    return group.feed_sds(sds.Beside(message))


def _seek_backlink(
    group: Machines, stored: values.StoredMessage, via: PeerId | None
) -> list[values.Effect]:
    """A hole in an author's log is looked for, but nothing waits for it (PROTOCOL 3)."""
    backlink = stored.entry.header.backlink
    if backlink is None or group.loading.on_its_way or group.holds(backlink):
        return []  # or it is on its way, with the rest of the history
    author = stored.entry.header.author
    named = HistoryEntry(backlink, None, author)
    return group.feed_sds(sds.Seek((named,), stored.entry.message_id, author, via))


def insert_item(
    group: Machines, stored: values.StoredMessage, via: PeerId | None
) -> list[values.Effect]:
    """Count a stored entry that came from `via` as held; None: we wrote it."""
    group.holdings.add(sync_id := sync_id_of(stored))
    header = stored.entry.header
    group.logs.add(header.author, stored.entry.message_id, place_of(header))
    effects = pass_on(group, header.author, header.log, header.seq, sync_id, via)
    if group.stating.strangers:
        news = group.stating.on_author_known(Key(bytes.fromhex(header.author)))
        effects += state.take_news(group, news)
    return effects


def pass_on(  # a place of a log
    group: Machines, author: PeerId, log: int, seq: int, sync_id: SyncId, via: PeerId | None
) -> list[values.Effect]:
    """Tell live sessions, and those about to be, of what is stored."""
    if not group.sessions.passes_on:
        return []
    group.relays.stored(author, group.now)
    return group.feed_sessions(session_values.Stored(author, log, seq, sync_id, via))


def _restart_log(group: Machines) -> list[values.Effect]:
    """An entry of our log that we do not know: we are a restored backup, or were cloned.

    No sequence number may be signed twice, so we go on in a new log (PROTOCOL 3).
    """
    return [group.begin_log(), values.Warned(RESTORED)]


def note_relay(group: Machines, header: Header, via: PeerId | None) -> list[values.Effect]:
    """Note through whom somebody without a link is heard: by a session, or by a repair.

    What a peer sends unasked says nothing: it may have invented the author.
    """
    author = header.author
    if via not in group.peers or author in group.peers or author == group.author.me:
        return []
    assert via is not None
    age = group.now + group.aside.offset - header.created_ns
    told = group.relays.heard(author, via, age, group.now)
    return [values.Relayed(via)] if told else []


def admit(group: Machines, content: Content, *, send: bool = False) -> list[values.Effect]:
    """Let in what is on the disk already; `send` it too, where nobody was sent it yet."""
    waiting = values.Status.WAITING
    return [
        values.SetStatus(group.channel, content.message_id, waiting, after_gap=False),
        *group.feed_sds(sds.Admit(content, send)),
    ]


def _drop(
    group: Machines, governing: Governing, message_id: MessageId, label: Dropped
) -> list[values.Effect]:
    """Remember an entry that is not let in: nobody waits for it, or asks for it."""
    forgotten = governing.drop(message_id, label)
    if forgotten is not None:
        group.feed_sds(sds.Postpone(frozenset((forgotten,)), gone=True))
    return [
        values.SetDropped(group.channel, message_id, label),
        *group.feed_sds(sds.SetAside(message_id)),
        values.PendingEnded((message_id,), label),
    ]


def forget(group: Machines, message_ids: Sequence[MessageId]) -> list[values.Effect]:
    """Let go of entries that wait, as if they had never come."""
    if not message_ids:
        return []
    ended = [values.EndPending(group.channel, one) for one in message_ids]
    group.feed_sds(sds.Postpone(frozenset(message_ids), gone=True))
    return [*ended, values.PendingEnded(tuple(message_ids), None)]


def drain(group: Machines, governing: Governing) -> list[values.Effect]:
    """Let in, drop or let wait on, by the ops that are here now."""
    settled = governing.drain_governance_pending()
    effects: list[values.Effect] = []
    for stored in settled.admitted:
        message_id = stored.entry.message_id
        effects.append(values.EndPending(group.channel, message_id))
        effects += _accept(group, message_of(stored.entry), stored, via=None, bulk=True)
        if governing.observe_peer_identity(stored.entry.header.author):
            effects.append(values.Observed(stored.entry.header.author))
    for message_id, label in settled.dropped:
        effects.append(values.EndPending(group.channel, message_id))
        effects += _drop(group, governing, message_id, label)
    return effects


def sync_id_of(stored: values.StoredMessage) -> SyncId:
    """Return what sessions know an entry by."""
    return SyncId(stored.entry.header.created_ns, stored.waku_hash)
