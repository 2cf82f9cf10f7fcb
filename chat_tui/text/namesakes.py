"""Names that a reader would take for each other: which they are, and what tells their keys apart.

Rules:
1. Two keys whose names look alike are never shown the same: each has its short fingerprint beside.
2. Nobody can write that fingerprint: a name that ends with one is taken for what stands before it,
   and always has its own beside it.
3. A channel whose name looks like that of one joined before has a sign that no name can have;
   one of two is called as its other end is, by the name they go by now.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from chat_tui.text.look_alikes import CAPITALS, LETTERS
from chat_tui.text.safe_text import clean_nick, same_nick_key
from sync.entries.identity import short_fingerprint
from sync.machine import PeerId
from sync.view.infos import ChannelInfo
from sync.view.view import CausalNode, Line

NAMES_MAX: Final = 10_000
"""Names remembered of a run; one more is shown with its key, as if somebody else had it too."""

SIGN_SIZE: Final = 4
"""Digits of a channel's id behind a name that looks like another one."""

_FINGERPRINT: Final = re.compile(r"(?:[\s(\[]+[0-9a-flo]{4}-[0-9a-flo]{4}[)\]]*)+$")
"""Of a folded name: keys of our making behind it, 0 and 1 folded as in all names."""


@lru_cache(maxsize=4096)
def look_alike_key(nick: str) -> str:
    """Return what two names share that a reader could take for each other."""
    letters = _folded(nick)
    bare = _FINGERPRINT.sub("", letters) or letters
    return bare.replace("i", "l").replace("rn", "m").replace("vv", "w")


@lru_cache(maxsize=4096)
def ends_like_a_key(nick: str) -> bool:
    """Return whether a name ends with what a reader could take for a short fingerprint."""
    return _FINGERPRINT.search(_folded(nick)) is not None


def _folded(nick: str) -> str:
    latin = unicodedata.normalize("NFKC", clean_nick(nick)).translate(CAPITALS)
    plain = unicodedata.normalize("NFKD", same_nick_key(latin))
    return "".join(one for one in plain if not unicodedata.combining(one)).translate(LETTERS)


class Names:
    """Names heard in this run with their first key, and which of them several keys share."""

    def __init__(self) -> None:
        self._first: dict[str, PeerId] = {}
        self.shared: frozenset[str] = frozenset()
        """The `look_alike_key` of every name that several keys go by."""

    def hear(self, peer: PeerId, nick: str) -> bool:
        """Note that `peer` goes by `nick`; returns whether the name has just become shared."""
        key = look_alike_key(nick)
        if key in self.shared:
            return False
        first = self._first.get(key)
        if first is None and len(self._first) < NAMES_MAX:
            self._first[key] = peer
        if first in {None, peer}:
            return False
        self.shared |= {key}
        return True

    def called(self, peer: PeerId, nick: str) -> str:
        """Return the name of `peer`, noted, with what tells it apart; safe to show."""
        self.hear(peer, nick)
        alone = self._first.get(look_alike_key(nick)) == peer
        return called(peer, nick, self.shared if alone else {look_alike_key(nick)})


def shared_among(
    lines: Iterable[Line | CausalNode], shared: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return `shared` with the names that the authors of some messages share."""
    written = [(line.author, line.nick) for line in lines if line.author is not None and line.nick]
    return shared_by(written) | shared


def shared_by(people: Iterable[tuple[PeerId, str]]) -> frozenset[str]:
    """Return the names that several of some people share."""
    names = Names()
    for peer, nick in people:
        names.hear(peer, nick)
    return names.shared


def called(peer: PeerId, nick: str, shared: Set[str]) -> str:
    """Return a name as it is shown where the names `shared` are those of several keys."""
    name = clean_nick(nick)
    if look_alike_key(nick) in shared or ends_like_a_key(nick):
        return f"{name} {short_fingerprint(peer)}"
    return name


def named_after(info: ChannelInfo, nick: str, shared: Set[str]) -> ChannelInfo:
    """Return a channel of two under the name of its other end, with the key where it is needed."""
    assert info.direct is not None
    if clean_nick(nick) == clean_nick(""):
        return replace(info, name=short_fingerprint(info.direct), sign="")
    key = called(info.direct, nick, shared).removeprefix(clean_nick(nick))
    return replace(info, name=nick, sign=key)


def tell_apart(channels: Sequence[ChannelInfo]) -> tuple[ChannelInfo, ...]:
    """Return channels with signs on those whose names look like an earlier one's; not of two."""
    seen: set[str] = set()
    told: list[ChannelInfo] = []
    for info in channels:
        if info.direct is not None:
            told.append(info)
            continue
        key = look_alike_key(info.name)
        sign = f"~{info.channel[:SIGN_SIZE]}" if key in seen else ""
        seen.add(key)
        told.append(replace(info, sign=sign) if sign else info)
    return tuple(told)
