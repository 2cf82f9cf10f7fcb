"""Tells /commands from messages."""


def is_command(line: str) -> bool:
    """Return whether a line is a /command; one that begins with two slashes is a message."""
    begun = line.lstrip()
    return begun.startswith("/") and not begun.startswith("//")


def text_of(line: str) -> str:
    """Return the text of a line that is a message."""
    begun = line.lstrip()
    return begun[1:] if begun.startswith("//") else line
