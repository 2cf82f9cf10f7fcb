"""What stands around the conversation: header, channels and peers, status, keys, debug pane.

Each panel is one cheap widget that is painted again only when its content differs.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from chat_tui import panels, reports
from chat_tui.composer import Composer
from chat_tui.debug_pane import DebugPane
from chat_tui.marks import Glyphs
from chat_tui.messages import FollowChanged
from chat_tui.model import Conversation
from chat_tui.transcript import Transcript
from sync.machine import ChannelId
from sync.view import ChannelInfo, Level, Notice, Snapshot

NOTICE_S: Final = 8.0
"""Seconds that news stands above the input: enough to read two lines twice."""


class Panel(Static):
    """Shows one `Content`; `markup` stays off, because names in it are peers' text."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 Textual calls it so
        super().__init__("", id=id, markup=False)
        self._shown = Content("")

    def show(self, content: Content) -> None:
        """Show `content`; lay the screen out again only if its size differs."""
        if content.is_same(self._shown):
            return
        before, self._shown = self._shown.plain, content
        self.update(content, layout=_extent(before) != _extent(content.plain))


def _extent(text: str) -> tuple[int, int]:
    """Return lines and characters of the longest of them."""
    lines = text.split("\n")
    return len(lines), max(len(line) for line in lines)


class Header(Horizontal):
    """The first line: the channel and who is here at the left, who we are at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._right = Panel(id="header"), Panel(id="me")

    def compose(self) -> ComposeResult:
        """Left and right part."""
        yield self._left
        yield self._right

    def show(self, snapshot: Snapshot, info: ChannelInfo | None, glyphs: Glyphs) -> None:
        """Bring both parts up to date."""
        self._left.show(panels.header(snapshot, info, glyphs))
        self._right.show(panels.whoami(snapshot))


class StatusLine(Horizontal):
    """The line above the input: what happens, and what waits below for who reads further up."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._right = Panel(id="status"), Panel(id="chip")
        self._sentence = ""
        self._said: Notice | None = None

    def compose(self) -> ComposeResult:
        """Left and right part."""
        yield self._left
        yield self._right

    def show(self, sentence: str) -> None:
        """Say what happens, unless there is a notice to read."""
        self._sentence = sentence
        self._draw()

    def say(self, notice: Notice) -> None:
        """Say it here, where it hides nothing: what is just news, for a while."""
        self._said = notice
        self._draw()
        if notice.level is Level.INFO:
            self.set_timer(NOTICE_S, partial(self._unsay, notice))

    def be_quiet(self) -> None:
        """Say no more of any notice."""
        self._said = None
        self._draw()

    def _unsay(self, notice: Notice) -> None:
        if self._said is notice:
            self.be_quiet()

    def _draw(self) -> None:
        self._left.set_class(self._said is not None, "notice")
        self._left.show(panels.status(self._sentence, self._said))

    def show_chip(self, conversation: Conversation, glyphs: Glyphs) -> None:
        """Count what came while somebody reads further up."""
        content = panels.chip(conversation.unread, conversation.earlier, glyphs)
        self._right.show(content)

    def hide_chip(self) -> None:
        """Say nothing: the newest message is in sight."""
        self._right.show(Content(""))


class Surroundings(Vertical):
    """The whole screen: `transcript` and `composer` with everything that stands around them.

    `unread` counts the messages of a channel that nobody has seen.
    """

    def __init__(
        self,
        transcript: Transcript,
        composer: Composer,
        unread: Callable[[ChannelId], int],
        glyphs: Glyphs,
        debug: DebugPane,
    ) -> None:
        super().__init__()
        self._transcript, self._composer = transcript, composer
        self._unread, self._glyphs = unread, glyphs
        self._header, self.status = Header(), StatusLine()
        self._sidebar, self._keys = Panel(id="sidebar"), Panel(id="keys")
        self.debug = debug

    def compose(self) -> ComposeResult:
        """Header; channels, conversation and debug pane; keys."""
        yield self._header
        with Horizontal(id="main"):
            yield self._sidebar
            with Vertical(id="middle"):
                yield self._transcript
                yield self.status
                yield self._composer
            yield self.debug
        yield self._keys

    def show(self, snapshot: Snapshot, channel: ChannelId | None) -> None:
        """Bring everything up to date that is not a message."""
        info = reports.find(snapshot, channel)
        self._transcript.tick(snapshot.now, alone=info is not None and not info.peers)
        self._transcript.hint = reports.nothing_yet(info)
        self._header.show(snapshot, info, self._glyphs)
        self.status.show(reports.who_types(info) or reports.what_happens(snapshot, info))
        self._keys.show(panels.keys(snapshot, channel, self._unread))
        self._sidebar.show(panels.sidebar(snapshot, channel, self._unread, self._glyphs))
        if self.debug.display:
            self.debug.show(snapshot, info)
        self._composer.border_title = panels.addressee(info)
        self.show_chip()

    @on(FollowChanged)
    def show_chip(self) -> None:
        """Count what came below, while somebody reads further up."""
        if self._transcript.follow:
            self.status.hide_chip()
        else:
            self.status.show_chip(self._transcript.conversation, self._glyphs)

    def page(self, screens: int) -> None:
        """Scroll what is in sight by screens, up if negative: the conversation, or the drawer."""
        if self.debug.display and self.screen.has_class("-narrow"):
            self.page_debug(screens)
        elif screens < 0:
            self._transcript.page_up()
        else:
            self._transcript.page_down()

    def page_debug(self, screens: int) -> None:
        """Scroll the drawer by screens, up if negative."""
        self.debug.page(screens)

    @property
    def debug_open(self) -> bool:
        """Whether the protocol's pane is open."""
        return self.debug.display

    def open_debug(self) -> None:
        """Open the pane and give it the keys; what is being written stays as it is."""
        self.debug.display = True
        self.debug.listing.focus()

    def close_debug(self, *, stays: bool = False) -> None:
        """Give the keys back to who writes; the pane closes unless it `stays`."""
        had_keys = self.debug.keys_here
        self.debug.display = stays
        if had_keys:
            self._composer.focus()
