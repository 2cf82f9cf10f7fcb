"""Story of a live trace, played up to some step: one participant, as the demo shows it.

The recorded inputs go through real machines; each step says what came of it, and whether that is
what was recorded.
"""

from bisect import insort
from collections import deque
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from chat_tui.demo.cast import Said
from chat_tui.demo.moment import Person, Shot, Titles, following
from chat_tui.demo.phrases import ID_SHOWN, quoted
from chat_tui.demo.scenario import Verdict
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from chat_tui.text.times import count
from sync.entries.membership import Membership
from sync.errors import DecodeError
from sync.group import values
from sync.group.group import Group
from sync.machine import ChannelId, MessageId, Nanos, PeerId, Tick
from sync.net.replay import Played, Recorded, Replay
from sync.net.trace import Began, Drew
from sync.runner.runner import Opened
from sync.sds.message import Delivery, Kind
from sync.sds.wire import decode
from sync.view.projection import channel_info, line_of, session_infos, text_of
from sync.view.view import Line, Notice, PeerInfo, PeerState, Snapshot

LINES_KEPT: Final = 40
SAID_KEPT: Final = 60
DIFFERENCES_SHOWN: Final = 3
DIFFERENCE_CELLS: Final = 300
TRACE_SHOWN: Final = 30

IN_WORDS: Final = {
    "Act": "We govern",
    "Added": "A channel takes part in announcements",
    "Announced": "The manager hears which protocols {0} speaks",
    "AnswersChecked": "Answers about governance were checked by its definition",
    "Arrived": "A frame of {0} came",
    "AskAgain": "The person asks for what is missing",
    "Asked": "The person asks to compare histories",
    "Audience": "It is told how many a broadcast reaches",
    "AuthorsLoaded": "Who wrote what a peer asks for is loaded",
    "ClockAnswered": "The person answers the question about our clock",
    "Compared": "The manager hears with whom histories were compared before",
    "Continue": "A session goes on with its answer",
    "Damaged": "The disk has lost messages",
    "Ended": "The manager hears that a session is over",
    "EntriesLoaded": "A page of the history is loaded for a session",
    "GovernanceLinked": "{0} came or went, with whom only acts of governance are exchanged",
    "Heard": "An announcement of {0} is read",
    "HeartbeatArrived": "{0} tells the newest acts of governance that it has",
    "HeldBackLoaded": "What waited for history is loaded",
    "HeldLoaded": "The disk says what a mark of {0} proves",
    "HistoryExpected": "History is to come from {0}, or is no longer expected",
    "Joined": "The manager hears of a link with {0}",
    "LackingNow": "The manager hears what is missing",
    "Left": "The manager hears that a link with {0} is gone",
    "LinksTimed": "How slow links are has changed",
    "LogsAnnounced": "{0} announces whose logs can be had",
    "LogsOffered": "The manager hears of which channels {0} gives logs",
    "MemberClock": "The clock of {0} was heard",
    "Observed": "The manager hears that {0} wrote in a governed channel",
    "OpsAnswered": "{0} sends acts of governance that were asked for",
    "OpsArrived": "Acts of governance came from {0}",
    "OpsLoaded": "Acts of governance are loaded for {0}",
    "OpsOffered": "{0} has acts of governance that concern us",
    "OpsRequested": "{0} asks for acts of governance",
    "OpsUnanswered": "{0} gives none of the acts of governance that were asked for",
    "OwnClock": "Our clock was read",
    "PageChecked": "A page of a snapshot was checked",
    "PeerAnnounced": "{0} tells which protocols it speaks",
    "PeerGone": "{0} is gone",
    "PeerJoined": "{0} is here",
    "Rebuilt": "The manager hears that a channel begins anew",
    "ReferenceClock": "The others' clocks were heard",
    "Relayed": "The manager hears that {0} passed on a message of somebody out of reach",
    "Removed": "A channel takes part in no announcements any more",
    "Restored": "What the disk held is read",
    "Retrieved": "A message comes from where it was stored",
    "RootTold": "{0} tells the root of its topics, pins and names",
    "SendAgain": "The person asks to send again",
    "SessionClosed": "The stream of a session is closed",
    "SessionOffered": "{0} compares histories with us",
    "SessionOpened": "The stream of a session is open",
    "SessionPayload": "A part of a session came",
    "SetState": "We set a topic, a pin, a name or a mark",
    "SnapshotSwapped": "The history came by snapshot, and the channel begins anew",
    "Sought": "A channel wants to compare histories",
    "StartSession": "We compare histories with {0}",
    "StateArrived": "Topics, pins, names or marks came from {0}",
    "StateDiffers": "The manager hears that {0} has other topics, pins or names",
    "Tick": "Time is up for something",
    "TransferEnded": "A transfer is over",
    "Transferred": "{0} transfers a message",
    "Typing": "We are typing",
    "WentLive": "The manager hears that a session with {0} stays",
    "Write": "We write",
}
"""Inputs in words, where there is no more to say of them; `{0}` is whose they are."""

NETWORK: Final = "A recorded trace: nothing leaves this program."


class _Held(Struct, frozen=True):
    """A message that the trace told of."""

    line: Line
    status: values.Status


class Story:
    """Story of a trace, played up to some step."""

    def __init__(self) -> None:
        self.replay = Replay()
        self.said: deque[Said] = deque(maxlen=SAID_KEPT)
        self.differences: list[Played] = []
        self.played = 0
        self._held: dict[MessageId, _Held] = {}
        self._shown: dict[ChannelId, list[tuple[int, MessageId]]] = {}
        self._nicks: dict[PeerId, str] = {}
        self._seen: dict[PeerId, Nanos] = {}
        self._steps: deque[str] = deque(maxlen=TRACE_SHOWN)
        self._titles = Titles()
        self._channel: ChannelId | None = None

    def play(self, step: Recorded) -> bool:
        """Play one step; returns whether there is anything to tell of it."""
        played = self.replay.play(step)
        said = clip_cells(" ".join(clean_text(played.difference).split()), DIFFERENCE_CELLS)
        played = replace(played, difference=said)  # words of the file may be in it
        self.played += 1
        if played.difference:
            self.differences.append(played)
        if isinstance(step.event, Began):
            self._held.clear()
            self._shown.clear()
        for effect in played.effects:
            self._note(step, effect)
        return self._tell(step, played)

    def shot(self, name: str, total: int, *, over: bool) -> Shot:
        """Return what it looks like now."""
        person = self._person()
        closing: tuple[Verdict, ...] = ()
        if over:
            closing = (self.verdict(),)
        return Shot(
            title=f"trace, step {self.played:,} of {total:,}",
            source=name,
            about="A recorded trace, played again through the same machines.",
            now=self.replay.now,
            people=(person,),
            said=tuple(self.said),
            following=tuple(following((person,), self._titles)),
            closing=closing,
        )

    def verdict(self) -> Verdict:
        """Return how what was played compares with what was recorded."""
        claim = "the same effects as recorded"
        if not self.differences:
            because = f"{count(self.played, 'step')} compared"
            return Verdict(claim, holds=True, because=because)
        first = self.differences[0]
        because = f"line {first.step.line}: {first.difference}"
        if len(self.differences) > 1:
            because += f"; {len(self.differences) - 1:,} more lines differ"
        return Verdict(claim, holds=False, because=because)

    # --- Inside --------------------------------------------------------------------------------

    def _note(self, step: Recorded, effect: object) -> None:
        channel = ChannelId(step.machine)
        match effect:
            case values.StoreMessage():
                self._store(channel, effect)
            case values.Deliver(message_id, entry, after_gap, delivery):
                if entry is not None:
                    line = line_of(channel, entry, self.replay.me, delivery, after_gap=after_gap)
                    self._keep(line, values.Status.DELIVERED)
                held = self._held.get(message_id)
                if held is not None:
                    line = replace(held.line, after_gap=after_gap)
                    self._keep(line, values.Status.DELIVERED)
                    insort(self._shown.setdefault(channel, []), line.position)
            case values.DeliveryChanged(message_id, state) | values.SetDelivery(
                _, message_id, state, _
            ):
                held = self._held.get(message_id)
                if held is not None:
                    self._keep(replace(held.line, delivery=state), held.status)
            case values.Withdrawn(message_ids) | values.Discarded(message_ids):
                gone = set(message_ids)
                shown = self._shown.get(channel, [])
                self._shown[channel] = [one for one in shown if one[1] not in gone]
            case _:
                pass

    def _store(self, channel: ChannelId, effect: values.StoreMessage) -> None:
        entry = effect.message.entry
        delivery = effect.delivery
        line = line_of(channel, entry, self.replay.me, delivery, after_gap=effect.after_gap)
        self._nicks[line.author] = line.nick
        self._keep(line, effect.status)
        self._titles.note_lines([line])

    def _keep(self, line: Line, status: values.Status) -> None:
        self._held[line.message_id] = _Held(line, status)

    def _tell(self, step: Recorded, played: Played) -> bool:
        event = step.event
        if isinstance(event, Tick | Drew) and not played.effects and not played.difference:
            return False
        if step.machine in self.replay.groups:
            self._channel = ChannelId(step.machine)
        names = ", ".join(dict.fromkeys(type(one).__name__ for one in played.effects))
        technical = f"{type(event).__name__} -> {names or 'nothing'}"
        self._steps.append(technical)
        results = [word for one in played.effects if (word := self._effect(one))]
        sentence = self._event(event)
        if results:
            sentence += ": " + "; ".join(results[:DIFFERENCES_SHOWN])
            if len(results) > DIFFERENCES_SHOWN:
                sentence += f"; and {len(results) - DIFFERENCES_SHOWN:,} more"
        if played.difference:
            sentence += f". NOT AS RECORDED: {played.difference}"
        self.said.append(Said(self.replay.now, 0, f"{sentence}.", f"line {step.line}: {technical}"))
        return True

    def _event(self, event: object) -> str:
        """Return an input in words."""
        match event:
            case Began(participant):
                return f"A run begins, of participant {participant[:8]}"
            case Opened(_, profile, _):
                return f"A channel is opened, with the parameters of {profile}"
            case values.Restored(state):
                return f"What the disk held: {count(len(state.log) // 40, 'message')}"
            case values.Write():
                return "We write"
            case values.Arrived(peer, payload):
                return self._arrived(peer, payload)
            case values.PeerJoined(peer):
                self._seen[peer] = self.replay.now
                return f"{self._name(peer)} is here"
            case values.PeerGone(peer):
                return f"{self._name(peer)} is gone"
            case values.StartSession(session, peer, why, _):
                return f"Session {session}: compare histories with {self._name(peer)}, {why}"
            case values.SessionOffered(session, peer):
                return f"Session {session}: {self._name(peer)} compares histories with us"
            case values.SessionPayload(session, payload):
                return f"Session {abs(session)}: {len(payload):,} B came"
            case values.Transferred(peer, payload):
                return f"{self._name(peer)} transfers {len(payload):,} B"
            case Tick():
                return "Time is up for something"
            case Notice(text):
                return f"Refused: {clean_text(text)}"
            case _:
                kind = type(event).__name__
                whose: object = getattr(event, "peer", None)
                name = self._name(PeerId(whose)) if isinstance(whose, str) else "somebody"
                return IN_WORDS.get(kind, kind).format(name)

    def _arrived(self, peer: PeerId, payload: bytes) -> str:
        self._seen[peer] = self.replay.now
        name = self._name(peer)
        try:
            message = decode(payload)
        except DecodeError:
            return f"A frame of {name} that cannot be read"
        asks = ", which asks for something" if message.repair_request else ""
        match message.kind:
            case Kind.CONTENT:
                whose = "" if message.sender_id == peer else " of somebody else"
                return f"{name} sends message {message.message_id[:ID_SHOWN]}{whose}{asks}"
            case Kind.SYNC:
                return f"{name} sends a sync message{asks}"
            case _:
                return f"{name} is typing"

    def _effect(self, effect: object) -> str:
        """Return an effect in words; nothing for what is between machines only."""
        match effect:
            case values.Deliver(message_id):
                return f"{self._titles.of(message_id)} is shown"
            case values.StoreMessage(message, values.Status.WAITING):
                return f"{quoted(text_of(message.entry).text)} is held back"
            case values.Missing(message_id):
                return f"{self._titles.of(message_id)} is missing"
            case values.Found(message_id, lost):
                end = "is given up" if lost else "was found"
                return f"{self._titles.of(message_id)} {end}"
            case values.DeliveryChanged(message_id, delivery):
                state = "received" if delivery is Delivery.ACKNOWLEDGED else delivery.value
                return f"{self._titles.of(message_id)} is {state}"
            case values.Broadcast(payload):
                return f"{len(payload):,} B go out to everybody"
            case values.BroadcastStored(message_id, bloom_filter):
                end = "goes out as an answer" if bloom_filter is None else "goes out again"
                return f"{self._titles.of(message_id)} {end}"
            case values.SessionEnded():
                return f"compared: lacked {effect.need}, got {effect.got}, gave {effect.have}"
            case values.Warned(text):
                return clean_text(text)
            case _:
                return ""

    def _name(self, peer: PeerId) -> str:
        return clean_nick(self._nicks[peer]) if peer in self._nicks else peer[:8]

    def _person(self) -> Person:
        me = self.replay.me
        groups = self.replay.groups
        channel = self._channel if self._channel in groups else next(iter(groups), None)
        group = None if channel is None else groups[channel]
        info = None if group is None else channel_info(group, self._membership(group))
        lines: Sequence[Line] = ()
        held: list[Line] = []
        if channel is not None and info is not None:
            shown = self._shown.get(channel, [])[-LINES_KEPT:]
            lines = [self._held[id_].line for _, id_ in shown]
            held = [
                self._held[one.message_id].line
                for one in info.waiting[:LINES_KEPT]
                if one.message_id in self._held
            ]
        peers = set() if group is None else group.peers
        snapshot = Snapshot(
            me=me,
            nick=self._name(me),
            now=self.replay.now,
            port=None,
            interface="",
            network=NETWORK,
            channels=() if info is None else (info,),
            peers=tuple([self._peer(peer, here=peer in peers) for peer in sorted(self._seen)]),
            sessions=() if group is None else session_infos([group]),
            trace=tuple(self._steps),
        )
        name = self._name(me) if me else "nobody yet"
        return Person(name, group is not None, snapshot, tuple(lines), tuple(held), not peers)

    def _membership(self, group: Group) -> Membership:
        """Return what stands for the channel's membership, which is in no trace."""
        profile = self.replay.profiles[group.channel]
        return Membership(
            group.channel, group.channel[:8], b"", open=False, profile=profile, joined_ns=0
        )

    def _peer(self, peer: PeerId, *, here: bool) -> PeerInfo:
        state = PeerState.UP if here else PeerState.DOWN
        seen = self._seen[peer]
        return PeerInfo(peer, self._name(peer), state, "recorded", last_seen_ns=seen)
