"""Whom a command means: a name, or as much of a key as tells two of one name apart."""

from chat_tui import reports
from chat_tui.chat import Chat
from chat_tui.text import clean_nick, same_nick_key
from sync.errors import LocalError
from sync.identity import fingerprint, short_fingerprint
from sync.view import PeerInfo

KEY_MIN = 4
"""Characters of a fingerprint that name somebody: fewer are too easily a name."""


def peer_named(chat: Chat, rest: str, usage: str) -> tuple[PeerInfo, str]:
    """Return who stands at the beginning of `rest`, and what stands behind.

    A name may have spaces: the longest that fits is meant. A fingerprint is hex, with dashes.

    Raises:
        LocalError: nobody is named, nobody of that name is known, or several are.
    """
    text = rest.strip().removeprefix("@")
    if not text:
        raise LocalError(f"Something is missing: write {usage}.")
    peers = chat.snapshot().peers
    fitting: list[PeerInfo] = []
    longest = 0
    for peer in peers:
        nick = clean_nick(peer.nick)
        head, tail = text[: len(nick)], text[len(nick) :]
        if same_nick_key(head) == same_nick_key(nick) and (not tail or tail[0].isspace()):
            if len(nick) > longest:
                fitting, longest = [], len(nick)
            if len(nick) == longest:
                fitting.append(peer)
    if not fitting:
        word = text.split(maxsplit=1)[0]
        longest, key = len(word), word.upper()
        if len(word) >= KEY_MIN:
            fitting = [
                one
                for one in peers
                if fingerprint(one.peer).startswith(key) or one.peer.startswith(word.lower())
            ]
        if not fitting:
            raise LocalError(f"Nobody called {word} is known here. /who lists everybody.")
    if len(fitting) > 1:
        keys = ", ".join(
            f"{short_fingerprint(one.peer)} ({one.trust.value}, {reports.whereabouts(one)})"
            for one in fitting
        )
        name = clean_nick(fitting[0].nick)
        raise LocalError(f"{len(fitting)} are called {name}: write the key instead. {keys}.")
    return fitting[0], text[longest:].strip()
