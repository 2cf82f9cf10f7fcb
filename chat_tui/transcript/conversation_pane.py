"""Reading of the conversation: select, copy, quote, open links, search, and go to a place.

The column of the conversation, its status and its composer; commands and keys end up in the same
methods here. Slow work runs in a worker: nothing waits for the disk.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec.structs import replace
from textual import on
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import DescendantFocus
from textual.widget import Widget

from chat_tui.client.chat import Chat
from chat_tui.keys.places import Place
from chat_tui.keys.table import Does, with_keys
from chat_tui.model.conversation import BEGINNING
from chat_tui.model.pager import END, Pager
from chat_tui.model.row import Row
from chat_tui.model.search_hits import SIGNS_SHOWN, HitWalk
from chat_tui.terminal.key_bindings import bindings_of
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import clip_cells
from chat_tui.transcript import gap_actions
from chat_tui.transcript.answering import NO_WAY_BACK, Answering
from chat_tui.transcript.gap_actions import GapActs
from chat_tui.transcript.message_actions import MessageActs
from chat_tui.transcript.message_keys import OF_GAP, keys_of_message
from chat_tui.transcript.reader import Reader
from chat_tui.widgets.composer import Composer
from chat_tui.widgets.messages import (
    CursorMoved,
    DetailsWanted,
    JoinWanted,
    KeysChanged,
    LinkWanted,
    ReactionWanted,
)
from chat_tui.widgets.panel import Panel
from chat_tui.wording.invitations import offered
from chat_tui.wording.panels import DIM
from sync.machine import ChannelId, MessageId
from sync.view.view import ChannelInfo, Event, Line, LineChanged, Notice, Position, Snapshot

if TYPE_CHECKING:
    from chat_tui.model.command_findings import Found, Hits, Listed

SELECTING: Final = frozenset({
    "move", "screens", "edge", "details", "copy", "copy_id", "quote", "open_link", "graph", "hit",
    "write", "command", "ask_again", "hide", "pin", "reply", "edit", "delete", "answered",
    "back", "thread", "react", "join", "raw", "fold",
})  # fmt: skip
"""Actions whose keys are letters: only while the transcript has them."""

TAKING: Final = frozenset({"bare", "unread", "back", "open_link"})
"""Things done to the screen alone or with a message that take the keys."""

NOTHING_SELECTED: Final = "No message is selected. {select} selects one; then the arrow keys move."
NOTHING_FOUND: Final = "Nothing was searched for yet. {search} searches."
LEFT: Final = "{select} goes back to it · {close} lets go"


class Reading(Vertical):
    """See the module docstring.

    Args:
        transcript: what is read.
        composer: where quotes go, and the keys afterwards.
        chat: what is asked for messages.
        pager: brings other places of the history into memory.
        say: shows a notice.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Place.READING, Place.SELECTED)
    DEFAULT_CSS = """
    Reading #reading-keys { height: 1; padding: 0 1; display: none; text-wrap: nowrap;
        text-overflow: ellipsis; background: $surface; }
    """

    def __init__(
        self,
        transcript: Reader,
        composer: Composer,
        chat: Chat,
        pager: Pager,
        say: Callable[[Notice], None],
    ) -> None:
        super().__init__(id="middle")
        self.transcript, self._composer = transcript, composer
        self._chat, self._pager = chat, pager
        self._tell = say
        self.acts = MessageActs(self, composer, lambda: transcript.glyphs, say, self.leave)
        self._keys = Panel(id="reading-keys")
        self._gaps = GapActs(self, transcript, chat, say)
        self._answering = Answering(self, composer, self._submit)
        self._hits: HitWalk | None = None
        self._read = transcript.conversation

    def lines(self) -> Iterator[Widget]:
        """Yield the lines that stand under the transcript while they are needed."""
        yield self._keys

    # -- what the application says --------------------------------------------------------------

    def tick(self, snapshot: Snapshot, info: ChannelInfo | None) -> None:
        """Bring up to date what is said of missing messages; another channel ends a search."""
        self._gaps.tick(snapshot, info)
        if self._read is not self.transcript.conversation:
            self._read = self.transcript.conversation
            self._answering.forget()
            if self._hits is None or self._hits.line.channel != self._read.channel:
                self._end_search()

    async def do(self, action: str) -> None:
        """Do what a key means on the selected message, for who did not press it there."""
        if self.transcript.cursor is None:
            self._say(self._named(NOTHING_SELECTED))
        elif action in gap_actions.ACTIONS and not self.transcript.on_gap:
            self._say(self._named(gap_actions.NO_GAP))
        else:
            self.screen.set_focus(self.transcript, scroll_visible=False)
            await self.app.run_action(action, self)

    def show(self, found: "Found") -> None:
        """Show what a command found."""
        # a first paint needs none of them
        from chat_tui.model.command_findings import Acted, Detailed, Goal, Hits, Holes, Listed, View

        match found:
            case Hits():
                self._hits = HitWalk(found)
                self.transcript.highlight(found.query)
                self._go_to_hit()
            case Listed():
                self._choose(found)
            case Goal(position, message_id, back_to):
                if back_to is not None:
                    self._answering.came_from(back_to)
                self._go(position, message_id)
            case View("back"):
                self.action_back()
            case Detailed(line, raw):
                self._show_details(line, raw=raw)
            case Acted(what, line):
                self.acts.act_on(what, line)
            case Holes(after_gap):
                self._gaps.open(after_gap)
            case View("hide"):
                self._gaps.hide()
            case View("show_gaps"):
                self._gaps.show_all()
            case View("unread"):
                self.action_unread()
            case View("bare"):
                self.action_bare()
            case View("raw"):
                self.action_raw()
            case View("fold"):
                self.action_fold()
            case View("clear"):
                self.transcript.apply(self.transcript.conversation.clear())
                self.transcript.follow_newest()
            case View(what):
                self.act_on_selected(what)

    @staticmethod
    def takes_keys(found: "Found") -> bool:
        """Return whether showing this takes the keys from who writes: a list, a hit, a place."""
        from chat_tui.model.command_findings import Acted, View

        match found:
            case Acted(what) | View(what):
                return what in TAKING
            case _:
                return True

    def leave(self) -> bool:
        """Leave the search and the selection; returns whether there was anything to leave."""
        is_busy = self._is_busy
        self._end_search()
        self.transcript.unselect()
        self.transcript.unpick()
        self._composer.focus()
        return is_busy

    def copy_picked(self) -> bool:
        """Copy what was picked with the mouse; returns whether anything was."""
        text = self.transcript.picked_text()
        if text:
            self.acts.copy(text, "what you picked")
            self.transcript.unpick()
        return bool(text)

    def act_on_selected(self, what: str) -> None:
        """Do something with the message the cursor is on."""
        if (row := self._selected()) is not None:
            self.acts.act_on(what, row.line)

    # -- keys ---------------------------------------------------------------------------------

    @property
    def keys(self) -> tuple[Does, ...]:
        """Keys of what is selected, with what they do."""
        shown, row = self.transcript, self.transcript.selected()
        if row is None:
            return OF_GAP
        message_id = row.line.message_id
        return keys_of_message(row, shown.look_at(message_id), shown.folded(message_id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: letters do while the transcript has the keys."""
        del parameters
        if action in gap_actions.ACTIONS and not self.transcript.on_gap:
            return False
        return self.screen.focused is self.transcript if action in SELECTING else True

    def action_select(self) -> None:
        """Give the keys to the transcript, and go on where the cursor was."""
        if self.transcript.on_gap or self.transcript.selected() is not None:
            self.transcript.focus(scroll_visible=False)
        else:
            self.transcript.select_seen()
        if self.transcript.cursor is None:
            self._say("There is no message yet to select.")

    def action_search(self) -> None:
        """Ask for words to search for, and go to what is found."""
        from chat_tui.transcript.find_screen import FindScreen

        channel = self.transcript.conversation.channel
        glyphs = self.transcript.glyphs
        self.app.push_screen(FindScreen(self._chat, channel, glyphs), self._go_on_from)

    def _go_on_from(self, hits: "Hits | None") -> None:
        if hits is not None:
            self.show(hits)

    def action_unread(self) -> None:
        """Go to the first message that came while nobody looked."""
        held = self.transcript.conversation
        position = held.first_unread
        if position is None:
            self._say("Nothing is unread here.")
            return
        held.look_back()
        self._go(position, position[1])

    def action_bare(self) -> None:
        """Show the messages as bare text."""
        from chat_tui.transcript.choice_screens import BareScreen

        rows = self.transcript.conversation.rows
        at = self.transcript.cursor or self.transcript.top
        shared = self._chat.snapshot().shared_names
        quotes = {row.line.message_id: row.quote for row in rows if row.quote}
        self.app.push_screen(BareScreen([row.line for row in rows], at, shared, quotes))

    def action_move(self, step: int) -> None:
        """Select the message above or below."""
        self.transcript.move(step)

    def action_screens(self, screens: int) -> None:
        """Select a message a screen further."""
        self.transcript.move_screens(screens)

    def action_edge(self, which: int) -> None:
        """Go to the very first message, or to the newest."""
        self._go(BEGINNING if which < 0 else END)

    def action_details(self) -> None:
        """Show all about the selected message, or about those missing where the cursor is."""
        if self.transcript.cursor is not None:
            self.post_message(DetailsWanted(self.transcript.cursor))

    def action_ask_again(self) -> None:
        """Ask now for the messages that are missing where the cursor is."""
        self._gaps.ask()

    def action_hide(self) -> None:
        """Say no more of the gap that the cursor is on."""
        self._gaps.hide()

    def action_copy(self) -> None:
        """Copy what was picked with the mouse, else the selected message."""
        if not self.copy_picked():
            self.act_on_selected("copy")

    def action_copy_id(self) -> None:
        """Copy the id of the selected message."""
        self.act_on_selected("copy_id")

    def action_quote(self) -> None:
        """Quote the selected message."""
        self.act_on_selected("quote")

    def action_open_link(self) -> None:
        """Ask whether to open a link of the selected message."""
        self.act_on_selected("open_link")

    def action_graph(self) -> None:
        """Show the selected message among those it builds on."""
        self.act_on_selected("graph")

    async def action_pin(self) -> None:
        """Pin the selected message for everybody, or take its pin off."""
        if (row := self._selected()) is not None:
            command = "/unpin" if row.pinned else "/pin"
            await self._submit(f"{command} {row.line.message_id}")

    def action_reply(self) -> None:
        """Answer the selected message."""
        if (row := self._selected()) is not None:
            self._answering.reply(row)

    async def action_edit(self) -> None:
        """Edit the selected message."""
        if (row := self._selected()) is not None:
            await self._answering.edit(row)

    def action_delete(self) -> None:
        """Ask whether to delete the selected message."""
        if (row := self._selected()) is not None:
            self._answering.delete(row, self.transcript.glyphs)

    def action_react(self) -> None:
        """Ask with which emoji to react to the selected message."""
        if (row := self._selected()) is not None:
            rows = self.transcript.conversation.rows
            self._answering.react(row, rows, self.transcript.glyphs)

    @on(ReactionWanted)
    async def _react_so(self, wish: ReactionWanted) -> None:
        await self._submit(f"/react {wish.message_id} {wish.emoji}")

    async def action_join(self) -> None:
        """Join the channel that the selected message invites to."""
        if (row := self._selected()) is not None:
            await self._join(row.line)

    @on(JoinWanted)
    async def _join_so(self, wish: JoinWanted) -> None:
        conversation = self.transcript.conversation
        if (index := conversation.index_of(wish.message_id)) is not None:
            await self._join(conversation.rows[index].line)

    async def _join(self, line: Line) -> None:
        """Join by what stands in the message, which may still be on its way to the history."""
        offer = offered(line.text)
        way = f"/accept {line.message_id}" if offer is None else f"/join {offer.way_in}"
        await self._submit(way)

    @on(LinkWanted)
    def _ask_to_open(self, wish: LinkWanted) -> None:
        self.acts.ask_to_open([wish.link])

    def action_raw(self) -> None:
        """Show the selected message without markup, or with it again."""
        if (row := self._selected()) is not None:
            self.transcript.switch_markup(row.line.message_id)

    def action_fold(self) -> None:
        """Unfold the selected message, or fold it again."""
        if (row := self._selected()) is not None:
            message_id = row.line.message_id
            if not self.transcript.unfold(message_id) and not self.transcript.fold(message_id):
                self._say("This message is not long enough to fold.")

    async def action_answered(self) -> None:
        """Go to what the selected message answers."""
        if (row := self._selected()) is not None:
            await self._submit(f"/replied {row.line.message_id}")

    def action_back(self) -> None:
        """Come back to the message from which one went to what it answers."""
        place = self._answering.way_back()
        if place is None:
            self._say(self._named(NO_WAY_BACK))
        else:
            self._go(*place)

    async def action_thread(self) -> None:
        """List what answers the selected message."""
        if (row := self._selected()) is not None:
            await self._submit(f"/thread {row.line.message_id}")

    def _selected(self) -> Row | None:
        """Return the row of the selected message; says so if there is none."""
        row = self.transcript.selected()
        if row is None:
            why = gap_actions.NO_MESSAGE if self.transcript.on_gap else NOTHING_SELECTED
            self._say(self._named(why))
        return row

    async def _submit(self, text: str) -> object:
        return await self.app.run_action(f"submit({text!r})")  # an emoji is text of a peer

    def action_hit(self, step: int) -> None:
        """Go to the next hit of the search, an older one; or back, if negative."""
        if self._hits is None:
            self._say(self._named(NOTHING_FOUND))
            return
        self._hits.step(step)
        self._go_to_hit()

    def action_write(self) -> None:
        """Give the keys to the composer; what is selected stays so, for /commands."""
        self._composer.focus()

    def action_command(self) -> None:
        """Begin a command about the selected message."""
        self._composer.focus()
        self._composer.insert("/")

    # -- what the widgets say -------------------------------------------------------------------

    @on(CursorMoved)
    @on(DescendantFocus)
    def show_keys(self) -> None:
        """Say where in the hits we are, or how one comes back to what is selected."""
        transcript = self.transcript
        hits = self._hits
        said = "" if hits is None else hits.said(keys_of(self), self._as_now(hits.line))
        row, on_gap = transcript.selected(), transcript.on_gap
        if (row is not None or on_gap) and not transcript.has_focus:
            words = "a missing message" if row is None else " ".join(row.text.split())
            what = clip_cells(words, SIGNS_SHOWN)
            said = f"Selected: {what} · {self._named(LEFT)}"
        self._keys.show(Content.styled(f"{self.transcript.glyphs.cursor} {said}", DIM))
        self._keys.display = bool(said)
        self.post_message(KeysChanged())

    @on(DetailsWanted)
    def _find_details(self, wish: DetailsWanted) -> None:
        if self.transcript.on_gap:
            self._gaps.open(self.transcript.about)
            return
        if opened := self.transcript.conversation.unfold(wish.message_id):
            self.transcript.apply(opened)
            return
        if self.transcript.unfold(wish.message_id):
            self.show_keys()  # what this causes here does not come back here
            return
        index = self.transcript.conversation.index_of(wish.message_id)
        if index is not None:
            self._show_details(self.transcript.conversation.rows[index].line)

    # -- inside -------------------------------------------------------------------------------

    @property
    def _is_busy(self) -> bool:
        transcript = self.transcript
        return (
            transcript.cursor is not None
            or self._hits is not None
            or bool(transcript.picked_text())
        )

    def _named(self, words: str) -> str:
        return with_keys(words, keys_of(self))

    def _say(self, text: str) -> None:
        self._tell(Notice(text))

    def _end_search(self) -> None:
        if self._hits is not None:
            self._hits = None
            self.transcript.highlight("")
        self.show_keys()

    def _go_to_hit(self) -> None:
        assert self._hits is not None
        self._go_to_line(self._hits.line)

    def _go_to_line(self, line: Line) -> None:
        self._go(line.position, line.message_id, line.channel)

    def _go(
        self,
        position: Position,
        message_id: MessageId | None = None,
        channel: ChannelId | None = None,
    ) -> None:
        going = self._go_to(position, message_id, channel)
        self.run_worker(going, group="going", exclusive=True)

    async def _go_to(
        self, position: Position, wanted: MessageId | None, channel: ChannelId | None
    ) -> None:
        """Bring a place into memory, of another channel if one is named, and select it."""
        if channel not in {None, self.transcript.conversation.channel}:
            await self.app.run_action(f"open_channel('{channel}')")
        held = self.transcript.conversation
        changes = await self._pager.around(held, position)
        if held is not self.transcript.conversation:
            return
        if changes:
            self.transcript.apply(changes)
        if wanted is None or held.index_of(wanted) is None:
            wanted = self.transcript.first_at(position)
        if wanted is None:
            self._say("There is no message there.")
            return
        self.transcript.go_to(wanted)
        self.show_keys()

    def _choose(self, found: "Listed") -> None:
        from chat_tui.transcript.choice_screens import message_entries, message_list

        shared = self._chat.snapshot().shared_names
        lines = {one.message_id: one for one in found.lines}
        listed = message_list(found, self.transcript.glyphs, shared)

        def note(event: Event) -> None:
            if isinstance(event, LineChanged) and event.line.message_id in lines:
                lines[event.line.message_id] = event.line
                now = replace(found, lines=tuple(lines.values()))
                listed.call_later(lambda: listed.renew(message_entries(now, shared)))

        leave = self._chat.subscribe(note)

        def go(chosen: int | None) -> None:
            leave()
            if chosen is not None:
                self._go_to_line(found.lines[chosen])

        self.app.push_screen(listed, go)

    def _show_details(self, line: Line, *, raw: bool = False) -> None:
        from chat_tui.details.message_screen import DetailsScreen

        def now() -> Line:
            return self._as_now(line)

        self.app.push_screen(
            DetailsScreen(self._chat, now, self.acts.act_on, self.transcript.glyphs, raw=raw)
        )

    def _as_now(self, line: Line) -> Line:
        """Return a line as it is by now, if it is in memory."""
        held = self.transcript.conversation
        index = held.index_of(line.message_id)
        return line if index is None else held.rows[index].line
