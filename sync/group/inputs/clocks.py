"""Judge clocks: let in what their time has come for, and take back what is far ahead."""

from collections.abc import Sequence

from sync.group import values
from sync.group.future_entries import WITHDRAWN
from sync.group.ingest import content_of
from sync.group.inputs import admission
from sync.group.machines import Machines
from sync.machine import MILLISECOND, MessageId, Nanos
from sync.sds import events as sds
from sync.sds.message import Delivery
from sync.structures.ordered_set import SyncId


def on_clock(group: Machines, event: values.Input) -> list[values.Effect]:
    """Judge the clocks anew; before the start nothing is here that it means anything to."""
    before = group.aside.offset
    group.aside.tell(event, group.now)
    effects: list[values.Effect] = []
    if group.aside.offset != before:
        effects += group.feed_sds(sds.ReferenceClock(group.aside.offset))
    return [*effects, *judged(group)] if group.restored else effects


def judged(group: Machines) -> list[values.Effect]:
    """Let in, take back and send what the clocks that are known now say."""
    kept = group.aside.to_keep()
    effects: list[values.Effect] = []
    if kept is not None:
        effects.append(values.SetClock(group.channel, kept))
    effects += group.aside.news()
    settled = group.aside.settled(group.now)
    withdrawn = _withdraw(group, settled)
    if withdrawn:
        return [*effects, *withdrawn]
    sent = [effect for one in settled for effect in _admit_aside(group, one, send=True)]
    return [*effects, *sent, *let_in(group)]


def let_in(group: Machines) -> list[values.Effect]:
    """Let in what the reference clock has reached."""
    if not group.aside.is_used:
        return []
    due, passed = group.aside.due(group.now), group.aside.passed(group.now)
    late = [effect for outline in passed for effect in _admit_aside(group, outline, send=True)]
    return [*late, *(effect for outline in due for effect in _admit_aside(group, outline))]


def _admit_aside(
    group: Machines, outline: values.Outline, *, send: bool = False
) -> list[values.Effect]:
    group.holdings.add(sync_id := SyncId(outline.created_ns, outline.retrieval_hint))
    effects: list[values.Effect] = []
    if (place := outline.place) is not None:
        author = outline.sender_id
        group.logs.add(author, outline.message_id, place)
        via = None if send else author
        effects += admission.pass_on(group, author, place.log, place.seq, sync_id, via)
    return [*effects, *admission.admit(group, content_of(outline), send=send)]


def _withdraw(group: Machines, settled: Sequence[values.Outline]) -> list[values.Effect]:
    """Take back what turns out to be far ahead (PROTOCOL 4, "clocks").

    Left where it is, it would be the base of all that we write from now on, and everybody else
    would set that aside. So we go on in a new log, from what is on the disk. So we do where one
    of `settled`, our own that waited, is ahead: these are written anew by themselves.
    """
    limit = group.aside.reference.withdrawn_above(group.now)
    if limit is None or not (group.peers or group.audience):
        ahead: list[MessageId] = []
    else:
        ahead = above(group, limit)
    late = [one for one in settled if is_late(group, one)]
    if not ahead and not late:
        return []
    begun = group.begin_log()
    held = [one.content for one in group.sds.incoming.waiting.values()]
    waiting = [one.message_id for one in held if limit and one.lamport * MILLISECOND > limit]
    effects: list[values.Effect] = [parked(group, id_) for id_ in (*ahead, *waiting)]
    effects.append(begun)
    if ahead:
        effects.append(values.Withdrawn(tuple(ahead)))
        effects.append(values.Warned(WITHDRAWN.format(count=len(ahead))))
    if late:
        effects += [
            values.SetDelivery(group.channel, one.message_id, Delivery.UNACKNOWLEDGED, 0)
            for one in late
        ]
        effects.append(values.WriteAnew(tuple([one.message_id for one in late])))
    return [*effects, values.BeginAnew()]


def parked(group: Machines, message_id: MessageId) -> values.SetStatus:
    """Return the record that an entry on the disk is set aside."""
    return values.SetStatus(group.channel, message_id, values.Status.PARKED, after_gap=False)


def above(group: Machines, limit: Nanos) -> list[MessageId]:
    """Return what is in the log with a Lamport time after `limit`."""
    lamport = limit // MILLISECOND
    order = group.sds.log.order
    return order.above(lamport) if order.last[0] > lamport else []


def is_late(group: Machines, outline: values.Outline) -> bool:
    """Return whether an entry on the disk is stamped too far in the future."""
    return group.aside.is_ahead(outline.lamport, outline.created_ns, group.now)
