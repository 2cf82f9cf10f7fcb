"""Parts of texts that do something when they are clicked; each says it in words, too."""

from textual.content import Content
from textual.style import Style

from sync.machine import ChannelId, PeerId


def clickable(content: Content, action: str) -> Content:
    """Return a text whose click runs an action; it looks as before."""
    return content.stylize(Style.from_meta({"@click": action}))


def key_click(content: Content, id_: str) -> Content:
    """Return a text whose click does what a key of the table does."""
    return clickable(content, f"app.key({id_!r})")


def channel_click(content: Content, channel: ChannelId) -> Content:
    """Return a text whose click opens a channel of ours."""
    return clickable(content, f"app.open_channel({channel!r})")


def peer_click(content: Content, peer: PeerId) -> Content:
    """Return a text whose click shows somebody in the list of peers."""
    return clickable(content, f"app.peers({peer!r})")
