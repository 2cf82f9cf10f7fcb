"""A screen with a title and a text that scrolls and stays up to date."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from chat_tui.keys.table import with_keys
from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.terminal.key_bindings import heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.widgets.panel import Panel
from chat_tui.widgets.scrolling import Scrolling

REFRESH_S: Final = 1.0


class TextScreen(FrontModal[None], Scrolling):
    """A titled text that scrolls; what `text` returns is asked again every second."""

    BINDINGS: ClassVar[list[BindingType]] = heard_as("leave", "help", "peers")
    SCROLLED = "#text-frame"
    DEFAULT_CSS = """
    TextScreen { align: center middle; }
    #text-frame {
        width: 100%;
        max-width: 100;
        height: auto;
        max-height: 100%;
        scrollbar-size-vertical: 1;
        scrollbar-background: $surface;
        scrollbar-color: $foreground 20%;
        padding: 0 1;
        border-top: solid $accent;
        border-bottom: solid $accent;
        background: $surface;
    }
    /* No frame at the sides: who copies an invite code with the mouse gets nothing else. */
    #text { width: 1fr; height: auto; }
    """

    def __init__(self, title: str, text: Callable[[], Content]) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._columns = 0
        """Width of the window for which the text is wrapped."""

    def compose(self) -> ComposeResult:
        """The text in a frame, and how to leave."""
        with VerticalScroll(id="text-frame", can_focus=False) as frame:
            frame.border_title = f" {self._title} "
            frame.border_subtitle = with_keys(" {close} closes ", keys_of(self))
            yield Panel(id="text")

    def on_mount(self) -> None:
        """Show the text now, and whenever it differs."""
        self._columns = self.app.size.width
        self._tick()
        self.set_interval(REFRESH_S, self._tick)

    def on_resize(self) -> None:
        """Wrap the text for a window of another width, once it is laid out for that."""
        columns, self._columns = self._columns, self.app.size.width
        if columns != self._columns:
            self.call_after_refresh(self._tick)

    def _tick(self) -> None:
        self.query_one("#text", Panel).show(self._text())
