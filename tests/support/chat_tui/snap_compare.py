"""The type of the fixture that compares pictures of the screen."""

from collections.abc import Callable

SnapCompare = Callable[..., bool]
