"""The line above the input: one sentence of status, or a notice."""

from typing import Final

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.timer import Timer

from chat_tui.keys.table import Chosen
from chat_tui.model.conversation import Conversation
from chat_tui.text.safe_text import clean_text, wrap
from chat_tui.text.shortening import fitting
from chat_tui.widgets.panel import Panel
from chat_tui.widgets.status_queue import Saying
from chat_tui.wording import panels
from chat_tui.wording.glyphs import Glyphs
from sync.view.view import Notice

NOTICE_S: Final = 8.0
"""Seconds that news stands above the input: enough to read two lines twice."""


NOTICE_LINES: Final = 4


STATUS_PADDING: Final = 2
"""Of the line above the input, in lines and cells; the same in `app.tcss`."""


class Sentence(Panel):
    """Status sentence, cut to the words there is room for; a notice is shown in full."""

    def render(self) -> Content:
        """Fit the words only here, where the room is known: whatever stands beside may change."""
        if self.has_class("notice"):
            return self._shown
        return panels.status(fitting(self._shown.plain, self.content_size.width), None)


class StatusLine(Horizontal):
    """The line above the input: what happens, and what waits below for who reads further up."""

    def __init__(self) -> None:
        super().__init__()
        self._left, self._right = Sentence(id="status"), Panel(id="chip")
        self._sentence, self._barred = "", False
        self._saying = Saying()
        self._overtaken: Notice | None = None
        self._timed: Notice | None = None
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Left and right part."""
        yield self._left
        yield self._right

    def show(self, sentence: str, *, barred: bool = False, bar: str = "") -> None:
        """Say what happens, unless there is a notice to read.

        `barred`: it says why nothing can be written, so it is wrapped and never cut. `bar` is how
        far something has come, drawn before the numbers.
        """
        if bar:
            sentence = f"{bar} {sentence}"
        self._sentence, self._barred = sentence, barred
        self._draw()

    def has_room(self, text: str) -> bool:
        """Return whether all of a notice fits here."""
        return len(wrap(clean_text(text), max(2, self._room), most=None)) <= NOTICE_LINES

    @property
    def _room(self) -> int:
        """Cells beside the chip, whether that is laid out already or not."""
        return self.content_size.width - self._right.render().cell_length - STATUS_PADDING

    def _fits(self, sentence: str) -> bool:
        """Return whether its words fit in one line; a sentence that is too long wraps, uncut."""
        return self._room <= 0 or cell_len(fitting(sentence, self._room)) <= self._room

    def on_resize(self) -> None:
        """Wrap anew."""
        self._draw()

    def say(self, notice: Notice) -> None:
        """Answer the person here, where it hides nothing: for a while, unless it went wrong."""
        self._saying.answer(notice)
        self._draw()

    def holds(self, notice: Notice) -> bool:
        """Return whether this very notice is said now, or again after what is."""
        return self._saying.holds(notice)

    def forget(self, notice: Notice) -> None:
        """Say no more of a notice that does not hold any more."""
        self._saying.forget(notice)
        self._draw()

    def overtake(self) -> None:
        """Let the sentence about why nothing can be written stand before what was said until now.

        An answer from before is forgotten; what went wrong stays below it.
        """
        self._saying.overtake()
        self._overtaken = self._saying.now
        self._draw()

    def tell(self, news: Notice) -> None:
        """Say what happened by itself, after any answer that is still to be read."""
        self._saying.news(news)
        self._draw()

    def begin(self) -> None:
        """Make room for the answer to what the person does now."""
        self._saying.begin()
        self._draw()

    def be_quiet(self) -> bool:
        """Say no more of what is said now; whether anything was."""
        said = self._saying.now is not None
        self._saying.dismiss()
        self._draw()
        return said

    def pass_on(self) -> None:
        """Say the next: what was said had its time."""
        self._timed = None
        self._saying.pass_on()
        self._draw()

    def _draw(self) -> None:
        said = self._saying.now
        wraps = said is not None or self._barred or not self._fits(self._sentence)
        self._left.set_class(wraps, "notice")
        is_older = said is not None and said is self._overtaken
        kept = self._barred and (is_older or not self._saying.is_answer)
        self._left.show(panels.status(self._sentence, said, barred=self._barred, kept=kept))
        if self._saying.for_a_while is not self._timed:
            self._timed = self._saying.for_a_while
            if self._timer is not None:
                self._timer.stop()
            self._timer = None if self._timed is None else self.set_timer(NOTICE_S, self.pass_on)

    def show_chip(self, conversation: Conversation, glyphs: Glyphs, chosen: Chosen) -> None:
        """Count what came while somebody reads further up."""
        self._point(panels.chip(conversation.unread, conversation.earlier, glyphs, chosen))

    def hide_chip(self) -> None:
        """Say nothing: the newest message is in sight."""
        self._point(Content(""))

    def _point(self, chip: Content) -> None:
        """Show a chip, and the sentence in the room that is left."""
        self._right.show(chip)
        self._draw()
