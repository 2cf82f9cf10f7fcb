"""The transcript with a cursor: a message can be selected, text picked, words made to stand out.

Rules:
1. The cursor is on a message, not on a line: it stays there whatever comes.
2. While there is a cursor, nothing moves by itself: being at the end does not mean to follow.
3. Highlights are laid over the painted lines; nothing is wrapped again for them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from msgspec.structs import replace
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.events import Click, MouseDown, MouseMove, MouseUp
from textual.strip import Strip

from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Change, Inserted, Row
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import clean_nick
from chat_tui.text.word_match import NOTHING, Span, name_of, spans, words_of
from chat_tui.transcript.cursor_stops import above, below, is_there
from chat_tui.transcript.highlights import over, painted_over
from chat_tui.transcript.lazy_layout import Place
from chat_tui.transcript.mouse_selection import Picked, Spot
from chat_tui.transcript.painted_line import Painted, Part
from chat_tui.transcript.row_layout import Laid, Shape, offer_at, reaction_at
from chat_tui.transcript.text_positions import cells_in, character_at, link_at, piece_at
from chat_tui.transcript.transcript import Transcript
from chat_tui.widgets.messages import (
    CursorMoved,
    DetailsWanted,
    JoinWanted,
    LinkWanted,
    ReactionWanted,
)
from chat_tui.wording.gap_lines import GAP, said_here
from chat_tui.wording.glyphs import WORDS, Glyphs
from sync.machine import MessageId, Nanos
from sync.view.view import Line, Position

KEPT: Final = 128
"""Rows whose words that stand out are remembered: more than a screen shows."""

CLEARED: Final = ("The view is clear; nothing was deleted.", "PgUp brings the messages back.")


class Reader(Transcript, can_focus=False, inherit_bindings=False):
    """Shows a conversation to `nick`, whose name stands out in it until `rename`.

    The keys of anything that scrolls are not inherited: they would scroll away from the cursor.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "transcript--cursor",
        "transcript--hit",
        "transcript--mention",
        "transcript--picked",
    }
    DEFAULT_CSS = """
    Reader > .transcript--cursor { background: $surface-lighten-1; color: $accent; }
    Reader > .transcript--hit { background: $warning; color: $background; text-style: bold; }
    Reader > .transcript--mention { color: $warning; text-style: bold underline; }
    Reader > .transcript--picked { text-style: reverse; }
    """

    def __init__(
        self, conversation: Conversation, *, nick: str, now: Nanos, glyphs: Glyphs
    ) -> None:
        super().__init__(conversation, now=now, glyphs=glyphs)
        self.cursor: MessageId | None = None
        """The selected message, or the one that the line belongs to that the cursor is on."""
        self.part = Part.TEXT
        """Part of that message the cursor is on."""
        self._height = 0
        """Lines there were when it was fitted into them last."""
        self._own_name = name_of(clean_nick(nick))
        self._words: re.Pattern[str] = NOTHING
        self._found: LRUCache[Laid, tuple[Sequence[Span], Sequence[Span]]] = LRUCache(KEPT)
        self._picked = Picked()

    # -- the cursor ---------------------------------------------------------------------------

    def select(self, message_id: MessageId, part: Part = Part.TEXT) -> None:
        """Put the cursor on a message in memory; it stays where it is on the screen."""
        index = self.conversation.index_of(message_id)
        if index is None:
            return
        self._unset_follow()
        if self.conversation.rows[index].tucked:
            self.apply(self.conversation.unfold(message_id))
        self.cursor, self.part = message_id, part
        self.can_focus = True
        self.focus(scroll_visible=False)
        self._bring_into_sight(index)
        if part is Part.TAIL:
            self._scroll(self._extent - self.size.height)
        self._paint_differences()
        self.post_message(CursorMoved(message_id))

    def select_seen(self) -> None:
        """Put the cursor on the lowest message that is whole on the screen."""
        whole = [
            painted.laid.row.line.message_id
            for painted in self._painted
            if painted.line == len(painted.laid.strips) - 1
        ]
        if whole or self._painted:
            self.select(whole[-1] if whole else self._painted[0].laid.row.line.message_id)

    def unselect(self) -> None:
        """Give the cursor up; who stands at the end follows the newest message again."""
        if self.cursor is None:
            return
        self.cursor, self.part = None, Part.TEXT
        self.can_focus = False
        self.post_message(CursorMoved(None))
        if self.scroll_y >= self.max_scroll_y and not self.conversation.has_newer:
            self.follow_newest()
        self._paint_differences()

    def move(self, step: int) -> None:
        """Move the cursor down, or up if negative; first through what is longer than the screen.

        A line that stands for missing messages is a step of its own.
        """
        index = None if self.cursor is None else self.conversation.index_of(self.cursor)
        if index is None:
            self.select_seen()
            return
        if self.part is Part.TEXT and self._scrolled_within(index, step):
            return
        rows, at = self.conversation.rows, (index, self.part)
        index, part = above(rows, at) if step < 0 else below(rows, at, has_tail=self._has_tail)
        self.select(rows[index].line.message_id, part)

    def move_screens(self, screens: int) -> None:
        """Move the cursor with what is in sight, up if negative."""
        self._scroll(self.scroll_y + screens * max(1, self.size.height - 1))
        if self._painted:
            painted = self._painted[0 if screens < 0 else -1]
            self.select(painted.laid.row.line.message_id)

    @property
    def glyphs(self) -> Glyphs:
        """The character set."""
        return self._glyphs

    @property
    def top(self) -> MessageId | None:
        """The message at the top of the screen; None while the newest is followed."""
        return None if self.follow or self._place is None else self._place.message_id

    def selected(self) -> Row | None:
        """Return the row whose text the cursor is on, None if it is on none in memory."""
        if self.cursor is None or self.part is not Part.TEXT:
            return None
        index = self.conversation.index_of(self.cursor)
        return None if index is None else self.conversation.rows[index]

    @property
    def on_gap(self) -> bool:
        """True if the cursor is on a line that stands for missing messages."""
        return self.cursor is not None and self.part is not Part.TEXT

    @property
    def about(self) -> MessageId | None:
        """The message that a command is about; the last line of all belongs to none.

        One that has left memory is none either: nobody sees that it is selected.
        """
        return None if self.part is Part.TAIL or self._is_out_of_memory else self.cursor

    @property
    def _is_out_of_memory(self) -> bool:
        return self.cursor is not None and self.conversation.index_of(self.cursor) is None

    def say_gaps(self, gaps: Mapping[MessageId, str], tail: str, elsewhere: str = GAP) -> None:
        """See `Transcript.say_gaps`; the cursor leaves a line that is there no more."""
        super().say_gaps(gaps, tail, elsewhere)
        self._leave_gone_line()

    def apply(self, changes: Sequence[Change]) -> None:
        """See `Transcript.apply`; the cursor leaves a line that is there no more.

        Who writes meanwhile lets go of a message that left memory; who moves the cursor goes on.
        """
        super().apply(changes)
        self._leave_gone_line()
        if self._is_out_of_memory and not self.has_focus:
            self.unselect()
        if self.cursor is not None and not all(isinstance(one, Inserted) for one in changes):
            self.post_message(CursorMoved(self.cursor))  # its message may read otherwise now

    def _leave_gone_line(self) -> None:
        if not self.on_gap or self.cursor is None:
            return
        held = self.conversation
        index = held.index_of(self.cursor)
        if not is_there(held.rows, index, self.part, has_tail=self._has_tail):
            self.part = Part.TEXT
            self._paint_differences()
            self.post_message(CursorMoved(self.cursor))

    def go_to(self, message_id: MessageId) -> None:
        """Show a message in memory with something of what came before it, and select it."""
        index = self.conversation.index_of(message_id)
        if index is None:
            return
        self._unset_follow()
        if self._hides_hits(self._laid.laid(index)):
            self.unfold(message_id)
        self.cursor, self.part = message_id, Part.TEXT
        self._place = Place(message_id, 0, 1)
        self._settle()
        self._scroll(self.scroll_y - self.size.height // 3)
        self.select(message_id)

    def first_at(self, position: Position) -> MessageId | None:
        """Return the first message in memory at or after a position, the last if all are before."""
        rows = self.conversation.rows
        there = (row for row in rows if not row.tucked)
        after = (row.line.message_id for row in there if row.line.position >= position)
        return next(after, rows[-1].line.message_id if rows else None)

    def _scroll(self, y: float) -> None:
        """Scroll now, not after the next paint: what follows looks at what is on the screen."""
        self.scroll_to(y=y, animate=False, force=True, immediate=True)

    def _bring_into_sight(self, index: int) -> None:
        laid = self._laid.laid(index)
        self._settle()
        top, height = self._laid.heights.top(index), self.size.height
        end = top + len(laid.strips)
        if top < self.scroll_y:
            self._scroll(top)
        elif end > self.scroll_y + height:
            self._scroll(min(top, end - height))

    def _fit(self) -> None:
        """See `Transcript._fit`; a selected message that was in sight as a whole stays so."""
        index = None if self.cursor is None else self.conversation.index_of(self.cursor)
        was_whole = index is not None and self._is_whole(index, self._height)
        self._height = self.size.height
        super()._fit()
        if index is not None and was_whole:
            self._bring_into_sight(index)

    def _is_whole(self, index: int, height: int) -> bool:
        """Return whether all lines of a row are among the `height` lines in sight."""
        top = self._laid.heights.top(index)
        end = top + len(self._laid.laid(index).strips)
        return bool(height) and self.scroll_y <= top and end <= self.scroll_y + height

    def _scrolled_within(self, index: int, step: int) -> bool:
        """Scroll half a screen if the row goes on in that direction; returns whether it did."""
        height = self.size.height
        top = self._laid.heights.top(index)
        end = top + len(self._laid.laid(index).strips)
        if end - top <= height:
            return False
        if step > 0 and end > self.scroll_y + height:
            y = min(self.scroll_y + height // 2, end - height)
        elif step < 0 and top < self.scroll_y:
            y = max(self.scroll_y - height // 2, top)
        else:
            return False
        self._scroll(y)
        return True

    # -- how a message is shown ---------------------------------------------------------------

    def unfold(self, message_id: MessageId) -> bool:
        """Show all of a message that is folded; returns whether it was."""
        if not self.folded(message_id):
            return False
        self.show_as(message_id, self.look_at(message_id)._replace(whole=True))
        self.post_message(CursorMoved(self.cursor))  # there are other keys for it now
        return True

    def fold(self, message_id: MessageId) -> bool:
        """Fold a message that was unfolded; returns whether it was."""
        if not self.look_at(message_id).whole:
            return False
        self.show_as(message_id, self.look_at(message_id)._replace(whole=False))
        self.select(message_id)
        return True

    def switch_markup(self, message_id: MessageId) -> None:
        """Show a message without markup, or with it again."""
        look = self.look_at(message_id)
        self.show_as(message_id, look._replace(raw=not look.raw))
        self.post_message(CursorMoved(self.cursor))

    # -- what stands out ----------------------------------------------------------------------

    def highlight(self, query: str) -> None:
        """Let the words of a search stand out; empty ends it."""
        self._words = words_of(query)
        self._found.clear()
        self.refresh()

    def rename(self, nick: str) -> None:
        """Let another name of the reader stand out, and the old one no more."""
        self._own_name = name_of(clean_nick(nick))
        self._found.clear()
        self.refresh()

    def picked_text(self) -> str:
        """Return the text picked with the mouse, empty if none is."""
        return self._picked.text(self.conversation.rows) if self._picked else ""

    def unpick(self) -> None:
        """Forget what was picked with the mouse."""
        if self._picked.forget():
            self.refresh()

    def _hides_hits(self, laid: Laid) -> bool:
        """Return whether all that is looked for in a message is folded away."""
        hits = self._standing_out(laid)[0] if laid.folded else []
        return bool(hits) and all(start >= laid.pieces[-1].end for start, _ in hits)

    # -- what `Transcript` asks ------------------------------------------------------------------

    def show(self, conversation: Conversation) -> None:
        """Show another conversation; nothing is selected in it."""
        self.unselect()
        self._picked.forget()
        self._found.clear()
        super().show(conversation)

    def page_up(self) -> None:
        """Show the screen above; what was cleared comes back."""
        if self.conversation.cleared:
            self.conversation.unclear()
            self._settle()
        super().page_up()

    @property
    def hint(self) -> tuple[str, ...]:
        """The lines that stand in the middle while there are no messages."""
        return CLEARED if self.conversation.cleared else super().hint

    @hint.setter
    def hint(self, lines: tuple[str, ...]) -> None:
        shown = CLEARED if self.conversation.cleared else lines
        if shown != self._hint:
            self._hint = shown
            self.refresh()

    def _may_follow(self) -> bool:
        return self.cursor is None

    def _is_selected(self, line: Line, part: Part) -> bool:
        if part is not self.part:
            return False
        return part is Part.TAIL or line.message_id == self.cursor

    def _word(self, line: Line) -> str:
        waits = line.loading or line.parked
        if line.message_id == self.cursor and line.delivery is not None and not waits:
            return WORDS[line.delivery]
        return super()._word(line)

    def _strip(self, painted: Painted, shape: Shape) -> Strip:
        if painted.selected and painted.part is not Part.TEXT:
            here = replace(painted, word=said_here(painted.word, keys_of(self)))
            return self._with_sign(super()._strip(here, shape), shape)
        strip = super()._strip(painted, shape)
        laid = painted.laid
        if painted.line >= laid.text_at and painted.line < len(laid.strips):
            if painted.selected:
                strip = self._with_cursor(strip, painted, shape)
            for style, cells in self._over(painted, shape):
                strip = painted_over(strip, cells, style)
        return strip

    def _over(self, painted: Painted, shape: Shape) -> Iterator[tuple[Style, Sequence[Span]]]:
        """Yield what stands out in a line, in cells of the screen, least important first."""
        hits, mentions = self._standing_out(painted.laid)
        picked = self._picked.of(painted.laid.row)
        if not hits and not mentions and not picked:
            return
        piece = piece_at(painted.laid, painted.line)
        if piece is None:
            return
        for name, found in (("mention", mentions), ("hit", hits), ("picked", picked)):
            cells = cells_in(piece, found, painted.laid, shape)
            if cells:
                yield self._overlay(name), cells

    def _overlay(self, name: str) -> Style:
        return self.get_component_rich_style(f"transcript--{name}", partial=True)

    def _with_cursor(self, strip: Strip, painted: Painted, shape: Shape) -> Strip:
        """Return a line of the selected message: on another ground, its first with a sign."""
        if painted.line == painted.laid.first:
            return self._with_sign(strip, shape)
        return over(strip, Style(bgcolor=self._style("cursor").bgcolor))

    def _with_sign(self, strip: Strip, shape: Shape) -> Strip:
        """Return a line on another ground, with the sign of the cursor before its text."""
        style = self._style("cursor")
        strip = over(strip, Style(bgcolor=style.bgcolor))
        at = shape.gutter - 1
        sign = Strip([Segment(shape.glyphs.cursor, style + Style(bold=True))])
        return Strip.join([strip.crop(0, at), sign, strip.crop(at + 1)])

    def _standing_out(self, laid: Laid) -> tuple[Sequence[Span], Sequence[Span]]:
        """Return where the words that are looked for, and the reader's name, are in a text."""
        found = self._found.get(laid)
        if found is None:
            row = laid.row
            mentions = [] if row.line.own else spans(self._own_name, row.text)
            found = self._found[laid] = (spans(self._words, row.text), mentions)
        return found

    # -- the mouse ----------------------------------------------------------------------------

    def on_mouse_down(self, event: MouseDown) -> None:
        """Begin to pick text."""
        self.unpick()
        self._picked.press(self._spot(event.x, event.y) if event.button == 1 else None)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Pick the text from where the button went down."""
        if event.button and self._picked.begun and self._picked.drag(self._spot(event.x, event.y)):
            self.refresh()

    def on_mouse_up(self, _event: MouseUp) -> None:
        """End picking; what is picked now stays."""
        self._picked.press(None)

    def on_click(self, event: Click) -> None:
        """Select the message, open it if it is selected; but not at the end of picking text.

        A click on a link is to open that, on the line of what is folded away to unfold it, on a
        reaction to react so too, or to take it back, and on an invitation to join.
        """
        if self._picked or not 0 <= event.y < len(self._painted):
            return
        painted = self._painted[event.y]
        message_id = painted.laid.row.line.message_id
        if self._shape is not None and painted.part is Part.TEXT:
            emoji = reaction_at(painted.laid, painted.line, event.x, self._shape)
            if emoji is not None:
                self.post_message(ReactionWanted(message_id, emoji))
                return
            if offer_at(painted.laid, painted.line, event.x, self._shape):
                self.post_message(JoinWanted(message_id))
                return
            link = link_at(painted.laid, painted.line, event.x, self._shape)
            if link is not None:
                self.post_message(LinkWanted(link))
                return
            if painted.line == painted.laid.fold_at:
                self.select(message_id)
                self.unfold(message_id)
                return
        if message_id == self.cursor and painted.part is self.part:
            self.post_message(DetailsWanted(message_id))
        else:
            self.select(message_id, painted.part)

    def _spot(self, x: int, y: int) -> Spot | None:
        """Return which character of which message stands at a cell of the screen."""
        if self._shape is None or not self._painted:
            return None
        painted = self._painted[min(max(y, 0), len(self._painted) - 1)]
        position = painted.laid.row.line.position
        piece = piece_at(painted.laid, painted.line)
        if piece is None:
            above = painted.line < painted.laid.first
            return (position, 0 if above else len(painted.laid.row.text))
        return (position, character_at(piece, x, painted.laid, self._shape))
