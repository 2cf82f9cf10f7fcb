"""The conversation on the screen: one widget that lays out only the rows near the eye.

Rules:
1. The text being read never moves: the place is a message and a line in it, not a line number.
2. Only rows within one screen of the visible ones are wrapped; the others' heights are estimates.
3. Only lines that differ from what was painted are painted again.
4. The text of peers becomes `Segment`s, never markup.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Self

from msgspec.structs import replace
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.events import Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from chat_tui.model.author_places import AuthorPlaces
from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Change
from chat_tui.text.safe_text import clip_cells
from chat_tui.transcript.author_colours import NOBODYS, style_of
from chat_tui.transcript.layout_options import Taste
from chat_tui.transcript.lazy_layout import LaidRows, Place
from chat_tui.transcript.painted_line import Painted, Part
from chat_tui.transcript.row_layout import AUTHOR, Shape, gap_line, with_mark
from chat_tui.transcript.text_layout import ATTRIBUTES, MARKUP_STYLES, Look
from chat_tui.widgets.messages import (
    FollowChanged,
    MissingInSight,
    NewerWanted,
    OlderWanted,
    QuotesWanted,
)
from chat_tui.widgets.scroll_bar import move_bar
from chat_tui.wording.gap_lines import GAP, MISSING
from chat_tui.wording.glyphs import LOADING, PARKED, UNICODE, Glyphs, mark_word
from sync.machine import MessageId, Nanos, PeerId
from sync.view.view import Line

CARRIED: Final = 512
"""Lines of which the strips are kept: those of any screen, and of the one before it."""


class Transcript(ScrollView, can_focus=False):
    """Shows one `Conversation`; `follow` is whether it stays with the newest message."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "transcript--time",
        "transcript--rule",
        "transcript--new",
        "transcript--gap",
        "transcript--loading",
        "transcript--settled",
        "transcript--unsettled",
        "transcript--failed",
        *(f"transcript--{name}" for name in MARKUP_STYLES),
    }
    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
        scrollbar-background: $background;
        scrollbar-color: $foreground 20%;
    }
    Transcript > .transcript--time, Transcript > .transcript--rule { color: $foreground 65%; }
    Transcript > .transcript--settled { color: $foreground 65%; }
    Transcript > .transcript--loading { color: $foreground 65%; }
    Transcript > .transcript--new, Transcript > .transcript--failed { color: $error; }
    Transcript > .transcript--gap, Transcript > .transcript--unsettled { color: $warning; }
    Transcript > .transcript--sign, Transcript > .transcript--comment { color: $foreground 65%; }
    Transcript > .transcript--quote { color: $foreground 80%; }
    Transcript > .transcript--bullet, Transcript > .transcript--number { color: $accent; }
    Transcript > .transcript--code { color: $secondary; }
    Transcript > .transcript--keyword { color: $primary; }
    Transcript > .transcript--string { color: $success; }
    Transcript > .transcript--removed { color: $error; }
    Transcript > .transcript--strong { text-style: bold; }
    Transcript > .transcript--emphasis { text-style: italic; }
    Transcript > .transcript--link { text-style: underline; }
    Transcript > .transcript--strange { color: $warning; text-style: underline; }
    """

    def __init__(self, conversation: Conversation, *, now: Nanos, glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self.conversation = conversation
        self.follow = True
        self._glyphs, self._taste = glyphs, Taste()
        self._now, self._alone = now, False
        self._hint: tuple[str, ...] = ()
        self._tail = ""
        self._gaps: Mapping[MessageId, str] = {}
        self._gap = GAP
        self._colours = NOBODYS
        self.places = AuthorPlaces()
        """Places of authors among the colours; whoever keeps them puts others here."""
        self._place: Place | None = None
        self._laid = LaidRows(conversation.rows, self._style)
        self._painted: list[Painted] = []
        self._carried: LRUCache[Painted, Strip] = LRUCache(CARRIED)
        """Strips by what they show; forgotten when all is to be painted anew."""
        self.says_missing = False
        """Whether a line in sight says what is missing and asked for now."""
        self._base = Style.null()
        conversation.look()

    @property
    def laid_out(self) -> int:
        """Number of rows wrapped so far: the measure of the work done."""
        return self._laid.laid_out

    @property
    def _shape(self) -> Shape | None:
        """Shape that rows are laid out for; None before the first size is known."""
        return self._laid.shape

    # -- what the application says ------------------------------------------------------------

    def show(self, conversation: Conversation) -> None:
        """Show another conversation, at its newest message."""
        self.conversation.look_away()
        self.conversation = conversation
        conversation.look()
        self._laid.take_rows(conversation.rows)
        self.follow_newest()

    def apply(self, changes: Sequence[Change]) -> None:
        """Show what changed in the conversation; keep its window around the reader small."""
        self._laid.resize(changes)
        self._laid.resize(self.conversation.trim(self._shown()))
        self._settle()
        if not self.conversation.rows:
            self.refresh()  # the hint may stand there only now that the disk is known to have none

    def tick(self, now: Nanos, *, alone: bool) -> None:
        """Let the words at young marks grow older; `alone` is whether nobody is there to hear."""
        self._now, self._alone = now, alone
        self._paint_differences()

    @property
    def hint(self) -> tuple[str, ...]:
        """The lines that stand in the middle while there are no messages."""
        return self._hint

    @hint.setter
    def hint(self, lines: tuple[str, ...]) -> None:
        if lines != self._hint:
            self._hint = lines
            self.refresh()

    def say_gaps(self, gaps: Mapping[MessageId, str], tail: str, elsewhere: str = GAP) -> None:
        """Say what becomes of the gaps above messages, and what is missing after the last one.

        `elsewhere` stands above those that follow a gap too.
        """
        if (gaps, tail, elsewhere) == (self._gaps, self._tail, self._gap):
            return
        appears = bool(tail) != bool(self._tail)
        self._gaps, self._tail, self._gap = gaps, tail, elsewhere
        if appears:
            self._settle()
        else:
            self._paint_differences()

    def change_look(self, glyphs: Glyphs, taste: Taste) -> None:
        """Lay everything out anew; the same line of the same message stays on top."""
        if (glyphs, taste) == (self._glyphs, self._taste):
            return
        self._glyphs, self._taste = glyphs, taste
        self._laid.forget()
        if self._shape is not None:
            self._laid.fit(Shape(self._shape.width, glyphs, taste))
            self._settle()

    def look_at(self, message_id: MessageId) -> Look:
        """Return how a message is shown."""
        return self._laid.opened[message_id]

    def folded(self, message_id: MessageId) -> int:
        """Return how many lines of a message are folded away."""
        index = self.conversation.index_of(message_id)
        return 0 if index is None or self._shape is None else self._laid.laid(index).folded

    def show_as(self, message_id: MessageId, look: Look) -> None:
        """Show a message unfolded or folded, with or without markup; its line on top stays."""
        index = self.conversation.index_of(message_id)
        if index is None or self._shape is None:
            return
        self._laid.look(index, look)
        place = self._place
        if place is not None and place.message_id == message_id:
            lines = self._laid.laid(index).text_lines
            self._place = Place(message_id, min(place.line, lines - 1), lines)
        self._settle()

    def follow_newest(self) -> None:
        """Go to the newest message in memory and stay with what comes."""
        self._set_follow()
        self._settle()

    def page_up(self) -> None:
        """Show the screen above, one line of it being the top one of now."""
        self.scroll_to(y=self.scroll_y - max(1, self.size.height - 1), animate=False)

    def page_down(self) -> None:
        """Show the screen below, one line of it being the bottom one of now."""
        self.scroll_to(y=self.scroll_y + max(1, self.size.height - 1), animate=False)

    # -- what Textual says --------------------------------------------------------------------

    def on_resize(self, _event: Resize) -> None:
        """Wrap anew for another width; the same line of the same message stays on top."""
        self._fit()

    def _fit(self) -> None:
        """Take the room there is."""
        width = self.scrollable_content_region.width
        if self._shape is None or width != self._shape.width:
            self._laid.fit(Shape(width, self._glyphs, self._taste))
        self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Take the reader's new place."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value) or self._shape is None:
            return
        self._place = self._place_at(round(new_value))
        at_end = new_value >= self.max_scroll_y and not self.conversation.has_newer
        if at_end and self._may_follow():
            self._set_follow()
        else:
            self._unset_follow()
        self._settle()

    def colour(self, chosen: Mapping[PeerId, str]) -> None:
        """Show the names of authors in the colours that they chose."""
        if chosen != self._colours:
            self._colours = chosen
            self.notify_style_update()

    def notify_style_update(self) -> None:
        """Lay out anew with the colours of another theme.

        Textual says so before it has worked out the styles of the pieces (times, rules, marks), so
        what was laid out with those of before is laid out once more.
        """
        super().notify_style_update()
        self._lay_out_anew()
        if self._shape is not None:
            self.call_next(self._take_up_styles, self._piece_styles)

    def _take_up_styles(self, before: Sequence[Style]) -> None:
        self._rich_style_cache.clear()
        if self._piece_styles != before:
            self._lay_out_anew()
            self.refresh()

    @property
    def _piece_styles(self) -> Sequence[Style]:
        return [
            self.get_component_rich_style(name) for name in sorted(Transcript.COMPONENT_CLASSES)
        ]

    def _lay_out_anew(self) -> None:
        self._laid.forget()
        if self._shape is not None:
            self._settle()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render some lines; those that were rendered before are carried to where they are now.

        Textual paints before it tells a widget its first size: the first paint would be empty.
        """
        if self._shape is None:
            self._fit()
        self._base = self.rich_style
        strips = [self._carried_strip(y) for y in crop.line_range]
        _, ground = self.background_colors
        for each in self.get_line_filters():
            strips = [strip.apply_filter(each, ground) for strip in strips]
        if crop.column_span == (0, self.size.width):
            return strips
        return [strip.crop(*crop.column_span) for strip in strips]

    def _carried_strip(self, y: int) -> Strip:
        """Return line `y` of the screen as it was rendered before, wherever it was then."""
        if y >= len(self._painted):
            return self.render_line(y)
        painted = self._painted[y]
        strip = self._carried.get(painted)
        if strip is None:
            strip = self._carried[painted] = self.render_line(y)
        return strip

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Paint some lines anew, or all of them, none of which is then as it was."""
        if not regions:
            self._carried.clear()
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_line(self, y: int) -> Strip:
        """Render line `y` of the screen."""
        base = self._base
        if y >= len(self._painted) or self._shape is None:
            return self._empty_line(y, base)
        painted = self._painted[y]
        return self._strip(painted, self._shape).apply_style(base)

    def _strip(self, painted: Painted, shape: Shape) -> Strip:
        """Return one line in its full width."""
        laid, row = painted.laid, painted.laid.row
        if painted.part is not Part.TEXT:
            strip = gap_line(painted.word, shape, self._style)
        elif painted.ticked and painted.line == laid.mark_at:
            strip = with_mark(
                laid.strips[painted.line],
                row.line,
                painted.word,
                shape,
                self._style,
            )
        else:
            strip = laid.strips[painted.line]
        return strip.crop_extend(0, shape.width, None)

    def _empty_line(self, y: int, base: Style) -> Strip:
        """Render a line without a message: nothing, or one of the hint."""
        width = self.size.width
        at = y - (self.size.height - len(self._hint)) // 2
        if self.conversation.rows or self.conversation.has_older or not 0 <= at < len(self._hint):
            return Strip.blank(width, base)
        text = clip_cells(self._hint[at], width)
        left = (width - cell_len(text)) // 2
        hint = Strip([Segment(" " * left + text, self._style("rule"))])
        return hint.crop_extend(0, width, None).apply_style(base)

    # -- layout -------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Lay out what is near the eye, put the place back where it was, paint what differs."""
        height = self.size.height
        if self._shape is None or not height:
            return
        top = self._settled_top(height) if self.conversation.rows else 0
        self._set_extent(top)
        if self.conversation.rows:
            self._place = self._place_at(top)
        self._paint_differences()
        self._note_end_in_sight(top + height)
        self._ask_for_more(top, height)

    def _note_end_in_sight(self, bottom: int) -> None:
        """Count as seen what a reader who does not follow sees all the same."""
        held = self.conversation
        if held.unread and not self.follow and not held.has_newer and bottom >= self._extent:
            held.glance()
            self.post_message(FollowChanged(follow=False))

    def _settled_top(self, height: int) -> int:
        """Return the top line of the screen, with all rows around it laid out."""
        index = None if self._place is None else self.conversation.index_of(self._place.message_id)
        if self.follow or self._place is None or index is None:
            self._laid.lay_out_last(2 * height)
            return max(0, self._extent - height)
        top = self._laid.top_of(self._place, index, height)
        return max(0, min(top, self._extent - height))

    def _style(self, name: str) -> Style:
        if name.startswith(AUTHOR):
            return style_of(name, self.app.theme, self._colours, self.places)
        return self.get_component_rich_style(f"transcript--{name}", partial=name in ATTRIBUTES)

    @property
    def _extent(self) -> int:
        """Lines of all rows, and of the tail."""
        return self._laid.heights.total + self._has_tail

    @property
    def _has_tail(self) -> bool:
        held = self.conversation
        return bool(self._tail and held.rows and not held.has_newer)

    # -- what a reader who can select has to say about it --------------------------------------

    def _may_follow(self) -> bool:
        """Return whether a transcript at its end follows new messages."""
        return True

    def _is_selected(self, line: Line, part: Part) -> bool:
        """Return whether the cursor is on a part of a row."""
        del line, part
        return False

    def _word(self, line: Line) -> str:
        """Return what stands beside the mark of a line."""
        return mark_word(line, self._now, alone=self._alone)

    # -- the place ----------------------------------------------------------------------------

    def _place_at(self, top: int) -> Place | None:
        if not 0 <= top < self._extent:
            return None
        return self._laid.place_at(top)

    def _shown(self) -> int:
        """Return the row at the reader's place."""
        rows = len(self.conversation.rows)
        if self.follow or self._place is None:
            return rows
        index = self.conversation.index_of(self._place.message_id)
        return rows if index is None else index

    def _set_extent(self, top: int) -> None:
        """Set size and scroll position without the layout of the whole screen they would cause."""
        assert self._shape is not None
        size = Size(self._shape.width, self._extent)
        self.set_reactive(Widget.virtual_size, size)
        self.set_scroll(None, top)
        self.set_reactive(Widget.scroll_target_y, top)
        move_bar(self.vertical_scrollbar, size.height, top)

    def _set_follow(self) -> None:
        if not self.follow:
            self.follow = True
            self.conversation.look()
            self.post_message(FollowChanged(follow=True))

    def _unset_follow(self) -> None:
        if self.follow:
            self.follow = False
            self._laid.resize(self.conversation.look_away())
            self.post_message(FollowChanged(follow=False))

    def _ask_for_more(self, top: int, height: int) -> None:
        if self.conversation.unquoted:
            self.post_message(QuotesWanted(self.conversation))
        if self.conversation.loading or self.conversation.stuck:
            return
        if self.conversation.has_older and top < height:
            self.post_message(OlderWanted(self.conversation))
        elif self.conversation.has_newer and top + 2 * height > self._laid.heights.total:
            self.post_message(NewerWanted(self.conversation))

    # -- painting -----------------------------------------------------------------------------

    def _paint_differences(self) -> None:
        before, self._painted = self._painted, self._visible_lines()
        if self._painted:
            first, last = (self._painted[at].laid.row.line.position for at in (0, -1))
            self.conversation.see(first, last)
        says = any(one.part is not Part.TEXT and MISSING in one.word for one in self._painted)
        if says != self.says_missing:
            self.says_missing = says
            self.post_message(MissingInSight())
        if bool(before) != bool(self._painted):
            self.refresh()  # the hint comes or goes, wherever it stands
            return
        lines = max(len(before), len(self._painted))
        different = [y for y in range(lines) if before[y : y + 1] != self._painted[y : y + 1]]
        if different and self._shape is not None:
            top, bottom = different[0], different[-1]
            self.refresh(Region(0, top, self._shape.width, bottom - top + 1))

    def _visible_lines(self) -> list[Painted]:
        top, height = self.scroll_offset.y, self.size.height
        if self._shape is None or not self._laid.heights.total or not 0 <= top < self._extent:
            return []
        visible: list[Painted] = []
        index, first = self._laid.heights.at(min(top, self._laid.heights.total - 1))
        while len(visible) < height and index < len(self._laid.heights):
            laid = self._laid.laid(index)
            word = self._word(laid.row.line)
            if (
                word in (LOADING, PARKED)
                and visible
                and word == self._word(visible[-1].laid.row.line)
            ):
                word = ""  # the first of them says it for those below
            last = len(laid.strips) - 1
            selected = self._is_selected(laid.row.line, Part.TEXT)
            ticked = selected or self._taste.ticked(laid.row.line, self._now)
            visible += [
                Painted(laid, line, word if line == laid.mark_at else "", selected, ticked)
                for line in range(first, last + 1)
            ]
            if first < laid.text_at and laid.row.gap:
                at = len(visible) - 1 - last + laid.text_at - 1
                sentence = self._gaps.get(laid.row.line.message_id, self._gap)
                on_gap = self._is_selected(laid.row.line, Part.GAP)
                visible[at] = replace(visible[at], word=sentence, selected=on_gap)
            if self._has_tail and index == len(self._laid.heights) - 1:
                on_tail = self._is_selected(laid.row.line, Part.TAIL)
                visible.append(Painted(laid, last + 1, self._tail, on_tail))
            index, first = index + 1, 0
        return visible[:height]
