"""The question before a link is opened, which shows where it really leads."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from chat_tui.keys.places import Place
from chat_tui.terminal.key_bindings import bindings_of
from chat_tui.text.links import ascii_host, ascii_link, host_of, warnings
from chat_tui.transcript.choice_screens import ChoiceScreen
from chat_tui.widgets.panel import Panel
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.panels import BAD, DIM

KEYS: Final = "{over_enter} opens it in a browser · {link_copy} copies it · {close} does not"


class LinkScreen(ChoiceScreen):
    """Addresses to choose from, whole and in ASCII: what is shown is what is opened."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Place.LINK)
    DEFAULT_CSS = """
    LinkScreen #entries { max-height: 30vh; }
    LinkScreen #below { dock: none; }
    LinkScreen #below-frame { height: auto; max-height: 60vh; scrollbar-size-vertical: 1; }
    """

    def __init__(self, links: Sequence[str], glyphs: Glyphs, copy: Callable[[str], object]) -> None:
        self._links, self._copy = links, copy
        super().__init__(
            "Open this link?" if len(links) == 1 else "Which link?",
            [Content(ascii_link(link)) for link in links],
            chosen=0,
            keys=KEYS,
            cursor=glyphs.cursor,
            below=lambda number: about(links[number]),
        )

    def below(self) -> ComposeResult:
        """All that is to be said of the address, as long as it is."""
        with VerticalScroll(id="below-frame", can_focus=False):
            yield Panel(id="below")

    def action_page(self, screens: int) -> None:
        """Read on in an address that is longer than the screen; else choose another one."""
        frame = self.query_one("#below-frame")
        if frame.max_scroll_y:
            frame.scroll_relative(y=screens * max(1, frame.size.height - 1), animate=False)
        else:
            super().action_page(screens)

    def action_copy(self) -> None:
        """Copy the address, as it would be opened."""
        self._copy(ascii_link(self._links[self._chosen]))
        self.dismiss(None)


def about(link: str) -> Content:
    """Return what somebody should know of a link before opening it."""
    opened = ascii_link(link)
    lines = [
        Content(""),
        Content.assemble(("It leads to\n", DIM), (ascii_host(host_of(link)), "bold")),
        *(Content.styled(sentence, f"bold {BAD}") for sentence in warnings(link)),
        Content.assemble(("The whole address\n", DIM), opened),
    ]
    if opened != link:
        lines.append(Content.assemble(("As it stands in the message\n", DIM), link))
    return Content("\n").join(lines)
