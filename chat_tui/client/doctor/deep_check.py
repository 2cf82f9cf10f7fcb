"""`chat-tui doctor --deep` and `/doctor deep`: read all messages, and see to what is damaged.

The chat may be open meanwhile: looking happens on a connection that only reads, and what is found
is handed to the open chat, whose machines have to know of it.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Final, Protocol

from chat_tui.client import control_client
from chat_tui.client.disk_watch import READ_IN_PART
from chat_tui.client.doctor.closed_profile import mended, opened
from chat_tui.client.doctor.findings import Finding
from chat_tui.client.setup import Setup
from chat_tui.text.times import count
from chat_tui.wording.contradictions import said
from chat_tui.wording.json_events import Json
from storage.profile.profile import ProfileInUseError
from storage.sqlite.contradictions import all_found
from storage.sqlite.integrity import beside, problems_of, rotten, unknown_values
from storage.sqlite.soundness import Place
from storage.sqlite.sqlite_errors import DamagedError
from sync.errors import LocalError
from sync.view.projection import info_of

TOLD_EVERY: Final = 10_000
"""Messages between two times that progress is told: some tenths of a second."""

SHOWN: Final = 3
"""Ids of damaged messages that are named."""

NOT_MENDED: Final = (
    "Put chat.db back from a backup. Or note the codes of your private channels (/invite), close "
    "the chat, move chat.db aside and start again; what others hold comes back from them."
)

Tell = Callable[[int, int], None]
"""(messages read so far, messages to read)."""


class Mender(Protocol):
    """An open chat, or a profile that nobody has open."""

    async def mend(self) -> frozenset[str]:
        """Make indexes anew, and all else that follows from the messages.

        Returns:
            The tables that could not be read to the end.
        """

    async def set_aside(self, places: Sequence[Place]) -> None:
        """Set damaged messages aside."""


def on_this_loop(tell: Tell) -> Tell:
    """Return what a thread can call to have the event loop of now tell of progress."""
    loop = asyncio.get_running_loop()

    def told(done: int, of: int) -> None:
        with suppress(RuntimeError):  # nobody is there any more
            loop.call_soon_threadsafe(tell, done, of)

    return told


async def findings(setup: Setup, tell: Tell, here: Mender | None = None) -> AsyncGenerator[Finding]:
    """Look at tables, indexes and messages, and yield what was found and done about it.

    `here` is the chat that is open in this program, if it is.
    """
    path = setup.directory / "chat.db"
    if not _may_be_there(path):
        yield Finding("every stored message", "none yet; the first start creates it")
        return
    try:
        yield await _structure(setup, path, here)
        yield await _messages(setup, path, tell, here)
        yield await _values(path)
        yield await _logs(path)
    except LocalError as error:
        fix = NOT_MENDED if isinstance(error, DamagedError) else str(error)
        yield Finding("every stored message", "cannot be read", fix)


def _may_be_there(path: Path) -> bool:
    """Return whether there is a file; True where nobody may look, as whoever opens it says why."""
    try:
        return path.is_file()
    except OSError:
        return True


async def _structure(setup: Setup, path: Path, here: Mender | None) -> Finding:
    what = "tables and indexes"
    problems = await beside(path, problems_of)
    if not problems:
        return Finding(what, "sound")
    mending = mended(setup) if here is None else here.mend()
    lost = await _seen_to(mending, {"do": "mend"})
    left = await beside(path, problems_of)
    if left:
        return Finding(
            what,
            left[0],
            NOT_MENDED,
        )
    if lost:
        return Finding(what, problems[0], READ_IN_PART.format(", ".join(sorted(lost))))
    return Finding(what, problems[0], "Nothing: they were rebuilt from the messages.")


async def _seen_to(work: Awaitable[Collection[str]], request: Json) -> Collection[str]:
    """Return what `work` does, or the open chat where one has the profile: what was not read."""
    try:
        return await work
    except ProfileInUseError as error:
        lost: list[str] = []
        async with aclosing(control_client.ask(error.socket, request)) as replies:
            async for reply in replies:
                lost += map(str, reply.get("lost", ()))  # an older program says nothing of them
        return lost


async def _messages(setup: Setup, path: Path, tell: Tell, here: Mender | None) -> Finding:
    what = "every stored message"
    read = 0

    def note(done: int, of: int) -> None:
        nonlocal read
        read = done
        if done == of or done % TOLD_EVERY == 0:
            tell(done, of)

    bad = await beside(path, lambda db: rotten(db, note))
    total = count(read, "message")
    if not bad:
        return Finding(what, f"{total} read, all sound")
    request: Json = {"do": "set aside", "messages": [[one.hex() for one in place] for place in bad]}
    await _seen_to(_set_aside(setup, bad, here), request)
    ids = ", ".join(stored_id.hex()[:8] for _, stored_id in bad[:SHOWN])
    more = f" and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else ""
    return Finding(
        what,
        f"{total} read, {len(bad):,} of them damaged ({ids}{more})",
        "They are set aside, and peers that have them are asked for them. A failing disk keeps "
        "failing: make a "
        "backup, and check its health (smartctl -a).",
    )


async def _values(path: Path) -> Finding:
    what = "values beside the messages"
    unknown = await beside(path, unknown_values)
    counted = [
        (unknown.deliveries, "mark of an own message", "marks of own messages"),
        (unknown.dropped, "reason to drop a message", "reasons to drop messages"),
        (unknown.clocks, "answer about the clock", "answers about the clock"),
        (unknown.snapshots, "history on its way", "histories on their way"),
    ]
    told = [f"{n:,} {one if n == 1 else more}" for n, one, more in counted if n]
    if not told:
        return Finding(what, "all known")
    return Finding(
        what,
        f"damaged: {', '.join(told)}",
        "Nothing: they count as not there, and such a message of yours as not received. A failing "
        "disk keeps failing: make a backup, and check its health (smartctl -a).",
        warning=True,
    )


async def _logs(path: Path) -> Finding:
    what = "logs of authors"
    found = await beside(path, all_found)
    if not found:
        return Finding(what, "nobody contradicts themselves")
    return Finding(
        what,
        f"{count(len(found), 'contradiction')}: somebody {said(info_of(found[0]))}",
        "Ask its author: a profile that was copied or restored, or two faces; /whois says who.",
        warning=True,
    )


async def _set_aside(setup: Setup, places: Sequence[Place], here: Mender | None) -> Collection[str]:
    """Set damaged messages aside; nothing else is lost by that."""
    if here is not None:
        await here.set_aside(places)
    else:
        async with opened(setup) as closed:
            await closed.set_aside(places)
    return ()
