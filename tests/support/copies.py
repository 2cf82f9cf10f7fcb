"""Copies of what takes long to make: made once in a process, and given out anew each time."""

import io
import pickle
from collections.abc import Callable
from functools import wraps
from typing import Final, Generic, ParamSpec, TypeVar

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

P = ParamSpec("P")
T = TypeVar("T")

KEYS: Final = (X25519PrivateKey,)
"""They cannot be pickled, and never change: copies share them."""


def made_once(make: Callable[P, T]) -> Callable[P, T]:
    """Call `make` once for the same arguments; everybody gets a copy of the result.

    Pickling copies four times as fast as `deepcopy`. It refuses a function inside a function, of
    which a copy would go on using the original.
    """

    originals: dict[object, _Original[T]] = {}

    @wraps(make)
    def copy(*args: P.args, **kwargs: P.kwargs) -> T:
        called = (args, *kwargs.items())
        if called not in originals:
            originals[called] = _Original(make(*args, **kwargs))
        return originals[called].copy()

    return copy


class _Original(Generic[T]):
    """A value in pickled form, and the keys in it."""

    def __init__(self, value: T) -> None:
        written = io.BytesIO()
        pickler = _Pickler(written, pickle.HIGHEST_PROTOCOL)
        pickler.dump(value)
        self._pickled, self._keys = written.getvalue(), pickler.keys

    def copy(self) -> T:
        unpickler = _Unpickler(io.BytesIO(self._pickled))
        unpickler.keys = self._keys
        value: T = unpickler.load()
        return value


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, protocol: int) -> None:
        super().__init__(file, protocol)
        self.keys: list[object] = []

    def persistent_id(self, obj: object) -> int | None:
        if not isinstance(obj, KEYS):
            return None
        self.keys.append(obj)
        return len(self.keys) - 1


class _Unpickler(pickle.Unpickler):
    keys: list[object]

    def persistent_load(self, pid: int) -> object:
        return self.keys[pid]
