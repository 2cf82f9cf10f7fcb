"""The line of the pane that words are typed into; it is there only while somebody is asked."""

from collections.abc import Callable

from textual.message import Message
from textual.widgets import Input

from chat_tui.widgets.field import Field


class AskLine(Field):
    """Asks for one text at a time."""

    class Ended(Message):
        """Nobody is asked any more; the keys are free."""

    def __init__(self) -> None:
        super().__init__(id="debug-ask", compact=True)
        self.display = False
        self._then: Callable[[str], None] | None = None

    def ask(self, prompt: str, text: str, then: Callable[[str], None]) -> None:
        """Let somebody type, beginning with `text`; `then` gets what was sent."""
        self._then = then
        self.placeholder, self.value = prompt, text
        self.display = True
        self.focus()

    def end(self) -> None:
        """Ask no more, if anything was asked."""
        if self.display:
            self.display = False
            self.post_message(self.Ended())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand over what was typed."""
        event.stop()
        self.end()
        if self._then is not None:
            self._then(event.value.strip())
