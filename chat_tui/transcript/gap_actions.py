"""Actions on the lines that stand for missing messages: explain, ask again, open, hide."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from chat_tui.client.chat import Chat
from chat_tui.keys.table import with_keys
from chat_tui.terminal.themed_app import keys_of
from chat_tui.transcript.painted_line import Part
from chat_tui.wording.gap_lines import Gaps
from sync.errors import LocalError
from sync.machine import MessageId
from sync.view.view import ChannelInfo, Level, Notice, Snapshot

if TYPE_CHECKING:
    from textual.widget import Widget

    from chat_tui.transcript.reader import Reader

ACTIONS: Final = frozenset({"ask_again", "hide"})
"""Those that keys only mean on such a line."""

NO_MESSAGE: Final = (
    "This line stands for a message that is not here: {reading_ask} asks for it, "
    "{reading_details} says what is known."
)
HIDDEN: Final = "Hidden, also at the next start; /hide off shows all such lines again."
SHOWN: Final = "Every gap has its line again."
STAYS: Final = "This line goes by itself: once the message is here, or is given up."
NO_GAP: Final = "No line of a gap is selected. {select} selects; then the arrow keys move."


class GapActs:
    """Acts on the gaps of what `reader` shows; `place` is the widget that asks for it."""

    def __init__(
        self, place: "Widget", reader: "Reader", chat: Chat, tell: Callable[[Notice], None]
    ) -> None:
        self._place, self._reader, self._chat, self._tell = place, reader, chat, tell
        self._gaps = Gaps()

    def tick(self, snapshot: Snapshot, info: ChannelInfo | None) -> None:
        """Bring up to date what is said of missing messages."""
        above = self._gaps.above(snapshot, info)
        below = self._gaps.below(snapshot, info)
        self._reader.say_gaps(above, below, self._gaps.elsewhere(snapshot, info))

    def ask(self) -> None:
        """Ask now for the messages that are missing where the cursor is."""
        asking = self._ask(self._reader.about)
        self._place.run_worker(asking, group="asking", exclusive=True)

    async def _ask(self, after_gap: MessageId | None) -> None:
        from chat_tui.details.asking import ask, ask_missing

        channel = self._reader.conversation.channel
        try:
            if after_gap is None:
                said = Notice(await ask_missing(self._chat, channel))
            else:
                said = Notice(await ask(self._chat, channel, after_gap))
        except LocalError as error:
            said = Notice(str(error), Level.ERROR)
        self._tell(said)

    def open(self, after_gap: MessageId | None) -> None:
        """Show what is known of the messages missing before one; without one, of all."""
        from chat_tui.details.gap_screen import HoleScreen

        channel, glyphs = self._reader.conversation.channel, self._reader.glyphs
        self._place.app.push_screen(HoleScreen(self._chat, channel, after_gap, glyphs))

    def hide(self) -> None:
        """Hide the line the cursor is on, if it is one of a gap."""
        reader = self._reader
        if reader.part is Part.GAP and reader.cursor is not None:
            reader.apply(reader.conversation.hide_gaps([reader.cursor]))
            self._tell(Notice(HIDDEN))
        else:
            said = STAYS if reader.on_gap else with_keys(NO_GAP, keys_of(reader))
            self._tell(Notice(said))

    def show_all(self) -> None:
        """Show the lines again that were hidden."""
        self._reader.apply(self._reader.conversation.show_gaps())
        self._tell(Notice(SHOWN))
