"""Take up what the disk holds, and go on without what has rotted on it."""

from collections.abc import Sequence
from typing import Final

from sync.group import values
from sync.group.inputs import admission, clocks
from sync.group.inputs import state as state_inputs
from sync.group.machines import Machines
from sync.group.sds_mapping import restored_of
from sync.machine import MessageId
from sync.sds import events as sds

DISCARDED: Final = (
    "The disk has damaged {count}, now set aside; the others are asked for what they have of it. "
    "`chat-tui doctor --deep` reads all the rest."
)
ONLY_HERE: Final = " Yours that nobody else is known to have, and that may be lost: {count}."


def on_restored(group: Machines, state: values.ChannelState) -> list[values.Effect]:
    """Take up what the disk holds."""
    group.writer.restore(state)
    if group.governing is not None:
        group.governing.reload_group_dags(state.ops, state.pending, state.dropped)
        waiting = [one.entry.message_id for one in state.pending]
        group.feed_sds(sds.Postpone(frozenset(waiting)))
        for message_id, _ in state.dropped:
            group.feed_sds(sds.SetAside(message_id))
    group.holdings.restore(state.sync_ids)
    group.prefix.begin_anew(group.now)
    group.logs.restore(state.logs)
    group.stating.restore(state.state)
    group.loading.restore(state.loading, group.now)
    group.feed_sds(sds.Postpone(state.loading))
    for outline in state.parked:
        group.feed_sds(sds.SetAside(outline.message_id))
    group.snapshots.restore(state.snapshot, group.now)
    effects = group.feed_sds(restored_of(state))
    group.aside.restore(state, group.now)
    group.feed_sds(sds.ReferenceClock(group.aside.offset))
    group.restored = True
    if group.governing is not None:
        effects.append(values.Governed(()))
        if state.pending:  # ops may have come while these were swapped in
            effects += admission.drain(group, group.governing)
    return [*effects, *clocks.judged(group), *state_inputs.restored(group)]


def on_damaged(group: Machines, message_ids: Sequence[MessageId]) -> list[values.Effect]:
    """Go on as if these had never come, from what the disk has besides: others have them.

    No number of our log may be signed twice, so without an entry of it we go on in a new one.
    """
    damaged = [one for one in message_ids if group.holds(one)]
    if not damaged:
        return []
    effects: list[values.Effect] = [values.Discard(group.channel, one) for one in damaged]
    if any(message_id in group.writer.log for message_id in damaged):
        effects.append(group.begin_log())
    unsaved = sum(one in group.sds.outgoing.pending for one in damaged)
    told = DISCARDED.format(count=_messages(len(damaged)))
    return [
        *effects,
        values.Discarded(tuple(damaged)),
        values.Warned(told + (ONLY_HERE.format(count=unsaved) if unsaved else "")),
        values.BeginAnew(),
    ]


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"
