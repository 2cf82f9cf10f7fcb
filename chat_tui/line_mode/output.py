"""Output of line mode: sentences for people, or one JSON object a line."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from chat_tui.client.doctor.findings import Finding, as_json, as_lines
from chat_tui.client.live import Client
from chat_tui.client.message_changes import announced, in_words
from chat_tui.commands.command import Result
from chat_tui.line_mode.answered_lines import AnsweredLines
from chat_tui.line_mode.folded_runs import FoldedRuns, in_sentence
from chat_tui.line_mode.presence_lines import PresenceLines
from chat_tui.line_mode.read_lines import ReadLines
from chat_tui.settings.preferences import Preferences
from chat_tui.text.plain_lines import INDENT, MARK, laid, plain_name, said
from chat_tui.text.safe_text import clean_nick
from chat_tui.transcript.layout_options import taste_of
from chat_tui.wording import sentences, unreceived
from chat_tui.wording.acts import sentence
from chat_tui.wording.channel_state import topic_news, topic_of
from chat_tui.wording.clocks import ClockNews
from chat_tui.wording.glyphs import mark_word
from chat_tui.wording.invitations import offered
from chat_tui.wording.json_events import (
    Namer,
    aged,
    dumps,
    more_of,
    snapshot,
    state_events,
    to_json,
)
from chat_tui.wording.person import disk_lines, lines_wait, warning_lines
from chat_tui.wording.replies import above
from chat_tui.wording.rights import why_not_writing
from chat_tui.wording.sentences import looks_like
from sync.entries.identity import short_fingerprint
from sync.machine import ChannelId, MessageId, PeerId
from sync.sds.message import Delivery
from sync.view.governance_infos import ActKind
from sync.view.view import (
    AheadShown,
    ChannelShown,
    ClockInfo,
    ClockShown,
    DeliveryShown,
    Event,
    FoundShown,
    Line,
    LineChanged,
    MessageShown,
    MissingShown,
    Notice,
    OpShown,
    PeerShown,
    PendingShown,
    PreviewShown,
    Snapshot,
    StateKind,
    StateShown,
    Trust,
    TrustShown,
    Unshown,
)

STATUS: Final = "/status"
"""Answered to scripts with what `status --json` prints, too."""

TOLD_MAX: Final = 1_000
"""Messages remembered that were told before their time, so that they are not told twice."""


ID_TYPED: Final = 8
"""Characters of an id that a person is asked to type."""

ON_ITS_WAY: Final = "on its way"
"""Words for a line whose history is being fetched: it takes its place once that is here."""


class Face(Protocol):
    """Output format of line mode; it only writes, and `LineMode` flushes."""

    def ready(self, channel: ChannelId) -> None:
        """The chat runs."""

    def line(self, line: Line) -> None:
        """A message of before."""

    def unread(self, lines: Sequence[Line]) -> dict[ChannelId, list[MessageId]]:
        """Return what these lines answer and `learn` has to be told before they are."""

    def learn(self, answered: Mapping[MessageId, Line | Unshown | None]) -> None:
        """Take note of messages that others answer; of None it could not be read."""

    def settle(self) -> None:
        """Say what waited for more of its kind: a step of the program is over."""

    def event(self, event: Event) -> None:
        """Something happened."""

    def now_in(self, channel: ChannelId) -> None:
        """Say that input goes to this channel from now on."""

    def result(self, command: str, result: Result) -> None:
        """A /command did this."""

    def error(self, text: str) -> None:
        """A message could not be written."""

    def finding(self, finding: Finding) -> None:
        """A test of `/doctor deep` is done."""

    def read(self, done: int, of: int) -> None:
        """So many of so many stored messages are read."""

    def waiting(self, lines: int) -> None:
        """So many lines that were written wait for the disk now; none does any more."""

    def left(self) -> None:
        """We are about to go: who has a link is not told to leave one by one."""


def _event_of(line: Line) -> Event:
    """Return the event by which a line of before would have been told."""
    if line.act is not None:
        return OpShown(line)
    if line.pending:
        return PendingShown(line)
    return PreviewShown(line) if line.parked else MessageShown(line)


def unacknowledged(snapshot: Snapshot) -> int:
    """Return how many own messages wait for somebody to receive them."""
    return sum(info.outgoing_count for info in snapshot.channels)


class JsonFace:
    """One JSON object a line: the contract of `plain --json`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._name = Namer(client.snapshot)

    def ready(self, channel: ChannelId) -> None:
        """See `Face`."""
        snapshot = self._client.snapshot()
        self._print(
            {
                "event": "ready",
                "participant": snapshot.me,
                "nick": snapshot.nick,
                "port": snapshot.port,
                "channel": self._name(channel),
            }
        )

    def line(self, line: Line) -> None:
        """See `Face`."""
        shown = to_json(_event_of(line), self._name)
        assert shown is not None
        self._print(aged(shown))

    def unread(self, lines: Sequence[Line]) -> dict[ChannelId, list[MessageId]]:
        """See `Face`; an id says it."""
        del lines
        return {}

    def learn(self, answered: Mapping[MessageId, Line | Unshown | None]) -> None:
        """See `Face`; nothing is asked for."""

    def settle(self) -> None:
        """See `Face`; each event is told by itself."""

    def event(self, event: Event) -> None:
        """See `Face`."""
        self._name.note_event(event)
        if isinstance(event, StateShown):
            state = self._client.state_of(event.channel)
            for told in () if state is None else state_events(event, state, self._name):
                self._print(told)
            return
        shown = to_json(event, self._name)
        if shown is not None and isinstance(event, PeerShown):
            shown.update(more_of(self._client.snapshot(), event.peer))
        if shown is not None:
            self._print(aged(shown, self._client.now))

    def now_in(self, channel: ChannelId) -> None:
        """See `Face`; each event names its channel."""

    def result(self, command: str, result: Result) -> None:
        """See `Face`."""
        self._print({"event": "result", "command": command, "ok": result.ok, "text": result.text})
        if command == STATUS:
            self._print(snapshot(self._client.snapshot(), self._name))

    def error(self, text: str) -> None:
        """See `Face`."""
        self._print({"event": "error", "message": text})

    def finding(self, finding: Finding) -> None:
        """See `Face`."""
        self._print(as_json(finding))

    def read(self, done: int, of: int) -> None:
        """See `Face`."""
        self._print({"event": "progress", "done": done, "of": of})

    def waiting(self, lines: int) -> None:
        """See `Face`."""
        self._print({"event": "waiting", "lines": lines})

    def left(self) -> None:
        """See `Face`."""
        self._print({"event": "left", "unacknowledged": unacknowledged(self._client.snapshot())})

    def _print(self, event: dict[str, object]) -> None:
        sys.stdout.write(dumps(event) + "\n")


class TextFace:
    """Plain sentences. On a terminal our own lines stand there already, as typed."""

    def __init__(self, client: Client, settings: Preferences) -> None:
        self._client, self._settings = client, settings
        self._name = Namer(client.snapshot)
        self._echo = not sys.stdin.isatty()
        self._on_terminal = sys.stdout.isatty()
        self._channel: ChannelId | None = None
        self._clocks = ClockNews(ClockInfo(), sees_question=False)
        self._told: dict[MessageId, None] = {}
        self._newest: dict[ChannelId, tuple[int, MessageId]] = {}
        """Places of the newest lines told as on their way: older ones are told in their turn."""
        self._folded = FoldedRuns()
        self._presence = PresenceLines()
        self._read = ReadLines()
        self._answered = AnsweredLines()

    def ready(self, channel: ChannelId) -> None:
        """See `Face`."""
        self.now_in(channel)
        name = self._name(channel)
        info = next(one for one in self._client.snapshot().channels if one.channel == channel)
        openness = "open to everybody on this network" if info.open else "private"
        if info.governance is not None:
            openness = sentences.openness(info)
        self._say(f"You are {self._client.nick} in {name}, {openness}. /help lists commands.")
        self._say(self._client.snapshot().network)
        if topic := topic_of(info):
            self._say(f"Topic: {topic}")
        if barred := why_not_writing(self._client.snapshot(), info):
            self._say(barred)
        if alike := looks_like(self._client.snapshot(), info):
            self._say(alike)
        for text in disk_lines(self._client.snapshot(), 0):
            self._say(text)

    def line(self, line: Line) -> None:
        """See `Face`."""
        self._read.note(line)
        self._answered.note(line)
        if not self._folded.goes_on(line):
            self.settle()
        if self._folded.take(line):
            return
        if line.act is not None:
            self._act(line)
            return
        gap = " (after a gap)" if line.after_gap else ""
        if line.loading or line.parked or line.pending:
            word = mark_word(line, line.created_ns, alone=False)
            gap = f" ({ON_ITS_WAY if line.loading else word})"
            self._told[line.message_id] = None
            if len(self._told) > TOLD_MAX:
                del self._told[next(iter(self._told))]
        name = self._name(line.channel)
        where = f" ({name})" if line.channel != self._channel or name.startswith("@") else ""
        when = taste_of(self._settings).time(line.created_ns).strip()
        author = self._called(line.author, line.nick)
        if line.reply_to is not None and not line.deleted:
            answered = self._answered.told(line)
            self._print(laid(above(answered, self._called), MARK, self._width()))
        self._print(said(f"{when}{where}{gap}", author, in_words(line), self._width()))
        if (reply := self._answered.came(line)) is not None:
            who = self._called(reply.author, reply.nick)
            when_answered = taste_of(self._settings).time(reply.created_ns).strip()
            self._say(f"That is what {who} answered at {when_answered}.")

    def unread(self, lines: Sequence[Line]) -> dict[ChannelId, list[MessageId]]:
        """See `Face`."""
        return self._answered.unread(lines)

    def learn(self, answered: Mapping[MessageId, Line | Unshown | None]) -> None:
        """See `Face`."""
        self._answered.learn(answered)

    def _is_news(self, line: Line) -> bool:
        """Return whether to tell of a line before its time; on its way, in order and once only."""
        if not line.loading:
            return line.parked and (self._echo or not line.own)
        place = (line.lamport, line.message_id)
        if line.own or place <= self._newest.get(line.channel, (0, "")):
            return False
        self._newest[line.channel] = place
        return True

    def settle(self) -> None:
        """See `Face`; of lines that are folded away, one sentence tells how many there are."""
        run = self._folded.unsaid()
        if run is not None:
            name = self._name(run.channel)
            where = f" ({name})" if run.channel != self._channel else ""
            self._say(f"{in_sentence(run, self._called(run.author, run.nick))}{where}")

    def event(self, event: Event) -> None:
        """See `Face`."""
        self._name.note_event(event)
        if isinstance(event, MessageShown):
            self._read.note(event.line)
        if isinstance(event, MessageShown | LineChanged | PreviewShown):
            self._answered.note(event.line)
        self._tell(event)

    def _tell(self, event: Event) -> None:
        match event:
            case MessageShown(line):
                self._came(line)
            case PreviewShown(line) if self._is_news(line):
                self.line(line)
            case OpShown(line) | PendingShown(line):
                self.line(line)
            case PreviewShown(line) if line.waits:
                self._say("It waits for your answer about the clock; /clock says more.")
            case AheadShown() | ClockShown():
                for sentence in self._clocks.said_of(event, self._client.snapshot()):
                    self._say(sentence)
            case LineChanged(line, rewritten) if not line.loading or line.message_id in self._told:
                news = rewritten and (self._echo or not line.own)
                author = self._called(line.author, line.nick)
                for sentence in announced(replace(event, rewritten=news), author):
                    self._say(sentence, MARK)
            case DeliveryShown(_, message_id, Delivery.FAILED):
                self._say(f"Nobody has received it: /resend {message_id[:8]} tries again.")
            case PeerShown():
                self._say(self._presence.said(self._client.snapshot(), event, self._called))
            case ChannelShown(channel) if self._name(channel).startswith("@"):
                name = self._name(channel)
                self._say(f"{name} is a channel for two: /channel {name} switches to it.")
            case TrustShown(_, _, Trust.CHANGED):
                for text in warning_lines(self._client.snapshot()):
                    self._say(text)
            case TrustShown(peer, nick, trust):
                name = plain_name(nick, clean_nick(nick))
                self._say(f"{name} ({short_fingerprint(peer)}) is {trust.value} now.")
            case MissingShown():
                self._say("An earlier message is missing; asking for it.")
            case FoundShown(_, _, True):
                self._say("An earlier message could not be found; /sync looks for it again.")
            case StateShown():
                self._state(event)
            case Notice(text):
                self._say(text, MARK)
            case _:
                pass

    def _came(self, line: Line) -> None:
        """Tell a message that has its place, unless it was told as on its way, and its offer."""
        if line.message_id in self._told:
            del self._told[line.message_id]
        elif self._echo or not line.own:
            self.line(line)
        self._offer(line)

    def _offer(self, line: Line) -> None:
        """Say how one accepts what a message of somebody else invites to."""
        offer = None if line.own or line.deleted else offered(line.text)
        if offer is not None:
            self._say(f"/accept {line.message_id[:ID_TYPED]} joins {offer.title}.")

    def _act(self, line: Line) -> None:
        """Print an act of governance as a sentence of the program."""
        name = self._name(line.channel)
        where = f" ({name})" if line.channel != self._channel else ""
        when = taste_of(self._settings).time(line.created_ns).strip()
        self._say(f"{when}{where} {sentence(line, self._called)}.")
        if line.act is None or line.act.kind is not ActKind.ASKED:
            return
        snapshot = self._client.snapshot()
        info = sentences.find(snapshot, line.channel)
        if info is not None and (asks := sentences.who_asks(snapshot, info)):
            self._say(asks)

    def _state(self, event: StateShown) -> None:
        """Say that somebody else has set the topic, or has read; pins are looked up."""
        snapshot = self._client.snapshot()
        info = sentences.find(snapshot, event.channel)
        others = sorted(event.authors - {snapshot.me})
        if info is None or not others:
            return
        if StateKind.READ in event.kinds:
            for sentence in self._read.news(snapshot, info, others):
                self._say(sentence)
        if StateKind.TOPIC not in event.kinds:
            return
        topic = info.state.topic
        if topic is None or topic.by in others:
            self._say(topic_news(snapshot, info, others[0] if topic is None else topic.by))

    def now_in(self, channel: ChannelId) -> None:
        """See `Face`; lines of other channels are said with their names."""
        self._channel = channel

    def result(self, command: str, result: Result) -> None:
        """See `Face`."""
        del command
        if result.text:
            self._say(result.text)

    def error(self, text: str) -> None:
        """See `Face`."""
        self._say(f"Not sent: {text}", MARK)

    def finding(self, finding: Finding) -> None:
        """See `Face`."""
        for line in as_lines(finding):
            self._say(line)

    def read(self, done: int, of: int) -> None:
        """See `Face`."""
        self._say(f"{done:,} of {of:,} messages are read.")

    def waiting(self, lines: int) -> None:
        """See `Face`."""
        if lines:
            waits = f"{lines_wait(lines)} in memory until the disk takes what is written"
            self._say(f"Not sent yet: {waits}; leaving loses what waits.")
        else:
            self._say("Messages that waited for the disk are sent.")

    def left(self) -> None:
        """See `Face`."""
        snapshot = self._client.snapshot()
        waiting = unacknowledged(snapshot)
        if not waiting:
            self._say("You have left.")
            return
        what = unreceived.said(*snapshot.channels)
        go = "goes" if waiting == 1 else "go"
        self._say(f"You have left. {what} that nobody is known to have {go} out next time.")

    def _called(self, peer: PeerId, nick: str) -> str:
        return plain_name(nick, self._client.people.book.names.called(peer, nick))

    def _width(self) -> int | None:
        return shutil.get_terminal_size().columns if self._on_terminal else None

    def _say(self, text: str, mark: str = INDENT) -> None:
        """Print a sentence of the program; `mark` stands before what else there is of it."""
        self._print(laid(f"* {text}", mark, self._width()))

    def _print(self, text: str) -> None:
        sys.stdout.write(text + "\n")
