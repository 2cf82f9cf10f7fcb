"""The palette: everything that can be done, found by a part of its name."""

from collections.abc import Sequence
from typing import ClassVar, Final

from msgspec import Struct
from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.fuzzy import Matcher
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from chat_tui.commands.table import TABLE
from chat_tui.keys.names import names_of
from chat_tui.keys.places import Place
from chat_tui.keys.table import KEYS, Chosen, with_keys
from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.terminal.key_bindings import heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.widgets.choices import Choices
from chat_tui.widgets.field import Field
from chat_tui.wording import sentences
from chat_tui.wording.panels import Unseen
from sync.view.view import Snapshot

PASSED_ON: Final = {
    "up": "cursor_up",
    "down": "cursor_down",
    "pageup": "page_up",
    "pagedown": "page_down",
}
"""Keys of the list, which are heard while the field has the cursor."""

NOT_LISTED: Final = frozenset({
    "palette", "pane_tab_left", "pane_tab_right", "pane_up", "pane_down", "pane_page_up",
    "pane_page_down", "pane_first", "pane_last", "pane_open", "pane_details", "pane_leave",
    "pane_back", "reading_up", "reading_down", "reading_page_up", "reading_page_down",
    "reading_first", "reading_last", "reading_write", "reading_command",
    *(
        row.id
        for row in KEYS
        if not (row.place.is_of_chat or row.place in {Place.SELECTED, Place.PANE})
    ),
})  # fmt: skip
"""Keys that open this, only move somewhere, or are those of a screen that has them in sight."""

LAST: Final = "quit"
"""Of the keys: Enter with nothing typed does the first, which must not end the chat."""

TITLE_CELLS: Final = 30
"""Of the left column; a longer title has what stands beside the others below itself."""

WIDTH_MAX: Final = 90
"""Of the palette, as its style below says."""

EDGE_CELLS: Final = 3
"""Of the palette, beside its entries: a cell at either side, and the scroll bar."""


class Entry(Struct, frozen=True):
    """One thing that can be done; `action` is what the application is asked for."""

    title: str
    note: str
    action: str


def channel_entries(snapshot: Snapshot, unseen: Unseen) -> list[Entry]:
    """Return our channels, and what is unread in them: `new` finds those."""
    entries: list[Entry] = []
    for info in snapshot.channels:
        note = f"channel, {sentences.others_here(snapshot, info)}"
        if waits := unseen.counted(info.channel):
            note += f" · {waits} new"
        action = f"open_channel('{info.channel}')"
        entries.append(Entry(sentences.channel_title(info), note, action))
    return entries


def command_entries(keys: Chosen) -> list[Entry]:
    """Return what keys do, then all commands; one that needs words is only begun."""
    entries = [
        Entry(row.label, names_of(keys[row.id]), f"key('{row.id}')")
        for row in sorted(KEYS, key=lambda row: row.id == LAST)
        if row.id not in NOT_LISTED
    ]
    for command in TABLE:
        name = command.names[0]
        needs_words = bool(command.usage) and not command.usage.startswith("[")
        action = f"begin('{name} ')" if needs_words else f"submit('{name}')"
        entries.append(Entry(f"{name} {command.usage}".rstrip(), command.help, action))
    return entries


def matching(entries: Sequence[Entry], wanted: str) -> list[Entry]:
    """Return the entries that fit, the best first; all of them, in their order, for nothing.

    A name counts before what stands beside it; the letters may lie apart, but in this order.
    """
    if not wanted.strip():
        return list(entries)
    matcher = Matcher(wanted.strip())
    scored = [
        (matcher.match(entry.title) * 2 or matcher.match(entry.note) * 0.5, -number, entry)
        for number, entry in enumerate(entries)
    ]
    return [entry for score, _, entry in sorted(scored, reverse=True) if score > 0]


class Palette(FrontModal[str | None]):
    """A field and the entries that fit it; its result is the action chosen."""

    OPENED_BY: ClassVar = "palette"
    BINDINGS: ClassVar[list[BindingType]] = heard_as(
        "dismiss", "close", "palette", "switch", priority=True
    )
    DEFAULT_CSS = """
    Palette { align: center top; }
    Palette #palette {
        width: 100%;
        max-width: 90;
        height: auto;
        max-height: 100%;
        margin-top: 1;
        padding: 0 1;
        border-top: solid $accent;
        border-bottom: solid $accent;
        background: $surface;
    }
    Palette OptionList > .option-list--option-highlighted {
        color: $block-cursor-foreground;
        background: $block-cursor-background;
        text-style: bold;
    }
    Palette OptionList:nocolor > .option-list--option-highlighted { text-style: bold underline; }
    Palette Input { background: $surface; }
    Palette OptionList, Palette OptionList:focus {
        height: auto;
        max-height: 16;
        border: none;
        padding: 0;
        margin-top: 1;
        background: $surface;
        scrollbar-size-vertical: 1;
        scrollbar-background: $surface;
        scrollbar-color: $foreground 20%;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, entries: Sequence[Entry], title: str) -> None:
        super().__init__()
        self._entries, self._shown, self._title = entries, list(entries), title

    def compose(self) -> ComposeResult:
        """The field, then what fits."""
        with Vertical(id="palette") as frame:
            frame.border_title = f" {self._title} "
            frame.border_subtitle = with_keys(" Enter does it, {close} closes ", keys_of(self))
            yield Field(placeholder="Part of its name", compact=True)
            yield Choices(markup=False)

    def on_mount(self) -> None:
        """Show everything."""
        self._fill()

    @on(Input.Changed)
    def _find(self, event: Input.Changed) -> None:
        self._shown = matching(self._entries, event.value)
        self._fill()

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._shown):
            self.dismiss(self._shown[at].action)

    def on_key(self, event: Key) -> None:
        """Move in the list without leaving the field."""
        if event.key in PASSED_ON:
            getattr(self.query_one(OptionList), f"action_{PASSED_ON[event.key]}")()
            event.stop()
            event.prevent_default()

    def _fill(self) -> None:
        found = self.query_one(OptionList)
        found.clear_options()
        if not self._shown:
            found.add_option(Option(Content("Nothing has that in its name."), disabled=True))
            return
        width = min(self.app.size.width, WIDTH_MAX) - EDGE_CELLS
        found.add_options([Option(_row(entry, width)) for entry in self._shown])
        found.highlighted = 0

    def on_resize(self) -> None:
        """Fill the new width; what is chosen stays so."""
        found = self.query_one(OptionList)
        chosen = found.highlighted
        self._fill()
        found.highlighted = chosen


def _row(entry: Entry, width: int) -> Content:
    """Return an entry in so many cells: what stands beside its title is wrapped below itself."""
    beside = " " * (TITLE_CELLS + 1)
    notes = wrap(entry.note, max(2, width - len(beside)))
    if cell_len(entry.title) > TITLE_CELLS and entry.note:
        lines = [*wrap(entry.title, width), *(beside + note for note in notes)]
    else:
        title = clip_cells(entry.title, width)
        first = f"{title}{' ' * (len(beside) - cell_len(title))}{notes[0]}"
        lines = [first, *(beside + note for note in notes[1:])]
    return Content("\n".join(lines))
