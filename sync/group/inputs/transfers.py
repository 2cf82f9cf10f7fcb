"""Take in what sessions bring, and what their end says of the history that is on its way."""

from sync.entries.entry import Entry
from sync.errors import RemoteError
from sync.group import values
from sync.group.inputs import admission
from sync.group.inputs.admission import sync_id_of
from sync.group.machines import Machines
from sync.sds import events as sds
from sync.sds.message import Message
from sync.sessions import values as session_values
from sync.sessions.session import OFFERED
from sync.sessions.values import GOVERNANCE, Outcome, Plane
from sync.waku.session import Transferred


def on_transferred(group: Machines, accepted: session_values.Accepted) -> list[values.Effect]:
    """Take in a message that a session brought, and tell the session what became of it.

    While a snapshot is swapped in, the machines do not know what of it is on the disk already, and
    the session is about to end with them: the next one brings what is missing then.
    """
    if group.snapshots.swapping:
        return []
    if accepted.sync_id is not None:
        group.loading.came(accepted.sync_id.hash, group.now)
    else:
        group.loading.brought(group.now)
    try:
        message, stored = _read_pushed(group, accepted.item)
    except RemoteError as error:
        if accepted.sync_id is None:
            refused = session_values.EntryRefused(accepted.session, str(error))
            return group.feed_sessions(refused)
        return [values.Refused(accepted.peer, str(error))]
    effects: list[values.Effect] = []
    if group.holds(message.message_id):
        group.copy = message
        group.copies[accepted.peer] = group.copies.get(accepted.peer, 0) + 1
    else:
        bulk = not group.sessions.is_live(accepted.session)
        effects = admission.judge(group, message, stored, via=accepted.peer, bulk=bulk)
        effects += admission.note_relay(group, stored.entry.header, accepted.peer)
    if accepted.sync_id is None:
        aside = message.message_id not in group.sds.log.order
        brought = session_values.Brought(accepted.session, sync_id_of(stored), aside)
        effects += group.feed_sessions(brought)
    return effects


def _read_pushed(group: Machines, item: object) -> tuple[Message, values.StoredMessage]:
    """Check a message that a session brought, in the form of its protocol.

    Raises:
        RemoteError: see `sync.group.ingest.Gate.read_transfer`.
    """
    match item:
        case Transferred(waku, topic):
            return group.gate.read_transfer(waku, topic)
        case Entry():
            return group.gate.check_opened(item)
        case _:
            raise AssertionError(f"no protocol of ours brings a {type(item).__name__}")


def on_session_over(group: Machines, ended: values.SessionEnded) -> list[values.Effect]:
    """Let in what waits, unless other sessions are to bring what this one did not.

    Where its handshakes name other heads of governance, the peer is asked for its ops at once;
    where they tell different state, whoever began it compares that next.
    """
    if ended.then == GOVERNANCE and group.governing is not None:
        group.governing.beats.wants(ended.peer, group.now)
    compared = ended.rounds > 0 and not ended.then
    if ended.plane is Plane.STATE and ended.outcome is Outcome.BENIGN and compared:
        group.state_beats.agreed(ended.peer, group.now)
    if not group.sessions.busy and (ended.need or ended.converged):
        group.loading.session_over(group.now, complete=ended.got >= ended.need)
    if ended.other_state is None:
        return []
    differs = group.state_beats.handshake(ended.peer, differs=ended.other_state)
    return [values.StateDiffers(ended.peer)] if differs and ended.why != OFFERED else []


def on_proved(group: Machines, proved: session_values.Proved) -> list[values.Effect]:
    """A peer holds what we held: that acknowledges; what both lack is below our floor."""
    pending = group.sds.outgoing.pending
    held = group.writer.held_by(pending, proved.floor, proved.holds)
    group.forgoes = group.author.retention is not None and proved.whole
    return [*group.feed_sds(sds.HeldBy(proved.peer, held)), *forgo(group)]


def forgo(group: Machines) -> list[values.Effect]:
    """Count what is missing as met, once all is here that is not too old for us."""
    if not group.forgoes or group.loading.on_its_way or group.loading.ids:
        return []
    group.forgoes = False
    return group.feed_sds(sds.Forgo())
