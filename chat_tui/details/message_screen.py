"""The drawer with all about one message; on a narrow screen it fills the screen."""

from collections.abc import Callable
from typing import ClassVar, Final

from rich.cells import cell_len
from textual import on
from textual.binding import BindingType
from textual.content import Content

from chat_tui.client.chat import Chat
from chat_tui.debug.list_view import Listing
from chat_tui.debug.styled_lines import DIM, PaneLine, in_signs
from chat_tui.details.drawer import ROOM_MIN, Drawer, lines_of
from chat_tui.details.facts import FromDisk, Known, know, read, stamp_of
from chat_tui.details.raw import raw_lines
from chat_tui.details.sections import parts
from chat_tui.keys.places import Place
from chat_tui.keys.table import with_keys
from chat_tui.terminal.key_bindings import bindings_of, heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import wrap
from chat_tui.widgets.text_screen import REFRESH_S
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.sentences import short_id
from sync.errors import LocalError
from sync.view.view import Line

ALL_KEYS: Final = (
    "{reading_copy} copy  {reading_copy_id} copy id  {reading_graph} graph  "
    "{details_frames} frames on the wire  {details_raw} raw protobuf  {reading_open} link  "
    "{close} close"
)
SHORT_KEYS: Final = (
    "{reading_copy} copy  {reading_copy_id} id  {reading_graph} graph  {details_frames} wire  "
    "{details_raw} raw  {reading_open} link  {close} close"
)
KEYS: Final = (ALL_KEYS, SHORT_KEYS)
"""Possible actions, the longest text that fits."""

RAW_KEYS: Final = (
    "{details_raw} back to the words  {details_frames} frames on the wire  {close} close"
)


class DetailsScreen(Drawer):
    """See the module docstring. `act` does what a key asks for with the message."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Place.DETAILS),
        *heard_as("act('copy')", "reading_copy"),
        *heard_as("act('copy_id')", "reading_copy_id"),
        *heard_as("act('open_link')", "reading_open"),
        *heard_as("act('graph')", "reading_graph"),
    ]

    def __init__(
        self,
        chat: Chat,
        line: Callable[[], Line],
        act: Callable[[str, Line], None],
        glyphs: Glyphs,
        *,
        raw: bool = False,
    ) -> None:
        super().__init__(f"Message {short_id(line().message_id)}")
        self._chat, self._line, self._act, self._glyphs = chat, line, act, glyphs
        self._raw = raw
        self._disk: FromDisk | None = None
        self._read_for: object = None
        self._refused = ""

    def on_mount(self) -> None:
        """Read the disk, and look anew each second."""
        self.words.focus()
        self.set_interval(REFRESH_S, self.tick)
        self.tick()

    def tick(self) -> None:
        """Bring what is shown up to date; lines that are as before are not painted again."""
        wanted = stamp_of(self._chat.snapshot(), self._line())
        if wanted != self._read_for:
            self._read_for = wanted
            self.run_worker(self._read(), group="details", exclusive=True)
        self.draw()

    @on(Listing.Resized)
    def draw(self) -> None:
        """Show what is known; before the disk has answered, nothing."""
        width = self.words.width
        if not width:
            return
        if self._refused:
            self.words.show([PaneLine(Content(one)) for one in wrap(self._refused, width)])
            return
        if self._disk is None:
            return
        known = know(self._chat, self._line(), self._disk)
        if self._raw:
            self.words.show(self._raw_lines(known, width))
        else:
            self.words.show(lines_of(parts(known, self._glyphs), width))
        said = [with_keys(one, keys_of(self)) for one in ((RAW_KEYS,) if self._raw else KEYS)]
        fits = [one for one in said if len(one) <= width] or said[-1:]
        self.below.show(Content.styled(fits[0], DIM))

    async def _read(self) -> None:
        try:
            self._disk = await read(self._chat.history, self._line())
        except LocalError as error:
            self._refused = str(error)
        else:
            self._refused = ""
        self.draw()

    def _raw_lines(self, known: Known, width: int) -> list[PaneLine]:
        lines: list[PaneLine] = []
        for number, text in enumerate(raw_lines(known)):
            signs = in_signs(text, self._glyphs)
            first, *others = _fitted(signs, max(ROOM_MIN, width))
            lines.append(PaneLine(Content(first), f"raw/{number}"))
            lines += [PaneLine(Content(f"    {one}"), f"raw/{number}") for one in others]
        return lines

    # -- keys ---------------------------------------------------------------------------------

    def action_raw(self) -> None:
        """Show the bytes, or the words again."""
        self._raw = not self._raw
        self.words.begin_anew()
        self.draw()

    def action_act(self, what: str) -> None:
        """Close, and do what was asked for with the message."""
        line = self._line()
        self.dismiss()
        self._act(what, line)


def _fitted(text: str, width: int) -> list[str]:
    """Return a line of the tree or the dump as it is, or broken where it does not fit."""
    return [text] if cell_len(text) <= width else wrap(text, width - 4)
