"""The app frame: header, channels and peers, status line, key hints, debug pane.

Each panel is one cheap widget that is painted again only when its content differs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.timer import Timer
from textual.widgets import Static

from chat_tui.app.arrivals import Company
from chat_tui.keys.table import USUAL, Chosen
from chat_tui.model.conversation import Conversation
from chat_tui.model.event_feed import Feed
from chat_tui.text.safe_text import clean_text, wrap
from chat_tui.text.shortening import fitting
from chat_tui.widgets.composer import Composer
from chat_tui.widgets.messages import FollowChanged, NewestWanted
from chat_tui.widgets.status_queue import Saying
from chat_tui.wording import clocks, panels
from chat_tui.wording import person as dossier
from chat_tui.wording import sentences as reports
from chat_tui.wording.glyphs import Glyphs
from sync.machine import ChannelId
from sync.view.view import ChannelInfo, Notice, Snapshot

if TYPE_CHECKING:
    from chat_tui.debug.pane import DebugPane
    from chat_tui.transcript.conversation_pane import Reading

NOTICE_S: Final = 8.0
"""Seconds that news stands above the input: enough to read two lines twice."""


NOTICE_LINES: Final = 4
STATUS_PADDING: Final = 2
"""Of the line above the input, in lines and cells; the same in `app.tcss`."""


BOTH_FROM: Final = 24
"""Lines of a window that has room for two bands; in a lower one the question waits."""


class Panel(Static):
    """Shows one `Content`; `markup` stays off, because names in it are peers' text."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 Textual calls it so
        super().__init__("", id=id, markup=False)
        self._shown = Content("")

    def show(self, content: Content) -> None:
        """Show `content`; lay the screen out again only if its size differs."""
        if content.is_same(self._shown):
            return
        before, self._shown = self._shown, content
        size = _extent(content.plain)
        if size != _extent(before.plain):
            self.refresh(layout=True)
        elif size.width > self.content_size.width:
            self.refresh()  # some lines are wrapped: where each of them stands is not known here
        else:
            self.refresh(*_differences(before, content, self.content_size.width))

    def render(self) -> Content:
        """Return what is shown."""
        return self._shown


def _extent(text: str) -> Size:
    """Return lines, and cells of the longest of them."""
    lines = text.split("\n")
    return Size(max(cell_len(line) for line in lines), len(lines))


def _differences(before: Content, now: Content, width: int) -> list[Region]:
    """Return the lines that differ, as parts of a panel of `width` cells where none is wrapped."""
    pairs = zip(before.split(allow_blank=True), now.split(allow_blank=True), strict=True)
    return [Region(0, y, width, 1) for y, (old, new) in enumerate(pairs) if not old.is_same(new)]


HEADER_PADDING: Final = 5
"""Cells around the two parts of the first line, and one between them."""

KEYS_PADDING: Final = 2
"""Cells around the last line; the same in `app.tcss`."""


class Header(Horizontal):
    """The first line: the channel and who is here at the left, who we are at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._right = Panel(id="header"), Panel(id="me")

    def compose(self) -> ComposeResult:
        """Left and right part."""
        yield self._left
        yield self._right

    def show(self, snapshot: Snapshot, info: ChannelInfo | None, glyphs: Glyphs) -> None:
        """Bring both parts up to date."""
        state, whoami = panels.header(snapshot, info, glyphs), panels.whoami(snapshot)
        if state.cell_length + whoami.cell_length + HEADER_PADDING > self.app.size.width:
            whoami = panels.name(snapshot)
        self._left.show(state)
        self._right.show(whoami)


class Sentence(Panel):
    """Status sentence, cut to the words there is room for; a notice is shown in full."""

    def render(self) -> Content:
        """Fit the words only here, where the room is known: whatever stands beside may change."""
        if self.has_class("notice"):
            return self._shown
        return panels.status(fitting(self._shown.plain, self.content_size.width), None)


class StatusLine(Horizontal):
    """The line above the input: what happens, and what waits below for who reads further up."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._right = Sentence(id="status"), Panel(id="chip")
        self._sentence = ""
        self._saying = Saying()
        self._timed: Notice | None = None
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Left and right part."""
        yield self._left
        yield self._right

    def show(self, sentence: str) -> None:
        """Say what happens, unless there is a notice to read."""
        self._sentence = sentence
        self._draw()

    def has_room(self, text: str) -> bool:
        """Return whether all of a notice fits here."""
        width = self.content_size.width - self._right.size.width - STATUS_PADDING
        return len(wrap(clean_text(text), max(2, width), most=None)) <= NOTICE_LINES

    def say(self, notice: Notice) -> None:
        """Answer the person here, where it hides nothing: for a while, unless it went wrong."""
        self._saying.answer(notice)
        self._draw()

    def tell(self, news: Notice) -> None:
        """Say what happened by itself, after any answer that is still to be read."""
        self._saying.news(news)
        self._draw()

    def begin(self) -> None:
        """Make room for the answer to what the person does now."""
        self._saying.begin()
        self._draw()

    def be_quiet(self) -> None:
        """Say no more of what is said now."""
        self._saying.dismiss()
        self._draw()

    def pass_on(self) -> None:
        """Say the next: what was said had its time."""
        self._timed = None
        self._saying.pass_on()
        self._draw()

    def _draw(self) -> None:
        said = self._saying.now
        self._left.set_class(said is not None, "notice")
        self._left.show(panels.status(self._sentence, said))
        if self._saying.for_a_while is not self._timed:
            self._timed = self._saying.for_a_while
            if self._timer is not None:
                self._timer.stop()
            self._timer = None if self._timed is None else self.set_timer(NOTICE_S, self.pass_on)

    def show_chip(self, conversation: Conversation, glyphs: Glyphs, chosen: Chosen) -> None:
        """Count what came while somebody reads further up."""
        content = panels.chip(conversation.unread, conversation.earlier, glyphs, chosen)
        self._right.show(content)

    def hide_chip(self) -> None:
        """Say nothing: the newest message is in sight."""
        self._right.show(Content(""))


class Surroundings(Vertical):
    """The whole screen: the column that is read, with everything that stands around it.

    `feed` counts the messages of a channel that nobody has seen; `debug_pane` makes the pane, once
    it is wanted.
    """

    def __init__(
        self,
        reading: "Reading",
        composer: Composer,
        feed: Feed,
        glyphs: Glyphs,
        debug_pane: "Callable[[], DebugPane]",
    ) -> None:
        super().__init__()
        self._reading, self._transcript = reading, reading.transcript
        self._composer = composer
        self._feed, self._glyphs = feed, glyphs
        self._alarm, self._clock = Panel(id="alarm"), Panel(id="clock")
        self._header, self.status = Header(), StatusLine()
        self._sidebar, self._keys = Panel(id="sidebar"), Panel(id="keys")
        self._debug_pane = debug_pane
        self._debug: DebugPane | None = None
        self._company = Company()
        self._keys_chosen: Chosen = USUAL
        self.held = 0
        """Lines that were written and wait for the disk."""

    def compose(self) -> ComposeResult:
        """Header; channels, conversation and debug pane; keys."""
        yield self._header
        yield self._alarm
        yield self._clock
        with Horizontal(id="main"):
            yield self._sidebar
            with self._reading:
                yield self._transcript
                yield from self._reading.lines()
                yield self.status
                yield self._composer
        yield self._keys

    def change_glyphs(self, glyphs: Glyphs) -> None:
        """Draw everything with other signs from now on."""
        self._glyphs = glyphs
        if self._debug is not None:
            self._debug.change_glyphs(glyphs)

    def change_keys(self, chosen: Chosen) -> None:
        """Name these keys from now on."""
        self._keys_chosen = chosen
        self._reading.show_keys()
        if self._debug is not None:
            self._debug.change_keys(chosen)

    def show(self, snapshot: Snapshot, channel: ChannelId | None) -> None:
        """Bring everything up to date that is not a message."""
        info = reports.find(snapshot, channel)
        self._transcript.tick(snapshot.now, alone=info is not None and not info.peers)
        self._reading.tick(snapshot, info)
        if info is not None and (news := self._company.look(snapshot, info)):
            self.status.tell(Notice(news))
        keys_named = self._keys_chosen
        hint = self._company.hint(info, keys_named)
        self._transcript.hint = (*reports.nothing_yet(info), *hint)
        self._header.show(snapshot, info, self._glyphs)
        alone = self._company.sentence(snapshot, info, keys_named)
        in_sight = self._transcript.says_missing
        happens = reports.what_else_happens if in_sight else reports.what_happens
        self.status.show(reports.who_types(snapshot, info) or alone or happens(snapshot, info))
        alarm = [*dossier.disk_lines(snapshot, self.held), *dossier.warning_lines(snapshot)]
        self._alarm.display = bool(alarm)
        self._alarm.show(Content("\n".join(alarm)))
        asked = clocks.band(snapshot, keys_named)
        self._clock.display = bool(asked) and (not alarm or self.app.size.height >= BOTH_FROM)
        self._clock.show(Content("\n".join(asked)))
        unread, mentioned = self._feed.unread, self._feed.mentioned
        room = self.app.size.width - KEYS_PADDING
        keys = panels.keys(snapshot, channel, unread, keys_named, mentioned, room)
        self._keys.show(keys)
        around = panels.sidebar(snapshot, channel, unread, self._glyphs, mentioned, keys_named)
        self._sidebar.show(around)
        if self._debug is not None and self._debug.display:
            self._debug.show(snapshot, info)
        self._composer.address(panels.addressee(info))
        self.show_chip()

    @on(FollowChanged)
    def show_chip(self) -> None:
        """Count what came below, while somebody reads further up."""
        if self._transcript.follow:
            self.status.hide_chip()
        else:
            held = self._transcript.conversation
            self.status.show_chip(held, self._glyphs, self._keys_chosen)

    @on(Click, "#chip")
    def _follow_chip(self) -> None:
        """Go where the chip points: up to what came late, else down to the newest."""
        if self._transcript.conversation.earlier:
            self._reading.action_unread()
        else:
            self.post_message(NewestWanted())

    def page(self, screens: int) -> None:
        """Scroll what is in sight by screens, up if negative: the conversation, or the drawer."""
        if self.debug_open and self.screen.has_class("-narrow"):
            self.page_debug(screens)
        elif screens < 0:
            self._transcript.page_up()
        else:
            self._transcript.page_down()

    def page_debug(self, screens: int) -> None:
        """Scroll the drawer by screens, up if negative."""
        if self._debug is not None:
            self._debug.page(screens)

    @property
    def debug_open(self) -> bool:
        """True if the protocol's pane is open."""
        return self._debug is not None and self._debug.display

    @property
    def debug_has_keys(self) -> bool:
        """True if the protocol's pane has the keys."""
        return self._debug is not None and self._debug.keys_here

    async def open_debug(self) -> "DebugPane":
        """Open the pane and give it the keys; what is being written stays as it is."""
        if self._debug is None:
            self._debug = self._debug_pane()
            self._debug.change_keys(self._keys_chosen)
            await self.query_one("#main").mount(self._debug)
        self._debug.display = True
        # at once: `focus` waits its turn, and what is typed meanwhile would go to the input
        self.screen.set_focus(self._debug.listing)
        return self._debug

    def close_debug(self, *, stays: bool = False) -> None:
        """Give the keys back to who writes; the pane closes unless it `stays`."""
        had_keys = self.debug_has_keys
        if self._debug is not None:
            self._debug.display = stays
        if had_keys:
            self._composer.focus()
