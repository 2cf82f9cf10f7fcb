"""Commands about what one writes."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.commands.command import At, Command, Result
from chat_tui.settings.schema import TYPING_NOTICES
from chat_tui.wording import sentences
from sync.errors import LocalError
from sync.machine import MessageId
from sync.sds.message import Delivery
from sync.view.view import ChannelInfo, OutgoingInfo

UNANSWERED: Final = (
    "It waits for your answer about the clock: /clock follow or /clock stay sends what waits."
)


async def typing(chat: Chat, rest: str, _at: At) -> Result:
    """Say whether others see that we type, and change it."""
    if rest.casefold() not in {"", "on", "off"}:
        raise LocalError("Use /typing on or /typing off.")
    if rest:
        chat.settings.change(TYPING_NOTICES, rest.casefold() == "on")
    if chat.settings[TYPING_NOTICES]:
        return Result(text="Others see that you are typing. /typing off hides it.")
    return Result(text="Others do not see that you are typing. /typing on shows it.")


async def resend(chat: Chat, rest: str, at: At) -> Result:
    """Send an own message again: the one named, else the first that failed."""
    info = channel_info(chat, at.channel)
    waiting = {*info.parked_own, *[one.message_id for one in info.outgoing]}
    selected = at.selected if at.selected in waiting else None
    message_id = _to_resend(info, rest.casefold() or selected or "")
    question = chat.snapshot().clock.question
    if message_id in info.parked_own and question is not None and info.channel in question.channels:
        raise LocalError(UNANSWERED)
    sent = await chat.resend(info.channel, message_id)
    if sent != message_id:
        return Result(
            text=f"Written again, with the current time: {sentences.short_id(sent)}. "
            f"{sentences.short_id(message_id)}, set aside until its time, is hidden as replaced."
        )
    return Result(text=f"Sent again: {sentences.short_id(message_id)}.")


def _to_resend(info: ChannelInfo, prefix: str) -> MessageId:
    """Return the unacknowledged message meant; a failed one before one that is still tried.

    Or one that was set aside because our clock was wrong: that is written anew.

    Raises:
        LocalError: there is none, or the prefix fits several.
    """
    fitting = [outgoing for outgoing in info.outgoing if outgoing.message_id.startswith(prefix)]
    aside = [message_id for message_id in info.parked_own if message_id.startswith(prefix)]
    if aside and (not fitting or (prefix and len(aside) == 1)):
        return aside[0]
    if not fitting:
        what = f"No message of yours that begins with {prefix}" if prefix else "Nothing of yours"
        raise LocalError(f"{what} waits for an acknowledgement here; /missing lists what does.")
    if prefix and len(fitting) > 1:
        raise LocalError(f"{len(fitting)} messages begin with {prefix}; type more of the id.")

    def still_tried(outgoing: OutgoingInfo) -> bool:
        return outgoing.delivery is not Delivery.FAILED

    return min(fitting, key=still_tried).message_id


ROWS: Final = (
    Command(("/typing",), "[on or off]", "show or hide that you are typing", typing),
    Command(("/resend",), "[id]", "resend a message that nobody acknowledged", resend),
)
