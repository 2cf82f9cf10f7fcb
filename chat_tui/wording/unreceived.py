"""Own messages that nobody is known to have, in words, and the changes of messages among them."""

from chat_tui.text.listing import listed
from chat_tui.text.times import count
from sync.view.view import ChannelInfo


def said(*infos: ChannelInfo) -> str:
    """Return what of ours nobody is known to have, as `2 messages and 1 change`."""
    changes = sum(info.outgoing_changes for info in infos)
    messages = sum(info.outgoing_count for info in infos) - changes
    words = [count(messages, "message")] if messages or not changes else []
    words += [count(changes, "change")] if changes else []
    return listed(words)
