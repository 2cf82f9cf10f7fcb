"""The command that plays the demo: on the screen over the chat, in line mode as lines."""

import asyncio
from threading import Event
from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result
from chat_tui.keys.table import SCENARIOS, with_keys
from sync.errors import LocalError

REAL: Final = (
    "This network is real. In the demo ({demo}), {demo_write} and then /net loss=20 delay=40 "
    "duplicate=10 changes the pretend one; so do its keys {demo_loss}, {demo_delay} and "
    "{demo_twice}."
)


async def demo(chat: Chat, rest: str, _at: At) -> Result:
    """Play a scenario of the demo; in line mode, tell it to its end, beside the chat."""
    number = 1
    if rest:
        if not rest.isdecimal() or not 1 <= int(rest) <= SCENARIOS:
            raise LocalError(f"There is no scenario {rest}: write /demo 1 to /demo {SCENARIOS}.")
        number = int(rest)
    if chat.settings.on_screen:
        return Result(action=f"demo({number})")
    from chat_tui.demo.headless import told  # noqa: PLC0415  # only whoever plays it pays for it

    left = Event()
    try:
        return Result(text=await asyncio.to_thread(told, number, left.is_set))
    finally:
        left.set()


async def net(chat: Chat, _rest: str, _at: At) -> Result:
    """Say where a network can be meddled with."""
    raise LocalError(with_keys(REAL, chat.settings.keys()))


ROWS: Final = (
    Command(("/demo",), "[number]", "watch how it works, without a network", demo),
    Command(("/net",), "loss=20 ...", "in the demo: lose, delay or duplicate frames", net),
)
