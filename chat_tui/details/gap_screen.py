"""Drawer of missing messages, over the chat; it counts down, and a key asks for them at once."""

from typing import ClassVar, Final

from textual import on
from textual.binding import BindingType
from textual.content import Content

from chat_tui.client.chat import Chat
from chat_tui.debug.list_view import Listing
from chat_tui.debug.styled_lines import DIM, PaneLine
from chat_tui.details.asking import ask
from chat_tui.details.drawer import Drawer, lines_of
from chat_tui.details.gap import NO_MORE, NOTHING, Hole, hole_parts, holes_of
from chat_tui.keys.table import with_keys
from chat_tui.terminal.key_bindings import heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import wrap
from chat_tui.widgets.text_screen import REFRESH_S
from chat_tui.wording import sentences
from chat_tui.wording.glyphs import Glyphs
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId

KEYS: Final = "{reading_ask} ask again now  {close} close"
CLOSE: Final = "{close} close"
"""Where there is nothing to ask for, or nobody to ask."""


class HoleScreen(Drawer):
    """Shows what is missing before a message; without one, all that is missing in the channel."""

    BINDINGS: ClassVar[list[BindingType]] = heard_as("ask_again", "reading_ask")

    def __init__(
        self, chat: Chat, channel: ChannelId, after_gap: MessageId | None, glyphs: Glyphs
    ) -> None:
        super().__init__("Missing messages")
        self._chat, self._channel, self._after_gap = chat, channel, after_gap
        self._glyphs = glyphs
        self._holes: tuple[Hole, ...] | None = None
        self._none = NOTHING if after_gap is None else NO_MORE
        self._refused = self._said = ""

    def on_mount(self) -> None:
        """Read the disk, and look anew each second."""
        self.words.focus()
        self.set_interval(REFRESH_S, self.tick)
        self.tick()

    def tick(self) -> None:
        """Look what is missing still, and when it is asked for."""
        self.run_worker(self._read(), group="holes", exclusive=True)

    async def _read(self) -> None:
        try:
            self._holes = await holes_of(self._chat, self._channel, self._after_gap)
        except LocalError as error:
            self._refused = str(error)
        else:
            self._refused = ""
            self._none = NO_MORE if self._holes else self._none
        self.draw()

    @on(Listing.Resized)
    def draw(self) -> None:
        """Show what is known; before the disk has answered, nothing."""
        width = self.words.width
        if not width or (self._holes is None and not self._refused):
            return
        if self._refused:
            lines = [PaneLine(Content(one)) for one in wrap(self._refused, width)]
        else:
            parts = hole_parts(self._chat, self._channel, self._holes or (), self._none)
            lines = lines_of(parts, width)
        self.words.show(lines)
        said = self._said or with_keys(self._keys, keys_of(self))
        self.below.show(Content.styled(said, DIM))

    @property
    def _keys(self) -> str:
        """The keys that have an effect now."""
        snapshot = self._chat.snapshot()
        info = sentences.find(snapshot, self._channel)
        return KEYS if self._holes and info and sentences.peers_of(snapshot, info) else CLOSE

    # -- keys ---------------------------------------------------------------------------------

    def action_ask_again(self) -> None:
        """Ask for it now."""
        self.run_worker(self._ask_again(), group="asking", exclusive=True)

    async def _ask_again(self) -> None:
        try:
            self._said = await ask(self._chat, self._channel, self._after_gap)
        except LocalError as error:
            self._said = str(error)
        self.tick()
