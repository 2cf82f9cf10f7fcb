"""Commands about talking to one person, and about oneself as others see it."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result, channel_info, required
from chat_tui.commands.peer_names import peer_named
from chat_tui.text.me_actions import action_text
from chat_tui.wording import sentences as reports
from sync.view.view import PeerState

AWAY: Final = "away"
"""Said by who gives no reason."""


async def msg(chat: Chat, rest: str, _at: At) -> Result:
    """Open the channel of two with somebody, and write there what stands behind the name."""
    peer, text = peer_named(chat, rest, "/msg, a name, and what to say")
    direct = await chat.open_direct(peer.peer)
    if text:
        await chat.write(direct, text)
    title = reports.channel_title(channel_info(chat, direct))
    name = reports.name_of(chat.snapshot(), peer.peer)
    wait = "" if peer.state is PeerState.UP else " They are away; what you write waits for them."
    return Result(
        text=f"{title} is a channel of two: only {name} and you can read it.{wait}", channel=direct
    )


async def me(chat: Chat, rest: str, at: At) -> Result:
    """Write what one does, as in `* alice waves`."""
    info = channel_info(chat, at.channel)
    await chat.write(info.channel, action_text(required(rest, "/me and what you do")))
    return Result()


async def away(chat: Chat, rest: str, _at: At) -> Result:
    """Tell everybody that one is away, and why; again, without a reason, that one is back."""
    if chat.snapshot().away and not rest:
        await chat.be_away("")
        return Result(text="You are back, and the others see it.")
    await chat.be_away(rest or AWAY)
    return Result(text=f"The others see that you are away: {rest or AWAY}. /away alone ends it.")


ROWS: Final = (
    Command(("/msg",), "name [text]", "write to somebody alone", msg),
    Command(("/me",), "text", "say what you do, as * you wave", me),
    Command(("/away",), "[why]", "others see that you are away; again: back", away),
)
