"""Disk space of each author, for the screens; asks once about authors who take very much.

Nothing is refused automatically: the order of arrival would then decide who stores what.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from chat_tui.client.trust_book import TrustBook
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import ASK_ABOVE_MB
from chat_tui.text.safe_text import clean_nick
from chat_tui.text.times import KILOBYTE, size
from chat_tui.wording.person import stored
from storage.sqlite.authors import AuthorStore, Taken
from storage.sqlite.database import Database
from sync.entries.identity import short_fingerprint
from sync.errors import StorageError
from sync.machine import PeerId
from sync.view.infos import AuthorInfo
from sync.view.view import Event, Notice, Snapshot

AUTHORS_SHOWN: Final = 100
"""Authors whose sizes a snapshot has: it is made once a second."""

EVERY: Final = 60.0
"""Seconds between two looks: one short query."""


class AuthorSizes:
    """See the module docstring; `tell` passes an event on to the listeners."""

    def __init__(
        self,
        me: PeerId,
        database: Database,
        settings: Preferences,
        book: TrustBook,
        tell: Callable[[Event], None],
    ) -> None:
        self.taken: dict[PeerId, Taken] = {}
        self._me = me
        self._store = AuthorStore(database)
        self._settings = settings
        self._book = book
        self._tell = tell

    async def look_forever(self) -> None:
        """Look once a minute; a disk that cannot be read says so elsewhere."""
        while True:
            with suppress(StorageError):
                await self.look()
            await asyncio.sleep(EVERY)

    async def look(self) -> None:
        """Learn what everybody takes, and ask about who takes more than the person has set.

        Raises:
            StorageError: the disk refused.
        """
        self.taken = await self._store.heaviest()
        most = self._settings[ASK_ABOVE_MB] * KILOBYTE * KILOBYTE
        for author, taken in self.taken.items():
            if not most or taken.bytes < most:
                return  # the others take less
            if taken.asked or author == self._me or self._book.is_blocked(author):
                continue
            self._tell(Notice(self._question(author, taken)))
            await self._store.note_asked(author)

    def dress(self, snapshot: Snapshot) -> Snapshot:
        """Return `snapshot` with what each of its people takes here, once that is known."""
        if not self.taken:
            return snapshot
        peers = [
            replace(one, stored_messages=taken.messages, stored_bytes=taken.bytes)
            if (taken := self.taken.get(one.peer)) is not None
            else one
            for one in snapshot.peers
        ]
        authors = [
            AuthorInfo(who, taken.messages, taken.bytes) for who, taken in self.taken.items()
        ]
        return replace(snapshot, peers=tuple(peers), authors=tuple(authors[:AUTHORS_SHOWN]))

    def _question(self, author: PeerId, taken: Taken) -> str:
        key, person = short_fingerprint(author), self._book.people.get(author)
        who = f"{clean_nick(person.nick)} ({key})" if person is not None else key
        return (
            f"{who} has {stored(taken.messages)} here, {size(taken.bytes)}. /block {key} keeps "
            "further ones out; if that is fine, do nothing: you are asked once."
        )
