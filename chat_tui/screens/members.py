"""/members: who is in a channel, with what can be done about each.

Rule: no key here does anything for good. It begins a command in the input, with the name in it:
the person reads what it says, may add a reason, and Enter does it.
"""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.content import Content

from chat_tui.client.chat import Chat
from chat_tui.keys.places import Place
from chat_tui.screens.people_list import PeopleList
from chat_tui.terminal.key_bindings import bindings_of
from chat_tui.terminal.themed_app import keys_of
from chat_tui.widgets.text_screen import TextScreen
from chat_tui.wording import members_table, membership, person, presence, rights, sentences
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.membership import Row
from chat_tui.wording.panels import BAD
from sync.entries.identity import fingerprint
from sync.machine import ChannelId, PeerId
from sync.view.governance_infos import GovernanceInfo, Right
from sync.view.view import ChannelInfo, Snapshot

BEGUN: Final = {
    "add": Right.MEMBERS,
    "kick": Right.MEMBERS,
    "role": Right.MEMBERS,
    "invite": Right.INVITE,
}
"""Commands that keys begin, and the right that each needs."""

GONE: Final = "Nothing says who is in any more: this channel was left, or its disk is being mended."


class MembersScreen(PeopleList[str | None]):
    """The list; returns a command to begin in the input, or None."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(Place.MEMBERS)

    def __init__(self, chat: Chat, channel: ChannelId, glyphs: Glyphs) -> None:
        super().__init__()
        self._chat, self._channel, self._glyphs = chat, channel, glyphs
        self._refusal: Callable[[Snapshot], str | None] | None = None
        """Tells whether what is said below the list still holds, where it refuses something."""

    def _now(self) -> tuple[ChannelInfo, GovernanceInfo] | None:
        """Return what is known of the channel now; None once it is not here any more."""
        info = sentences.find(self._chat.snapshot(), self._channel)
        return None if info is None or info.governance is None else (info, info.governance)

    def _tick(self) -> None:
        if self._refusal is not None and self._refusal(self._chat.snapshot()) is None:
            self._refusal = None
            self._say("")
        super()._tick()

    def _rows(self) -> list[Row]:
        now = self._now()
        return [] if now is None else membership.rows(self._chat.snapshot(), now[1])

    def people(self) -> list[PeerId]:
        """See `PeopleList`: who is in, who asks, who went."""
        now = self._now()
        return [] if now is None else membership.people(now[1])

    def lines(self, width: int, cursor: int) -> list[Content]:
        """See `PeopleList`."""
        now = self._now()
        if now is None:
            return [Content(GONE)]
        return members_table.table(self._chat.snapshot(), now[1], width, cursor, self._glyphs)

    def heading(self) -> Content:
        """See `PeopleList`."""
        now = self._now()
        if now is None:
            return Content("")
        return members_table.title(self._chat.snapshot(), *now, self.size.width - 2)

    def key_hints(self, width: int) -> Content:
        """See `PeopleList`."""
        return members_table.keys(width, keys_of(self))

    @property
    def chosen(self) -> Row | None:
        """Row under the cursor."""
        at = self.at_cursor
        return next((one for one in self._rows() if one.peer == at), None)

    def action_enter(self) -> None:
        """Show all that is known of one."""
        if (row := self.chosen) is not None:
            self.app.push_screen(TextScreen(row.name, lambda: Content(self._known(row))))

    def _known(self, row: Row) -> str:
        """Return what is known of somebody, here and in general."""
        anew = next((one for one in self._rows() if one.peer == row.peer), row)
        in_it = f"{anew.standing:<10}{anew.history}"
        snapshot = self._chat.snapshot()
        if row.peer == snapshot.me:
            return f"{in_it}\nkey       {fingerprint(row.peer)}; this is you"
        peer = presence.met(snapshot, row.peer)
        if peer is None:
            return f"{in_it}\nkey       {fingerprint(row.peer)}; never met in this run"
        return f"{in_it}\n{person.whois(snapshot, peer)}"

    def action_message(self) -> None:
        """Begin a message to one alone."""
        row = self.chosen
        if row is not None and row.peer != self._chat.snapshot().me:
            self.dismiss(f"/msg {row.name} ")

    def action_begin(self, command: str) -> None:
        """Begin a command about one in the input, or say why it cannot be done."""
        row, now = self.chosen, self._now()
        if row is None or now is None:
            return
        try:
            rights.check(self._chat.snapshot(), *now, BEGUN[command])
        except rights.NotAllowedError as error:
            self._say(str(error), BAD)
            self._refusal = rights.as_long_as_now(self._chat.snapshot(), self._channel)
            return
        about = "" if command == "invite" else f"{row.name} "
        self.dismiss(f"/{command} {about}")
