"""Kinds of values that settings may have: how each is typed, kept in a file, and shown.

Rules:
1. `parse` takes what a person types, `read` what a TOML file holds, `written` gives that back.
2. A refusal names the values that are allowed.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from chat_tui.keys.names import parse_keys
from chat_tui.keys.places import Place
from sync.errors import LocalError

TomlValue: TypeAlias = bool | int | str | list[str]

T = TypeVar("T")

ON: Final = frozenset({"on", "yes", "true", "1"})
OFF: Final = frozenset({"off", "no", "false", "0"})

DAY_MINUTES: Final = 24 * 60
CLOCK: Final = r"(\d{1,2}):(\d{2})\s*(?:-|to)\s*(\d{1,2}):(\d{2})"


class Kind(Protocol[T]):
    """The values of one setting."""

    @property
    def expected(self) -> str:
        """Description of the accepted values, for sentences: `on or off`."""

    @property
    def choices(self) -> tuple[str, ...]:
        """All values as they are typed; none if they cannot be listed."""

    def parse(self, text: str) -> T:
        """Return what a person typed.

        Raises:
            LocalError: it is none of the values.
        """

    def read(self, value: object) -> T:
        """Return what a file holds.

        Raises:
            LocalError: it is none of the values.
        """

    def written(self, value: T) -> TomlValue:
        """Return what a file holds for `value`."""

    def shown(self, value: T) -> str:
        """Return `value` as it would be typed."""


class Unfit(LocalError):  # noqa: N818  it is a sentence for the person, as every LocalError
    """A value a setting cannot have."""

    def __init__(self, value: object, expected: str) -> None:
        shown = {True: "on", False: "off"}.get(value, value) if value in (True, False) else value
        super().__init__(f"{shown} is not valid: it is {expected}.")


class Switch(Struct, frozen=True):
    """On or off."""

    expected: str = "on or off"
    choices: tuple[str, ...] = ("on", "off")

    def parse(self, text: str) -> bool:
        """See `Kind`."""
        word = text.strip().casefold()
        if word not in ON | OFF:
            raise Unfit(text, self.expected)
        return word in ON

    def read(self, value: object) -> bool:
        """See `Kind`."""
        if isinstance(value, bool):
            return value
        raise Unfit(value, "true or false")

    def written(self, value: bool) -> TomlValue:  # noqa: FBT001  it is the value itself
        """See `Kind`."""
        return value

    def shown(self, value: bool) -> str:  # noqa: FBT001  it is the value itself
        """See `Kind`."""
        return "on" if value else "off"


class OneOf(Struct, frozen=True):
    """One of some words."""

    choices: tuple[str, ...]

    @property
    def expected(self) -> str:
        """See `Kind`."""
        return one_of(self.choices)

    def parse(self, text: str) -> str:
        """See `Kind`."""
        return self.read(text.strip().casefold())

    def read(self, value: object) -> str:
        """See `Kind`."""
        if value in self.choices:
            return str(value)
        raise Unfit(value, self.expected)

    def written(self, value: str) -> TomlValue:
        """See `Kind`."""
        return value

    def shown(self, value: str) -> str:
        """See `Kind`."""
        return value


class Whole(Struct, frozen=True):
    """A whole number from `low` to `high`."""

    low: int
    high: int
    choices: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """See `Kind`."""
        return f"a whole number from {self.low} to {self.high}"

    def parse(self, text: str) -> int:
        """See `Kind`."""
        try:
            return self.read(int(text))
        except ValueError:
            raise Unfit(text, self.expected) from None

    def read(self, value: object) -> int:
        """See `Kind`."""
        if type(value) is int and self.low <= value <= self.high:  # True is no number here
            return value
        raise Unfit(value, self.expected)

    def written(self, value: int) -> TomlValue:
        """See `Kind`."""
        return value

    def shown(self, value: int) -> str:
        """See `Kind`."""
        return str(value)


class OrNone(Struct, Generic[T], frozen=True):
    """A value of `kind`, or none, for which `none` is written."""

    kind: Kind[T]
    none: str

    @property
    def choices(self) -> tuple[str, ...]:
        """See `Kind`."""
        return ()

    @property
    def expected(self) -> str:
        """See `Kind`."""
        return f"{self.kind.expected}, or {self.none}"

    def parse(self, text: str) -> T | None:
        """See `Kind`."""
        return self._unless_none(text.strip().casefold(), lambda: self.kind.parse(text))

    def read(self, value: object) -> T | None:
        """See `Kind`."""
        return self._unless_none(value, lambda: self.kind.read(value))

    def written(self, value: T | None) -> TomlValue:
        """See `Kind`."""
        return self.none if value is None else self.kind.written(value)

    def shown(self, value: T | None) -> str:
        """See `Kind`."""
        return self.none if value is None else self.kind.shown(value)

    def _unless_none(self, value: object, read: Callable[[], T]) -> T | None:
        if value == self.none:
            return None
        try:
            return read()
        except Unfit:
            raise Unfit(value, self.expected) from None


class Text(Struct, frozen=True):
    """A text that `check` finds nothing wrong with; what it raises says what to do."""

    expected: str
    check: Callable[[str], object]
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> str:
        """See `Kind`."""
        self.check(text)
        return text

    def read(self, value: object) -> str:
        """See `Kind`."""
        if isinstance(value, str):
            return self.parse(value)
        raise Unfit(value, self.expected)

    def written(self, value: str) -> TomlValue:
        """See `Kind`."""
        return value

    def shown(self, value: str) -> str:
        """See `Kind`."""
        return value


class Words(Struct, frozen=True):
    """Any number of texts that `check` finds nothing wrong with; typed with spaces between.

    For none of them, `none` is typed.
    """

    expected: str
    check: Callable[[str], object]
    none: str = "none"
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> tuple[str, ...]:
        """See `Kind`."""
        if text.strip().casefold() == self.none:
            return ()
        words = text.replace(",", " ").split()
        if not words:
            raise Unfit(text, self.expected)
        return self.read(words)

    def read(self, value: object) -> tuple[str, ...]:
        """See `Kind`."""
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise Unfit(value, self.expected)
        for word in value:
            self.check(word)
        return tuple(value)

    def written(self, value: tuple[str, ...]) -> TomlValue:
        """See `Kind`."""
        return list(value)

    def shown(self, value: tuple[str, ...]) -> str:
        """See `Kind`."""
        return " ".join(value) or self.none


class KeyList(Struct, frozen=True):
    """One key or more, any of which does the same in a place."""

    place: Place = Place.EVERYWHERE
    expected: str = "names of keys, like f12, alt+r"
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> tuple[str, ...]:
        """See `Kind`."""
        return parse_keys(text, self.place)

    def read(self, value: object) -> tuple[str, ...]:
        """See `Kind`."""
        if isinstance(value, str):
            return parse_keys(value, self.place)
        if isinstance(value, list) and all(isinstance(key, str) for key in value):
            return parse_keys(",".join(value), self.place)
        raise Unfit(value, self.expected)

    def written(self, value: tuple[str, ...]) -> TomlValue:
        """See `Kind`."""
        return ", ".join(value)

    def shown(self, value: tuple[str, ...]) -> str:
        """See `Kind`."""
        return ", ".join(value)


class Hours(Struct, frozen=True):
    """A part of the day, possibly over midnight: minutes of the day it begins and ends at."""

    expected: str = 'a time of day like "22:00-07:00"'
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> tuple[int, int]:
        """See `Kind`."""
        found = re.fullmatch(CLOCK, text.strip())
        if found is None:
            raise Unfit(text, self.expected)
        hours = [int(part) for part in found.groups()]
        begin, end = hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
        if max(hours[1], hours[3]) >= 60 or max(begin, end) > DAY_MINUTES:  # noqa: PLR2004
            raise Unfit(text, self.expected)
        return begin % DAY_MINUTES, end % DAY_MINUTES

    def read(self, value: object) -> tuple[int, int]:
        """See `Kind`."""
        if isinstance(value, str):
            return self.parse(value)
        raise Unfit(value, self.expected)

    def written(self, value: tuple[int, int]) -> TomlValue:
        """See `Kind`."""
        return self.shown(value)

    def shown(self, value: tuple[int, int]) -> str:
        """See `Kind`."""
        return "-".join(f"{minutes // 60:02}:{minutes % 60:02}" for minutes in value)


def one_of(choices: Sequence[str]) -> str:
    """Return `a, b or c`."""
    *before, last = choices
    return f"{', '.join(before)} or {last}" if before else last
