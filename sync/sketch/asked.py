"""Symbols that the peer was asked for: in how many messages they come, and those that have come."""

from sync.errors import RemoteError
from sync.sketch.estimate import OPENING, asks, least_further
from sync.sketch.messages import MoreSymbols
from sync.sketch.prefix import IDS_MANY, SYMBOLS_FEW
from sync.sketch.symbols import Symbols


class Asked:
    """See the module docstring."""

    def __init__(self) -> None:
        self.awaited = 0
        """Messages that are to come yet."""
        self.known = 0
        """Symbols that have come."""
        self.fresh = Symbols.empty(0)
        """Those of them that were not tried yet."""
        self._ids: int | None = None
        self._short = False
        """Set once fewer came than follow where there are more."""

    def is_spent(self, kept: int) -> bool:
        """Return whether the peer surely has no more, of the `kept` symbols that are compared."""
        few = self._ids is not None and self._ids <= IDS_MANY
        return self._short or self.known >= kept or (few and self.known == SYMBOLS_FEW)

    def more(self, guess: int, kept: int) -> int:
        """Return how often to ask for what a guess needs, of the `kept` symbols that are compared.

        A peer may keep fewer, until it has told more than these are.
        """
        self.awaited = asks(self.known, guess, SYMBOLS_FEW if self.known < SYMBOLS_FEW else kept)
        return self.awaited

    def hear(self, message: MoreSymbols, kept: int) -> None:
        """Note symbols that have come; where they are fewer than need be, these are all.

        Raises:
            RemoteError: they do not follow those before, or are of another set.
        """
        number = len(message.symbols)
        same = self._ids is None or self._ids == message.ids
        follow = message.first == self.known and same and not self._short
        if not follow or not 0 < number <= kept - self.known:
            raise RemoteError("symbols that do not follow those before")
        # Else a peer could send thousands of them one by one, and each is worth a try.
        self._short = number < (least_further(self.known) if self.known else OPENING)
        self.awaited -= 1
        self.known += number
        self.fresh = self.fresh.with_more(message.symbols)
        self._ids = message.ids

    def take(self) -> Symbols:
        """Return the symbols to be tried, which then are."""
        fresh, self.fresh = self.fresh, Symbols.empty(0)
        return fresh
