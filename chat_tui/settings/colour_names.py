"""Names of the colours that a person can choose for their own name."""

from typing import Final

COLOUR_NAMES: Final = (
    "blue", "green", "amber", "rose", "violet", "sky", "orange", "teal", "pink", "olive",
)  # fmt: skip
"""One for each hue of `chat_tui.terminal.themes.AUTHORS`, in that order."""

COLOUR_OF_KEY: Final = "auto"
"""Word for the colour that follows from somebody's key."""
