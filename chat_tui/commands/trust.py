"""Commands about whom to trust: compare keys, accept, block."""

from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.client.peer_names import peer_named
from chat_tui.commands.command import At, Command, Result
from chat_tui.text.safe_text import clean_nick
from chat_tui.wording import person, safety_words, sentences
from sync.entries.identity import short_fingerprint
from sync.errors import LocalError


async def verify(chat: Chat, rest: str, _at: At) -> Result:
    """Show the words to compare; `match` behind the name says that they are the same."""
    peer, answer = peer_named(chat, rest, "/verify and a name")
    name = clean_nick(peer.nick)
    if answer.casefold() in {"match", "same", "yes"}:
        await chat.people.verify(peer.peer)
        return Result(text=f"{name} ({short_fingerprint(peer.peer)}) is verified.")
    if answer.casefold() == "qr":
        return Result(text=safety_words.qr_text(chat.snapshot().me, peer.peer))
    if answer:
        called = sentences.name_of(chat.snapshot(), peer.peer)
        raise LocalError(f"Write /verify {called}, then /verify {called} match if the words match.")
    return Result(
        text=safety_words.sentence(chat.snapshot().me, peer), action=f"verify({peer.peer!r})"
    )


async def trust(chat: Chat, rest: str, _at: At) -> Result:
    """Accept a changed key without comparing it: of the one named, else the newest warned of."""
    if rest:
        peer = peer_named(chat, rest, "/trust and a name")[0].peer
    else:
        warnings = chat.snapshot().warnings
        if not warnings:
            raise LocalError("No key has changed; there is nothing to accept.")
        peer = warnings[0].peer
    await chat.people.trust(peer)
    return Result(
        text=f"{short_fingerprint(peer)} is accepted, like a key seen "
        "for the first time. /verify compares it."
    )


async def block(chat: Chat, rest: str, _at: At) -> Result:
    """Cut somebody off and hide what they write."""
    peer, _ = peer_named(chat, rest, "/block and a name")
    await chat.people.block(peer.peer)
    name = sentences.name_of(chat.snapshot(), peer.peer)
    return Result(
        text=f"{name} is blocked: no connection, and their messages are hidden, earlier ones too. "
        "Others "
        f"still see them, and they are still passed on, so that everybody's history agrees. "
        f"/unblock {name} undoes it."
    )


async def unblock(chat: Chat, rest: str, _at: At) -> Result:
    """Undo a block."""
    peer, _ = peer_named(chat, rest, "/unblock and a name")
    await chat.people.unblock(peer.peer)
    name = sentences.name_of(chat.snapshot(), peer.peer)
    return Result(text=f"{name} is no longer blocked; what they wrote is back.")


async def whois(chat: Chat, rest: str, _at: At) -> Result:
    """Show what is known about a person."""
    peer, _ = peer_named(chat, rest, "/whois and a name")
    return Result(text=person.whois(chat.snapshot(), peer))


ROWS: Final = (
    Command(("/whois",), "name", "show what is known about a person", whois),
    Command(("/verify",), "name", "verify a person by comparing words", verify),
    Command(("/trust",), "[name]", "accept a changed key without verifying it", trust),
    Command(("/block",), "name", "block a person and hide their messages", block),
    Command(("/unblock",), "name", "undo that", unblock),
)
