"""Error types: the class says whose fault it is, the message says what to do."""

from typing import Final

LEFT: Final = "You are not in that channel: /join it first."
"""Of a channel that was left, or never joined: the engine says it, and the screen."""


class ChatError(Exception):
    """Base of every error of ours; its text is a sentence a person can act on."""


class LocalError(ChatError):
    """We, or the person at the keyboard, asked for something that cannot be done."""


class RemoteError(ChatError):
    """A peer sent something it must not send; no state has changed."""


class DecodeError(RemoteError):
    """Bytes that are not what their place says they are."""


class StorageError(LocalError):
    """The disk refused: full, read-only, broken; the sentence says what to do."""
