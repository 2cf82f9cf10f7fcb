"""Resolves the person a command names: by name, or by enough of a key to tell namesakes apart."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from chat_tui.client.chat import Chat
from chat_tui.text.namesakes import look_alike_key
from chat_tui.text.safe_text import clean_nick
from chat_tui.wording import presence
from sync.entries.identity import fingerprint, short_fingerprint
from sync.errors import LocalError
from sync.machine import PeerId
from sync.view.view import PeerInfo

KEY_MIN = 4
"""Characters of a fingerprint that name somebody: fewer are too easily a name."""


class Named(Protocol):
    """Somebody who goes by a name; `nick` is their bytes: sanitise to render."""

    @property
    def peer(self) -> PeerId:
        """Their key."""

    @property
    def nick(self) -> str:
        """Their name, empty if they never told one."""


Somebody = TypeVar("Somebody", bound=Named)


def peer_named(chat: Chat, rest: str, usage: str) -> tuple[PeerInfo, str]:
    """Return which peer stands at the beginning of `rest`, and what stands behind.

    Raises:
        LocalError: nobody is named, nobody of that name is known, or several are.
    """
    snapshot = chat.snapshot()
    own = look_alike_key(clean_nick(snapshot.nick))

    def nobody(word: str) -> str:
        if own in {look_alike_key(word), look_alike_key(rest.strip().removeprefix("@"))}:
            return (
                f"{clean_nick(snapshot.nick)} is you: /whoami. Nobody else of that name is known."
            )
        return f"Nobody called {word} is known here. /who lists everyone."

    return one_named(
        snapshot.peers,
        rest,
        usage,
        nobody,
        lambda one: f"{one.trust.value}, {presence.whereabouts(snapshot, one)}",
    )


def one_named(
    people: Sequence[Somebody],
    rest: str,
    usage: str,
    nobody: Callable[[str], str],
    told_apart: Callable[[Somebody], str],
) -> tuple[Somebody, str]:
    """Return who of `people` stands at the beginning of `rest`, and what stands behind.

    A name may have spaces: the longest that fits is meant. A fingerprint is hex, with dashes; where
    several names look alike, it says who is meant, alone or behind the name, as it is shown. Behind
    a name that fits one person the short one is no text: namesakes of oneself are shown with it.

    Args:
        people: who can be meant.
        rest: what was written.
        usage: what to write.
        nobody: says that nobody goes by a word.
        told_apart: says what is known of one of several who go by one name.

    Raises:
        LocalError: nobody is named, nobody of that name is known, or several are.
    """
    text = rest.strip().removeprefix("@")
    if not text:
        raise LocalError(f"Something is missing: write {usage}.")
    fitting, rest = _of_name(people, text)
    word, _, behind = (rest if fitting else text).partition(" ")
    is_shown = len(fitting) != 1 or word.upper().startswith(short_fingerprint(fitting[0].peer))
    if is_shown and (of_key := _of_key(fitting or people, word)):
        fitting, rest = of_key, behind.strip()
    if not fitting:
        raise LocalError(nobody(word))
    if len(fitting) > 1:
        keys = ", ".join(f"{short_fingerprint(one.peer)} ({told_apart(one)})" for one in fitting)
        name = clean_nick(fitting[0].nick)
        raise LocalError(f"{len(fitting)} are called {name}: write the key instead. {keys}.")
    return fitting[0], rest


def _of_name(people: Sequence[Somebody], text: str) -> tuple[list[Somebody], str]:
    """Return who has the longest name that `text` begins with, as it looks, and what is behind."""
    fitting: list[Somebody] = []
    longest = 0
    for one in people:
        nick = clean_nick(one.nick)
        head, tail = text[: len(nick)], text[len(nick) :]
        if look_alike_key(head) == look_alike_key(nick) and (not tail or tail[0].isspace()):
            if len(nick) > longest:
                fitting, longest = [], len(nick)
            if len(nick) == longest:
                fitting.append(one)
    return fitting, text[longest:].strip()


def _of_key(people: Sequence[Somebody], word: str) -> list[Somebody]:
    """Return those whose key begins with `word`."""
    if len(word) < KEY_MIN:
        return []
    key = word.upper()
    return [
        one
        for one in people
        if fingerprint(one.peer).startswith(key) or one.peer.startswith(word.lower())
    ]
