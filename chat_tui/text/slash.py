"""Tells /commands from messages."""


def is_command(line: str) -> bool:
    """Return whether a line is a /command; one that begins with two slashes is a message."""
    begun = line.lstrip()
    return begun.startswith("/") and not begun.startswith("//")
