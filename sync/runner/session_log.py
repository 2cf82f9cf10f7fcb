"""Notes of sessions for the protocol log: begins, rounds with the bytes of both ends, ends.

Messages that a session carries itself are no rounds: each has a row of its own, with its bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from sync.group import values
from sync.group.group import Group
from sync.machine import ChannelId, PeerId
from sync.runner.log_notes import Details, Note, short
from sync.runner.log_rows import LogKind, Role

SESSIONS_MAX: Final = 1024
"""Sessions counted at once: more than can run; those of links that are gone are never ended."""

ANSWERED: Final = frozenset({values.SessionOffered, values.SessionPayload, values.Continue})
"""Inputs whose answers are of the round that they are noted as."""
ON_STREAMS: Final = ANSWERED | {values.SessionOpened}


@dataclass(slots=True)
class _Session:
    """A session's traffic so far: payloads of both ends, also of its check."""

    number: int
    """Shared by both ends, once the stream is there."""
    peer: PeerId
    role: Role
    protocol: str | None = None
    noted: bool = False
    """Whether it is noted that it began."""
    rounds: int = 0
    size: int = 0
    unanswered: int = 0
    """Bytes of what came and of its answer, while that is not whole."""

    def note(self, channel: ChannelId, kind: LogKind, size: int) -> Note:
        """Return a note about the session."""
        return Note(channel, kind, self.peer, None, None, size, None, self.details())

    def details(self) -> Details:
        """Return the details of each note about the session."""
        return Details(self.number, self.rounds, self.protocol, self.role)

    def begun(self, channel: ChannelId) -> Note:
        """Return the note of its begin."""
        self.noted = True
        return self.note(channel, LogKind.SESSION_STARTED, 0)

    def round(self, channel: ChannelId, size: int) -> Note:
        """Count a round of so many bytes; returns its note."""
        self.rounds += 1
        self.size += size
        return self.note(channel, LogKind.SESSION_ROUND, size)


class SessionLog:
    """Follows the sessions of a node; what it notes goes to the end of `notes`."""

    def __init__(self) -> None:
        self._sessions: dict[int, _Session] = {}
        """By the numbers of their streams."""
        self._live: dict[int, _Session] = {}
        """Live sessions, by streams that were those of the sessions before."""

    def peer(self, number: int) -> PeerId | None:
        """Return the other end of a session, by one of its streams."""
        session = self._sessions.get(number) or self._live.get(number)
        return None if session is None else session.peer

    def came(
        self,
        channel: ChannelId,
        group: Group,
        event: values.Input,
        effects: Sequence[values.Effect],
        notes: list[Note],
    ) -> None:
        """Note that a stream was opened, or that a payload came: a round, with our answer."""
        match event:
            case values.SessionPayload() | values.Continue():
                session = self._sessions.get(event.session)
                if session is None or event.session in self._live:
                    return
                running = group.sessions.numbered(event.session)
                if running is not None:
                    session.protocol = running.protocol.name  # the peer may just have said it
                    if not session.noted:
                        notes.append(session.begun(channel))
                brings = group.copy is not None or any(
                    type(one) is values.StoreMessage for one in effects
                )
                if not brings:
                    self._on_payload(channel, session, event, effects, notes)
            case values.SessionOpened(number):
                session = self._sessions.get(number)
                if session is not None and not session.noted:
                    self._on_stream(channel, group, session, event, notes)
            case values.SessionOffered(number, peer):
                running = group.sessions.numbered(number)
                if running is None:
                    return
                if running.number == number:
                    session = self._begin(number, peer, Role.ANSWERED)
                    self._on_stream(channel, group, session, event, notes)
                elif running.check_stream == number and running.number in self._sessions:
                    self._sessions[number] = self._sessions[running.number]
            case _:
                pass  # on no stream

    def went(
        self,
        channel: ChannelId,
        event: values.Input,
        effect: values.OpenSession | values.SessionEnded | values.SendPayload | values.LiveBegan,
        notes: list[Note],
    ) -> None:
        """Note what a machine wants of a session."""
        session = self._sessions.get(effect.session)
        match effect:
            case values.OpenSession(number, peer):
                if number > 0:
                    self._begin(number, peer, Role.BEGAN)
                elif -number in self._sessions:
                    self._sessions[number] = self._sessions[-number]
            case values.SendPayload(number, payload, carries):
                if session is not None and not carries and self._is_round(number, event):
                    notes.append(session.round(channel, len(payload)))
            case values.LiveBegan():
                notes.append(self._goes_live(channel, session, effect))
            case values.SessionEnded(mode=values.Mode.LIVE):
                live = self._live.pop(effect.session, None)
                if live is not None:
                    notes.append(_ended(channel, live, LogKind.LIVE_ENDED, effect))
            case values.SessionEnded():
                if session is not None:  # else it was put off before it began
                    self._on_end(channel, session, effect, notes)

    def _goes_live(
        self, channel: ChannelId, session: _Session | None, began: values.LiveBegan
    ) -> Note:
        """Note that a session stays; what it still counts is its own."""
        number, role = (session.number, session.role) if session else (began.session, None)
        live = _Session(number, began.peer, role or Role.ANSWERED, began.protocol)
        self._live[began.session] = live
        if len(self._live) > SESSIONS_MAX:
            del self._live[next(iter(self._live))]
        note = live.note(channel, LogKind.LIVE_STARTED, 0)
        return replace(note, details=live.details()._replace(round=None, reason=short(began.why)))

    def _is_round(self, number: int, event: values.Input) -> bool:
        """Return whether what is sent is a round by itself; a live session has none."""
        return type(event) not in ANSWERED and number not in self._live

    def _begin(self, number: int, peer: PeerId, role: Role) -> _Session:
        session = self._sessions[number] = _Session(number, peer, role)
        if len(self._sessions) > SESSIONS_MAX:
            del self._sessions[next(iter(self._sessions))]
        return session

    def _on_stream(
        self,
        channel: ChannelId,
        group: Group,
        session: _Session,
        event: values.SessionOffered | values.SessionOpened,
        notes: list[Note],
    ) -> None:
        """Note a begin: both ends know the number of the stream now.

        Who is asked learns the protocol with the first payload, and notes it then.
        """
        session.number = event.shared or session.number
        running = group.sessions.numbered(event.session)
        if running is not None and (running.initiated or running.protocol.usual):
            session.protocol = running.protocol.name
            notes.append(session.begun(channel))

    def _on_payload(
        self,
        channel: ChannelId,
        session: _Session,
        event: values.SessionPayload | values.Continue,
        effects: Sequence[values.Effect],
        notes: list[Note],
    ) -> None:
        """Count what came and what we answer, which takes several steps if it is much."""
        if isinstance(event, values.SessionPayload):
            session.unanswered += len(event.payload)
        answers = [one for one in effects if type(one) is values.SendPayload]
        session.unanswered += sum([len(one.payload) for one in answers])
        if any(type(one) is values.Continue for one in effects):
            return
        if session.unanswered or isinstance(event, values.SessionPayload):
            notes.append(session.round(channel, session.unanswered))
            session.unanswered = 0

    def _on_end(
        self,
        channel: ChannelId,
        session: _Session,
        effect: values.SessionEnded,
        notes: list[Note],
    ) -> None:
        self._sessions = {
            stream: one for stream, one in self._sessions.items() if one is not session
        }
        session.protocol = effect.protocol
        if not session.noted:  # its stream never was there
            notes.append(session.begun(channel))
        notes.append(_ended(channel, session, LogKind.SESSION_ENDED, effect))


def _ended(
    channel: ChannelId, session: _Session, kind: LogKind, effect: values.SessionEnded
) -> Note:
    """Return the note of an end."""
    details = session.details()._replace(
        outcome=effect.outcome.value,
        items_in=effect.got,
        items_out=effect.have,
        estimate=effect.estimate or None,
        reason=short(effect.result),
    )
    return replace(session.note(channel, kind, session.size), details=details)
