"""`chat-tui demo` and `chat-tui replay` on a screen of their own: no profile, no network."""

from pathlib import Path
from typing import ClassVar, Final

from textual.binding import Binding, BindingType

from chat_tui.demo.screen import DemoScreen
from chat_tui.settings.preferences import Preferences
from chat_tui.terminal.key_bindings import heard_as
from chat_tui.terminal.themed_app import Dressed

STYLES: Final = Path(__file__).parents[1] / "app" / "app.tcss"


class DemoApp(Dressed[None]):
    """Shows `screen` until it is left."""

    CSS_PATH = STYLES
    TITLE = "chat-tui demo"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-normal"), (120, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *heard_as("quit", "quit", priority=True),
        Binding("ctrl+c", "quit", "Quit", priority=True),
    ]

    def __init__(self, screen: DemoScreen, settings: Preferences | None = None) -> None:
        super().__init__(settings or Preferences())
        self.demo = screen
        self.draw_with(screen.glyphs)

    def on_mount(self) -> None:
        """Show the screen; leaving it leaves the program."""
        self.push_screen(self.demo, lambda _: self.exit())

    async def action_quit(self) -> None:
        """Leave at once, and keep what was played all the same."""
        self.demo.keep()
        await super().action_quit()
