"""Input of search words: a line under the conversation, made when first wanted."""

from typing import TYPE_CHECKING, Final

from textual.widget import Widget

if TYPE_CHECKING:
    from chat_tui.transcript.search_bar_input import SearchLine

SEARCHING: Final = "Search for words · Enter searches · {close} closes"


class SearchInput:
    """Opens in `place`, below the widget `below`; the keys go to `writer` when it closes."""

    def __init__(self, place: Widget, below: Widget, writer: Widget) -> None:
        self._place, self._below, self._writer = place, below, writer
        self._line: SearchLine | None = None

    @property
    def is_open(self) -> bool:
        """True if the search line is open."""
        return self._line is not None and self._line.display

    async def open(self) -> None:
        """Ask for words."""
        if self._line is None:
            from chat_tui.transcript.search_bar_input import SearchLine

            self._line = SearchLine()
            await self._place.mount(self._line, after=self._below)
        self._line.display = True
        self._line.focus()

    def close(self) -> None:
        """Ask no more; whoever wrote in it does not lose the keys to nobody."""
        if self._line is None:
            return
        if self._line.has_focus:
            self._writer.focus()
        self._line.display = False

    def clear(self) -> None:
        """Ask no more, and forget the words."""
        self.close()
        if self._line is not None:
            self._line.value = ""
