"""Actions on one message: copy it, quote it, open its link, show its place."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from textual.widget import Widget

from chat_tui.keys.table import with_keys
from chat_tui.model.row import shown_text
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import count
from chat_tui.widgets.composer import Composer
from chat_tui.widgets.messages import FramesWanted, GraphWanted
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.replies import quoted_lines
from sync.view.view import Level, Line, Notice

COPY_MAX: Final = 74_994
"""Bytes: in base64 these are the 100,000 that terminals take from OSC 52 at most."""

QUOTED_LINES_MAX: Final = 20
"""Of a quote: what is longer is better referred to than repeated."""

AS_TEXT: Final = "{bare} shows it as text to select."
OR_ELSE: Final = "then use {bare}, or Shift and the mouse."

COPIES: Final = "{reading_open} shows the address again, and {link_copy} there copies it."

OPENER: Final = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
"""Runs in a process of its own, without our terminal: what a browser prints, and a browser for
terminals, would spoil the screen."""


async def open_in_browser(link: str) -> bool:
    """Open a link in the system's browser; returns whether one was found."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OPENER, link,
        stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True,
    )  # fmt: skip
    return await process.wait() == 0


def _words(line: Line) -> str:
    """Return the text of a message, or what an act says."""
    return clean_text(line.text) if line.act is None else shown_text(line)


class MessageActs:
    """Does things with a message.

    Args:
        place: the widget that asks, whose application has the screens and the clipboard.
        composer: where quotes go.
        glyphs: returns the character set of now.
        tell: shows a notice.
        leave: gives the keys back to the composer.
    """

    def __init__(
        self,
        place: Widget,
        composer: Composer,
        glyphs: Callable[[], Glyphs],
        tell: Callable[[Notice], None],
        leave: Callable[[], object],
    ) -> None:
        self._place, self._composer = place, composer
        self._glyphs, self._tell, self._leave = glyphs, tell, leave
        self.open_link: Callable[[str], Awaitable[bool]] = open_in_browser
        """Shows a link to the person; says whether it could."""

    def act_on(self, what: str, line: Line) -> None:
        """Do with a message: `copy`, `copy_id`, `quote`, `open_link`, `wire` or `graph`."""
        match what:
            case "copy":
                self.copy(_words(line), "the message")
            case "copy_id":
                self.copy(line.message_id, "the id")
            case "quote":
                self._quote(line)
            case "open_link":
                self._ask_which_link(line)
            case "wire":
                self._place.post_message(FramesWanted(line.message_id))
            case _:
                self._place.post_message(GraphWanted(line.message_id))

    def copy(self, text: str, what: str) -> None:
        """Put a text into the terminal's clipboard; `what` it is stands in the answer."""
        size = len(text.encode(errors="replace"))
        if size > COPY_MAX:
            said = f"{what} has {size:,} bytes, and terminals take {COPY_MAX:,} at most. "
            self._tell(Notice(said.capitalize() + self._named(AS_TEXT), Level.ERROR))
            return
        self._place.app.copy_to_clipboard(text)
        self._say(
            f"Copied {what}, {count(len(text), 'character')}. Some terminals ignore this: "
            + self._named(OR_ELSE)
        )

    def _named(self, words: str) -> str:
        return with_keys(words, keys_of(self._place))

    def _say(self, text: str) -> None:
        self._tell(Notice(text))

    def _quote(self, line: Line) -> None:
        lines = quoted_lines(line)
        if len(lines) > QUOTED_LINES_MAX:
            lines = [*lines[: QUOTED_LINES_MAX - 1], "..."]
        quoted = "".join(f"> {one}\n" for one in lines)
        self._leave()
        self._composer.insert(quoted, (0, 0), maintain_selection_offset=False)
        self._composer.move_cursor(self._composer.document.end)

    def _ask_which_link(self, line: Line) -> None:
        from chat_tui.text.links import links_in

        links = links_in(clean_text(line.text))
        if links:
            self.ask_to_open(links)
        else:
            self._say("There is no http or https link in this message.")

    def ask_to_open(self, links: Sequence[str]) -> None:
        """Show where links lead, and open the one that the person chooses, if any."""
        from chat_tui.text.links import ascii_link
        from chat_tui.transcript.link_screen import LinkScreen

        def opened(chosen: int | None) -> None:
            if chosen is not None:
                self._place.run_worker(self._open(ascii_link(links[chosen])), group="links")

        def copy(address: str) -> None:
            self.copy(address, "the address")

        self._place.app.push_screen(LinkScreen(links, self._glyphs(), copy), opened)

    async def _open(self, link: str) -> None:
        self._say("Opening the link in your browser.")
        if not await self.open_link(link):
            said = f"No browser could be started here. {self._named(COPIES)}"
            self._tell(Notice(said, Level.ERROR))
