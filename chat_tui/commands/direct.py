"""Commands about talking to one person, and about oneself as others see it."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.peer_names import peer_named
from chat_tui.commands.command import At, Command, Result, required
from chat_tui.text.me_actions import action_text
from chat_tui.wording import sentences
from sync.view.view import PeerState

AWAY: Final = "away"
"""Said by who gives no reason."""


async def msg(chat: Chat, rest: str, _at: At) -> Result:
    """Open the channel of two with somebody, and write there what stands behind the name."""
    peer, text = peer_named(chat, rest, "/msg, a name, and what to say")
    direct = await chat.people.open_direct(peer.peer)
    if text:
        await chat.send_text(direct, text)
    title = sentences.channel_title(channel_info(chat, direct))
    name = sentences.name_of(chat.snapshot(), peer.peer)
    wait = (
        "" if peer.state is PeerState.UP else " They are not here; what you write waits for them."
    )
    return Result(
        text=f"{title} is a channel for two: only {name} and you can read it.{wait}",
        channel=direct,
        wrote=bool(text),
    )


async def me(chat: Chat, rest: str, at: At) -> Result:
    """Write what one does, as in `* alice waves`."""
    info = channel_info(chat, at.channel)
    await chat.send_text(info.channel, action_text(required(rest, "/me ACTION")))
    return Result()


async def away(chat: Chat, rest: str, _at: At) -> Result:
    """Tell everybody that one is away, and why; again, without a reason, that one is back."""
    if chat.snapshot().away and not rest:
        await chat.be_away("")
        return Result(text="You are back; the others can see it.")
    await chat.be_away(rest or AWAY)
    return Result(text=f"The others see that you are away: {rest or AWAY}. /away ends it.")


ROWS: Final = (
    Command(("/msg",), "name [text]", "write to one person", msg),
    Command(("/me",), "text", "describe an action, as in * you wave", me),
    Command(("/away",), "[why]", "show that you are away; again: back", away),
)
