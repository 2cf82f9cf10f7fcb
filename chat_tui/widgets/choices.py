"""A list to choose from, in which paging keeps one chosen."""

from typing import Literal

from textual.widgets import OptionList


class Choices(OptionList):
    """Textual's list, whose pages may end at a heading with nothing chosen, or need lines."""

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        """Move by a page, where there are lines; at an outer heading stop at the option beside."""
        if not self._lines:  # the window has no room for the list
            return
        super()._move_page(direction)
        if self.highlighted is not None:
            return
        if direction < 0:
            self.action_first()
        else:
            self.action_last()
