"""Screens over the conversation while reading: lists, questions, text without boxes.

Text of peers becomes `Content`, never markup; every screen names the key that closes it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content

from chat_tui.keys.table import with_keys
from chat_tui.model.command_findings import Listed, indent, line_text
from chat_tui.model.row import Row, shown_text
from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.terminal.key_bindings import heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.namesakes import called, shared_among
from chat_tui.text.plain_lines import MARK, REPLY, laid, plain_name
from chat_tui.text.safe_text import clip_cells, wrap
from chat_tui.text.times import day_of, time_of_day
from chat_tui.widgets.entries import Entries
from chat_tui.widgets.panel import Panel
from chat_tui.widgets.scrolling import OVER_KEYS, Scrolling
from chat_tui.wording.glyphs import PARKED, Glyphs
from chat_tui.wording.panels import DIM
from chat_tui.wording.reactions import label, named
from sync.machine import MessageId
from sync.view.view import Line

MOUSE_OFF: Final = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
MOUSE_ON: Final = "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
"""The terminal's own selection needs no Shift while the application hears nothing of the mouse."""

BARE_KEYS: Final = (
    "Select with the mouse, copy as in any terminal. "
    "{over_page_up}, {over_page_down} read on, {close} leaves."
)


TAKES_BACK: Final = " (you: again takes it back)"
ANY_EMOJI: Final = "/react takes any other emoji, or its name, such as tada."


class ChoiceScreen(FrontModal[int | None]):
    """Entries one below the other, of which one is chosen; the answer is its number.

    `below` says more about the entry that is chosen now.
    """

    BINDINGS: ClassVar[list[BindingType]] = OVER_KEYS
    DEFAULT_CSS = """
    ChoiceScreen { align: center middle; }
    ChoiceScreen > Vertical {
        width: 100%; max-width: 110; height: auto; max-height: 100%; padding: 0 1;
        background: $surface; border-top: solid $accent; border-bottom: solid $accent;
    }
    ChoiceScreen #below { width: 1fr; height: auto; dock: bottom; }
    """

    def __init__(
        self,
        title: str,
        entries: Sequence[Content],
        *,
        chosen: int,
        keys: str,
        cursor: str,
        below: Callable[[int], Content] = lambda _: Content(""),
    ) -> None:
        super().__init__()
        self._title, self._entries, self._keys = title, entries, keys
        self._chosen, self._cursor, self._below = chosen, cursor, below
        self._list = Entries(self._look, id="entries")

    def compose(self) -> ComposeResult:
        """The entries in a frame that scrolls, and what is to say of the one chosen."""
        with Vertical() as frame:
            frame.border_title = f" {self._title} "
            frame.border_subtitle = with_keys(f" {self._keys} ", keys_of(self))
            yield self._list
            yield from self.below()

    def renew(self, entries: Sequence[Content]) -> None:
        """Show as many entries that say something else now; the same one stays chosen."""
        self._entries = entries
        if self.is_mounted:
            self._list.show(entries, self._chosen)

    def below(self) -> ComposeResult:
        """A place for more about the entry that is chosen."""
        yield Panel(id="below")

    def on_mount(self) -> None:
        """Show the entries."""
        self._list.show(self._entries, self._chosen)
        self._say_below()

    @on(Entries.Clicked)
    def _take_or_choose(self, click: Entries.Clicked) -> None:
        """Choose an entry; clicked again, or twice, it is taken."""
        if click.number == self._chosen:
            self.action_enter()
        else:
            self._choose(click.number)

    def action_step(self, step: int) -> None:
        """Choose an entry further down, or up if negative."""
        self._choose(min(max(self._chosen + step, 0), len(self._entries) - 1))

    def action_page(self, screens: int) -> None:
        """Choose one a screen further."""
        self.action_step(screens * max(1, self._list.size.height))

    def action_edge(self, which: int) -> None:
        """Choose the last entry, or the first if negative."""
        self.action_step(which * len(self._entries))

    def action_enter(self) -> None:
        """Answer with the entry chosen."""
        self.dismiss(self._chosen)

    def action_leave(self) -> None:
        """Choose none."""
        self.dismiss(None)

    def _choose(self, number: int) -> None:
        self._chosen = number
        self._list.choose(number)
        self._say_below()

    def _say_below(self) -> None:
        self.query_one("#below", Panel).show(self._below(self._chosen))

    def _look(self, entry: Content, is_chosen: bool) -> Content:  # noqa: FBT001  # see `Look`
        if is_chosen:
            return Content.styled(f"{self._cursor} {entry.plain}", "bold reverse")
        return Content.assemble("  ", entry)


def message_entries(found: Listed, shared: frozenset[str]) -> list[Content]:
    """Return messages as the entries of a list; `shared` are names that several keys go by."""
    shared = shared_among(found.lines, shared)
    entries: list[Content] = []
    day = ""
    for number, line in enumerate(found.lines):
        date = day_of(line.created_ns).partition(", ")[2].rsplit(" ", 1)[0]
        shown = "" if date == day else date
        day = date
        title = found.titles.get(line.channel, "")
        said = clip_cells(indent(found.depths, number) + line_text(line, shared, title), 300)
        entries.append(Content.assemble((f"{shown:>13} ", DIM), said))
    return entries


def message_list(found: Listed, glyphs: Glyphs, shared: frozenset[str]) -> ChoiceScreen:
    """Return a screen to choose one of some messages, the newest first chosen.

    `shared` are the names that several keys go by.
    """
    entries = message_entries(found, shared)
    return ChoiceScreen(
        found.title,
        entries,
        chosen=len(entries) - 1,
        keys="{over_enter} goes there · {close} closes",
        cursor=glyphs.cursor,
        below=lambda _: Content.styled(found.note, DIM),
    )


def reaction_list(line: Line, emojis: Sequence[str], glyphs: Glyphs) -> ChoiceScreen:
    """Return a screen to choose an emoji to react to a message with."""
    ours = {label(one.emoji, glyphs) for one in line.reactions if one.mine}
    entries = [
        Content(f"{named(one, glyphs)}{TAKES_BACK if label(one, glyphs) in ours else ''}")
        for one in emojis
    ]
    return ChoiceScreen(
        "React with",
        entries,
        chosen=0,
        keys="{over_enter} reacts · {close} does not",
        cursor=glyphs.cursor,
        below=lambda _: Content.styled(ANY_EMOJI, DIM),
    )


def delete_question(row: Row, glyphs: Glyphs) -> ChoiceScreen:
    """Return a screen that asks whether a message is to be deleted; the first answer is yes."""
    words = clip_cells(" ".join(row.text.split()), 300)
    return ChoiceScreen(
        "Delete this message for everybody?",
        [Content("Delete it"), Content("Keep it")],
        chosen=0,
        keys="{over_enter} chooses · {close} keeps it",
        cursor=glyphs.cursor,
        below=lambda _: Content.styled(f"{row.nick}: {words}", DIM),
    )


class BareScreen(Scrolling):
    """Messages as text from edge to edge, for the terminal's own way to select and copy."""

    BINDINGS: ClassVar[list[BindingType]] = heard_as("leave", "bare")
    SCROLLED = "#bare-frame"
    DEFAULT_CSS = """
    BareScreen { background: $background; }
    BareScreen VerticalScroll { scrollbar-size-vertical: 0; height: 1fr; }
    BareScreen #bare { width: 1fr; height: auto; }
    BareScreen #bare-keys { width: 1fr; height: auto; }
    """

    def __init__(
        self,
        lines: Sequence[Line],
        at: MessageId | None,
        shared: frozenset[str],
        quotes: Mapping[MessageId, str],
    ) -> None:
        super().__init__()
        self._lines, self._at, self._quotes = lines, at, quotes
        self._shared = shared_among(lines, shared)

    def compose(self) -> ComposeResult:
        """The text, and how to leave."""
        with VerticalScroll(id="bare-frame", can_focus=False):
            yield Panel(id="bare")
        yield Panel(id="bare-keys")

    def on_mount(self) -> None:
        """Show the text, from where the reader was; let the terminal have the mouse."""
        text = "\n".join(self._texts())
        self.query_one("#bare", Panel).show(Content(text))
        words = with_keys(BARE_KEYS, keys_of(self))
        self.query_one("#bare-keys", Panel).show(Content.styled(words, DIM))
        self._tell_terminal(MOUSE_OFF)
        self.call_after_refresh(self._go_to_place)

    def on_unmount(self) -> None:
        """Take the mouse back."""
        self._tell_terminal(MOUSE_ON)

    def _go_to_place(self) -> None:
        ids = [line.message_id for line in self._lines]
        if self._at not in ids:
            self.action_edge(1)
            return
        before = "\n".join(self._texts()[: ids.index(self._at)])
        above = len(wrap(before, self.size.width, most=None)) if before else 0
        self.query_one("#bare-frame").scroll_to(y=above, animate=False, force=True)

    def _texts(self) -> list[str]:
        """Return each message with who wrote it and when, and its day where one begins."""
        texts: list[str] = []
        day = ""
        for line in self._lines:
            begun, day = day, day_of(line.created_ns)
            name = plain_name(line.nick, called(line.author, line.nick, self._shared))
            when = time_of_day(line.created_ns) + (f" ({PARKED})" if line.parked else "")
            words = f"{when} {name}: {shown_text(line)}"
            text = laid(words, MARK, self.size.width)
            if quote := self._quotes.get(line.message_id):
                text = f"{laid(f'{REPLY} {quote}', MARK, self.size.width)}\n{text}"
            texts.append(text if day == begun else f"{day}\n{text}")
        return texts

    def _tell_terminal(self, sequence: str) -> None:
        driver = self.app._driver  # noqa: SLF001 Textual has no public way to write a sequence
        if driver is not None and getattr(driver, "_mouse", False):
            driver.write(sequence)
