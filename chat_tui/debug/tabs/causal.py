"""The Causal tab of the debug pane: the graph around a message."""

from textual.content import Content

from chat_tui.debug import causal_text
from chat_tui.debug.causal_lines import graph_lines, list_lines
from chat_tui.debug.styled_lines import PaneLine, said_lines
from chat_tui.debug.tabs.page import NOWHERE, Shown, _dim
from chat_tui.text.times import count
from sync.machine import MessageId


class CausalPage:
    """The graph around a message; without one in the middle, around the newest."""

    def __init__(self) -> None:
        self.centre: MessageId | None = None
        self.depth = causal_text.DEPTH
        self.graph = causal_text.Graph()
        self.as_list = False
        self.read: object = None
        """Subject the graph was read for; it is read again once that differs."""

    def wanted(self, shown: Shown) -> object:
        """Return what the graph depends on."""
        info = shown.info
        if info is None:
            return None
        state = (info.messages, info.waiting_count, info.missing_count, info.lost, info.loading)
        return (info.channel, self.centre, self.depth, state)

    def press(self, what: str) -> bool:
        """Show it as text or drawn, around the newest, or with more or fewer steps around."""
        match what:
            case "list":
                self.as_list = not self.as_list
            case "newest":
                self.centre = None
            case "deeper":
                self.depth = min(self.depth + 1, causal_text.DEPTH_MAX)
            case "shallower":
                self.depth = max(self.depth - 1, 1)
            case _:
                return False
        return True

    def enter(self, key: str) -> bool:
        """Move a message into the middle; whether it was not there already."""
        if key == self.graph.centre or key not in self.graph.by_id:
            return False
        self.centre = MessageId(key)
        return True

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        if shown.info is None:
            return said_lines(NOWHERE, width)
        if not self.graph.nodes:
            asked = "nobody here has named that message" if self.centre else "no message yet"
            return said_lines(asked, width)
        title = f" {count(self.depth, 'step')} around the middle"
        head = [PaneLine(_dim(title)), PaneLine(Content(""))]
        if self.as_list:
            return [*head, *list_lines(shown.snapshot, shown.info, self.graph, width, shown.colour)]
        drawn = graph_lines(
            shown.snapshot, shown.info, self.graph, width, shown.glyphs, shown.colour
        )
        return [*head, *drawn]
