"""A snapshot in its channel: when what arrives waits, and what becomes of pages and their end."""

from collections.abc import Sequence
from typing import Final

from sync.calimero.log.session import NAMES
from sync.calimero.log.snapshot_news import PageKept, SnapshotBegan, SnapshotComplete
from sync.group import values
from sync.group.inputs.admission import RESTORED
from sync.group.machines import Machines
from sync.group.snapshots.staging import Waits
from sync.machine import PeerId
from sync.sds.message import Message
from sync.sessions import values as session_values
from sync.sessions.handshake import SyncKind
from sync.sessions.session import OFFERED

MOVED: Final = session_values.Outcome.MOVED
EMPTY: Final = "whoever is empty asks for itself"
GO_ON: Final = "the snapshot of another peer has ended"
NO_ROOM: Final = "more arrives than waits for a snapshot: the session after it brings what is lost"

AT_ONCE: Final = 64
"""Frames that are let in between two others' turns: 15 ms of work."""

SNAPSHOT: Final = NAMES[SyncKind.SNAPSHOT]


def on_announced(group: Machines, peer: PeerId, protocols: frozenset[str]) -> None:
    """A peer says whether it speaks snapshots; the first one has a while to bring one."""
    snapshots = group.snapshots
    if SNAPSHOT not in protocols or SNAPSHOT not in group.protocols.names:
        return
    snapshots.speakers.add(peer)
    if peer in snapshots.as_empty:
        return  # and has said so before
    if group.messages.is_empty or snapshots.staged is not None:
        snapshots.wait(group.now)
        if peer in snapshots.left_by:
            snapshots.seek(peer, group.now)
    snapshots.left_by.discard(peer)


def hold_back(
    group: Machines, peer: PeerId, message: Message, stored: values.StoredMessage, payload: bytes
) -> list[values.Effect]:
    """Let a checked frame wait for the snapshot; it is shown meanwhile."""
    message_id = message.message_id
    if message_id in group.snapshots.buffer:
        return []
    gone = group.snapshots.hold(message_id, Waits(peer, payload))
    effects: list[values.Effect] = [values.Previewed(message_id, stored.entry, None)]
    if gone:
        effects += [values.PushedOut(tuple(gone)), values.Refused(peer, NO_ROOM)]
    return effects


def on_told(group: Machines, told: session_values.SnapshotTold) -> list[values.Effect]:
    """Take note of what a session tells of the snapshot that it brings."""
    snapshots = group.snapshots
    match told.news:
        case SnapshotBegan():
            effects: list[values.Effect] = []
            if told.news.anew:
                effects.append(values.DropSnapshot(group.channel))
            snapshots.begin(told.session, told.peer, told.news)
            return effects
        case PageKept():
            effects = [snapshots.stage(told.news, group.stating.scope())]
            if group.writer.log.number in told.news.own_logs and not group.snapshots.renewed_log:
                group.snapshots.renewed_log = True
                effects += [group.begin_log(), values.Warned(RESTORED)]
            return effects
        case SnapshotComplete():
            return swap(group)
        case _:
            raise AssertionError("no protocol of ours tells anything else")


def swap(group: Machines) -> list[values.Effect]:
    """Have what is staged swapped in."""
    came = values.SnapshotCame(group.snapshots.peer)
    group.snapshots.session = None
    group.snapshots.swapping = True
    return [came, values.SwapSnapshot(group.channel)]


def on_session_over(group: Machines, ended: values.SessionEnded) -> list[values.Effect]:
    """Let another peer go on, or let in what waits: a handshake has decided otherwise."""
    snapshots = group.snapshots
    if ended.plane is not session_values.Plane.LOG or snapshots.swapping:
        return []
    if ended.session == snapshots.session:
        snapshots.ended(group.now)
        others = sorted(snapshots.speakers & group.peers - {ended.peer})
        return [session_values.Sought(tuple(others[:1]), GO_ON)] if others else []
    asked = ended.why == OFFERED and ended.outcome is session_values.Outcome.BENIGN
    asked = asked and group.messages.is_empty
    if asked:
        snapshots.as_empty.discard(ended.peer)
    if asked and ended.peer in group.peers - snapshots.speakers:
        snapshots.left_by.add(ended.peer)  # it has not told yet what it speaks
    agreed = ended.outcome is session_values.Outcome.CONVERGED
    if agreed and group.messages.is_empty and snapshots.staged is None:
        snapshots.found_empty(ended.peer, group.now)
        return []
    if snapshots.session is None and asked and not ended.then and ended.peer in snapshots.speakers:
        snapshots.seek(ended.peer, group.now)  # whether or not anything waits for it
        return []
    if snapshots.session is not None or not snapshots.holds_back:
        return []
    decides = ended.then or ended.outcome in {session_values.Outcome.CONVERGED, MOVED}
    if decides and snapshots.staged is None:
        snapshots.decide()
    return []


def expired(group: Machines) -> list[values.Effect]:
    """Ask for a snapshot that is left to us; swap in what there is where nobody goes on in time."""
    snapshots = group.snapshots
    effects: list[values.Effect] = []
    empty = group.messages.is_empty
    peer = snapshots.asks(group.peers, group.now, empty=empty)
    if peer is not None:
        effects.append(session_values.Sought((peer,), EMPTY))
    if snapshots.is_over(group.now) and not (_may_decide(group) and snapshots.waits_on(group.now)):
        snapshots.decide()
        effects += swap(group) if snapshots.staged is not None else []
    return effects


def _may_decide(group: Machines) -> bool:
    """Return whether a session runs whose handshake may yet decide."""
    speakers, log = group.snapshots.speakers, session_values.Plane.LOG
    return any(key.plane is log and key.peer in speakers for key in group.sessions.running)


def released(group: Machines) -> Sequence[Waits]:
    """Return the frames that wait no more."""
    snapshots = group.snapshots
    return () if snapshots.holds_back else snapshots.buffer.take(AT_ONCE)


def on_swapped(group: Machines, swapped: values.SnapshotSwapped) -> list[values.Effect]:
    """Note through whom the authors of the newest messages of a snapshot are heard.

    The group has just begun, and has no links: who has one is heard by it as soon as it has.
    """
    reference = group.now + group.aside.offset
    for author, created_ns in swapped.newest:
        if author not in {group.author.me, swapped.source}:
            group.relays.note(author, swapped.source, reference - created_ns, group.now)
    return []
