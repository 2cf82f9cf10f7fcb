"""Pastes, cut out of the keys that are typed: nothing in one is a key.

Terminals that were asked for it put marks around a paste. Textual's parser would find keys also
between them, where an Escape stands in what was copied: Enter would send, and /quit leave.
"""

from typing import Final

BEGIN: Final = "\x1b[200~"
END: Final = "\x1b[201~"

KEPT_MAX: Final = 1_000_000
"""Characters kept of one paste; what takes pastes refuses much shorter ones."""


class Pastes:
    """Marks of pastes, looked for wherever reading may have cut them."""

    def __init__(self) -> None:
        self._matched = 0
        """Characters of the mark that is looked for which were the last to come."""
        self._text: list[str] | None = None
        """The paste that has begun, with its mark; None between two."""
        self._length = 0
        """Characters of it that came, also those that are not kept."""

    @property
    def begun(self) -> bool:
        """True between the marks of a paste."""
        return self._text is not None

    def take(self, character: str) -> str | None:
        """Take the next character; return the paste if that was its last, None otherwise."""
        mark = BEGIN if self._text is None else END
        if character == mark[self._matched]:
            self._matched += 1
        else:
            self._matched = int(character == mark[0])
        if self._text is not None:
            self._length += 1
            if self._length <= KEPT_MAX:
                self._text.append(character)
        if self._matched < len(mark):
            return None
        self._matched = 0
        if self._text is None:
            self._text, self._length = [], 0
            return None
        text, self._text = self._text, None
        return "".join(text[: min(self._length - len(END), KEPT_MAX)]).replace("\0", "")
