"""News of the conversations, for one paint."""

from msgspec import Struct, field

from chat_tui.model.conversation import Conversation
from chat_tui.model.row import Change
from sync.machine import ChannelId
from sync.view.view import AheadShown, ClockShown, Notice


class News(Struct):
    """Changes and notices since the last paint."""

    changes: list[Change] = field(default_factory=list)
    """Of the rows of the conversation that is shown."""
    notices: list[Notice] = field(default_factory=list)
    clocks: list[AheadShown | ClockShown] = field(default_factory=list)
    """Possible remarks about clocks."""
    around: bool = False
    """Whether anything but messages changed: peers, channels, sessions."""
    flooded: bool = False
    """Whether the conversation that is shown was emptied, to be read from the disk."""
    filled: list[Conversation] = field(default_factory=list)
    """Those in which something missing came: their gaps may be none any more."""
    again: dict[ChannelId, Conversation] = field(default_factory=dict)
    """Those whose rows may look different, by what the disk says now."""
    found: dict[ChannelId, Conversation] = field(default_factory=dict)
    """Those in which something missing came."""
    more: bool = False
    """Set if events are left for the next slice."""
