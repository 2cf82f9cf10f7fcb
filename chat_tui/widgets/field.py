"""A field of one line, as for a name or for words to find."""

from typing import Final

from textual.widgets import Input

FIELD_MAX: Final = 1_000
"""Characters that one takes: each key is as much work as there are, and nobody means more here."""


class Field(Input):
    """A field that takes no page that was pasted into it by mistake."""

    def on_mount(self) -> None:
        """Set the limit."""
        self.max_length = FIELD_MAX

    def restricted(self) -> None:
        """Take no more, without a sound: a page that comes as keys would ring for each."""
