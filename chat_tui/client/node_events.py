"""Events of the node on their way to the listeners: left out, put into words, given names."""

from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from chat_tui.client.memberships import Memberships
from chat_tui.client.people import People
from chat_tui.wording.contradictions import Contradictions
from storage.sqlite.database import Database
from sync.errors import LocalError
from sync.machine import ChannelId, PeerId
from sync.view.governance_infos import Person
from sync.view.view import (
    ContradictionInfo,
    ContradictionShown,
    Event,
    LineChanged,
    MessageShown,
    Notice,
)


class NodeEvents:
    """See the module docstring; it keeps the contradictions that were found, of earlier runs too.

    Args:
        memberships: our channels; nothing is told of those that we have left.
        people: take note of events, and nothing is told of who is blocked.
        tell: passes an event on to the listeners.
        called: returns the name that somebody goes by.
        known_as: returns what somebody went by when they were met last.
        me: whose chat this is.
    """

    def __init__(
        self,
        memberships: Memberships,
        people: People,
        tell: Callable[[Event], None],
        called: Callable[[PeerId], str],
        known_as: Callable[[PeerId], str],
        me: PeerId,
    ) -> None:
        self.contradictions = Contradictions(people.has_standing, me)
        self._memberships = memberships
        self._people = people
        self._tell = tell
        self._called = called
        self._known_as = known_as

    async def load(self, database: Database) -> None:
        """Learn which contradictions were found in earlier runs."""
        from storage.sqlite.contradictions import all_found  # noqa: PLC0415  # not for a first paint
        from sync.view.projection import info_of  # noqa: PLC0415

        with suppress(LocalError):
            found = await database.read(all_found)
            self.contradictions.load(info_of(one) for one in found)

    def pass_on(self, event: Event) -> None:
        """Take note of an event, and tell the listeners what is for them."""
        if self._memberships.is_leaving(getattr(event, "channel", ChannelId(""))):
            return
        if isinstance(event, ContradictionShown):
            if self._people.book.is_blocked(event.found.author):
                return
            self._tell_once(event.found)
        if self._people.note_event(event):
            self._tell(self._named(event))

    def _tell_once(self, found: ContradictionInfo) -> None:
        sentence = self.contradictions.note_found(found, self._called)
        if sentence:
            self._tell(Notice(sentence))

    def _named(self, event: Event) -> Event:
        """Return an event with the name of the admin who has hidden a line."""
        if not isinstance(event, MessageShown | LineChanged) or event.line.hidden_by is None:
            return event
        by = event.line.hidden_by.peer
        named = Person(by, self._known_as(by))
        return replace(event, line=replace(event.line, hidden_by=named))
