"""Sessions wished for, and of those the ones that peers without a place are asked for.

Whoever is in hundreds of channels with a peer wishes for as many sessions with it, one after the
other: while one of them runs, nothing that happens makes another one begin.
"""

from collections.abc import Iterator, Mapping, MutableMapping

from sync.machine import PeerId
from sync.manager.wishes import Wish
from sync.sessions.values import SessionKey


class Wishes(MutableMapping[SessionKey, Wish]):
    """See the module docstring."""

    def __init__(self) -> None:
        self._wishes: dict[SessionKey, Wish] = {}
        self._keys: dict[PeerId, set[SessionKey]] = {}
        """The same by peer."""

    def __getitem__(self, key: SessionKey) -> Wish:
        return self._wishes[key]

    def __setitem__(self, key: SessionKey, wish: Wish) -> None:
        self._wishes[key] = wish
        self._keys.setdefault(key.peer, set()).add(key)

    def __delitem__(self, key: SessionKey) -> None:
        del self._wishes[key]
        keys = self._keys[key.peer]
        keys.discard(key)
        if not keys:
            del self._keys[key.peer]

    def __iter__(self) -> Iterator[SessionKey]:
        return iter(self._wishes)

    def __len__(self) -> int:
        return len(self._wishes)

    def of_others(self, held: Mapping[str, int]) -> list[SessionKey]:
        """Return the keys with peers that hold none of the places; `held` counts them by peer."""
        return [key for peer, keys in self._keys.items() if not held.get(peer) for key in keys]
