"""The full-screen chat: puts the widgets together and the engine's events on them.

Rules:
1. The engine is never waited for in a handler: inputs and pages run in workers.
2. Events are taken note of at once and painted at most ten times a second.
3. History is on the screen before the network starts, and before anything is imported that only
   opens later: commands, screens, the debug pane (`chat_tui.cli.start_screen` imports them
   thereafter).
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static, TextArea

from chat_tui.app import settings_effects
from chat_tui.app.frame import Surroundings
from chat_tui.app.input_queue import Inputs
from chat_tui.app.late_answers import LateAnswers
from chat_tui.app.overlays import Overlays
from chat_tui.app.unsaved_lines import Input
from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Result
from chat_tui.keys.places import Place
from chat_tui.keys.table import BY_ID, with_keys
from chat_tui.model import channel_marks
from chat_tui.model.conversation import Conversation
from chat_tui.model.event_feed import Feed, Pace
from chat_tui.model.pager import Pager
from chat_tui.model.reading_state import NOTHING_KEPT, Kept, Seen
from chat_tui.settings.schema import PASTE_LINES
from chat_tui.terminal import character_sets, key_bindings
from chat_tui.terminal.alerts import Announcer
from chat_tui.text.emoji_sequences import Joined, keep
from chat_tui.text.slash import is_command
from chat_tui.transcript.author_colours import colour_of
from chat_tui.transcript.conversation_pane import Reading
from chat_tui.transcript.layout_options import taste_of
from chat_tui.transcript.scroll_marks import MarkedReader
from chat_tui.widgets.composer import Composer, is_laid_out
from chat_tui.widgets.messages import (
    AnswerWanted,
    ChannelChosen,
    DebugClosed,
    Enlarged,
    FramesWanted,
    GraphWanted,
    MissingInSight,
    NewerWanted,
    NewestWanted,
    OlderWanted,
    QuotesWanted,
    Refused,
    Submitted,
    Told,
)
from chat_tui.wording.clocks import ClockNews
from chat_tui.wording.glyphs import UNICODE, Glyphs
from chat_tui.wording.panels import Unseen
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.view.view import Event, Level, Notice, Snapshot

if TYPE_CHECKING:
    from chat_tui.commands.table import Commands
    from chat_tui.debug.pane import DebugPane
    from chat_tui.model.command_findings import Found

TICK_S: Final = 1.0

TURNS_TO_ENGINE: Final = 8
"""Of the event loop, from a line that was entered to the engine's turn; less than 1 ms at rest."""

SLICE_S: Final = 0.01
"""Of events that flood the screen, between looks at what is typed."""

HURRIED_SLICE_S: Final = 0.003
"""The same while somebody types: a key waits for the slice before it."""

HURRY_FOR_S: Final = 0.5
"""Time after a key in which another one may come."""


QUIT_WITHIN_S: Final = 2.0
"""Time for which leaving waits for what was submitted before; then it goes without."""

NO_CHANNEL: Final = ChannelId("")
"""Stands for the channel of somebody who is in none."""


FILTER_DIGITS: Final = 12
"""Of the id that the frames on the wire are filtered by: no two messages share so many."""


class ChatApp(Overlays):
    """The chat on a screen.

    Args:
        chat: what is shown and acted on; its history can be read at once.
        start: brings the network up; called after the first paint.
        channel: the channel to open; None opens the first one.
        glyphs: the character set, unless a setting says otherwise.
        kept: keeps what was read, hidden and begun; what has no file is only for this run.
    """

    CSS_PATH = Path(__file__).with_name("app.tcss")  # also for classes elsewhere
    TITLE = "chat-tui"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-normal"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (16, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = key_bindings.bindings_of(Place.EVERYWHERE, Place.CHAT)

    asks_widths = False
    """True where the terminal is asked how wide emoji of several characters are."""

    def __init__(
        self,
        chat: Chat,
        start: Callable[[], Awaitable[None]],
        *,
        channel: ChannelId | None = None,
        glyphs: Glyphs = UNICODE,
        kept: Kept = NOTHING_KEPT,
    ) -> None:
        snapshot = chat.snapshot()
        if channel is None and snapshot.channels:
            channel = snapshot.channels[0].channel
        super().__init__(chat, channel, glyphs)
        self._start = start
        glyphs = self._glyphs
        self._feed = Feed(snapshot.me, snapshot.nick)
        self._feed.know(snapshot.peers)
        self._unseen = Unseen(self._feed.unread, self._feed.mentioned)
        self._seen = Seen(kept, self._feed, chat.history)
        self._pace = Pace(self._paint, self.call_next, self.set_timer)
        self._clocks = ClockNews(snapshot.clock, sees_question=True)
        self._inputs = Inputs(self._command, self._answer)
        self._typed_at = -HURRY_FOR_S
        self._lent: tuple[Widget, str] | None = None
        """The owner of the keys before the window was too small for all, and the draft of then."""
        self._unsubscribe: list[Callable[[], None]] = []
        self._announcer = Announcer(chat, self._tell_terminal, self._looked_at)
        self._pager = Pager(chat.history, lambda text: self._say(Notice(text, Level.ERROR)))
        conversation = self._feed.conversation(channel or NO_CHANNEL)
        self.transcript = MarkedReader(
            conversation, nick=snapshot.nick, now=snapshot.now, glyphs=glyphs
        )
        self.transcript.places = self._seen.places
        self.composer = Composer(self._vocabulary)
        self.reading = Reading(self.transcript, self.composer, chat, self._pager, self._say)
        self._around = Surroundings(
            self.reading, self.composer, self._unseen, glyphs, self._debug_pane
        )
        self._late = LateAnswers(self._around.status, self._is_busy)

    @cached_property
    def _commands(self) -> "Commands":
        from chat_tui.commands.table import Commands

        return Commands(self._chat)

    def _vocabulary(self) -> list[str]:
        return self._commands.vocabulary()

    def _debug_pane(self) -> "DebugPane":
        from chat_tui.debug.pane import DebugPane

        colour = partial(colour_of, self._seen.places)
        return DebugPane(self._chat.history, self._chat.inspection, self._glyphs, colour)

    def compose(self) -> ComposeResult:
        """The chat, or the wish for a larger window.

        Textual would look at the size only after a first layout: each screen would be laid out and
        painted twice.
        """
        breakpoints = (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS)
        for size, classes in zip(self.size, breakpoints, strict=True):
            fitting = [name for least, name in classes if least <= size]
            self.screen.add_class(fitting[-1], update=False)
        yield self._around
        yield Static("Please enlarge the window to 60 columns and 16 lines.", id="enlarge")

    async def read_history(self) -> None:
        """Read the newest lines; before the start, so that the first paint has them."""
        if self._channel is not None and self.transcript.conversation.first is None:
            await self._load(OlderWanted(self.transcript.conversation))

    async def on_mount(self) -> None:
        """Paint the newest lines of history, then bring the network up."""
        self._unsubscribe = [
            self._chat.subscribe(self._note),
            self._chat.settings.subscribe(self._follow_settings),
        ]
        self._take_settings()
        for problem in self._chat.settings.problems:
            self._say(Notice(problem, Level.ERROR))
        self.composer.take_up(self._seen.drafts, self._channel)
        self.composer.focus()
        await self.read_history()
        self._tick()
        self.set_interval(TICK_S, self._tick)
        self.run_worker(self._inputs.work(), group="inputs")
        self.call_after_refresh(lambda: self.run_worker(self._run_network(), group="network"))

    def on_resize(self) -> None:
        """Fill what only now has a place on the screen."""
        self.call_after_refresh(self._show_resized)

    def _show_resized(self) -> None:
        """Bring all up to date; a window that was too small for the input took its keys away."""
        if self.composer.screen.focused is None:
            self.composer.focus()
        self._tick()

    @on(Enlarged)
    def _give_keys_back(self) -> None:
        """Give the keys to what had them, unless somebody wrote meanwhile."""
        lent, self._lent = self._lent, None
        if lent is not None and self.composer.has_focus and self.composer.text == lent[1]:
            self.composer.screen.set_focus(lent[0], scroll_visible=False)

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Give the input the keys that a window too small for all took: no text gets lost."""
        if self.composer.screen.focused is None and not is_laid_out(self.composer):
            self._lent = (event.widget, self.composer.text)
            self.composer.screen.set_focus(self.composer)

    async def on_unmount(self) -> None:
        """Hear no more of the engine, and keep what was read and begun."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        await self._keep_seen()

    async def _keep_seen(self) -> None:
        await self._seen.save(self._ours(), self.composer.drafts(self._channel))

    # -- events of the engine -----------------------------------------------------------------

    def _note(self, event: Event) -> None:
        self._feed.note_event(event)
        self._announcer.note_event(event)
        self._pace.paint_soon()

    @property
    def _slice_s(self) -> float:
        """Seconds for which events may keep keys waiting."""
        since = asyncio.get_running_loop().time() - self._typed_at
        return HURRIED_SLICE_S if since < HURRY_FOR_S else SLICE_S

    def _paint(self) -> None:
        now = asyncio.get_running_loop().time
        until = now() + self._slice_s
        news = self._feed.drain(self._channel, lambda: now() > until)
        if news.more:
            self._pace.paint_rest(SLICE_S)  # keys have as much time as what floods
        self._announcer.look()
        if news.changes:
            self.transcript.apply(news.changes)
        if news.flooded:
            self.transcript.follow_newest()
        disk = self._chat.snapshot().disk if news.notices else ""
        for notice in news.notices:
            if disk and notice.text == disk:
                news.around = True  # that stands above, for as long as it is so
            else:
                self._around.tell(notice)
        for event in news.clocks:
            for sentence in self._clocks.said_of(event, self._chat.snapshot()):
                self._around.status.tell(Notice(sentence))
        for held in news.filled:
            self.run_worker(self._fill(held), group="gaps")
        for held in news.again.values():
            self.run_worker(self._look_again(held), group="looks")
        if news.around:
            self._tick()
        else:
            self._around.show_chip()

    def _say(self, notice: Notice) -> None:
        self._around.status.say(notice)

    async def _run_network(self) -> None:
        now = self._chat.snapshot().now
        self.transcript.apply(await self._seen.resume(self._ours(), self._channel, now))
        self._tick()
        try:
            await self._start()
        except LocalError as error:
            self._say(Notice(str(error), Level.ERROR))
            self._inputs.begin(obstacle=str(error))
        else:
            self._inputs.begin()

    # -- what the widgets ask for ---------------------------------------------------------------

    @on(Submitted)
    def _submit(self, message: Submitted) -> None:
        self._chat.key_shown()  # a line waits for nothing
        self._inputs.put_typed(message.text, self._channel)
        self.run_worker(self._let_engine_turn(), group="paints")

    async def _let_engine_turn(self) -> None:
        """Hold paints for a few turns of the loop: the engine takes up what was written first."""
        with self.batch_update():
            for _ in range(TURNS_TO_ENGINE):
                await asyncio.sleep(0)
        self.screen.check_idle()  # which paints what is due

    def post_message(self, message: Message) -> bool:
        """Let what a key writes be painted before anything else, from when it is read on."""
        if isinstance(message, events.Key) and message.is_printable and not message.is_forwarded:
            self._pace.key_came()
            self._chat.key_came()
        return super().post_message(message)

    def _show_key(self) -> None:
        """Go on with what waited until a key was painted."""
        self._pace.key_shown()
        self._chat.key_shown()

    @on(TextArea.Changed)
    def _tell_typing(self) -> None:
        self._typed_at = asyncio.get_running_loop().time()
        self.call_after_refresh(self._show_key)
        text = self.composer.text
        if self._channel is not None and text.strip() and not is_command(text):
            self._chat.typing(self._channel)

    async def _command(self, line: Input) -> Result:
        self._around.status.begin()
        if is_command(line.text):
            self._late.forget()
        at = At(line.channel)
        if line.channel == self._channel:
            at = At(self._channel, self.transcript.about, on_gap=self.transcript.on_gap)
        with self._late.at_work(line):
            return await self._commands.run(line.text, at)

    def _answer(self, line: Input, result: Result) -> None:
        if (taken := result.took_up) is not None:
            self._feed.conversation(taken.channel).take_up(taken.position)
        if result.quit:
            self.exit()
        elif not result.ok:
            if line.typed:
                self._put_back(line)
            self._around.say(Notice(result.text, Level.ERROR), result.then)
        elif result.draft:
            self.composer.offer(result.draft)
        elif result.channel is not None:
            begun = self.composer.take_text() if line.typed else ""
            self._open(result.channel)
            if begun:
                self.composer.begin(begun)
        elif not (result.text or self._is_followed_or_selected()) and result.found is None:
            if result.wrote:
                self.transcript.unselect()
            self._read_newest()
        if (open_it := self._opener(line, result)) is not None:
            self._late.show(line, open_it)
        elif result.found is not None:
            self.reading.show(result.found)
        elif result.ok and result.text:
            self._around.answer(result.text, result.then)
        elif result.ok:
            self._late.remind()
        self._tick()

    def _opener(self, line: Input, result: Result) -> Callable[[], object] | None:
        """Return what opens the answer to a line where that takes the keys; None where not."""
        if result.found is not None:
            found = result.found
            return partial(self._show, line, found) if self.reading.takes_keys(found) else None
        if result.action is not None:
            return partial(self.call_next, self.run_action, result.action)
        if "\n" in result.text or (result.ok and not self._around.status.has_room(result.text)):
            title = line.text.partition(" ")[0]
            return partial(self._show_text, title, lambda: Content(result.text))
        return None

    def _show(self, line: Input, found: "Found") -> None:
        """Show what was found for a line, in the channel in which it was typed."""
        if line.channel is not None and line.channel != self._channel:
            self._open(line.channel)
        self.reading.show(found)

    def _is_followed_or_selected(self) -> bool:
        """Return whether the newest is shown anyway, or something was selected meanwhile."""
        return self.transcript.follow or self.transcript.has_focus

    def _is_busy(self) -> bool:
        """Return whether somebody writes, or looks at a screen that they opened."""
        return bool(self.composer.text.strip()) or len(self.screen_stack) > 1

    @on(AnswerWanted)
    def _open_late_answer(self) -> None:
        self._late.open()

    def _put_back(self, line: Input) -> None:
        """Give a line back to who typed it, where it was typed."""
        if line.channel == self._channel:
            self.composer.restore(line.text)
        else:
            self.composer.restore_elsewhere(line.text, line.channel)

    @on(MissingInSight)
    def _say_the_rest(self, message: MissingInSight) -> None:
        """Say above the input what the lines in sight do not say."""
        del message
        self._tick()

    @on(Refused)
    def _refuse(self, message: Refused) -> None:
        self._say(Notice(message.text, Level.ERROR))

    @on(Told)
    def _tell(self, message: Told) -> None:
        self._say(Notice(message.text))

    @on(OlderWanted)
    @on(NewerWanted)
    def _page_in(self, wish: OlderWanted | NewerWanted) -> None:
        self.run_worker(self._load(wish), group="pages")

    @on(QuotesWanted)
    def _read_quotes(self, wish: QuotesWanted) -> None:
        self.run_worker(self._quote(wish.conversation), group="quotes")

    async def _quote(self, conversation: Conversation) -> None:
        """Show above replies what they answer."""
        changes = await self._pager.quote(conversation)
        if conversation is self.transcript.conversation:
            self.transcript.apply(changes)

    async def _load(self, wish: OlderWanted | NewerWanted) -> None:
        load = self._pager.older if isinstance(wish, OlderWanted) else self._pager.newer
        changes = await load(wish.conversation)
        if wish.conversation is self.transcript.conversation:
            self.transcript.apply(changes)

    async def _fill(self, conversation: Conversation) -> None:
        """Look whether what came fills gaps in a conversation."""
        changes = await self._pager.fill(conversation)
        if conversation is self.transcript.conversation:
            self.transcript.apply(changes)

    async def _look_again(self, conversation: Conversation) -> None:
        """Show rows as they look now; none moves, so nobody who reads is moved."""
        changes = await self._pager.look_again(conversation)
        if conversation is self.transcript.conversation:
            self.transcript.apply(changes)

    @on(NewestWanted)
    def _read_newest(self) -> None:
        """Go to the newest message, from the disk if it is not in memory."""
        held = self.transcript.conversation
        if held.has_newer or held.stuck:
            self.transcript.apply(held.restart())
        self.transcript.follow_newest()

    # -- keys ---------------------------------------------------------------------------------

    def _ours(self) -> list[ChannelId]:
        return [info.channel for info in self._chat.snapshot().channels]

    def _open(self, channel: ChannelId) -> None:
        if channel != self._channel:
            self.composer.move(self._channel, channel)
            self._channel = channel
            was_selecting = self.transcript.has_focus
            held = self._feed.conversation(channel)
            if held.has_newer or held.stuck:
                held.restart()  # it is shown at its newest message, which is not in memory
            self.transcript.show(held)
            if was_selecting:
                self.composer.focus()  # nothing is selected there, so keys would go nowhere
        self._tick()

    def action_channel(self, step: int) -> None:
        """Open the channel above or below in the list."""
        ours = self._ours()
        if self._channel in ours:
            self._open(ours[(ours.index(self._channel) + step) % len(ours)])

    def action_next_active(self) -> None:
        """Open the next channel with unread messages."""
        channel = self._feed.next_unread(self._ours(), self._channel)
        if channel is not None:
            self._open(channel)

    def action_read(self, where: str) -> None:
        """Read further `up` or `down`, at the `oldest` in memory, or at the `newest`."""
        match where:
            case "up":
                self._around.page(-1)
            case "down":
                self._around.page(1)
            case "oldest":
                self.transcript.scroll_to(y=0, animate=False)
            case _:
                self._read_newest()

    async def action_debug(self) -> None:
        """Open the protocol's pane, give it the keys, or close it if it has them."""
        if self._around.debug_has_keys:
            self._around.close_debug()
        else:
            await self.action_open_debug()

    async def action_open_debug(self, tab: str = "", about: str = "") -> None:
        """Open the protocol's pane at a tab: about a message, an id, or words to filter by."""
        pane = await self._around.open_debug()
        pane.open_at(tab, about)
        self._tick()

    async def action_debug_full(self) -> None:
        """Let the protocol's pane fill the screen, or stand beside the chat."""
        pane = await self._around.open_debug()
        pane.action_full()
        self._tick()

    @on(GraphWanted)
    async def _show_graph(self, wish: GraphWanted) -> None:
        await self.action_open_debug("Causal", wish.message_id)

    @on(FramesWanted)
    async def _show_frames(self, wish: FramesWanted) -> None:
        await self.action_open_debug("Wire", wish.message_id[:FILTER_DIGITS])

    @on(DebugClosed)
    def _leave_debug(self, message: DebugClosed) -> None:
        self._around.close_debug(stays=message.stays)

    def action_page_debug(self, screens: int) -> None:
        """Scroll the protocol's drawer by screens, up if negative."""
        self._around.page_debug(screens)

    def action_close(self) -> None:
        """Close one thing: a selection, what is said above the input, the protocol's pane."""
        if self.reading.leave():
            return
        if not self._around.status.be_quiet():
            self._around.close_debug()

    async def action_quit(self) -> None:
        """Leave, after what was submitted before; it has to go through the same queue."""
        self.composer.post_message(Submitted("/quit"))
        self.set_timer(QUIT_WITHIN_S, self.exit)

    def action_help_quit(self) -> None:
        """Copy what was picked, or explain how to leave; nothing that is written is lost."""
        if self.reading.copy_picked():
            return
        text = "{quit} quits. Nothing is lost: what nobody has yet goes out next time."
        self._say(Notice(with_keys(text, self.keys_chosen)))

    @on(ChannelChosen)
    def _open_chosen(self, choice: ChannelChosen) -> None:
        self._open(choice.channel)

    def action_open_channel(self, channel: str) -> None:
        """Open a channel of ours."""
        self._open(ChannelId(channel))

    async def action_key(self, id: str) -> None:  # noqa: A002  # as in the table
        """Do what a key of the table does, wherever it is heard."""
        row = BY_ID[id]
        if row.place is Place.SELECTED:
            await self.reading.do(row.action)
            return
        heard_by: dict[Place, DOMNode] = {Place.READING: self.reading, Place.INPUT: self.composer}
        if row.place is Place.PANE:
            heard_by[Place.PANE] = await self._around.open_debug()
            self._tick()
        await self.run_action(row.action, heard_by.get(row.place, self))

    def action_submit(self, text: str) -> None:
        """Do as if `text` had been written and sent."""
        self._inputs.put(text, self._channel)

    def action_begin(self, text: str) -> None:
        """Let the person go on writing after `text`."""
        self.composer.begin(text)

    def hear_widths(self, agreed: frozenset[Joined]) -> None:
        """Show emoji of several characters whose width the terminal agrees on."""
        keep(agreed)
        if agreed:
            self.transcript.apply(self._feed.read_again(self._channel))

    def _follow_settings(self, _changed: object = None) -> None:
        """Look and listen as the settings say now."""
        self._take_settings()
        self._tick()

    def _take_settings(self) -> None:
        """Look and listen as the settings say now, wherever something is shown next."""
        settings = self._chat.settings
        settings.on_screen = True
        self.dress(settings)
        self._pace.every_s = settings_effects.pace_of(settings)
        self._glyphs = character_sets.glyphs_of(settings, self._usual_glyphs)
        self.draw_with(self._glyphs)
        self.transcript.change_look(self._glyphs, taste_of(settings))
        self._around.change_glyphs(self._glyphs)
        self._around.change_keys(self.keys_chosen)
        self.composer.paste_lines = settings[PASTE_LINES]
        settings_effects.hear_mouse(self._driver, settings)

    def _tell_terminal(self, sequence: str) -> None:
        if self._driver is not None and not self.is_headless:
            self._driver.write(sequence)

    def _looked_at(self) -> ChannelId | None:
        """Return the channel that is open in a window that has the keyboard."""
        return self._channel if self.app_focus else None

    def _tell_reading(self, snapshot: Snapshot) -> None:
        """Let the others know up to where the channel in sight is read, if anybody looks at it."""
        channel, held = self._looked_at(), self.transcript.conversation
        if channel is None or channel != held.channel or len(self.screen_stack) > 1:
            return
        if (position := channel_marks.read_of_others(held)) is not None:
            self._chat.stating.saw(snapshot, channel, position)

    def _tick(self) -> None:
        """Bring everything up to date that is not a message."""
        self._announcer.look()
        snapshot = self._chat.snapshot()
        if self._feed.rename(snapshot.nick):
            self.transcript.rename(snapshot.nick)
        self._around.held = self._inputs.held
        if not snapshot.disk:
            self._inputs.try_again()
        self._around.show(snapshot, self._channel)
        self._tell_reading(snapshot)
        if self._seen.is_due(snapshot.now):
            self.run_worker(self._keep_seen(), group="seen")
