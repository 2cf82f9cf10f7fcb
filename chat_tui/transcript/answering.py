"""Keys on a selected message: reply, edit, delete, and the way to what it answers and back."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from chat_tui.model.row import Row
from chat_tui.text.slash import is_command
from chat_tui.widgets.composer import Composer
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.reactions import RECENT_MAX, choices
from chat_tui.wording.sentences import ID_DRAFTED
from sync.machine import MessageId
from sync.view.view import Position

if TYPE_CHECKING:
    from textual.widget import Widget

PLACES_KEPT: Final = 100
"""Messages to come back to, the last ones; nobody remembers more of the way."""

NO_WAY_BACK: Final = (
    "There is nothing to come back from; {reading_answered} goes to what a message answers."
)


class Answering:
    """Does what these keys mean; `place` is the widget that asks, `submit` runs a command."""

    def __init__(
        self, place: "Widget", composer: Composer, submit: Callable[[str], Awaitable[object]]
    ) -> None:
        self._place, self._composer, self._submit = place, composer, submit
        self._used: list[str] = []
        self._way: list[tuple[Position, MessageId]] = []

    def reply(self, row: Row) -> None:
        """Have the person write a reply; what was begun becomes it, unless it is a command."""
        begun = self._composer.text
        if not is_command(begun):
            self._composer.take_text()
        else:
            begun = ""
        self._composer.begin(f"/reply {row.line.message_id[:ID_DRAFTED]} {begun}")
        self._composer.focus()

    async def edit(self, row: Row) -> None:
        """Have the person edit a message."""
        await self._submit(f"/edit {row.line.message_id}")
        self._composer.focus()

    def react(self, row: Row, rows: Sequence[Row], glyphs: Glyphs) -> None:
        """Ask with which emoji to react; those that we used last among `rows` stand first."""
        from chat_tui.transcript.choice_screens import reaction_list

        used = [one.emoji for each in reversed(rows) for one in each.line.reactions if one.mine]
        emojis = choices([*self._used, *used])

        async def chosen(number: int | None) -> None:
            if number is not None:
                self._used = [emojis[number], *self._used][:RECENT_MAX]
                await self._submit(f"/react {row.line.message_id} {emojis[number]}")

        self._place.app.push_screen(reaction_list(row.line, emojis, glyphs), chosen)

    def delete(self, row: Row, glyphs: Glyphs) -> None:
        """Delete a message once the person has said that they mean it."""
        from chat_tui.transcript.choice_screens import delete_question

        async def answered(number: int | None) -> None:
            if number == 0:
                await self._submit(f"/delete {row.line.message_id}")

        self._place.app.push_screen(delete_question(row, glyphs), answered)

    def came_from(self, place: tuple[Position, MessageId]) -> None:
        """Remember a message to come back to."""
        self._way = [*self._way, place][-PLACES_KEPT:]

    def way_back(self) -> tuple[Position, MessageId] | None:
        """Return the message that one came from last, and forget it; None if there is none."""
        return self._way.pop() if self._way else None

    def forget(self) -> None:
        """Forget the way: another channel is open."""
        self._way.clear()
