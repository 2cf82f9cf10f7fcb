"""Resolves the person a command names: by name, or by enough of a key to tell namesakes apart."""

from collections.abc import Sequence

from chat_tui.client.chat import Chat
from chat_tui.text.namesakes import look_alike_key
from chat_tui.text.safe_text import clean_nick
from chat_tui.wording import sentences
from sync.entries.identity import fingerprint, short_fingerprint
from sync.errors import LocalError
from sync.view.view import PeerInfo, Snapshot

KEY_MIN = 4
"""Characters of a fingerprint that name somebody: fewer are too easily a name."""


def peer_named(chat: Chat, rest: str, usage: str) -> tuple[PeerInfo, str]:
    """Return who stands at the beginning of `rest`, and what stands behind.

    A name may have spaces: the longest that fits is meant. A fingerprint is hex, with dashes; where
    several names look alike, it says who is meant, alone or behind the name, as it is shown.

    Raises:
        LocalError: nobody is named, nobody of that name is known, or several are.
    """
    text = rest.strip().removeprefix("@")
    if not text:
        raise LocalError(f"Something is missing: write {usage}.")
    snapshot = chat.snapshot()
    fitting, rest = _of_name(snapshot, text)
    word, _, behind = (rest if fitting else text).partition(" ")
    if len(fitting) != 1 and (of_key := _of_key(fitting or snapshot.peers, word)):
        fitting, rest = of_key, behind.strip()
    if not fitting:
        raise LocalError(f"Nobody called {word} is known here. /who lists everyone.")
    if len(fitting) > 1:
        keys = ", ".join(
            f"{short_fingerprint(one.peer)} ({one.trust.value}, {sentences.whereabouts(one)})"
            for one in fitting
        )
        name = clean_nick(fitting[0].nick)
        raise LocalError(f"{len(fitting)} are called {name}: write the key instead. {keys}.")
    return fitting[0], rest


def _of_name(snapshot: Snapshot, text: str) -> tuple[list[PeerInfo], str]:
    """Return who has the longest name that `text` begins with, as it looks, and what is behind."""
    fitting: list[PeerInfo] = []
    longest = 0
    for peer in snapshot.peers:
        nick = clean_nick(peer.nick)
        head, tail = text[: len(nick)], text[len(nick) :]
        if look_alike_key(head) == look_alike_key(nick) and (not tail or tail[0].isspace()):
            if len(nick) > longest:
                fitting, longest = [], len(nick)
            if len(nick) == longest:
                fitting.append(peer)
    return fitting, text[longest:].strip()


def _of_key(peers: Sequence[PeerInfo], word: str) -> list[PeerInfo]:
    """Return those whose key begins with `word`."""
    if len(word) < KEY_MIN:
        return []
    key = word.upper()
    return [
        one
        for one in peers
        if fingerprint(one.peer).startswith(key) or one.peer.startswith(word.lower())
    ]
