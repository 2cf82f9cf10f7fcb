"""From the machines' state and effects to what the UI may know (`sync.view.view`)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from sync.entries.changes import CHANGING
from sync.entries.entry import Entry, Kind, Text, decode_text
from sync.entries.membership import Membership
from sync.entries.replies import named_target
from sync.errors import DecodeError
from sync.group import values
from sync.group.clock_values import Answer, Settled
from sync.group.group import Group
from sync.group.records import Contradiction
from sync.group.reference import AGREE, END, Reference
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.manager.announcing import Announcing
from sync.sds.channel import Channel
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from sync.sessions.session import Session, Stage
from sync.structures.set_digest import ROW_BYTES
from sync.view.governance_infos import UNREAD, NickOf, nameless
from sync.view.governance_projection import governance_info
from sync.view.line_looks import changed
from sync.view.state_projection import state_info
from sync.view.view import (
    AheadShown,
    AnswerInfo,
    BloomInfo,
    ChannelInfo,
    ClockAnswer,
    ClockInfo,
    ClockQuestion,
    ClockSettled,
    ClockVoter,
    ContradictionInfo,
    DeliveryShown,
    DiscardedShown,
    Event,
    FoundShown,
    HeardInfo,
    HoldersInfo,
    Level,
    Line,
    LineChanged,
    LiveShown,
    LogsInfo,
    MessageShown,
    MissingShown,
    Notice,
    OutgoingInfo,
    PeerInfo,
    PendingEndedShown,
    PendingShown,
    PreviewShown,
    PushedOutShown,
    RepairInfo,
    RequestInfo,
    RoundInfo,
    SessionInfo,
    StateShown,
    SyncShown,
    TypingShown,
    TypistInfo,
    WaitingInfo,
    WithdrawnShown,
)

ROWS_MAX = 100
"""Rows of each buffer in a snapshot: what fits no screen is counted."""

HOLDERS_ROWS = 20
"""Newest messages a snapshot says the holders of."""

UNKNOWN_KIND = "(a kind of message this version does not know)"


def line_of(
    channel: ChannelId, entry: Entry, me: PeerId, delivery: Delivery | None, *, after_gap: bool
) -> Line:
    """Return an entry as it is shown, before any change of it."""
    text = text_of(entry)
    return Line(
        channel=channel,
        message_id=entry.message_id,
        author=entry.header.author,
        nick=text.nick,
        text=text.text,
        lamport=entry.header.lamport,
        created_ns=entry.header.created_ns,
        own=entry.header.author == me,
        after_gap=after_gap,
        delivery=delivery,
        reply_to=named_target(entry, text),
        replaces=MessageId(text.replaces) if text.replaces else None,
    )


def info_of(found: Contradiction) -> ContradictionInfo:
    """Return what the UI may know of a contradiction among an author's entries."""
    ids = (found.message_id, found.other)
    return ContradictionInfo(found.channel, found.author, found.what.value, found.seq, ids)


def text_of(entry: Entry) -> Text:
    """Return nick and text of an entry; one of an unknown kind says so."""
    if entry.header.kind != Kind.TEXT:
        return Text("", UNKNOWN_KIND)
    try:
        return decode_text(entry.body)
    except DecodeError:
        return Text("", UNKNOWN_KIND)


def event_of(
    channel: ChannelId,
    effect: values.Effect,
    me: PeerId,
    load: Callable[[values.Deliver], tuple[Entry, Delivery | None]],
) -> Event | None:
    """Return what an effect means to the UI; None for what is between machines only.

    `load` gives entry and mark of a delivered message that was stored before.
    """
    match effect:
        case values.Deliver():
            entry, delivery = (
                (effect.entry, effect.delivery) if effect.entry is not None else load(effect)
            )
            if entry.header.kind in CHANGING:
                return None
            line = line_of(channel, entry, me, delivery, after_gap=effect.after_gap)
            return MessageShown(changed(line, effect.look, me))
        case values.Altered():
            line = line_of(channel, effect.entry, me, effect.delivery, after_gap=effect.after_gap)
            line = replace(changed(line, effect.look, me), loading=effect.loading)
            return LineChanged(line, rewritten=effect.rewritten, reacted=effect.reacted)
        case values.Previewed(_, entry, delivery, look):
            if entry.header.kind in CHANGING:
                return None
            line = line_of(channel, entry, me, delivery, after_gap=False)
            return PreviewShown(replace(changed(line, look, me), loading=True))
        case values.SetAside(_, entry, delivery, waits):
            if entry.header.kind in CHANGING:
                return None
            line = line_of(channel, entry, me, delivery, after_gap=False)
            return PreviewShown(replace(line, parked=True, waits=waits))
        case values.Pends(_, entry):
            if entry.header.kind in CHANGING:
                return None
            line = line_of(channel, entry, me, None, after_gap=False)
            return PendingShown(replace(line, pending=True))
        case values.PendingEnded(message_ids, label):
            return PendingEndedShown(channel, message_ids, label)
        case values.AuthorAhead(peer, nick, ahead_ns):
            return AheadShown(channel, peer, nick, ahead_ns)
        case values.DeliveryChanged(message_id, delivery):
            return DeliveryShown(channel, message_id, delivery)
        case values.Missing(message_id, named_by):
            return MissingShown(channel, message_id, named_by)
        case values.Found(message_id, lost):
            return FoundShown(channel, message_id, lost)
        case values.Withdrawn() | values.Discarded() | values.PushedOut():
            return _taken_back(channel, effect)
        case values.StateChanged() | values.TypingChanged():
            return _event_beside_lines(channel, effect)
        case values.LiveBegan() | values.SessionEnded():
            return _session_event(channel, effect)
        case values.Warned(text):
            return Notice(text, Level.ERROR)
        case _:
            return None


def _taken_back(
    channel: ChannelId, effect: values.Withdrawn | values.Discarded | values.PushedOut
) -> Event:
    """Return what to show of messages that are not to be seen any more."""
    match effect:
        case values.Withdrawn(message_ids):
            return WithdrawnShown(channel, message_ids)
        case values.Discarded(message_ids):
            return DiscardedShown(channel, message_ids)
        case values.PushedOut(message_ids):
            return PushedOutShown(channel, message_ids)


def _event_beside_lines(
    channel: ChannelId, effect: values.StateChanged | values.TypingChanged
) -> StateShown | TypingShown:
    """Return that state was set, or that somebody types or does not any more."""
    match effect:
        case values.StateChanged(kinds, authors):
            return StateShown(channel, kinds, authors)
        case values.TypingChanged(peer, nick, typing):
            return TypingShown(channel, peer, nick, typing)


def _session_event(
    channel: ChannelId, effect: values.LiveBegan | values.SessionEnded
) -> LiveShown | SyncShown:
    """Return that a session stays, or that one is over."""
    match effect:
        case values.LiveBegan(_, peer, protocol):
            return LiveShown(channel, peer, protocol, begun=True, why=effect.why)
        case values.SessionEnded(mode=values.Mode.LIVE):
            return LiveShown(
                channel=channel,
                peer=effect.peer,
                protocol=effect.protocol,
                begun=False,
                why=effect.why,
                result=effect.result,
                got=effect.got,
                have=effect.have,
            )
        case values.SessionEnded():
            return SyncShown(
                channel=channel,
                peer=effect.peer,
                protocol=effect.protocol,
                why=effect.why,
                result=effect.result,
                rounds=effect.rounds,
                have=effect.have,
                need=effect.need,
                got=effect.got,
                logs=effect.logs,
                of_state=effect.plane is values.Plane.STATE,
                chosen=effect.chosen,
                estimate=effect.estimate,
                outcome=effect.outcome.value,
            )


def with_logs(announcing: Announcing, peer: PeerInfo) -> PeerInfo:
    """Return a peer with what is announced of author logs between us."""
    found = announcing.standing(peer.peer)
    if found is None:
        return peer
    logs = LogsInfo(found.version, found.is_known, len(found.theirs), len(found.ours))
    return replace(peer, logs=logs)


HEARD_MAX: Final = 100


def heard_infos(groups: Iterable[Group], nick_of: Callable[[PeerId], str]) -> tuple[HeardInfo, ...]:
    """Return the authors who are heard through others, the latest first."""
    heard = [one for group in groups for one in group.relays.recent(HEARD_MAX)]
    latest = sorted(heard, key=lambda one: one.at, reverse=True)
    authors = {one.author: one for one in reversed(latest)}
    shown = [one for one in latest if authors[one.author] is one][:HEARD_MAX]
    return tuple([HeardInfo(one.author, nick_of(one.author), one.via) for one in shown])


def session_infos(groups: Iterable[Group]) -> tuple[SessionInfo, ...]:
    """Return the sessions of all channels as they are shown, the newest first."""
    sessions = [
        (group, session)
        for group in groups
        for session in (*group.sessions.shown, *group.sessions.running.values())
    ]
    sessions.sort(key=lambda one: (one[1].began_at, one[1].number), reverse=True)
    return tuple([_with_snapshot(group, session) for group, session in sessions])


def _with_snapshot(group: Group, session: Session) -> SessionInfo:
    """Return a session; of one that brings a snapshot, how many of its messages are kept."""
    info, snapshots = _session_info(group.channel, session), group.snapshots
    if session.number != snapshots.session or not snapshots.count:
        return info
    kept = 0 if snapshots.staged is None else snapshots.staged.count
    return replace(info, state=Stage.TRANSFERRING.value, need=snapshots.count, got=kept)


def _session_info(channel: ChannelId, session: Session) -> SessionInfo:
    return SessionInfo(
        number=session.number,
        channel=channel,
        peer=session.peer,
        protocol=session.protocol.name,
        why=session.why,
        state=session.stage.value,
        result=session.result,
        proved=session.converged,
        since=session.since,
        began_at=session.began_at,
        ended_at=session.ended_at,
        need=session.need,
        logs=session.logs,
        got=session.got,
        have=session.have,
        naive=session.naive + ROW_BYTES * max(0, session.need - session.have),
        payloads=session.payloads,
        bytes_in=session.bytes_in,
        bytes_out=session.bytes_out,
        bytes_brought=session.bytes_brought,
        rounds=tuple([RoundInfo(*one) for one in session.rounds]),
        chosen=session.chosen,
        estimate=session.estimate,
        outcome="" if session.outcome is None else session.outcome.value,
    )


def clock_info(
    groups: Mapping[ChannelId, Group], now: Nanos, nick_of: Callable[[PeerId], str]
) -> ClockInfo:
    """Return what is thought of our clock: the judges of all channels, as one."""
    references = {channel: group.aside.reference for channel, group in groups.items()}
    if not references:
        return ClockInfo()
    own = next(iter(references.values())).own
    moved = [one.ruling.offset - one.own.offset for one in references.values()]
    answered = {one.kept.answer for one in references.values()} - {Answer.NONE}
    answer = min(answered, key=lambda one: one.value, default=Answer.NONE)
    return ClockInfo(
        is_clock=own.released <= now + own.offset < END,
        synchronised=own.synchronised,
        moved_ns=max(moved, key=abs),
        question=_clock_question(groups, now, nick_of),
        answer=ClockAnswer(answer.value),
        settled=ClockSettled(_settled(references.values()).value),
        following=tuple(
            {
                one.peer: ClockVoter(
                    one.peer, nick_of(one.peer), one.offset - own.offset, one.standing
                )
                for reference in references.values()
                for one in reference.following
            }.values()
        ),
        followed_by=tuple(
            dict.fromkeys(peer for one in references.values() for peer in one.followed_by)
        ),
    )


def _settled(references: Iterable[Reference]) -> Settled:
    """Return why the last question is no longer asked, of several channels the first that says."""
    told = [one.settled for one in references if one.settled is not Settled.NONE]
    return told[0] if told else Settled.NONE


def _clock_question(
    groups: Mapping[ChannelId, Group], now: Nanos, nick_of: Callable[[PeerId], str]
) -> ClockQuestion | None:
    """Return what the person is asked, of several channels at once where they ask the same.

    Questions of members with standing come first.
    """
    asking = [
        (channel, question)
        for channel, group in groups.items()
        if (question := group.aside.reference.ruling.question) is not None
    ]
    if not asking:
        return None
    _, first = min(asking, key=lambda one: (not one[1].standing, one[0]))
    same = [
        (channel, question)
        for channel, question in asking
        if question.standing == first.standing and abs(question.ahead - first.ahead) <= AGREE
    ]
    voters = {
        vote.peer: ClockVoter(
            vote.peer,
            nick_of(vote.peer),
            vote.offset - groups[channel].aside.reference.ours,
            vote.standing,
        )
        for channel, question in same
        for vote in question.votes
    }
    return ClockQuestion(
        voters=tuple(voters.values()),
        ahead_ns=first.ahead,
        sets_aside=sum(groups[channel].would_set_aside(one, now) for channel, one in same),
        standing=first.standing,
        channels=tuple([channel for channel, _ in same]),
    )


def channel_info(group: Group, membership: Membership, nick_of: NickOf = nameless) -> ChannelInfo:
    """Return what the channel list and the debug pane show of a channel.

    `nick_of` names the people of a governed one, of whom a join tells only the name they came by.
    """
    sds = group.sds
    incoming, outgoing = sds.incoming, sds.outgoing
    missing = [id_ for id_ in incoming.missing if id_ not in incoming.waiting]
    return ChannelInfo(
        channel=membership.channel,
        name=membership.name,
        open=membership.open,
        profile=membership.profile,
        messages=len(sds.log.order),
        wrote=group.wrote,
        missing=tuple(missing[:ROWS_MAX]),
        missing_count=len(missing),
        lost=len(incoming.lost),
        lost_ids=tuple(list(incoming.lost)[-ROWS_MAX:]),
        loading=len(group.loading),
        saving=group.snapshots.saving,
        parked=len(group.aside),
        parked_own=tuple(group.aside.own()[:ROWS_MAX]),
        unsent=len(group.aside.waiting),
        outgoing=tuple(
            [
                OutgoingInfo(
                    one.message_id,
                    one.delivery,
                    one.attempts,
                    one.resend_at,
                    tuple(sorted(one.possibly_by)),
                )
                for one in list(outgoing.pending.values())[:ROWS_MAX]
            ]
        ),
        outgoing_count=len(outgoing.pending),
        outgoing_changes=group.writer.changes_among(outgoing.pending.keys()),
        waiting=tuple(
            [
                WaitingInfo(
                    held.content.message_id,
                    held.content.sender_id,
                    tuple(sorted(incoming.unmet(held.content.message_id))),
                    held.give_up_at,
                )
                for held in list(incoming.waiting.values())[:ROWS_MAX]
            ]
        ),
        waiting_count=len(incoming.waiting),
        next_sync_at=sds.next_sync_at if group.peers else None,
        bloom=BloomInfo(
            count=sds.filter.count,
            capacity=sds.parameters.bloom.capacity,
            bits=sds.parameters.bloom.m_bits,
            hashes=sds.parameters.bloom.k,
            fill=sds.filter.fill,
            false_positives=sds.filter.false_positive_rate,
        ),
        repair=repair_info(sds),
        holders=tuple(
            [
                HoldersInfo(
                    message_id,
                    own=holders.get(sds.me) is Evidence.WROTE,
                    holders=tuple(holders.items()),
                )
                for message_id, holders in sds.holders.newest(HOLDERS_ROWS)
            ]
        ),
        peers=tuple(sorted(group.peers)),
        typists=tuple([TypistInfo(peer, nick) for peer, nick in group.typists.nicks.items()]),
        direct=membership.direct,
        governance=None
        if group.governing is None
        else governance_info(group.governing, sds.me, nick_of)
        if group.restored
        else UNREAD,
        state=state_info(group),
    )


def repair_info(sds: Channel) -> RepairInfo:
    """Return what SDS-R is about to do."""
    repairs, missing = sds.repairs, sds.incoming.missing
    participants, window = repairs.counted
    requests = sorted(repairs.asking.requests.values(), key=lambda request: request.t_req)
    answers = sorted(repairs.answering.answers.values(), key=lambda answer: answer.t_resp)
    return RepairInfo(
        participants=participants,
        groups=window.groups,
        t_min=window.t_min,
        t_max=window.t_max,
        requests=tuple(
            [
                RequestInfo(
                    request.entry.message_id,
                    missing[request.entry.message_id].named_by,
                    request.namer,
                    request.t_req,
                    request.asked,
                    len(missing[request.entry.message_id].waiters),
                    request.asked_at,
                )
                for request in requests[:ROWS_MAX]
            ]
        ),
        requests_count=len(repairs.asking),
        answers=tuple(
            [
                AnswerInfo(answer.message_id, answer.requester, answer.t_resp, answer.sender)
                for answer in answers[:ROWS_MAX]
            ]
        ),
        answers_count=len(repairs.answering.answers),
    )
