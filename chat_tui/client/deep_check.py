"""`chat-tui doctor --deep`: reads every stored message, and sees to what is damaged.

The chat may be open meanwhile: looking happens on a connection that only reads, and what is found
is handed to the open chat, whose machines have to know of it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Final

from chat_tui.client import control_server as control
from chat_tui.client.doctor_findings import Finding
from chat_tui.client.live import Client
from chat_tui.client.setup import Setup
from chat_tui.text.safe_text import count
from chat_tui.wording.contradictions import said
from chat_tui.wording.json_events import Json
from storage.profile.profile import ProfileInUseError
from storage.sqlite.contradictions import all_found
from storage.sqlite.integrity import beside, problems_of, rotten
from sync.errors import LocalError
from sync.view.projection import info_of

TOLD_EVERY: Final = 10_000
"""Messages between two times that progress is told: some tenths of a second."""

SHOWN: Final = 3
"""Ids of damaged messages that are named."""

Tell = Callable[[int, int], None]
"""(messages read so far, messages to read)."""


async def findings(setup: Setup, tell: Tell) -> AsyncGenerator[Finding]:
    """Look at tables, indexes and messages, and yield what was found and done about it."""
    path = setup.data_dir / setup.profile / "chat.db"
    if not path.is_file():
        yield Finding("every stored message", "none yet; the first start makes a history")
        return
    try:
        yield await _structure(setup, path)
        yield await _messages(setup, path, tell)
        yield await _logs(path)
    except LocalError as error:
        yield Finding("every stored message", "cannot be read", str(error))


async def _structure(setup: Setup, path: Path) -> Finding:
    what = "tables and indexes"
    problems = await beside(path, problems_of)
    if not problems:
        return Finding(what, "sound")
    await _hand_over(setup, {"do": "mend"}, Client.mend)
    left = await beside(path, problems_of)
    if left:
        return Finding(
            what,
            left[0],
            "Note the codes of your private channels (/invite), close the chat, move chat.db aside "
            "and start again; what others hold comes back from them.",
        )
    return Finding(what, f"{problems[0]}", "Nothing: they were made anew from the messages.")


async def _messages(setup: Setup, path: Path, tell: Tell) -> Finding:
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
        return Finding(what, f"{total} read, all as they were stored")
    request: Json = {"do": "set aside", "messages": [[one.hex() for one in place] for place in bad]}
    await _hand_over(setup, request, partial(Client.set_aside, places=bad))
    ids = ", ".join(stored_id.hex()[:8] for _, stored_id in bad[:SHOWN])
    more = f" and {len(bad) - SHOWN:,} more" if len(bad) > SHOWN else ""
    return Finding(
        what,
        f"{total} read, {len(bad):,} of them damaged ({ids}{more})",
        "They are set aside, and asked for when others are here who have them. A disk that rots "
        "goes on: make a backup, and look at its health (smartctl -a).",
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


async def _hand_over(setup: Setup, request: Json, do: Callable[[Client], Awaitable[None]]) -> None:
    """Have the open chat do it, or do it ourselves where none is."""
    try:
        client = await Client.open(setup)
    except ProfileInUseError as error:
        async with aclosing(control.ask(error.socket, request)) as replies:
            async for _ in replies:
                pass
        return
    try:
        await do(client)
    finally:
        await client.close()
