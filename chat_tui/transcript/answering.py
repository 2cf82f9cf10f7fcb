"""Keys on a selected message: reply, edit, delete, and the way to what it answers and back."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from chat_tui.keys.table import with_keys
from chat_tui.model.row import Row
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.links import link_spans
from chat_tui.text.markup import is_marked
from chat_tui.text.slash import is_command
from chat_tui.transcript.row_layout import offer_of
from chat_tui.transcript.text_layout import Look, is_written
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

SEPARATOR: Final = " · "
DETAILS: Final = "{reading_details} details"
UNFOLDS: Final = "{reading_details} unfolds"
CLOSES: Final = "{close} back"
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

    def keys(self, row: Row, look: Look, folded: int, cells: int) -> str:
        """Return which keys there are for a message: all, with words for as many as fit.

        Args:
            row: the message.
            look: how it is shown.
            folded: how many of its lines are folded away.
            cells: the room for it.
        """
        chosen = keys_of(self._place)
        first = UNFOLDS if folded else DETAILS
        last = [with_keys(one, chosen) for one in (first, CLOSES)]
        all_of_them = [with_keys(one, chosen) for one in _keys(row, look)]
        said = SEPARATOR.join([*all_of_them, *last])
        worded = len(all_of_them)
        while worded and cell_len(said) > cells:
            worded -= 1
            bare = " ".join(one.partition(" ")[0] for one in all_of_them[worded:])
            said = SEPARATOR.join([*all_of_them[:worded], bare, *last])
        return said


def _keys(row: Row, look: Look) -> Iterator[str]:
    """Yield keys and what they do, those first that are wanted most."""
    line = row.line
    if (offer := offer_of(row)) is not None:
        yield f"{{reading_join}} join {offer.title}"
    if line.act is None:
        yield "{reading_reply} reply"
        if line.own and not line.deleted:
            yield "{reading_edit} edit"
        if not line.deleted:
            yield "{reading_react} react"
        if line.own and not line.deleted:
            yield "{reading_delete} delete"
    yield "{reading_pin} unpin" if row.pinned else "{reading_pin} pin"
    yield "{reading_quote} quote"
    if look.raw:
        yield "{reading_raw} marked up"
    elif is_written(row) and is_marked(row.text):
        yield "{reading_raw} raw"
    if is_written(row) and link_spans(row.text):
        yield "{reading_open} link"
    if line.reply_to is not None:
        yield "{reading_answered} what it answers"
    yield "{reading_thread} answers"
    if look.whole:
        yield "{reading_fold} fold"
    yield "{reading_copy} copy"
