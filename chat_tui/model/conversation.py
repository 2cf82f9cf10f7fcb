"""A channel's conversation as rows, without a terminal: events in, changed rows out.

Rules:
1. Rows stand in the one order of (lamport, message id), wherever and whenever they come.
2. Rows are a window without holes onto the history on disk: what lies outside is paged in. Messages
   that wait for history on its way are not in it: out of sight, they come back once delivered.
3. Of what is set aside until its time, a few have rows; none of them counts for what was read to.
4. Every method says which rows changed, so that a widget repaints only those.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from msgspec.structs import replace

from chat_tui.client.parked_lines import ParkedLines
from chat_tui.model.folds import Folds, is_folded
from chat_tui.model.quotes import Quotes
from chat_tui.model.read_position import Attention
from chat_tui.model.row import Change, Changed, Inserted, Removed, Row, shown_text
from chat_tui.text.namesakes import Names, look_alike_key
from chat_tui.text.safe_text import clean_nick
from chat_tui.text.times import day_of
from chat_tui.wording.acts import SIGN, named_in
from chat_tui.wording.folding import folded_away
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.governance_infos import Lateness
from sync.view.view import Line, Position, Unshown

ROWS_KEPT: Final = 2000
"""Rows in memory around what is shown: a dozen pages either way, about a megabyte."""

ROWS_SLACK: Final = 400
"""Rows beyond `ROWS_KEPT` at which the window is cut back, so that not every message cuts."""

ASIDE: Final = "waiting for their time"
"""Line above messages that are set aside."""

BEGINNING: Final[Position] = (0, MessageId(""))
"""Before every message there can be."""


PENDING_SHOWN: Final = 20
"""Messages with rows that wait for ops of governance: strangers could send thousands."""


def _begins(line: Line, above: Line) -> bool:
    """Return whether another author wrote the line above; acts are as if of one."""
    if line.act is not None or above.act is not None:
        return (line.act is None) != (above.act is None)
    return above.author != line.author


class Conversation:
    """The rows of `channel` that are in memory; `me` and `nick` are the reader.

    `names` are those of everybody heard of, in whatever channel.
    """

    def __init__(
        self, channel: ChannelId, me: PeerId, nick: str, names: Names | None = None
    ) -> None:
        self.channel = channel
        self.rows: list[Row] = []
        self.has_older = True
        """Whether the disk may hold messages before the first row."""
        self.has_newer = False
        """Whether the disk holds messages after the last row."""
        self.loading = False
        """Whether a page is on its way."""
        self.stuck = False
        """Whether the last page could not be read."""
        self.cleared = False
        """Whether the person wants to see none of the messages of before."""
        self._names = names or Names()
        self._names.hear(me, nick)
        self._positions: list[Position] = []
        self._known: dict[MessageId, Position] = {}
        self._attention = Attention()
        self._aside: list[Line] = []
        self._settled: dict[MessageId, Delivery] = {}
        self._changed: dict[MessageId, Line] = {}
        self._loading: set[MessageId] = set()
        self._parked = ParkedLines()
        self._rows_parked: set[MessageId] = set()
        self._pending: set[MessageId] = set()
        self._moving = False
        self._hidden: dict[MessageId, None] = {}
        self._pinned: Set[MessageId] = frozenset()
        self._read_by: Mapping[MessageId, str] = {}
        self._folds = Folds(self.rows)
        self._quotes = Quotes()

    @property
    def first(self) -> Position | None:
        """Position of the first row; a page of older messages ends before it."""
        return self._positions[0] if self._positions else None

    @property
    def last(self) -> Position | None:
        """Position of the last row; a page of newer messages begins after it."""
        return self._positions[-1] if self._positions else None

    @property
    def unread(self) -> int:
        """Messages of others that came below while nobody looked."""
        return self._attention.unread + self._parked.unseen

    @property
    def earlier(self) -> int:
        """Messages of others that came above what was read already, while nobody looked."""
        return self._attention.earlier

    @property
    def first_unread(self) -> Position | None:
        """Position of the first message that came while nobody looked."""
        return self._attention.first_unread or self._parked.first_unseen

    @property
    def read_to(self) -> Position | None:
        """Position of the last message somebody saw; None if nobody has seen any."""
        return self._attention.read_to

    def index_of(self, message_id: MessageId) -> int | None:
        """Return the row of a message, None if it is not in memory."""
        position = self._known.get(message_id)
        return None if position is None else bisect_left(self._positions, position)

    def covers(self, position: Position) -> bool:
        """Return whether a position and its neighbours are in memory."""
        if self.first is None or self.last is None:
            return False
        above = self.has_older and position < self.first
        below = self.has_newer and position > self.last
        return not above and not below

    # -- what happens ------------------------------------------------------------------------

    def arrive(self, line: Line) -> list[Change]:
        """Take in a message that was just delivered (or, our own, committed), or that will be.

        One that waits, for history on its way (`line.loading`) or for its time (`line.parked`),
        counts when it is first heard of. One that waits for ops (`line.pending`) counts only once
        it is let in: `wait` takes it in.
        """
        if line.parked:
            return self._park([line], seen=self._attention.watched)
        replaced = line.replaces is not None and self._parked.take_replaced(line)
        waited = line.message_id in self._parked or line.message_id in self._pending
        self._pending.discard(line.message_id)
        counted = self._take_counted(line)
        index = self.index_of(line.message_id)
        if index is not None and not waited:
            return self._update(index, line)
        changes: list[Change] = []
        if line.own:
            self._attention.wrote()
        elif not counted:
            changes += self._count(line)
        self._attention.heard(line.position)
        if index is not None:
            changes += self._update(index, line) + self._redecorate([index, index + 1])
            return changes + self._show_parked()
        if self.loading and (self._moving or not self._fits(line.position)):
            self._aside.append(line)
        if self._fits(line.position):
            changes += self._insert([line])
        else:
            changes += self._quote(line)
        return changes + (self._show_parked() if waited or replaced else [])

    def pass_by(self, line: Line) -> None:
        """Count a message as `arrive` does, whose row is read from the disk after a `restart`."""
        if line.parked:
            return  # the restart forgets all of these; it counts once its time has come
        row = self.index_of(line.message_id)
        here = row is not None and not self.rows[row].line.pending
        counted = self._take_counted(line) or here
        if line.own:
            self._attention.wrote()
        elif not counted and self._attention.watched:
            self._attention.catch_up(line.position, line.created_ns)
        elif not counted:
            self._attention.miss(line.position)

    def _take_counted(self, line: Line) -> bool:
        """Return whether a message that comes was counted while it waited, or waits still."""
        counted = line.message_id in self._loading or self._parked.take_line(line.message_id)
        if line.loading:
            self._loading.add(line.message_id)
        else:
            self._loading.discard(line.message_id)
        return counted

    def park(self, lines: Sequence[Line]) -> list[Change]:
        """Take in lines that are set aside until their time, as the disk has them."""
        return self._park([line for line in lines if not self._is_delivered(line)], seen=True)

    def act(self, line: Line) -> list[Change]:
        """Take in an act of governance, or show it as it is now.

        It never counts, neither as unread nor for what was read to: it may bear a time far ahead.
        """
        return self._place(line)

    def wait(self, lines: Sequence[Line]) -> list[Change]:
        """Take in messages that wait for ops of governance; of too many, the first ones."""
        changes: list[Change] = []
        for line in lines:
            known = line.message_id in self._known or line.message_id in self._pending
            if known or len(self._pending) >= PENDING_SHOWN:
                continue
            self._pending.add(line.message_id)
            changes += self._place(line)
        return changes

    def end_wait(self, message_ids: Sequence[MessageId]) -> list[Change]:
        """Forget messages that were not let in."""
        gone = self._pending.intersection(message_ids)
        self._pending.difference_update(message_ids)
        self._aside = [line for line in self._aside if line.message_id not in gone]
        return [change for message_id in sorted(gone) for change in self.hide(message_id)]

    def end_preview(self, message_ids: Sequence[MessageId]) -> list[Change]:
        """Forget messages that waited for history on its way; each comes again, and counts once."""
        gone = set(message_ids)
        self._aside = [one for one in self._aside if not (one.loading and one.message_id in gone)]
        rows = [self.index_of(one) for one in message_ids]
        waiting = [at for at in rows if at is not None and self.rows[at].line.loading]
        return [change for at in sorted(waiting, reverse=True) for change in self._forget(at, 1)]

    def _place(self, line: Line) -> list[Change]:
        """Insert a line that nobody counts, or update its row."""
        if (index := self.index_of(line.message_id)) is not None:
            return self._update(index, line)
        if self.loading and (self._moving or not self._fits(line.position)):
            self._aside.append(line)
        return self._insert([line]) if self._fits(line.position) else []

    def hide(self, message_id: MessageId) -> list[Change]:
        """Forget a message that was replaced by another one."""
        self._parked.take_line(message_id)
        self._quotes.doubt(message_id)
        changes = self._show_parked()
        index = self.index_of(message_id)
        return changes if index is None else [*changes, *self._forget(index, 1)]

    def settle(self, message_id: MessageId, delivery: Delivery) -> list[Change]:
        """Show the new delivery state of an own message."""
        index = self.index_of(message_id)
        if self.loading and (self._moving or index is None):
            self._settled[message_id] = delivery
        if index is None:
            return []
        row = self.rows[index]
        return self._put(index, replace(row, line=replace(row.line, delivery=delivery)))

    def change(self, line: Line) -> list[Change]:
        """Show a message as it is now, edited, deleted or reacted to; that is no new message."""
        index = self.index_of(line.message_id)
        if index is None:
            if self.loading and not line.loading:
                self._changed[line.message_id] = line
            return self._quote(line)
        before = self.rows[index].line
        # Events do not know what the disk does of lines of somebody who is out.
        late = before.late if line.late is Lateness.IN_TIME else line.late
        now = replace(line, parked=before.parked, waits=before.waits, late=late)
        return self._update(index, now)

    def _count(self, line: Line) -> list[Change]:
        """Count a message of somebody else as new, if it is."""
        if not self._attention.watched:
            return self._decorate_at(self._attention.miss(line.position))
        return [
            change
            for place in self._attention.catch_up(line.position, line.created_ns)
            for change in self._decorate_at(place)
        ]

    def look(self) -> None:
        """Note that somebody sees the newest messages; the separator stays until `look_away`."""
        self._attention.look()
        self._parked.look()

    def glance(self) -> None:
        """Note that all is in sight, though nobody stays with what comes."""
        self._attention.glance()
        self._parked.look()

    def take_up(self, position: Position) -> None:
        """Note that the person acted on a message without going here: the only new one is read."""
        self._attention.take_up(position)

    def look_back(self) -> None:
        """Note that somebody went to see what came above."""
        self._attention.look_back()

    def see(self, first: Position, last: Position) -> None:
        """Note that what stands between these places is in sight."""
        self._attention.see(first, last)

    def look_away(self) -> list[Change]:
        """Note that nobody sees the newest messages: what comes from now on is new."""
        return self._decorate_at(self._attention.look_away())

    def resume(
        self, read_to: Position, new: Sequence[Position], away_until: Nanos = 0
    ) -> list[Change]:
        """Go on from another run, before anything arrives: what came after `read_to` is `new`."""
        return self._decorate_at(self._attention.resume(read_to, new, away_until))

    @property
    def hidden(self) -> list[MessageId]:
        """The messages of which the gap above is not said, in the order they were hidden."""
        return list(self._hidden)

    def hide_gaps(self, message_ids: Sequence[MessageId]) -> list[Change]:
        """Say no more of the gaps above messages; the oldest of too many are said again."""
        self._hidden |= dict.fromkeys(message_ids)
        for message_id in self.hidden[:-ROWS_KEPT]:
            del self._hidden[message_id]
        indexes = [self.index_of(message_id) for message_id in message_ids]
        return self._redecorate([index for index in indexes if index is not None])

    def show_gaps(self) -> list[Change]:
        """Say again of every gap that it is there."""
        hidden, self._hidden = self._hidden, {}
        indexes = [self.index_of(message_id) for message_id in hidden]
        return self._redecorate([index for index in indexes if index is not None])

    def mark_state(self, pinned: Set[MessageId], read_by: Mapping[MessageId, str]) -> list[Change]:
        """Show which messages are pinned, and under own ones who has read so far."""
        if (pinned, read_by) == (self._pinned, self._read_by):
            return []
        touched = {*self._pinned, *pinned, *self._read_by, *read_by}
        self._pinned, self._read_by = pinned, read_by
        indexes = [self.index_of(message_id) for message_id in touched]
        return self._redecorate(sorted(index for index in indexes if index is not None))

    def unfold(self, message_id: MessageId) -> list[Change]:
        """Show the lines of a run that is folded away, of which one is named."""
        index = self.index_of(message_id)
        return [] if index is None else self._redecorate(self._folds.open(index, self._breaks))

    def gaps(self) -> list[MessageId]:
        """Return the messages in memory that follow a gap, whether that is said or not."""
        return [row.line.message_id for row in self.rows if row.line.after_gap]

    # -- what rows answer ----------------------------------------------------------------------

    @property
    def unquoted(self) -> list[MessageId]:
        """The messages that rows answer and that are to be read from the disk."""
        return self._quotes.wanted

    def take_quotes(
        self, found: Mapping[MessageId, Line | Unshown], wanted: Iterable[MessageId]
    ) -> list[Change]:
        """Show above the rows that answer them what these messages are.

        Of those `wanted`, which were asked for, what the disk refused is not asked for again. What
        waits on the disk and has a row is shown, dim as it may be.
        """
        waiting = [one for one, answered in found.items() if answered is Unshown.WAITS]
        rows = {one: at for one in waiting if (at := self.index_of(one)) is not None}
        found = {**found, **{one: self.rows[at].line for one, at in rows.items()}}
        doubled = [
            look_alike_key(line.nick)
            for line in found.values()
            if isinstance(line, Line) and line.nick and self._names.hear(line.author, line.nick)
        ]
        changes = self._requote(self._quotes.learn_all(found, wanted))
        return changes + self._rename(set(doubled))

    def doubt_quotes(self) -> None:
        """Have everything that rows answer read again."""
        self._quotes.doubt_all()

    def _quote(self, line: Line) -> list[Change]:
        """Show above the rows that answer a message what it is now."""
        return self._requote(self._quotes.learn(line.message_id, line))

    def _requote(self, message_ids: Iterable[MessageId]) -> list[Change]:
        indexes = [self.index_of(message_id) for message_id in message_ids]
        return self._redecorate([index for index in indexes if index is not None])

    # -- paging ------------------------------------------------------------------------------

    def begin_load(self) -> None:
        """Note that a page is being read: what comes meanwhile may not be in it."""
        self.loading = True

    def add_older(
        self, page: Sequence[Line], *, before: Position | None, complete: bool
    ) -> list[Change]:
        """Take in the page that was asked for `before` the first row of then (None: the newest).

        `complete` says that the disk has none before this page.
        """
        changes: list[Change] = []
        if before == self.first and not self.cleared:
            changes = self._insert(self._updated(page))
            self.has_older = not complete
        return changes + self._end_load()

    def add_newer(
        self, page: Sequence[Line], *, after: Position | None, complete: bool
    ) -> list[Change]:
        """Take in the page that was asked for `after` the last row of then."""
        changes: list[Change] = []
        if after == self.last:
            changes = self._insert(self._updated(page))
            self.has_newer = not complete
        return changes + self._end_load()

    def begin_move(self) -> None:
        """Note that the pages around another place are being read; until then the rows stay."""
        self.begin_load()
        self._moving = True

    def move(self, page: Sequence[Line], *, has_older: bool, has_newer: bool) -> list[Change]:
        """Hold `page` instead of the rows of now, unless all was forgotten meanwhile."""
        changes: list[Change] = []
        if self._moving:
            changes = self._empty() + self._insert(self._updated(page))
            self.has_older, self.has_newer = has_older, has_newer
            self.stuck = self.cleared = False
        return changes + self._end_load()

    def fail_move(self) -> list[Change]:
        """Note that the other place could not be read: everything stays as it was."""
        return self._end_load()

    def fail_load(self) -> list[Change]:
        """Note that the page could not be read: show what there is, ask no more until `restart`."""
        self.stuck, self.has_older = True, False
        return self._end_load()

    def drop_load(self) -> None:
        """Note that nobody waits for the page any more: the rows, and what can be read, stay.

        What came meanwhile and has no row stands outside of them: it is read from the disk.
        """
        self._aside.clear()
        self.loading = self._moving = False
        self._settled.clear()
        self._changed.clear()

    def trim(self, shown: int) -> list[Change]:
        """Forget the rows farthest from row `shown` if there are too many; the disk has them."""
        surplus = len(self.rows) - ROWS_KEPT
        if surplus <= ROWS_SLACK or self.loading:
            return []
        if shown >= len(self.rows) // 2:
            self.has_older = True
            return self._forget(0, surplus)
        self.has_newer = True
        return self._forget(ROWS_KEPT, surplus)

    def restart(self) -> list[Change]:
        """Forget all rows: the next page is the newest one."""
        removed = self._empty()
        self._parked.forget()
        self._pending.clear()
        self.has_older, self.has_newer, self.stuck = True, False, False
        self._moving = self.cleared = False
        return removed

    def refill(self) -> None:
        """Note that the disk holds messages before the first row now; the rows stay."""
        self._quotes.doubt_all()
        self.has_older, self.stuck = not self.cleared, False

    def clear(self) -> list[Change]:
        """Forget all rows, and page none in until `unclear`, or until another place is gone to."""
        changes = self.restart()
        self._aside.clear()
        self.has_older, self.cleared = False, True
        return changes

    def unclear(self) -> None:
        """Let the messages of before be paged in again."""
        self.has_older, self.cleared = True, False

    # -- inside ------------------------------------------------------------------------------

    def _empty(self) -> list[Change]:
        return self._forget(0, len(self.rows)) if self.rows else []

    def _is_delivered(self, line: Line) -> bool:
        """Return whether a line has a row that does not wait for its time."""
        index = self.index_of(line.message_id)
        return index is not None and not self.rows[index].line.parked

    def _park(self, lines: Sequence[Line], *, seen: bool) -> list[Change]:
        self._parked.put(lines, seen=seen)
        return self._show_parked()

    def _show_parked(self) -> list[Change]:
        """Let the few lines that are chosen of those set aside have their rows, and no others."""
        wanted = {line.message_id: line for line in self._parked.chosen()}
        wanted = {id_: line for id_, line in wanted.items() if self._fits(line.position)}
        changes: list[Change] = []
        for message_id in self._rows_parked - wanted.keys():
            index = self.index_of(message_id)
            if index is not None and self.rows[index].line.parked:
                changes += self._forget(index, 1)
        self._rows_parked = set(wanted)
        changes += self._insert(wanted.values())
        indexes = [self.index_of(message_id) for message_id in wanted]
        return changes + self._redecorate([index for index in indexes if index is not None])

    def _fits(self, position: Position) -> bool:
        """Return whether a row at `position` leaves the window without holes."""
        return self.covers(position) if self._positions else not self.has_older

    def _updated(self, page: Sequence[Line]) -> list[Line]:
        """Return the page's lines with what was settled and changed while they were read."""
        lines = [self._changed.get(line.message_id, line) for line in page]
        return [
            replace(line, delivery=self._settled[line.message_id])
            if line.message_id in self._settled
            else line
            for line in lines
        ]

    def _end_load(self) -> list[Change]:
        aside, self._aside = self._updated(self._aside), []
        self.loading = self._moving = False
        self._settled.clear()
        self._changed.clear()
        changes = self._insert([line for line in aside if self._fits(line.position)])
        return changes + self._show_parked()

    def _insert(self, lines: Iterable[Line]) -> list[Change]:
        """Insert what is not there yet; neighbouring rows become one change."""
        runs: list[Inserted] = []
        came: list[Line] = []
        doubled: set[str] = set()
        delivered: list[Line] = []
        for line in sorted(lines, key=lambda line: line.position):
            if line.message_id in self._known:
                delivered.append(line)
                continue
            index = bisect_left(self._positions, line.position)
            row = Row(line, self._text(line), SIGN if line.act else clean_nick(line.nick))
            self.rows.insert(index, row)
            self._positions.insert(index, line.position)
            self._known[line.message_id] = line.position
            came.append(line)
            if not line.parked and not line.pending and line.act is None:
                self._attention.heard(line.position)
            if line.nick and self._names.hear(line.author, line.nick):
                doubled.add(look_alike_key(line.nick))
            if runs and index == runs[-1].index + runs[-1].count:
                runs[-1] = replace(runs[-1], count=runs[-1].count + 1)
            else:
                runs.append(Inserted(index, 1))
        changes: list[Change] = list(runs)
        for line in came:
            answered = None if line.reply_to is None else self.index_of(line.reply_to)
            self._quotes.add(line, None if answered is None else self.rows[answered].line)
        for run in runs:
            for index in range(run.index, run.index + run.count):
                self.rows[index] = self._decorated(index)
            changes += self._redecorate([run.index, run.index + run.count])
        changes += [change for line in came for change in self._quote(line)]
        for line in delivered:
            changes += self._update(bisect_left(self._positions, line.position), line)
        return changes + self._rename(doubled)

    def _update(self, index: int, line: Line) -> list[Change]:
        """Show a known message as it is now; what was delivered waits no more."""
        row = self.rows[index]
        if (line.loading and not row.line.loading) or (line.pending and not row.line.pending):
            return []
        changes = self._put(index, replace(row, line=line, text=self._text(line)))
        changes += self._quote(line)
        if line.deleted != row.line.deleted and line.reply_to is not None:
            changes += self._redecorate([index])
        refolded = (row.line.late, row.line.deleted) != (line.late, line.deleted)
        if refolded or is_folded(line):
            changes += self._redecorate([index, index + 1])
        return changes

    def acts_call_otherwise(self, peer: PeerId, nick: str) -> bool:
        """Return whether an act among the rows names `peer` by another name than `nick`."""
        return any(
            one.peer == peer and one.nick != nick for row in self.rows for one in named_in(row.line)
        )

    def read_again(self) -> list[Change]:
        """Take the texts of all rows anew: more of them can be shown now."""
        again = [at for at, row in enumerate(self.rows) if not row.line.text.isascii()]
        return [change for at in again for change in self._update(at, self.rows[at].line)]

    def _text(self, line: Line) -> str:
        """Return what stands where the text of a message does, with names that are told apart."""
        return shown_text(line, self._names.called)

    def _forget(self, index: int, count: int) -> list[Change]:
        for row in self.rows[index : index + count]:
            del self._known[row.line.message_id]
            self._quotes.remove(row.line)
            self._folds.opened.discard(row.line.message_id)
        del self.rows[index : index + count]
        del self._positions[index : index + count]
        return [Removed(index, count), *self._redecorate([index])]

    def tell_apart(self) -> list[Change]:
        """Show the keys beside names that several people have by now."""
        return self._rename(self._names.shared)

    def _rename(self, names: Set[str]) -> list[Change]:
        """Decorate again the rows of these names."""
        if not names:
            return []
        acts = [index for index, row in enumerate(self.rows) if row.line.act is not None]
        changes = [change for at in acts for change in self._update(at, self.rows[at].line)]
        return changes + self._redecorate(
            index
            for index, row in enumerate(self.rows)
            if row.quote or look_alike_key(row.nick) in names
        )

    def _decorate_at(self, position: Position | None) -> list[Change]:
        if position is None:
            return []
        index = bisect_left(self._positions, position)
        return self._redecorate([index])

    def _redecorate(self, indexes: Iterable[int]) -> list[Change]:
        changes: list[Change] = []
        for index in indexes:
            head = self._folds.head(index - 1, self._breaks)
            for at in (index,) if head is None else (head, index):
                if at < len(self.rows):
                    changes += self._put(at, self._decorated(at))
        return changes

    def _decorated(self, index: int) -> Row:
        """Return the row with what its place, its name and the reader make of it."""
        row = self.rows[index]
        above = self.rows[index - 1].line if index else None
        folds, tucked = self._folds.of(index, self._breaks)
        text = row.text
        if is_folded(row.line):
            text = folded_away(folds, row.nick) if folds else self._unfolded(row.line)
        return replace(
            row,
            text=text,
            folds=folds,
            tucked=tucked,
            full_name=row.line.act is None and look_alike_key(row.nick) in self._names.shared,
            day=self._day(index),
            aside=self._aside_of(row.line, above),
            begins=above is not None and _begins(row.line, above),
            new=self._attention.new_at(row.line.position),
            gap_hidden=row.line.message_id in self._hidden,
            pinned=row.line.message_id in self._pinned,
            quote=self._quotes.said_of(row.line, self._names.called),
            read_by=self._read_by.get(row.line.message_id, ""),
        )

    def _unfolded(self, line: Line) -> str:
        return self._text(replace(line, late=Lateness.IN_TIME))

    def _breaks(self, index: int) -> bool:
        """Return whether something stands above a row, which so does not go on with a run."""
        line = self.rows[index].line
        aside = self._aside_of(line, self.rows[index - 1].line)
        gap = line.after_gap and line.message_id not in self._hidden
        return bool(aside or gap or self._attention.new_at(line.position) or self._day(index))

    def _day(self, index: int) -> str:
        """Return the day that begins with a row; what is set aside only claims to have one."""
        if self.rows[index].line.parked:
            return ""
        day = day_of(self.rows[index].line.created_ns)
        above = index - 1
        while above >= 0 and self.rows[above].line.parked:  # a few at most
            above -= 1
        return day if above < 0 or day_of(self.rows[above].line.created_ns) != day else ""

    def _aside_of(self, line: Line, above: Line | None) -> str:
        """Return what stands above the first of some rows that are set aside."""
        if not line.parked or (above is not None and above.parked):
            return ""
        more = len(self._parked) - len(self._rows_parked)
        return f"{ASIDE}, {more:,} more: /clock lists them" if more else ASIDE

    def _put(self, index: int, row: Row) -> list[Change]:
        if self.rows[index] == row:
            return []
        self.rows[index] = row
        return [Changed(index)]
