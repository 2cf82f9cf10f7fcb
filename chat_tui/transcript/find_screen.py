"""The search: a field, and below it what it finds, while it is typed.

Every search runs beside the chat, and ends when the next one begins. What is edited or deleted
meanwhile is searched for again: a hit shows what its message says now. Text of peers becomes
`Content`, never markup.
"""

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content, Span
from textual.widgets import Input

from chat_tui.client.chat import Chat
from chat_tui.keys.places import Place
from chat_tui.keys.table import with_keys
from chat_tui.model.command_findings import Hits, line_text
from chat_tui.model.search_query import USAGE, everywhere, understood
from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.terminal.key_bindings import bindings_of, heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.namesakes import shared_among
from chat_tui.text.safe_text import clip_cells
from chat_tui.text.times import day_of
from chat_tui.text.word_match import spans, words_of
from chat_tui.widgets.entries import Entries
from chat_tui.widgets.field import Field
from chat_tui.widgets.panel import Panel
from chat_tui.wording import sentences
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.panels import BAD, DIM
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId
from sync.view.view import Event, Line, LineChanged

SHOWN_MAX: Final = 200
"""Hits listed; who has more adds a word."""

DAY_CELLS: Final = 13
"""Of the day before a hit: `21 November`."""

HIT: Final = "bold underline"
BEFORE_HIT: Final = 24
"""Cells of a long text kept before the word that was found."""

KEYS: Final = "Enter goes there · {find_scope} %s · {close} closes"
SEARCHING: Final = "Searching ..."


class FindScreen(FrontModal[Hits | None]):
    """See the module docstring; answers with the hits and which of them to go to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Place.FIND), *heard_as("leave", "close", priority=True),
    ]  # fmt: skip
    DEFAULT_CSS = """
    FindScreen { align: center top; }
    FindScreen > Vertical {
        width: 100%; height: auto; max-height: 100%; padding: 0 1;
        background: $surface; border-top: solid $accent; border-bottom: solid $accent;
    }
    FindScreen Input { background: $surface; }
    FindScreen #find-said { width: 1fr; height: auto; dock: bottom; }
    """

    def __init__(
        self, chat: Chat, channel: ChannelId | None, glyphs: Glyphs, text: str = ""
    ) -> None:
        super().__init__()
        self._chat, self._channel, self._glyphs = chat, channel, glyphs
        self._text, self._everywhere = text, False
        self._hits: Hits | None = None
        self._chosen = 0
        self._is_searching = self._goes = self._is_gone = False
        self._leave: Callable[[], None] | None = None
        self._list = Entries(self._row, id="hits")
        self._shared, self._called = frozenset[str](), dict[ChannelId, str]()

    def compose(self) -> ComposeResult:
        """The field, what is found, and what there is to say of it."""
        with Vertical():
            yield Field(self._text, placeholder=USAGE, id="search", compact=True)
            yield self._list
            yield Panel(id="find-said")

    def on_mount(self) -> None:
        """Begin with what was searched for before."""
        self._entitle()
        self._search()
        self._leave = self._chat.subscribe(self._note)

    def on_unmount(self) -> None:
        """Hear no more of changes."""
        if self._leave is not None:
            self._leave()

    def _note(self, event: Event) -> None:
        lines = () if self._hits is None else self._hits.lines
        if isinstance(event, LineChanged) and event.rewritten:
            changed = event.line.message_id
            if any(one.message_id == changed for one in lines):
                self.call_later(self._search_again)

    def _search_again(self) -> None:
        """Bring the list up to date; what was chosen stays so, if it is found again."""
        if self._hits is not None and not self._is_gone:
            chosen = self._hits.lines[-1 - self._chosen].message_id if self._hits.lines else None
            again = partial(self._find, chosen)
            self.run_worker(again, group="find", exclusive=True)  # type: ignore[arg-type]

    # -- keys ---------------------------------------------------------------------------------

    def action_scope(self) -> None:
        """Search everywhere, or in this channel alone again."""
        self._everywhere = not self._everywhere
        self._entitle()
        self._search()

    def action_step(self, step: int) -> None:
        """Choose a hit further down, or up if negative."""
        if self._hits is not None:
            self._choose(min(max(self._chosen + step, 0), len(self._hits.lines) - 1))

    def action_page(self, screens: int) -> None:
        """Choose one a screen further."""
        self.action_step(screens * max(1, self._list.size.height))

    def action_leave(self) -> None:
        """Go nowhere."""
        self.dismiss(None)

    @on(Input.Changed)
    def _search(self) -> None:
        self._hits, self._is_searching = None, True  # what was found before is not meant any more
        # a function, which is begun later: of a coroutine that is stopped before, Python complains
        self.run_worker(self._find, group="find", exclusive=True)  # type: ignore[arg-type]

    @on(Input.Submitted)
    def _go(self) -> None:
        """Go to the hit chosen; of what was typed this moment, to the newest once it is found."""
        if self._hits is None:
            self._goes = self._is_searching
        elif not self._is_gone:
            self._is_gone = True
            self.dismiss(replace(self._hits, chosen=len(self._hits.lines) - 1 - self._chosen))

    @on(Entries.Clicked)
    def _go_or_choose(self, click: Entries.Clicked) -> None:
        """Choose a hit; clicked again, go there."""
        if click.number == self._chosen:
            self._go()
        else:
            self._choose(click.number)

    # -- inside -------------------------------------------------------------------------------

    async def _find(self, chosen: MessageId | None = None) -> None:
        from chat_tui.commands.finding import counted, found, how_many

        text, snapshot = self.query_one(Input).value, self._chat.snapshot()
        here = () if self._channel is None else (self._channel,)
        self._hits, self._chosen, self._goes = None, 0, False
        self._is_searching = bool(text.strip())
        if not text.strip():
            self._draw()
            self._say("")
            return
        self._say(SEARCHING)
        try:
            query = understood(text, snapshot, everywhere(snapshot) if self._everywhere else here)
            self._hits = await found(self._chat, query, text.strip(), SHOWN_MAX)
        except LocalError as error:
            self._is_searching = self._goes = False
            self._draw()
            self._say(str(error), f"bold {BAD}")
            return
        self._is_searching = False
        newest_first = [one.message_id for one in self._hits.lines[::-1]]
        self._chosen = newest_first.index(chosen) if chosen in newest_first else 0
        self._draw()
        if self._goes:
            self._go()
            return
        self._say(how_many(self._hits))
        if self._hits.more:
            self._hits = await counted(self._chat, query, self._hits)
            self._say(how_many(self._hits))

    def _say(self, text: str, style: str = DIM) -> None:
        self.query_one("#find-said", Panel).show(Content.styled(text, style))

    def _entitle(self) -> None:
        info = sentences.find(self._chat.snapshot(), self._channel)
        here = "" if info is None else sentences.channel_title(info)
        where, other = ("all channels", here) if self._everywhere else (here, "all channels")
        frame = self.query_one(Vertical)
        frame.border_title = f" Search {where} "
        frame.border_subtitle = with_keys(f" {KEYS % other} ", keys_of(self))

    def _draw(self) -> None:
        hits = self._hits
        lines = () if hits is None else hits.lines[::-1]
        self._shared = shared_among(lines, self._chat.snapshot().shared_names)
        self._called = self._titles(lines)
        before = (None, *lines)
        self._list.show(tuple(zip(lines, before, strict=False)), self._chosen)

    def _row(self, hit: tuple[Line, Line | None], is_chosen: bool) -> Content:  # noqa: FBT001
        """Return a hit as it is listed, with its day unless the one above has the same."""
        line, above = hit
        day = _date(line)
        shown = "" if above is not None and _date(above) == day else day
        query = "" if self._hits is None else self._hits.query
        said = hit_content(line_text(line, self._shared, self._called.get(line.channel, "")), query)
        # The chosen one has one ground from end to end: its day is not dim.
        row = Content.assemble((f"{shown:>{DAY_CELLS}} ", "" if is_chosen else DIM), said)
        row = Content(f"{self._glyphs.cursor} " if is_chosen else "  ") + row
        return row.stylize("reverse") if is_chosen else row

    def _choose(self, number: int) -> None:
        self._chosen = number
        self._list.choose(number)

    def _titles(self, lines: "tuple[Line, ...]") -> dict[ChannelId, str]:
        from chat_tui.commands.finding import titles_of

        return titles_of(self._chat, lines, None if self._everywhere else self._channel)


def _date(line: Line) -> str:
    """Return the day and month of a line."""
    return day_of(line.created_ns).partition(", ")[2].rsplit(" ", 1)[0]


def hit_content(text: str, query: str) -> Content:
    """Return a hit in one line, the words that were found marked, and the first one in sight."""
    found = spans(words_of(query), text)
    name_end = text.find(": ") + 2
    if found and (first := min((at for at, _ in found if at >= name_end), default=0)):
        cut = first - BEFORE_HIT
        if cut > name_end:
            text = f"{text[:name_end]}…{text[cut:]}"
            found = spans(words_of(query), text)
    text = clip_cells(text, 300)
    return Content(
        text, [Span(at, min(end, len(text)), HIT) for at, end in found if at < len(text)]
    )
