"""The command about clocks: what stands, and the answer to what is asked about ours."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.client.parked_lines import READ_MAX
from chat_tui.commands.command import At, Command, Result
from chat_tui.wording import clocks
from sync.errors import LocalError
from sync.view.view import NOT_ASKED

FOLLOW: Final = "follow"
STAY: Final = "stay"


async def clock(chat: Chat, rest: str, at: At) -> Result:
    """Say what is known of our clock and what waits for its time, or answer the question."""
    answer = rest.casefold()
    if answer in {FOLLOW, STAY}:
        question = chat.snapshot().clock.question
        if question is None:
            raise LocalError(f"{NOT_ASKED} /clock shows the details.")
        said = clocks.answered(chat.snapshot(), question, follow=answer == FOLLOW)
        await chat.answer_clock(follow=answer == FOLLOW)
        return Result(text=said)
    if rest:
        raise LocalError("Use /clock follow, /clock stay, or /clock to see the details.")
    parked = [] if at.channel is None else await chat.history.parked(at.channel, limit=READ_MAX)
    return Result(text=clocks.report(chat.snapshot(), parked))


ROWS: Final = (Command(("/clock",), "[answer]", "clock differences: show, follow, or stay", clock),)
