"""The first run: prefilled questions on one screen, which work without a network."""

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

from msgspec import Struct
from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Label

from chat_tui.keys.table import with_keys
from chat_tui.settings.preferences import Preferences
from chat_tui.terminal.key_bindings import heard_as
from chat_tui.terminal.themed_app import Dressed
from chat_tui.widgets.field import Field
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.errors import LocalError

JOIN: Final = "/join "
"""Before a code as /invite shows and copies it."""

SMALL_BELOW: Final = 78
"""Columns below which the three buttons need narrower edges to stand side by side."""

KEYS: Final = "Enter starts, Tab goes to the next field, {close} leaves"


class Answers(Struct, frozen=True):
    """Answers given at the first run; no `invite` means the open lobby."""

    name: str
    invite: str
    data_dir: Path
    demo: bool = False
    """Whether to see the demo first; then nothing else is decided yet."""


class FirstRun(Dressed[Answers | None]):
    """Asks for name, invite code and place; its result is None if somebody left.

    Args:
        suggested: what the fields hold at first.
        check: raises `LocalError`, with what to do, for answers that cannot be used.
        settings: how it looks.
        glyphs: the character set.
    """

    TITLE = "chat-tui"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None  # it would scroll the first question out of a small window
    HORIZONTAL_BREAKPOINTS = [(0, "-small"), (SMALL_BELOW, "-roomy")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = heard_as("quit", "close", "quit", priority=True)
    CSS = """
    Screen { align: center middle; }
    #questions {
        width: 100%;
        max-width: 76;
        height: auto;
        max-height: 100%;
        padding: 1 2;
        border: round $accent;
        scrollbar-background: $background;
        scrollbar-color: $foreground 20%;
    }
    Label { width: 1fr; }
    .question { margin-top: 1; text-style: bold; }
    .hint { color: $foreground 75%; }
    #place { display: none; height: auto; }
    .-placing #place { display: block; }
    .-placing #kept { display: none; }
    #buttons { height: auto; margin-top: 1; }
    #buttons Button { margin-right: 2; }
    .-small #questions { padding: 0 1; scrollbar-size-vertical: 1; }
    .-small #buttons Button { margin-right: 1; min-width: 0; }
    #wrong { margin-top: 1; color: $error; text-style: bold; }
    """

    def __init__(
        self,
        suggested: Answers,
        check: Callable[[Answers], None],
        settings: Preferences | None = None,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        super().__init__(settings or Preferences())
        self.draw_with(glyphs)
        self._suggested = suggested
        self._check = check

    def compose(self) -> ComposeResult:
        """Each question with its field, then what is wrong, then the way on."""
        with VerticalScroll(id="questions", can_focus=False) as questions:
            questions.border_title = "Welcome to chat-tui"
            questions.border_subtitle = with_keys(KEYS, self.keys_chosen)
            yield Label("Chat with the people on this network. No server, no account.")
            yield Label("Your name", classes="question")
            yield Field(self._suggested.name, id="name", compact=True)
            yield Label("Invite code", classes="question")
            yield Field(self._suggested.invite, id="invite", compact=True)
            yield Label(
                "Empty: the open #lobby, which everybody on this network can read. "
                "Members of a private channel get a code from /invite.",
                classes="hint",
            )
            with Vertical(id="place"):
                yield Label("Directory for your messages and your key", classes="question")
                yield Field(str(self._suggested.data_dir), id="data-dir", compact=True)
            yield Label("", id="wrong", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Start", id="start", variant="primary", compact=True)
                yield Button("See the demo", id="demo", compact=True)
                yield Button("Change where data is kept", id="change-place", compact=True)
            yield Label("")
            yield Label("Your key is created on this computer and never leaves it.", classes="hint")
            kept = f"Your messages and your key are kept in {self._suggested.data_dir}."
            yield Label(kept, id="kept", classes="hint", markup=False)

    def on_mount(self) -> None:
        """Begin at the name, whose question stays in sight."""
        self.query_one("#name", Input).focus(scroll_visible=False)

    @on(Button.Pressed, "#demo")
    def see_demo(self) -> None:
        """Leave the questions for later, with what was answered already."""
        try:
            answers = replace(self._answers(), demo=True)
        except LocalError as error:
            self._say_wrong(error)
        else:
            self.exit(answers)

    @on(Button.Pressed, "#change-place")
    def ask_place(self) -> None:
        """Ask where data is kept too."""
        self.query_one("#questions").add_class("-placing")
        self.query_one("#data-dir", Input).focus()

    @on(Input.Submitted)
    @on(Button.Pressed, "#start")
    def start(self) -> None:
        """Return the answers if they can be used; else say why not."""
        try:
            answers = self._answers()
            self._check(answers)
        except LocalError as error:
            self._say_wrong(error)
        else:
            self.exit(answers)

    @on(Input.Changed)
    def forget_wrong(self) -> None:
        """Say no more what was wrong with an answer that is another one now."""
        self.query_one("#wrong", Label).update("")

    def _say_wrong(self, error: LocalError) -> None:
        self.query_one("#wrong", Label).update(str(error))

    def _answers(self) -> Answers:
        place = self.query_one("#data-dir", Input).value.strip()
        try:
            data_dir = Path(place).expanduser() if place else self._suggested.data_dir
        except RuntimeError:
            raise LocalError(f"{place} begins with ~ and nobody's name here.") from None
        return Answers(
            name=self.query_one("#name", Input).value.strip(),
            invite=self.query_one("#invite", Input).value.strip().removeprefix(JOIN).strip(),
            data_dir=data_dir,
        )
