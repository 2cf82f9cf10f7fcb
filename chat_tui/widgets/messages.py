"""Messages from the widgets to the application: the whole vocabulary of the screen.

Nobody compares or prints them, and methods for that would be compiled at every start.
"""

from dataclasses import dataclass

from textual.message import Message

from chat_tui.model.conversation import Conversation
from sync.machine import ChannelId, MessageId


@dataclass(eq=False, repr=False)
class OlderWanted(Message):
    """The reader is near the first row in memory, and the disk has more."""

    conversation: Conversation

    def can_replace(self, message: Message) -> bool:
        """One wish is enough, however often it comes up."""
        return isinstance(message, OlderWanted)


@dataclass(eq=False, repr=False)
class NewerWanted(Message):
    """The reader is near the last row in memory, and the disk has more."""

    conversation: Conversation

    def can_replace(self, message: Message) -> bool:
        """One wish is enough, however often it comes up."""
        return isinstance(message, NewerWanted)


@dataclass(eq=False, repr=False)
class QuotesWanted(Message):
    """Rows in memory answer messages that are on the disk, or are not here."""

    conversation: Conversation

    def can_replace(self, message: Message) -> bool:
        """One wish is enough, however often it comes up."""
        return isinstance(message, QuotesWanted)


class Enlarged(Message):
    """The window has room for the chat again, or for the first time."""


class KeysChanged(Message):
    """A part of the screen has other keys than before."""


@dataclass(eq=False, repr=False)
class FollowChanged(Message):
    """The transcript began or ceased to follow the newest message."""

    follow: bool


@dataclass(eq=False, repr=False)
class MissingInSight(Message):
    """A line that says what is missing came into sight, or none is any more."""


@dataclass(eq=False, repr=False)
class Submitted(Message):
    """The person pressed Enter on `text`."""

    text: str


@dataclass(eq=False, repr=False)
class Refused(Message):
    """Something the person did was refused; `text` says why, and what to do."""

    text: str


@dataclass(eq=False, repr=False)
class NewestWanted(Message):
    """The person pressed End with nothing written."""


class AnswerWanted(Message):
    """The person pressed Enter with nothing written: an answer may wait for that."""


@dataclass(eq=False, repr=False)
class CursorMoved(Message):
    """The cursor went to another message of the transcript, or (None) was given up.

    Also if the message that it is on may have changed.
    """

    message_id: MessageId | None


@dataclass(eq=False, repr=False)
class DetailsWanted(Message):
    """The person wants to know all about a message."""

    message_id: MessageId


@dataclass(eq=False, repr=False)
class ReactionWanted(Message):
    """The person clicked on a reaction: to react so to a message, or to take it back."""

    message_id: MessageId
    emoji: str


@dataclass(eq=False, repr=False)
class JoinWanted(Message):
    """The person clicked on the invitation of a message: to join the channel."""

    message_id: MessageId


@dataclass(eq=False, repr=False)
class LinkWanted(Message):
    """The person clicked on a link, as it stands in the text."""

    link: str


@dataclass(eq=False, repr=False)
class GraphWanted(Message):
    """The person wants to see a message among those it builds on and those that build on it."""

    message_id: MessageId


@dataclass(eq=False, repr=False)
class FramesWanted(Message):
    """The person wants to see the frames that carry, name or ask for a message."""

    message_id: MessageId


@dataclass(eq=False, repr=False)
class DebugClosed(Message):
    """The person is done with the debug pane; `stays` if it stands open meanwhile."""

    stays: bool


@dataclass(eq=False, repr=False)
class ChannelChosen(Message):
    """The person chose a channel on a screen that stood over the chat."""

    channel: ChannelId


@dataclass(eq=False, repr=False)
class Told(Message):
    """Something the person asked for was done; `text` says what came of it."""

    text: str
