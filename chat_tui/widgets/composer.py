"""The input area: Enter sends, pasting never does.

Many terminals send the same byte for Enter, Shift+Enter and Alt+Enter, so a newline has two ways
that work everywhere: Ctrl+J, and Enter after a backslash at the end of the line.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple, Self

from textual.binding import BindingType
from textual.content import Content
from textual.events import Key, Paste
from textual.widget import Widget
from textual.widgets import TextArea

from chat_tui.keys.places import Place
from chat_tui.settings.schema import PASTE_LINES
from chat_tui.terminal.key_bindings import bindings_of
from chat_tui.text.safe_text import without_controls
from chat_tui.text.slash import is_command
from chat_tui.text.times import count
from chat_tui.widgets.completion import special
from chat_tui.widgets.messages import AnswerWanted, NewestWanted, Refused, Submitted
from chat_tui.widgets.styled_once import StyledOnce
from sync.machine import ChannelId

NEWLINE_KEYS: Final = frozenset({"ctrl+j", "shift+enter", "alt+enter", "ctrl+enter", "shift+\r"})
"""The last is what terminals with modifyOtherKeys make of Shift+Enter."""

HISTORY_MAX: Final = 200
"""Own inputs kept for the up key: more than anybody steps back through."""

PASTE_MAX: Final = 64_000
"""Characters pasted at once: four times what one message holds, and still quick to lay out."""


PLACEHOLDER: Final = "Enter sends, Ctrl+J begins a new line, / begins a command"
PLACEHOLDER_SHORT: Final = "Enter sends, Ctrl+J new line, / a command"
"""Where the other one would need two lines."""

PLACEHOLDER_BARRED: Final = "/ begins a command"


class InputHistory:
    """Texts sent before, newest last, and the draft kept while stepping back."""

    def __init__(self) -> None:
        self._sent: list[str] = []
        self._at = 0
        self._draft = ""

    def add(self, text: str) -> None:
        """Remember a sent text and stand after it again."""
        if not self._sent or self._sent[-1] != text:
            self._sent = [*self._sent, text][-HISTORY_MAX:]
        self._at = len(self._sent)

    def older(self, current: str) -> str | None:
        """Return the text before this one, None at the first; `current` is kept as the draft."""
        if self._at == 0:
            return None
        if self._at == len(self._sent):
            self._draft = current
        self._at -= 1
        return self._sent[self._at]

    def begun(self, current: str) -> str:
        """Return what was begun: the draft, where `current` is a text that was sent before."""
        is_sent = self._at < len(self._sent) and current == self._sent[self._at]
        return self._draft if is_sent else current

    def newer(self) -> str | None:
        """Return the text after this one, the draft at the end, None beyond it."""
        if self._at == len(self._sent):
            return None
        self._at += 1
        return self._draft if self._at == len(self._sent) else self._sent[self._at]


def completions(before: str, vocabulary: Sequence[str]) -> list[str]:
    """Return the words of `vocabulary` that the last word of `before` may become.

    A /command only begins a line; a name may be written with an @, which stays. `special` completes
    words that are no names.
    """
    if (words := special(before)) is not None:
        return words
    word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
    at_start = before.strip() == word
    prefix = "@" if word.startswith("@") else ""
    wanted = word.removeprefix("@").casefold()
    if not wanted:
        return []
    return [
        prefix + candidate
        for candidate in vocabulary
        if candidate.casefold().startswith(wanted)
        and (not candidate.startswith("/") or (at_start and not prefix))
    ]


def is_laid_out(widget: Widget) -> bool:
    """Return whether a widget, and all that it is in, has a place on its screen."""
    return all(one.display for one in widget.ancestors_with_self if isinstance(one, Widget))


class Writing(NamedTuple):
    """Input state of one channel: the texts sent there and the unsent draft."""

    history: InputHistory
    begun: str
    """Text written there and not sent."""


class Composer(StyledOnce):
    """A text area of one to eight lines that posts `Submitted`.

    `vocabulary` gives the words that Tab completes: /commands, #channels and names.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Place.INPUT)
    DEFAULT_CSS = """
    Composer {
        height: auto;
        min-height: 3;
        max-height: 10;
        overflow-y: hidden;
    }
    Composer.-long { overflow-y: auto; }
    """

    def __init__(self, vocabulary: Callable[[], Sequence[str]]) -> None:
        super().__init__(highlight_cursor_line=False, placeholder=PLACEHOLDER)
        self.cursor_blink = False  # it would be half of all work while nobody does anything
        self._vocabulary = vocabulary
        self._history = InputHistory()
        self._elsewhere: dict[ChannelId | None, Writing] = {}  # one a channel that was left
        self._candidates: list[str] = []
        self._candidate = -1
        self._pasted = self._refused = ""
        self._addressee = Content("")
        self._barred = False
        self.paste_lines = PASTE_LINES.default
        """A paste of more lines says so before it is sent; 0: none does."""

    def bar(self, *, barred: bool) -> None:
        """Say that only commands can be entered, where nothing can be written."""
        if barred != self._barred:
            self._barred = barred
            self.on_resize()

    def on_resize(self) -> None:
        """Say what Enter does in words that fit one line."""
        if self._barred:
            self.placeholder = PLACEHOLDER_BARRED
            return
        fits = len(PLACEHOLDER) <= self.content_size.width
        self.placeholder = PLACEHOLDER if fits else PLACEHOLDER_SHORT

    def watch_virtual_size(self) -> None:
        """Show a scroll bar once there are more lines than there is room for.

        Textual would show one until the input has grown, and lay the screen out once more for it.
        """
        self.call_after_refresh(self._show_bar)

    def _show_bar(self) -> None:
        self.set_class(self.virtual_size.height > self.content_size.height, "-long")

    def move(self, before: ChannelId | None, now: ChannelId) -> None:
        """Leave what was begun in one channel there; go on with what was begun in another.

        A text meant for some must not be sent to others because these came into sight.
        """
        self._elsewhere[before] = Writing(self._history, self.text)
        self._history, begun = self._elsewhere.pop(now, Writing(InputHistory(), ""))
        self._fill(begun)

    def drafts(self, now: ChannelId | None) -> dict[ChannelId, str]:
        """Return what was begun in each channel; `now` is the open one."""
        begun = {
            channel: writing.history.begun(writing.begun)
            for channel, writing in self._elsewhere.items()
        }
        begun[now] = "" if self._is_refused else self._history.begun(self.text)
        return {one: text for one, text in begun.items() if one is not None and text.strip()}

    def take_up(self, drafts: Mapping[ChannelId, str], now: ChannelId | None) -> None:
        """Go on with what another run has left begun; `now` is the open channel."""
        for channel, text in drafts.items():
            if channel == now:
                self.offer(text)
            else:
                self._elsewhere[channel] = Writing(InputHistory(), text)

    def take_text(self) -> str:
        """Take out what was begun."""
        begun = self.text
        self._fill("")
        return begun

    def address(self, addressee: Content) -> None:
        """Say above the input who reads what is written; any title makes Textual paint it all."""
        if not addressee.is_same(self._addressee):
            self._addressee = addressee
            self.border_title = addressee

    def restore(self, text: str) -> None:
        """Put a text back that could not be sent, unless another one was begun."""
        if not self.text:
            self._fill(text)
            if length := self._length(text):
                self._pasted = self.text
                self.border_subtitle = f"{length}: Esc takes them out"
            elif is_command(text):
                self.select_all()
                self._refused = self.text

    def offer(self, text: str) -> None:
        """Put a text in to be gone on with, unless another one was begun."""
        if not self.text:
            self._fill(text)

    def restore_elsewhere(self, text: str, channel: ChannelId | None) -> None:
        """Put a text back in a channel that is not open now."""
        writing = self._elsewhere.get(channel)
        if writing is not None and not writing.begun:
            self._elsewhere[channel] = writing._replace(begun=text)

    def begin(self, text: str) -> None:
        """Put `text` in to be gone on with; what stood there is the one before in the history."""
        if self.text.strip():
            self._history.add(self.text)
        self._fill(text)

    def blur(self) -> Self:
        """Keep the keys where a window too small for the input hides it: no text gets lost."""
        return super().blur() if is_laid_out(self) else self

    def on_key(self, event: Key) -> None:
        """Take the keys that mean something else here than in a text area."""
        if event.key not in {"tab", "shift+tab"}:
            self._candidates = []
        handled = True
        match event.key:
            case "enter":
                self._enter()
            case key if key in NEWLINE_KEYS:
                self.insert("\n")
            case "tab":
                self._complete(1)
            case "shift+tab":
                self._complete(-1)
            case "up" if self.navigator.is_first_wrapped_line(self.cursor_location):
                self._recall(self._history.older(self.text))
            case "down" if self.navigator.is_last_wrapped_line(self.cursor_location):
                self._recall(self._history.newer())
            case "escape" if self._pasted:
                self._take_back()
            case "escape" if self._is_refused:
                self._fill("")
            case "end" if not self.text:
                self.post_message(NewestWanted())
            case _:
                handled = False
        if handled:
            event.stop()
        if handled or event.key.startswith("alt+"):
            event.prevent_default()  # or Alt+A, a key of the application, would type an a

    def on_text_area_changed(self) -> None:
        """Say no more of a paste that is undone, or changed by hand."""
        if self._pasted and self._pasted not in self.text:
            self._forget_paste()

    def on_paste(self, event: Paste) -> None:
        """Insert what was pasted, newlines and all, without controls; refuse what is too long."""
        event.prevent_default()
        event.stop()
        if len(event.text) > PASTE_MAX:
            text = (
                f"That is {len(event.text):,} characters, more than can be sent at once. "
                "Nothing was pasted; copy less of it."
            )
            self.post_message(Refused(text))
            return
        text = without_controls(event.text)
        self.insert(text)
        if length := self._length(text):
            self._pasted = text
            ways = "Enter sends them as one message, Esc takes them out"
            self.border_subtitle = f"{length} pasted: {ways}"

    def _length(self, text: str) -> str:
        """Return how long a long text is; nothing of one that all can be seen of."""
        lines = len(text.rstrip("\n").split("\n"))
        if 0 < self.paste_lines < lines:
            return count(lines, "line")
        if 0 < self.paste_lines * max(1, self.content_size.width) < len(text):
            return count(len(text), "character")
        return ""

    @property
    def _is_refused(self) -> bool:
        """True while a command that was refused stands there as it was given back, selected."""
        return bool(self._refused) and self.selected_text == self.text == self._refused

    def _take_back(self) -> None:
        """Take the paste out again, wherever it stands by now, and leave what was written."""
        before, found, after = self.text.partition(self._pasted)
        if found:
            self.text = before + after
            self.move_cursor((before.count("\n"), len(before.rpartition("\n")[2])))
        self._forget_paste()

    def _forget_paste(self) -> None:
        self._pasted = self._refused = ""
        self.border_subtitle = ""

    def _enter(self) -> None:
        row, column = self.cursor_location
        line = self.document[row]
        if line.endswith("\\") and column == len(line):
            self.replace("\n", (row, column - 1), (row, column))
            return
        text = self.text
        if not text.strip():
            self.post_message(AnswerWanted())
            return
        self._history.add(text)
        self._fill("")
        self.app.post_message(Submitted(text))  # bubbling would let the next paint overtake it

    def _complete(self, step: int) -> None:
        """Replace the last word by the next candidate; pressed again, by the one after it."""
        row, column = self.cursor_location
        if self._candidates:
            start = column - len(self._candidates[self._candidate]) - 1
            self._candidate = (self._candidate + step) % len(self._candidates)
        else:
            before = self.document[row][:column]
            self._candidates = completions(before, self._vocabulary())
            if not self._candidates:
                return
            begun = "" if before[-1].isspace() else before.rsplit(maxsplit=1)[-1]
            start = column - len(begun)
            self._candidate = 0 if step > 0 else len(self._candidates) - 1
        self.replace(self._candidates[self._candidate] + " ", (row, start), (row, column))

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self._fill(text)

    def _fill(self, text: str) -> None:
        """Put `text` in, which is no typing: nobody hears of a change."""
        self._forget_paste()
        with self.prevent(TextArea.Changed):
            self.text = without_controls(text)
        self.move_cursor(self.document.end)
