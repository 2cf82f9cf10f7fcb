"""The pages of the debug pane, one a tab: what each remembers, and the lines it gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from textual.content import Content

from chat_tui.debug import causal_text as causal
from chat_tui.debug import explanations as details
from chat_tui.debug import frame_text as wire
from chat_tui.debug import state_sections as protocol
from chat_tui.debug.causal_lines import graph_lines, list_lines
from chat_tui.debug.section import Row, Section
from chat_tui.debug.state_sections import Order
from chat_tui.debug.styled_lines import BUSY, DIM, PaneLine, section_lines
from chat_tui.debug.sync_cards import session_cards
from chat_tui.debug.wording import bits, choose, verdict
from chat_tui.text.safe_text import clip_cells, count, wrap
from chat_tui.wording.glyphs import ASCII, Glyphs
from sync.machine import MessageId
from sync.view.view import ChannelInfo, FrameInfo, Inspection, ProbeInfo, Snapshot

NOWHERE: Final = "no channel is open; /join #lobby opens the one everybody shares"
ORDERS: Final = tuple(Order)

TEXT_CELLS: Final = 64
"""Of what was typed, where it is said back."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The moment of the engine that the pages show."""

    snapshot: Snapshot
    info: ChannelInfo | None
    glyphs: Glyphs


class Page(Protocol):
    """Interface of one tab's page."""

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""

    def press(self, what: str) -> bool:
        """Do what a key of this page alone means; false if it means nothing here."""


class Keyless:
    """A page without keys of its own."""

    def press(self, _what: str) -> bool:
        """See `Page`."""
        return False


class BuffersPage:
    """Buffers, timers and clock of the channel: each waiting item, its reason and its deadline."""

    def __init__(self) -> None:
        self.order = Order.TIME

    def press(self, what: str) -> bool:
        """Sort by the next thing."""
        if what == "sort":
            self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        return what == "sort"

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        info = shown.info
        if info is None:
            return _said(NOWHERE)
        sections = [
            *protocol.buffers(shown.snapshot, info, self.order),
            protocol.timers(shown.snapshot, info),
            protocol.clock(shown.snapshot),
        ]
        head = [] if self.order is Order.TIME else [PaneLine(_dim(f" sorted {self.order.value}"))]
        return [*head, *section_lines(sections, width, shown.glyphs)]


class CausalPage:
    """The graph around a message; without one in the middle, around the newest."""

    def __init__(self) -> None:
        self.centre: MessageId | None = None
        self.depth = causal.DEPTH
        self.graph = causal.Graph()
        self.as_list = False
        self.read: object = None
        """What the graph was read for; it is read again once that differs."""

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
                self.depth = min(self.depth + 1, causal.DEPTH_MAX)
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
            return _said(NOWHERE)
        if not self.graph.nodes:
            asked = "nobody here has named that message" if self.centre else "no message yet"
            return _said(asked)
        title = f" {count(self.depth, 'step')} around the middle"
        head = [PaneLine(_dim(title)), PaneLine(Content(""))]
        if self.as_list:
            return [*head, *list_lines(shown.snapshot, shown.info, self.graph, width)]
        drawn = graph_lines(shown.snapshot, shown.info, self.graph, width, shown.glyphs)
        return [*head, *drawn]


class BloomPage(Keyless):
    """The filter, a test of an id, and who has what."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.tested: str | None = None

    def probe(self, shown: Shown) -> ProbeInfo | None:
        """Return the test of the id that was asked for."""
        if self.tested is None or shown.info is None:
            return None
        return self.inspection.probe(shown.info.channel, self.tested)

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        info = shown.info
        if info is None:
            return _said(NOWHERE)
        sections = protocol.knowledge(shown.snapshot, info)
        if not sections:
            return _said("the filter is not known yet")
        test = Section("Test of an id", 0, self._test(shown), "/ and an id, or its beginning")
        return section_lines([sections[0], test, *sections[1:]], width, shown.glyphs)

    def _test(self, shown: Shown) -> tuple[Row, ...]:
        probe = self.probe(shown)
        if probe is None:
            return ()
        assert shown.info is not None
        opens = partial(details.probe, probe, shown.info.bloom)
        return (
            Row(verdict(probe), subject=clip_cells(probe.message_id, 6), opens=opens),
            Row(f"bits {bits(probe)}", opens=opens),
        )


class SyncPage(Keyless):
    """A card for each reconciliation, and who is here to reconcile with."""

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        cards = [] if shown.info is None else session_cards(shown.snapshot, shown.info)
        return section_lines([*cards, protocol.peers(shown.snapshot)], width, shown.glyphs)


class WirePage:
    """One line a frame, the newest first."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.words = ""
        self.held: Sequence[FrameInfo] | None = None
        """The frames of the moment that the whole pane holds, if it does."""
        self._paused: Sequence[FrameInfo] | None = None

    @property
    def paused(self) -> bool:
        """True if the list stands still."""
        return self._paused is not None

    def press(self, what: str) -> bool:
        """Let the list stand still, or go on."""
        if what == "pause":
            self._paused = self.inspection.frames() if self._paused is None else None
        return what == "pause"

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        frames = self._paused if self._paused is not None else self.held
        frames = self.inspection.frames() if frames is None else frames
        chosen = choose(shown.snapshot, frames, self.words, width, ascii_only=shown.glyphs is ASCII)
        head = [*self._head(frames, chosen, width), PaneLine(Content(""))]
        if not chosen:
            empty = "none has these words" if self.words else "nothing was sent or received yet"
            return [*head, PaneLine(_dim(f" {empty}"))]
        return [
            *head,
            *(
                PaneLine(
                    Content(f" {clip_cells(text, width - 1)}"),
                    f"frame/{frame.number}",
                    partial(wire.frame_detail, shown.snapshot, frame),
                )
                for frame, text in chosen
            ),
        ]

    def _head(
        self, frames: Sequence[FrameInfo], chosen: Sequence[object], width: int
    ) -> list[PaneLine]:
        words = [f"{len(chosen):,} of {count(len(frames), 'frame')}"]
        if self.words:
            words.append(f"with “{clip_cells(self.words, TEXT_CELLS)}”")
        if self._paused is not None:
            newest = self.inspection.frames()
            since = newest[-1].number - self._paused[-1].number if newest and self._paused else 0
            words.append(f"paused, {since:,} since")
        if self.inspection.recorded is not None:
            words.append(f"recording to {self.inspection.recorded}")
        style = BUSY if len(words) > 1 else DIM
        lines = wrap(" · ".join(words), width - 2)
        return [PaneLine(Content.styled(f" {line}", style)) for line in lines]


class TracePage(Keyless):
    """The last steps of the engine, and what was refused."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.words = ""

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        traced = self.inspection.traced
        where = f"every step goes to {traced}" if traced else "no file: /trace on FILE writes one"
        steps = protocol.steps(shown.snapshot, self.words.casefold().split())
        sections = [Section("Trace file", 0, (), where)]
        sections += [*protocol.refusals(shown.snapshot), steps]
        if self.words:
            head = [PaneLine(Content.styled(f" with “{clip_cells(self.words, width)}”", BUSY))]
        else:
            head = []
        return [*head, *section_lines(sections, width, shown.glyphs)]


def _said(text: str) -> list[PaneLine]:
    return [PaneLine(_dim(f" {text}"))]


def _dim(text: str) -> Content:
    return Content.styled(text, DIM)
