"""Messages that say what their author does: `/me waves` is shown as `* alice waves`.

On the wire such a message is a text that begins with `/me `, so older versions show it as that.
"""

from typing import Final

SIGN: Final = "/me "


def action_text(does: str) -> str:
    """Return the text of a message that says what its author does."""
    return f"{SIGN}{does}"


def as_shown(nick: str, text: str) -> str:
    """Return a clean text as it is shown."""
    if not text.startswith(SIGN) or not text[len(SIGN) :].strip():
        return text
    return f"* {nick} {text[len(SIGN) :].strip()}"
