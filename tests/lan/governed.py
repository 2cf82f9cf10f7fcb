"""Things that people do in governed channels of the lab."""

import asyncio

from tests.support.processes import PlainProcess

WITHIN_S = 60.0
"""A cut link is noticed within 14 s and dialled again; several programs share two cores."""


async def do(process: PlainProcess, line: str) -> str:
    """Type a /command that must be done; returns what it says."""
    result = await process.ask(line)
    assert result["ok"], (line, result)
    return str(result["text"])


async def founded(process: PlainProcess, name: str = "plans") -> str:
    """Found a channel; returns the line by which others enter."""
    await do(process, f"/create {name}")
    return code_of(await do(process, "/invite"))


def code_of(text: str) -> str:
    """Return the line by which somebody enters, of what /invite says."""
    return next(line.strip() for line in text.splitlines() if line.strip().startswith("/join "))


async def entered(process: PlainProcess, code: str, *there: PlainProcess) -> None:
    """Enter by a code, and wait until lines go both ways."""
    await do(process, code)
    hello = f"{process.person.name} is here"
    await can_write(process, hello)
    for other in there:
        await reads(other, hello)


async def can_write(process: PlainProcess, text: str) -> None:
    """Write a line as soon as one may, which is once the join is here."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            since = process.mark()
            await process.send(text)
            answer = await process.wait_for(
                lambda event: (
                    event["event"] in {"message", "result", "error"}
                    and (event["event"] != "message" or event["text"] == text)
                ),
                since=since,
            )
            if answer["event"] == "message":
                return


async def reads(process: PlainProcess, text: str) -> None:
    """Wait until somebody is shown a line."""
    await process.wait_for("message", text=text, within_s=WITHIN_S)
