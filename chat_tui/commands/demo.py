"""The command that plays the demo: on the screen over the chat, in line mode as lines."""

from typing import Final

from chat_tui.chat import Chat
from chat_tui.commands.command import At, Command, Result
from sync.errors import LocalError

SCENARIOS_MAX: Final = 7

AS_LINES: Final = "Leave, then `chat-tui demo --scenario {number} --plain` tells it line by line."


async def demo(_chat: Chat, rest: str, _at: At) -> Result:
    """Play a scenario of the demo."""
    number = 1
    if rest:
        if not rest.isdecimal() or not 1 <= int(rest) <= SCENARIOS_MAX:
            raise LocalError(
                f"There is no scenario {rest}: write /demo 1 to /demo {SCENARIOS_MAX}."
            )
        number = int(rest)
    return Result(text=AS_LINES.format(number=number), action=f"demo({number})")


async def net(_chat: Chat, _rest: str, _at: At) -> Result:
    """Say where a network can be meddled with."""
    raise LocalError(
        "This network is real. In the demo (F4), w and then /net loss=20 delay=40 duplicate=10 "
        "changes the pretend one; so do its keys L, D and U."
    )


ROWS: Final = (
    Command(("/demo",), "[number]", "see how it works, without any network", demo),
    Command(("/net",), "loss=20 ...", "in the demo: lose, delay, double frames", net),
)
