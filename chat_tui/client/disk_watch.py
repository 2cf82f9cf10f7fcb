"""The disk under a running chat: looked at after a crash, mended, and tried again once it refused.

Nothing of it holds up a first paint: looking happens in a thread, on a connection of its own.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final

from storage.sqlite.database import Database
from sync.errors import LocalError, StorageError
from sync.view.view import Level, Notice

LOOK_S: Final = 2.0
"""Seconds between two looks at a disk that refuses changes, or was found damaged."""

IS_BACK: Final = "The disk can be written again: everything is saved from now on."
READ_IN_PART: Final = (
    "Not all of it could be read (lost in part: {}): the rest is here, others are asked for what "
    "they have, and the damaged file is chat.db.damaged beside it. A failing disk keeps failing: "
    "make a backup, and check its health (smartctl -a)."
)
GONE: Final = (
    "The history of this profile is gone: chat.db was deleted or emptied, and the identity beside "
    "it is older. What others hold comes back from them; what only you "
    "had is lost, and private channels need their invite codes again."
)


class DiskWatch:
    """Looks after `database`; `tell` is given sentences, `begin_anew` is called once it is mended.

    Args:
        database: the open one.
        tell: takes note of a notice.
        begin_anew: what was read before is not to be relied on.
    """

    def __init__(
        self,
        database: Database,
        tell: Callable[[Notice], None],
        begin_anew: Callable[[], None],
    ) -> None:
        self._database = database
        self._tell = tell
        self._begin_anew = begin_anew
        self._hopeless = False

    async def watch_forever(self) -> None:
        """Look after a crash, then mend what is found damaged, and try what was refused."""
        if self._database.ended_badly:
            await self.look()
        while True:
            await asyncio.sleep(LOOK_S)
            if self._database.is_damaged and not self._hopeless:
                await self.mend("SQLite says so")
            elif self._database.refusal:
                with suppress(LocalError):
                    await self._database.try_again()
                    self._tell(Notice(IS_BACK))

    async def look(self) -> None:
        """Look for damage to tables and indexes, and mend it."""
        from storage.sqlite.integrity import beside, problems_of  # noqa: PLC0415  # not at every start

        with suppress(StorageError):  # what cannot be read now is found when it is wanted
            problems = await beside(self._database.path, problems_of)
            if problems:
                await self.mend(problems[0])

    async def mend(self, problem: str) -> None:
        """Make anew what is derived, and say what came of it."""
        try:
            lost = await self._database.mend()
        except StorageError:
            self._hopeless = True
            self._tell(Notice(_not_mended(self._database.path, problem), Level.ERROR))
            return
        self._tell(Notice(_mended(problem, lost), Level.ERROR))
        self._begin_anew()


def _mended(problem: str, lost: Collection[str]) -> str:
    if lost:
        told = READ_IN_PART.format(", ".join(sorted(lost)))
        return f"The history was damaged ({problem}). {told}"
    return (
        f"An index of the history was damaged ({problem}) and has "
        "been rebuilt; no message was lost."
    )


def _not_mended(path: Path, problem: str) -> str:
    return (
        f"The history in {path} is damaged ({problem}), and mending it failed. Note the codes of "
        "your private channels (/invite), close the chat, move that file aside and start again; "
        "what others hold comes back from them."
    )
