"""A line of its own above or below what is read, painted again only when it differs."""

from textual.content import Content
from textual.widgets import Static


class OneLine(Static):
    """One line that is painted again only when it differs."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 Textual calls it so
        super().__init__("", id=id, markup=False)
        self._shown = Content("")

    def show(self, content: Content) -> None:
        """Show `content`."""
        if not content.is_same(self._shown):
            self._shown = content
            self.update(content, layout=False)
