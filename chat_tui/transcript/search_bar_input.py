"""Input line for the words of a search."""

from textual import on
from textual.widgets import Input

from chat_tui.widgets.messages import SearchWanted


class SearchLine(Input):
    """One line that posts `SearchWanted`."""

    DEFAULT_CSS = """
    SearchLine { height: 1; border: none; padding: 0 1; background: $surface; }
    SearchLine:focus { border: none; }
    """

    def __init__(self) -> None:
        super().__init__(placeholder="projector room", id="search")

    @on(Input.Submitted)
    def _want(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.post_message(SearchWanted(event.value))
