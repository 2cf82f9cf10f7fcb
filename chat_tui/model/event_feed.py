"""Events from the engine, kept until the screen is painted next, then turned into rows.

Rule: taking note of an event costs the engine nothing and can never be refused.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from chat_tui.model.conversation import BEGINNING, Conversation
from chat_tui.model.news import News
from chat_tui.model.row import Change
from chat_tui.text.mentions import mentions
from chat_tui.text.namesakes import Names
from chat_tui.text.safe_text import clean_text
from chat_tui.wording.acts import sentence
from chat_tui.wording.renames import Renames
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.view.view import (
    AheadShown,
    ClockShown,
    DeliveryShown,
    DiscardedShown,
    Event,
    FoundShown,
    HistoryShown,
    Line,
    LineChanged,
    LooksShown,
    MessageShown,
    Notice,
    OpShown,
    PeerInfo,
    PeerShown,
    PeerState,
    PendingEndedShown,
    PendingShown,
    Position,
    PreviewShown,
    PushedOutShown,
    ReplacedShown,
    TrustShown,
    WithdrawnShown,
)

KEY_WITHIN_S: Final = 0.02
"""Longest time for which a key holds back what else is to be painted."""

PAINT_EVERY_S: Final = 0.1
"""A person sees no more paints than ten a second; a slow terminal line is spared them."""

PAINTS_SPARED: Final = 3
"""Paints that may come at once, after a rest as long as theirs: a line that follows right after
word that its author types waits for nothing."""

PAINT_SELDOM_S: Final = 0.5
"""On a slow line two paints a second: a screen of 16 colours is some 7 kB."""

MENTIONS_MAX: Final = 10_000
"""Unread messages of a channel that are counted as addressed to the reader; their ids take 2 MB."""

RENAMES_MAX: Final = 3
"""Names that one person takes and that are told: each takes the line above the input for some
seconds."""

EVENTS_MAX: Final = 5_000
"""Events between two paints, a tenth of a second; beyond it the disk is read instead."""


class Feed:
    """The conversations of all channels, for the reader `me` called `nick`."""

    def __init__(self, me: PeerId, nick: str) -> None:
        self._me, self._nick = me, nick
        self._renamed = False
        """Whether acts may have the reader's name of before."""
        self._names = Names()
        self._told_apart = self._names.shared
        self._renames = Renames(most=RENAMES_MAX)
        self._conversations: dict[ChannelId, Conversation] = {}
        self._mentions: defaultdict[ChannelId, set[MessageId]] = defaultdict(set)
        """Unread messages that have the reader's name, as they are now."""
        self._events: list[Event] = []
        self._flooded = False
        """Set once events were let go that came behind these."""
        self._early: set[MessageId] = set()
        """Messages that were kept when that began, and wait: they count as they are drained."""
        self._batch: deque[Event] = deque()
        """Events that are being drained, older than all others."""
        self._batch_flooded = False

    def conversation(self, channel: ChannelId) -> Conversation:
        """Return the conversation of a channel; an empty one begins with its first page."""
        if channel not in self._conversations:
            self._conversations[channel] = Conversation(channel, self._me, self._nick, self._names)
        return self._conversations[channel]

    def know(self, peers: Iterable[PeerInfo]) -> None:
        """Take note of people, also of earlier runs: others may have their names."""
        for peer in peers:
            self._names.hear(peer.peer, peer.nick)

    def rename(self, nick: str) -> bool:
        """Address messages to the reader by this name from now on; return whether it is another."""
        if nick == self._nick:
            return False
        self._nick = nick
        self._names.hear(self._me, nick)
        self._renamed = True
        return True

    def unread(self, channel: ChannelId) -> int:
        """Return how many messages of a channel nobody has seen."""
        conversation = self._conversations.get(channel)
        return 0 if conversation is None else conversation.unread

    def mentioned(self, channel: ChannelId) -> int:
        """Return how many of the unread messages of a channel are addressed to the reader."""
        if not self.unread(channel):
            self._mentions.pop(channel, None)
        return len(self._mentions.get(channel, ()))

    def read_to(self, channel: ChannelId) -> Position | None:
        """Return how far a channel is read; the beginning if all of it is unread, else None."""
        conversation = self._conversations.get(channel)
        if conversation is None:
            return None
        return conversation.read_to or (BEGINNING if conversation.unread else None)

    def hidden(self, channel: ChannelId) -> list[MessageId]:
        """Return the messages of a channel of which the gap above was hidden."""
        conversation = self._conversations.get(channel)
        return [] if conversation is None else conversation.hidden

    def resume(
        self, channel: ChannelId, read_to: Position, after: Sequence[Line], away_until: Nanos = 0
    ) -> list[Change]:
        """Go on where the last run ended: `after` is what stands after the message read last.

        Nobody looked before `away_until`; 0 where nothing says up to where it was read.
        """
        unread = [line for line in after if not line.own and line.act is None]
        conversation = self.conversation(channel)
        changes = conversation.resume(read_to, [line.position for line in unread], away_until)
        self._mentions.pop(channel, None)
        for line in unread:
            self._judge_mention(line)
        return changes

    def next_unread(self, ours: Sequence[ChannelId], after: ChannelId | None) -> ChannelId | None:
        """Return the next channel with unread messages after `after`, going round.

        One where the reader is addressed comes before the others.
        """
        at = ours.index(after) + 1 if after in ours else 0
        waiting = [each for each in (*ours[at:], *ours[:at]) if self.unread(each)]
        return min(waiting, key=lambda each: not self.mentioned(each), default=None)

    def _count_mention(self, line: Line, unread_before: int) -> None:
        """Count a message that just became unread, if it is addressed to the reader."""
        if not unread_before:
            self._mentions.pop(line.channel, None)
        if self.unread(line.channel) > unread_before:
            self._judge_mention(line)

    def _count_mention_again(self, line: Line) -> None:
        """Count an unread message as it is now: an edit can name the reader, or not any more."""
        read_to = self.read_to(line.channel)
        if self.unread(line.channel) and not line.own and read_to and line.position > read_to:
            self._judge_mention(line)

    def _judge_mention(self, line: Line) -> None:
        """Note whether an unread message is addressed to the reader, as it is now."""
        named = self._mentions[line.channel]
        if line.deleted or not mentions(clean_text(line.text), self._nick):
            named.discard(line.message_id)
        elif len(named) < MENTIONS_MAX:
            named.add(line.message_id)

    def note_event(self, event: Event) -> None:
        """Remember an event for the next paint; of too many, messages are counted alone."""
        if len(self._events) < EVENTS_MAX or isinstance(event, Notice):
            self._events.append(event)
            return
        if not self._flooded:
            self._flooded = True
            waiting = (one for held in (self._batch, self._events) for one in held)
            self._early = {one.line.message_id for one in waiting if isinstance(one, PreviewShown)}
        if isinstance(event, MessageShown | PreviewShown):
            line = event.line
            if line.message_id not in self._early:  # else it counts when that one is drained
                unread = self.unread(line.channel)
                self.conversation(line.channel).pass_by(line)
                self._count_mention(line, unread)

    def drain(self, shown: ChannelId | None, enough: Callable[[], bool] | None = None) -> News:
        """Bring all conversations up to date; `shown` is the channel on the screen.

        Where it is `enough` the rest is left for the next time, in its order; `more` says so.
        """
        news = News()
        if not self._batch:
            self._batch.extend(self._events)
            self._events.clear()
            self._batch_flooded, self._flooded = self._flooded, False
            self._early.clear()
        if self._renamed:
            self._renamed = False
            news.again |= self._naming_otherwise(self._me, self._nick)
        while self._batch:
            self._take(self._batch.popleft(), shown, news)
            if enough is not None and enough():
                break
        if self._names.shared is not self._told_apart:
            self._told_apart = self._names.shared
            for channel, held in self._conversations.items():
                self._changed(channel, held.tell_apart(), shown, news)
        news.filled = [held for held in news.found.values() if held.gaps()]
        news.more = bool(self._batch)
        if self._batch_flooded and not news.more:
            self._batch_flooded = False
            self._restart(shown, news)
        return news

    def _take(self, event: Event, shown: ChannelId | None, news: News) -> None:
        """Bring the conversations up to date with one event."""
        match event:
            case MessageShown(line) | PreviewShown(line):
                unread = self.unread(line.channel)
                changes = self.conversation(line.channel).arrive(line)
                self._changed(line.channel, changes, shown, news)
                self._count_mention(line, unread)
                news.around |= line.parked
            case LineChanged() | DeliveryShown() | ReplacedShown() | PushedOutShown():
                self._changed(*self._change(event), shown, news)
                # The sentence below counts what nobody has: it goes with the mark beside a line.
                news.around |= isinstance(event, DeliveryShown) and event.channel == shown
            case OpShown() | PendingShown() | PendingEndedShown() | LooksShown() | HistoryShown():
                self._changed(*self._governed(event, news), shown, news)
            case TrustShown(hidden=True):
                self._restart(shown, news)
            case WithdrawnShown(channel) | DiscardedShown(channel):
                self._changed(channel, self.conversation(channel).restart(), shown, news)
                news.flooded = news.flooded or channel == shown
            case AheadShown() | ClockShown():
                news.clocks.append(event)
                news.around = True
            case FoundShown(channel, _, False):
                news.around = True
                news.found[channel] = self.conversation(channel)
            case Notice():
                news.notices.append(event)
            case PeerShown(peer, nick, state):
                if renamed := self._renames.heard(event, self._names.called):
                    news.notices.append(Notice(renamed))
                self._names.hear(peer, nick)
                news.around = True
                if state is PeerState.UP:
                    news.again |= self._naming_otherwise(peer, nick)
            case _:
                news.around = True

    def _change(
        self, event: LineChanged | DeliveryShown | ReplacedShown | PushedOutShown
    ) -> tuple[ChannelId, list[Change]]:
        """Show what became of a message, in its channel."""
        match event:
            case LineChanged(line):
                self._count_mention_again(line)
                return line.channel, self.conversation(line.channel).change(line)
            case DeliveryShown(channel, message_id, delivery):
                return channel, self.conversation(channel).settle(message_id, delivery)
            case ReplacedShown(channel, message_id):
                return channel, self.conversation(channel).hide(message_id)
            case PushedOutShown(channel, message_ids):
                return channel, self.conversation(channel).end_preview(message_ids)

    def _governed(
        self,
        event: OpShown | PendingShown | PendingEndedShown | LooksShown | HistoryShown,
        news: News,
    ) -> tuple[ChannelId, list[Change]]:
        """Show an act, or what waits for one, in its channel; a loss is told besides, once.

        What the disk has anew is read again: rows in their places, or the newest page.
        """
        match event:
            case OpShown(line, again):
                news.around = True
                if again and line.act is not None and line.act.loss is not None:
                    news.notices.append(Notice(f"{sentence(line, self._names.called)}."))
                return line.channel, self.conversation(line.channel).act(line)
            case PendingShown(line):
                return line.channel, self.conversation(line.channel).wait([line])
            case PendingEndedShown(channel, message_ids):
                return channel, self.conversation(channel).end_wait(message_ids)
            case LooksShown(channel):
                news.again[channel] = self.conversation(channel)
                return channel, []
            case HistoryShown(channel):
                news.again[channel] = held = self.conversation(channel)
                held.refill()
                return channel, []

    def _naming_otherwise(self, peer: PeerId, nick: str) -> dict[ChannelId, Conversation]:
        """Return conversations with acts that name `peer` as they do not call themselves now."""
        held = self._conversations.items()
        return {name: one for name, one in held if one.acts_call_otherwise(peer, nick)}

    def _changed(
        self, channel: ChannelId, changes: list[Change], shown: ChannelId | None, news: News
    ) -> None:
        if channel == shown:
            news.changes += changes
        else:
            conversation = self.conversation(channel)
            conversation.trim(len(conversation.rows))

    def read_again(self, shown: ChannelId | None) -> list[Change]:
        """Take all texts anew; returns what changed in the channel on the screen."""
        changes = {name: held.read_again() for name, held in self._conversations.items()}
        return [] if shown is None else changes.get(shown, [])

    def _restart(self, shown: ChannelId | None, news: News) -> None:
        news.flooded = news.around = True
        for channel, conversation in self._conversations.items():
            changes = conversation.restart()
            if channel == shown:
                news.changes += changes


class Pace:
    """Calls `paint` soon after it is asked to: at once after a rest, else when the rest is over.

    A few paints may come at once after a long rest (`PAINTS_SPARED`), one on a slow line.

    Keys come first: while one is on its way nothing is painted, and what waits while somebody types
    is painted right behind a key, when the next one is furthest away.

    `soon` and `later` are the event loop's ways to call back, now and after seconds.
    """

    def __init__(
        self,
        paint: Callable[[], None],
        soon: Callable[[Callable[[], None]], object],
        later: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._paint, self._soon, self._later = paint, soon, later
        self._wanted = False
        self._spent = 0
        """Number of paints that are to be rested for yet; a timer runs while there are any."""
        self._keys = 0
        self._key = False
        """True while a key is on its way."""
        self._watched = False
        """True while a timer waits for it: one for all keys of a burst."""
        self._typing = False
        """True if a key came since the last rest."""
        self.every_s = PAINT_EVERY_S
        """Seconds from one paint to the next."""

    def paint_soon(self) -> None:
        """Ask for one paint, however often it is said until then."""
        if not self._wanted:
            self._wanted = True
            self._paint_if_free()

    def paint_rest(self, within_s: float) -> None:
        """Go on with a paint that was too much for one callback."""
        self._later(within_s, self._paint_rest)

    def key_came(self) -> None:
        """A key is on its way to the screen."""
        self._keys += 1
        self._key = self._typing = True
        self._watch()

    def key_shown(self) -> None:
        """It is there: now paint what waits."""
        self._key = False
        self._paint_if_free()

    def _watch(self) -> None:
        if not self._watched:
            self._watched = True
            self._later(KEY_WITHIN_S, partial(self._lose_patience, self._keys))

    def _lose_patience(self, keys: int) -> None:
        """Wait no more for the last of so many keys: it had nothing to show, or takes long."""
        self._watched = False
        if self._key and keys == self._keys:
            self.key_shown()
        elif self._key:
            self._watch()

    def _paint_if_free(self) -> None:
        if self._wanted and not self._is_spent and not self._key:
            self._soon(self._paint_now)

    @property
    def _is_spent(self) -> bool:
        """True while nothing is to be painted but the rest of a paint."""
        return self._spent >= (PAINTS_SPARED if self.every_s <= PAINT_EVERY_S else 1)

    def _paint_now(self) -> None:
        if not self._wanted or self._is_spent or self._key:
            return  # something else came first
        self._wanted = False
        self._spent += 1
        if self._spent == 1:
            self._later(self.every_s, self._rested)
        self._paint()

    def _paint_rest(self) -> None:
        if self._key:
            self.paint_soon()
        else:
            self._paint()

    def _rested(self) -> None:
        self._spent -= 1
        if self._spent:
            self._later(self.every_s, self._rested)
        if self._wanted and self._typing:
            self._typing = False
            self._later(min(self.every_s, PAINT_EVERY_S), self._paint_now)
        else:
            self._paint_now()
