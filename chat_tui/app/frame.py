"""The app frame: header, channels and peers, status line, key hints, debug pane.

Each panel is one cheap widget that is painted again only when its content differs.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click, DescendantBlur, DescendantFocus

from chat_tui.app.arrivals import Company
from chat_tui.keys.table import USUAL, Chosen
from chat_tui.model import channel_marks
from chat_tui.model.agreement import Agreement
from chat_tui.text.safe_text import wrap
from chat_tui.transcript import author_colours
from chat_tui.widgets.composer import Composer
from chat_tui.widgets.header import Header
from chat_tui.widgets.messages import Enlarged, FollowChanged, KeysChanged, NewestWanted
from chat_tui.widgets.panel import Fitted, Framed, Panel
from chat_tui.widgets.status_line import StatusLine
from chat_tui.wording import clocks, panels, person, rights, sentences
from chat_tui.wording.glyphs import Glyphs, bar
from chat_tui.wording.key_line import key_line
from chat_tui.wording.sidebar import sidebar
from sync.machine import ChannelId
from sync.view.view import ChannelInfo, Notice, Snapshot

if TYPE_CHECKING:
    from chat_tui.debug.pane import DebugPane
    from chat_tui.transcript.conversation_pane import Reading


Then: TypeAlias = Callable[[Snapshot], str | None]

BOTH_FROM: Final = 24
"""Lines of a window that has room for two bands; in a lower one the question waits."""


HISTORY_CELLS: Final = 20
HISTORY_CELLS_NARROW: Final = 8
"""Of the bar that shows how much of a history has come."""

HINT_CELLS_MIN: Final = 20
"""Of what stands where no message is, before it is known how wide that place is."""
HINT_EDGE: Final = 1

KEYS_PADDING: Final = 2
"""Cells around the last line; the same in `app.tcss`."""


class Surroundings(Vertical):
    """The whole screen: the column that is read, with everything that stands around it.

    `unseen` counts the messages of a channel that nobody has seen; `debug_pane` makes the pane,
    once it is wanted.
    """

    def __init__(
        self,
        reading: "Reading",
        composer: Composer,
        unseen: panels.Unseen,
        glyphs: Glyphs,
        debug_pane: "Callable[[], DebugPane]",
    ) -> None:
        super().__init__()
        self._reading, self._transcript = reading, reading.transcript
        self._composer = composer
        self._unseen, self._glyphs = unseen, glyphs
        self._alarm, self._clock = Panel(id="alarm"), Panel(id="clock")
        self._header, self.status = Header(), StatusLine()
        self._sidebar, self._keys = Fitted(id="sidebar"), Panel(id="keys")
        self._conversation = Framed(id="conversation")
        self._usual_keys = Content("")
        self._debug_pane = debug_pane
        self._debug: DebugPane | None = None
        self._company = Company()
        self._agreement = Agreement()
        self._keys_chosen: Chosen = USUAL
        self._answer: tuple[Notice, Then] | None = None
        """The last answer, and the sentence in its place once it does not hold any more."""
        self._standing: tuple[ChannelId | None, rights.Standing | None] = (None, None)
        self.held = 0
        """Lines that were written and wait for the disk."""

    def compose(self) -> ComposeResult:
        """Header; channels, conversation and debug pane; keys."""
        yield self._header
        yield self._alarm
        yield self._clock
        with Horizontal(id="main"):
            yield self._sidebar
            with self._reading:
                with self._conversation:
                    yield self._transcript
                yield from self._reading.lines()
                yield self.status
                yield self._composer
        yield self._keys

    def on_show(self) -> None:
        """Say that all has a place on the screen."""
        self.post_message(Enlarged())

    def change_glyphs(self, glyphs: Glyphs) -> None:
        """Draw everything with other signs from now on."""
        self._glyphs = glyphs
        if self._debug is not None:
            self._debug.change_glyphs(glyphs)

    def change_keys(self, chosen: Chosen) -> None:
        """Name these keys from now on."""
        self._keys_chosen = chosen
        self._reading.show_keys()
        if self._debug is not None:
            self._debug.change_keys(chosen)

    def answer(self, text: str, then: Then | None = None) -> None:
        """Say what came of a command, see `say`."""
        self.say(Notice(text), then)

    def say(self, notice: Notice, then: Then | None = None) -> None:
        """Say this; `then` says what to say instead as soon as it is so, see `Result`."""
        self._answer = None if then is None else (notice, then)
        self.status.say(notice)

    def tell(self, news: Notice) -> None:
        """Say what happened by itself."""
        if news.out_of is None:
            self.status.tell(news)
        else:
            self.say(news, rights.as_long_as_out(news.out_of))

    def _look_at_answer(self, snapshot: Snapshot) -> None:
        """Say the next thing where what is said as an answer does not hold any more."""
        if self._answer is None:
            return
        notice, then = self._answer
        if not self.status.holds(notice):
            self._answer = None
        elif (text := then(snapshot)) is None:
            self.status.forget(notice)
        elif text and text != notice.text:
            self.say(Notice(text, notice.level), then)

    def _look_at_standing(
        self, snapshot: Snapshot, info: ChannelInfo | None, *, barred: bool
    ) -> None:
        """Let no answer from before hide why nothing can be written here any more."""
        channel = None if info is None else info.channel
        standing = rights.standing(snapshot, info)
        (before, stood), self._standing = self._standing, (channel, standing)
        if barred and channel == before and stood not in (None, standing):
            self.status.overtake()

    def show(self, snapshot: Snapshot, channel: ChannelId | None) -> None:
        """Bring everything up to date that is not a message."""
        info = sentences.find(snapshot, channel)
        self._transcript.tick(snapshot.now, alone=info is not None and not info.peers)
        self._reading.tick(snapshot, info)
        if info is not None and (news := self._company.look(snapshot, info)):
            self.status.tell(Notice(news))
        self._look_at_answer(snapshot)
        keys_named = self._keys_chosen
        hint = self._company.hint(snapshot, info, keys_named)
        hint = (*sentences.without_lines(snapshot, info), *hint)
        width = max(HINT_CELLS_MIN, self._transcript.size.width - 2 * HINT_EDGE)
        self._transcript.hint = tuple(part for line in hint for part in wrap(line, width))
        lacked = () if info is None else self._agreement.look(info, snapshot.now)
        self._header.show(snapshot, info, self._glyphs, lacked)
        held = self._transcript.conversation
        self._transcript.colour(author_colours.chosen_in(info))
        if info is not None and info.channel == held.channel:
            changes = held.mark_state(
                channel_marks.pinned(info), channel_marks.read_by(snapshot, info, held.rows)
            )
            if changes:
                self._transcript.apply(changes)
        alone = self._company.sentence(snapshot, info, keys_named)
        in_sight = self._transcript.says_missing
        happens = sentences.what_else_happens if in_sight else sentences.what_happens
        barred = rights.why_not_writing(snapshot, info)
        self._look_at_standing(snapshot, info, barred=bool(barred))
        saved, types = sentences.saving(info), sentences.who_types(snapshot, info)
        what = saved or types or alone or happens(snapshot, info)
        drawn = self._history_bar(what, sentences.history_share(snapshot, info))
        self.status.show(barred or what, barred=bool(barred), bar="" if barred else drawn)
        alarm = [*person.disk_lines(snapshot, self.held), *person.warning_lines(snapshot)]
        _show_band(self._alarm, alarm)
        asked = clocks.band(snapshot, keys_named, sentences.where_asked(snapshot))
        _show_band(self._clock, asked, fits=not alarm or self.app.size.height >= BOTH_FROM)
        self._show_sides(snapshot, channel)
        self._conversation.entitle("" if info is None else sentences.channel_title(info))
        if self._debug is not None and self._debug.display:
            self._debug.show(snapshot, info)
        self._composer.address(panels.addressee(info, barred=bool(barred)))
        self._composer.bar(barred=bool(barred))
        self.show_chip()

    def _history_bar(self, what: str, share: float | None) -> str:
        """Return the bar beside `what`, where that says that a `share` of a history has come."""
        if share is None or not what.startswith(sentences.GETTING_HISTORY):
            return ""
        narrow = self.screen.has_class("-narrow")
        return bar(share, self._glyphs, cells=HISTORY_CELLS_NARROW if narrow else HISTORY_CELLS)

    def _show_sides(self, snapshot: Snapshot, channel: ChannelId | None) -> None:
        """Bring the keys and the list at the side up to date."""
        unseen = self._unseen
        chosen, room = self._keys_chosen, self.app.size.width - KEYS_PADDING
        self._usual_keys = panels.keys(snapshot, channel, unseen, chosen, room)
        self._show_keys()

        def around(lines: int) -> Content:
            return sidebar(snapshot, channel, unseen, self._glyphs, chosen, lines)

        self._sidebar.fill(around)

    @on(DescendantFocus)
    @on(DescendantBlur)
    @on(KeysChanged)
    def _show_keys(self) -> None:
        """Show the keys of what has them; those of the input are the usual ones."""
        room = self.app.size.width - KEYS_PADDING
        if self._debug is not None and self.debug_has_keys:
            line = key_line(self._debug.keys, self._keys_chosen, room)
        elif self._transcript.has_focus:
            line = key_line(self._reading.keys, self._keys_chosen, room)
        else:
            line = self._usual_keys
        self._keys.show(line)

    @on(FollowChanged)
    def show_chip(self) -> None:
        """Count what came below, while somebody reads further up."""
        if self._transcript.follow:
            self.status.hide_chip()
        else:
            held = self._transcript.conversation
            self.status.show_chip(held, self._glyphs, self._keys_chosen)

    @on(Click, "#chip")
    def _follow_chip(self) -> None:
        """Go where the chip points: up to what came late, else down to the newest."""
        if self._transcript.conversation.earlier:
            self._reading.action_unread()
        else:
            self.post_message(NewestWanted())

    def page(self, screens: int) -> None:
        """Scroll what is in sight by screens, up if negative: the conversation, or the drawer."""
        if self.debug_open and self.screen.has_class("-narrow"):
            self.page_debug(screens)
        elif screens < 0:
            self._transcript.page_up()
        else:
            self._transcript.page_down()

    def page_debug(self, screens: int) -> None:
        """Scroll the drawer by screens, up if negative."""
        if self._debug is not None:
            self._debug.page(screens)

    @property
    def debug_open(self) -> bool:
        """True if the protocol's pane is open."""
        return self._debug is not None and self._debug.display

    @property
    def debug_has_keys(self) -> bool:
        """True if the protocol's pane has the keys."""
        return self._debug is not None and self._debug.keys_here

    async def open_debug(self) -> "DebugPane":
        """Open the pane and give it the keys; what is being written stays as it is."""
        if self._debug is None:
            self._debug = self._debug_pane()
            self._debug.change_keys(self._keys_chosen)
            await self.query_one("#main").mount(self._debug)
        self._debug.display = True
        # at once: `focus` waits its turn, and what is typed meanwhile would go to the input
        self.screen.set_focus(self._debug.listing)
        return self._debug

    def close_debug(self, *, stays: bool = False) -> None:
        """Give the keys back to who writes; the pane closes unless it `stays`."""
        had_keys = self.debug_has_keys
        if self._debug is not None:
            self._debug.display = stays
        if had_keys:
            self._composer.focus()


def _show_band(band: Panel, lines: Sequence[str], *, fits: bool = True) -> None:
    """Show lines across the screen if there are any; without, a band that is gone costs nothing."""
    if lines or band.display:
        band.display = bool(lines) and fits
        band.show(Content("\n".join(lines)))
