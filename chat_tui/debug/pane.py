"""The pane with what the protocol is doing, in tabs; nothing of it is computed while it is closed.

Rules:
1. It shows one moment of the engine, which Space holds; the engine goes on.
2. Selected and opened rows are known by their keys, so they stay while rows come and go.
"""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from chat_tui.debug import causal_text
from chat_tui.debug.causal_lines import ColourIn
from chat_tui.debug.list_view import Listing
from chat_tui.debug.pane_moves import PaneMoves
from chat_tui.debug.prompt_line import AskLine
from chat_tui.debug.section import Detail
from chat_tui.debug.single_line import OneLine
from chat_tui.debug.styled_lines import DIM, PaneLine, detail_lines, table_lines
from chat_tui.debug.tab_bar import TabLine
from chat_tui.debug.tab_table import TERMS, Tab, key_help, tab_keys, tab_named
from chat_tui.debug.tabs.bloom import BloomPage
from chat_tui.debug.tabs.buffers import BuffersPage
from chat_tui.debug.tabs.causal import CausalPage
from chat_tui.debug.tabs.group import GroupPage
from chat_tui.debug.tabs.now import NowPage
from chat_tui.debug.tabs.page import Page, Shown
from chat_tui.debug.tabs.sync import SyncPage
from chat_tui.debug.tabs.trace import TracePage
from chat_tui.debug.tabs.wire import WirePage
from chat_tui.debug.wording import file_named
from chat_tui.keys.places import Place
from chat_tui.keys.table import USUAL, Chosen, Does, with_keys
from chat_tui.terminal.key_bindings import bindings_of
from chat_tui.terminal.themed_app import Dressed
from chat_tui.text.times import count, span
from chat_tui.widgets.messages import DebugClosed, KeysChanged, Refused, Told
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.sentences import short_id
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId, Nanos
from sync.view.view import ChannelInfo, History, Inspection, Snapshot

RECORDING: Final = "chat-tui-wire.jsonl"
"""The file that is proposed for a recording, in the directory the chat was started in."""

PREFIX_MIN: Final = 4
"""Digits from which on the beginning of an id is looked up."""

ID_DIGITS: Final = 64


class DebugPane(PaneMoves):
    """See the module docstring. `history` and `inspection` are asked by whoever looks.

    `colour` says in which colour the chat shows an author.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Place.PANE)
    SCOPED_CSS = False  # how wide the screen is counts, too
    DEFAULT_CSS = """
    DebugPane {
        width: 49;
        padding: 0 1;
        border: round $foreground 40%;
        border-title-color: $foreground 75%;
        display: none;
    }
    DebugPane:focus-within { border: round $accent; border-title-color: $accent; }
    Screen.-narrow DebugPane, DebugPane.-full {
        layer: over;
        width: 100%;
        height: 100%;
        background: $background;
    }
    Screen.-narrow DebugPane { border: none; }
    #debug-tabs { height: auto; width: 1fr; text-wrap: nowrap; }
    #debug-hint { height: 1; width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; }
    #debug-ask { height: 1; border: none; padding: 0; background: $surface; }
    .-ascii DebugPane { border: ascii $foreground 40%; }
    .-ascii DebugPane:focus-within { border: ascii $accent; }
    .-ascii Screen.-narrow DebugPane { border: none; }
    """

    def __init__(
        self, history: History, inspection: Inspection, glyphs: Glyphs, colour: ColourIn
    ) -> None:
        super().__init__(id="debug")
        self._colour = colour
        self.tab = Tab.BUFFERS
        self._history, self._inspection, self._glyphs = history, inspection, glyphs
        self._tabs, self._hint = TabLine(id="debug-tabs"), OneLine(id="debug-hint")
        self.listing = Listing()
        self._asking = AskLine()
        self.buffers, self.causal, self.sync = BuffersPage(inspection), CausalPage(), SyncPage()
        self.bloom = BloomPage(inspection)
        self.wire, self.trace = WirePage(inspection), TracePage(inspection)
        self.group = GroupPage()
        self._pages: dict[Tab, Page] = {
            Tab.NOW: NowPage(inspection),
            Tab.BUFFERS: self.buffers,
            Tab.CAUSAL: self.causal,
            Tab.BLOOM: self.bloom,
            Tab.SYNC: self.sync,
            Tab.WIRE: self.wire,
            Tab.TRACE: self.trace,
            Tab.GROUP: self.group,
        }
        self._shown: Shown | None = None
        self._latest: Shown | None = None
        self._now: Nanos = 0
        self.frozen_at: Nanos | None = None
        self._opened: tuple[str, Callable[[], Detail]] | None = None
        self._explaining = False
        self._keys: Chosen = USUAL
        self._keys_told: tuple[Does, ...] = ()

    def compose(self) -> ComposeResult:
        """The tabs, the lines, the line to type into, and the keys."""
        yield self._tabs
        yield self.listing
        yield self._asking
        yield self._hint

    # -- what the application says ------------------------------------------------------------

    def show(self, snapshot: Snapshot, info: ChannelInfo | None) -> None:
        """Show what is true now; while frozen, only for how long it is."""
        self._now = snapshot.now
        app = self.app
        colour = partial(self._colour, app.theme, info)
        moves = not isinstance(app, Dressed) or app.in_motion
        self._latest = Shown(snapshot, info, self._glyphs, colour, moves)
        if self.frozen_at is None or self._shown is None:
            self._shown = self._latest
        self.draw()

    def go(self, tab: Tab) -> None:
        """Show a tab, from its top."""
        if tab is not self.tab:
            self.tab, self._opened, self._explaining = tab, None, False
            self._asking.end()
            self.listing.begin_anew()
        self.draw()

    def open_at(self, name: str, about: str = "") -> None:
        """Show the tab called `name`, about a message, an id, or words; both may be empty."""
        tab = tab_named(name)
        if tab is Tab.CAUSAL and about:
            self.center(MessageId(about))
        elif tab is Tab.BLOOM and about:
            self.test(about)
        elif tab in (Tab.WIRE, Tab.TRACE):
            self.filter(tab, about)
        elif tab is not None:
            self.go(tab)

    def center(self, message_id: MessageId) -> None:
        """Show the graph around a message."""
        self.causal.centre = message_id
        self.go(Tab.CAUSAL)
        self.listing.selected = message_id

    def test(self, text: str) -> None:
        """Test an id against the filter; the beginning of one is enough if it is here."""
        self.go(Tab.BLOOM)
        self._test(text)

    def filter(self, tab: Tab, words: str) -> None:
        """Show only what has all of `words`, in the wire or the trace."""
        self._filtered(tab)[0].words = words
        self.go(tab)

    def _filtered(self, tab: Tab) -> tuple[WirePage | TracePage, str]:
        """Return the page of a tab that words can filter, and what it lists."""
        return (self.wire, "frames") if tab is Tab.WIRE else (self.trace, "steps")

    def change_glyphs(self, glyphs: Glyphs) -> None:
        """Draw with other signs from now on."""
        self._glyphs = glyphs
        if self._latest is not None:
            self.show(self._latest.snapshot, self._latest.info)

    def change_keys(self, chosen: Chosen) -> None:
        """Name these keys from now on, by their ids; they are bound by the application's keymap."""
        self._keys = chosen
        self.draw()

    def page(self, screens: int) -> None:
        """Scroll by screens, up if negative."""
        self.listing.page(screens)

    @property
    def keys_here(self) -> bool:
        """True if this pane has the keys."""
        return self.has_focus_within

    # -- drawing ------------------------------------------------------------------------------

    def draw(self) -> None:
        """Bring the lines up to date; those that are as before are not painted."""
        width = self.listing.width
        if self._shown is None or not width:
            return
        if self.tab is Tab.CAUSAL and self.frozen_at is None:
            self._read_graph(self._shown)
        self._tabs.show_tab(self.tab, self.size.width)
        self.listing.show(self._lines(self._shown, width))
        hint = self._hint_text()
        self._hint.display = bool(hint)
        self._hint.show(Content.styled(hint, DIM))
        self.entitle(f"PROTOCOL {self.tab.value}")
        if (keys := self.keys) != self._keys_told:
            self._keys_told = keys
            self.post_message(KeysChanged())

    def _lines(self, shown: Shown, width: int) -> list[PaneLine]:
        if self._explaining:
            keys = key_help(self.tab, self._keys)
            return [
                *table_lines(f"Terms of {self.tab.value}", TERMS[self.tab], width, shown.glyphs),
                PaneLine(Content("")),
                *table_lines("Keys here", keys, width, shown.glyphs),
            ]
        page = self._pages[self.tab].lines(shown, width)
        if self._opened is None:
            return page
        key, opens = self._opened
        current = next((one.opens for one in page if one.key == key), None)
        if current is not None:
            opens = current
            self._opened = key, opens
        detail = detail_lines(opens(), width, shown.glyphs)
        if current is None:
            gone = Content.styled(" this row is gone; these are its last values", DIM)
            detail += [PaneLine(Content("")), PaneLine(gone)]
        return detail

    def _hint_text(self) -> str:
        if self.frozen_at is not None:
            held = span(self._now - self.frozen_at)
            return with_keys(f"frozen {held} · {{pane_freeze}} goes on", self._keys)
        if not self.keys_here:
            return with_keys("{debug}: the keys go here", self._keys)
        return ""

    @property
    def keys(self) -> tuple[Does, ...]:
        """Keys for the last line of the screen while this pane has them, and what they do."""
        if self._asking.display:
            return ((("pane_back",), "closes this line"), (("help",), "help"))
        return tab_keys(self.tab, closes=self._closes)

    @property
    def _closes(self) -> str:
        """The one thing that Esc closes next."""
        if self._explaining:
            return "the terms"
        if self._opened is not None:
            return "the row"
        return "the filter" if self._is_filtered else "the pane"

    @property
    def _is_filtered(self) -> bool:
        return self.tab in (Tab.WIRE, Tab.TRACE) and bool(self._filtered(self.tab)[0].words)

    def _read_graph(self, shown: Shown) -> None:
        """Read the graph from the disk, if what it depends on is another."""
        wanted = self.causal.wanted(shown)
        if shown.info is not None and wanted != self.causal.read:
            self.causal.read = wanted
            load = self._load_graph(shown.info.channel, self.causal.centre, self.causal.depth)
            self.run_worker(load, group="graph", exclusive=True)

    async def _load_graph(self, channel: ChannelId, centre: MessageId | None, depth: int) -> None:
        try:
            self.causal.graph = await causal_text.read(self._history, channel, centre, depth)
        except LocalError as error:
            self.post_message(Refused(str(error)))
            return
        if self.tab is Tab.CAUSAL:
            self.draw()
            if self.listing.row() is None and self.causal.graph.centre is not None:
                self.listing.select(self.causal.graph.centre)

    # -- keys ---------------------------------------------------------------------------------

    @on(Listing.Opened)
    def action_open(self) -> None:
        """Open the selected row; in the graph, move the message into the middle first."""
        if self._showing_rows and self.tab is Tab.CAUSAL:
            row = self.listing.row()
            if row is not None and self.causal.enter(row.key):
                self.draw()
                return
        self.action_details()

    def action_details(self) -> None:
        """Open the selected row: a plain sentence, then the formula with its values."""
        if not self._showing_rows:
            return
        if self.listing.row() is None:
            self.listing.move(1)
        row = self.listing.row()
        if row is not None and row.opens is not None:
            self._opened = row.key, row.opens
            self.listing.begin_anew()
            self.draw()

    def action_freeze(self) -> None:
        """Hold what is shown, or let it go on."""
        self.frozen_at = self._now if self.frozen_at is None else None
        self._shown = self._latest
        self.wire.held = None if self.frozen_at is None else self._inspection.frames()
        self.draw()

    def action_explain(self) -> None:
        """Explain the terms of this tab, each in one line; again goes back."""
        self._explaining = not self._explaining
        self.listing.begin_anew()
        self.draw()

    def action_press(self, what: str) -> None:
        """Do what a key of this tab alone means; elsewhere it means nothing."""
        if self._pages[self.tab].press(what):
            if what == "newest":
                self.listing.selected = ""
            self.draw()

    def action_ask(self) -> None:
        """Let the person type: words to filter by, or an id to test."""
        match self.tab:
            case Tab.BLOOM:
                self._asking.ask("an id, or its beginning", "", self._test)
            case Tab.WIRE | Tab.TRACE:
                page, what = self._filtered(self.tab)
                self._asking.ask(f"only {what} with", page.words, partial(self.filter, self.tab))
            case _:
                pass

    def action_record(self) -> None:
        """Ask for a file to record frames to; or end the recording."""
        if self.tab is not Tab.WIRE:
            return
        path = self._inspection.recorded
        if path is None:
            self._asking.ask("record to the file", RECORDING, self._record)
            return
        frames = self._inspection.stop_recording()
        self.post_message(Told(f"{count(frames, 'frame')} recorded to {path}."))
        self.draw()

    def action_back(self) -> None:
        """Close one thing: what is typed, a text, an opened row, the filter, at last the pane."""
        if self._asking.display:
            self._asking.end()
        elif self._explaining:
            self.action_explain()
        elif self._opened is not None:
            key, self._opened = self._opened[0], None
            self.draw()
            self.listing.select(key)
        elif self._is_filtered:
            self.filter(self.tab, "")
        else:
            self.post_message(DebugClosed(stays=False))
        self.draw()

    @property
    def _showing_rows(self) -> bool:
        return self._opened is None and not self._explaining

    # -- what is typed ------------------------------------------------------------------------

    @on(AskLine.Ended)
    def _take_keys_back(self, event: AskLine.Ended) -> None:
        event.stop()
        self.listing.focus()
        self.draw()

    def _record(self, name: str) -> None:
        if not name:
            return
        try:
            self._inspection.record(file_named(name))
        except LocalError as error:
            self.post_message(Refused(str(error)))

    def _test(self, text: str) -> None:
        """Test an id; the beginning of one stands for the message that is here."""
        self.bloom.tested = text or None
        info = None if self._shown is None else self._shown.info
        if info is not None and PREFIX_MIN <= len(text) < ID_DIGITS:
            self.run_worker(self._look_up(info.channel, text), group="probe", exclusive=True)
        self.draw()

    async def _look_up(self, channel: ChannelId, prefix: str) -> None:
        try:
            found = await self._history.named(channel, prefix.casefold(), limit=2)
        except LocalError as error:
            self.post_message(Refused(str(error)))
            return
        if len(found) == 1:
            self.bloom.tested = found[0].message_id
        elif found:
            begins = short_id(MessageId(prefix))
            self.post_message(Refused(f"Several ids begin with {begins}; write more of it."))
        self.draw()

    # -- the rest -----------------------------------------------------------------------------

    @on(Listing.Resized)
    def _rewrap(self, event: Listing.Resized) -> None:
        event.stop()
        self.draw()

    def on_descendant_focus(self) -> None:
        """The keys come here: say which."""
        self.draw()

    def on_descendant_blur(self) -> None:
        """The keys go elsewhere: say how they come back."""
        self.draw()

    @on(TabLine.Picked)
    def _pick(self, event: TabLine.Picked) -> None:
        event.stop()
        self.go(event.tab)
