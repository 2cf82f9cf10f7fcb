"""/forget: takes somebody who is gone out of the list of people."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.client.peer_names import peer_named
from chat_tui.commands.command import At, Command, Result
from chat_tui.wording import person, sentences
from sync.errors import LocalError
from sync.view.view import PeerInfo, PeerState, Snapshot, Trust

ANYWAY: Final = "anyway"


async def forget(chat: Chat, rest: str, _at: At) -> Result:
    """Forget somebody who is gone; what they wrote stays."""
    peer, word = peer_named(chat, rest, "/forget and a name")
    snapshot = chat.snapshot()
    if word and word.casefold() != ANYWAY:
        raise LocalError(f"{word!r} is too much: write /forget and the name alone.")
    _check(snapshot, peer, insists=bool(word))
    name = sentences.name_of(snapshot, peer.peer)
    await chat.people.forget(peer.peer)
    wrote = f" ({person.stored(peer.stored_messages)})" if peer.stored_messages else ""
    text = f"{name} is forgotten. What they wrote stays here{wrote}; who comes is listed again."
    direct = next((one for one in snapshot.channels if one.direct == peer.peer), None)
    if direct is not None:
        text += f" {sentences.channel_title(direct)} is among your channels until you /leave it."
    return Result(text=text)


def _check(snapshot: Snapshot, peer: PeerInfo, *, insists: bool) -> None:
    """Refuse to forget whom the next second or the channel would bring back, or trust is lost of.

    Raises:
        LocalError: they are here, in a channel with members, or verified and nobody insists.
    """
    name = sentences.name_of(snapshot, peer.peer)
    if peer.state is PeerState.UP:
        raise LocalError(f"{name} is here; only who is gone can be forgotten. /block cuts off.")
    for info in snapshot.channels:
        if info.governance is not None and info.governance.member(peer.peer) is not None:
            raise LocalError(
                f"{name} is a member of {sentences.channel_title(info)}: whoever is in stays in "
                f"the list. /kick {name} there removes them first."
            )
    if peer.trust is Trust.VERIFIED and not insists:
        raise LocalError(
            f"You compared words with {name}: that is forgotten too, and nobody is warned of "
            f"another key with that name then. /forget {name} {ANYWAY} does it."
        )


ROWS: Final = (Command(("/forget",), "name", "take who is gone out of the list", forget),)
