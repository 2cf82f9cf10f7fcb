"""Sketches of made ids under the key of the golden values."""

import json
from typing import Any, Final

from sync.sketch.key import SketchKey, derived, words_of
from sync.sketch.symbols import Symbols
from sync.structures.sorted_run import Words
from tests.support.sync.sketch import model

VECTORS: Final[dict[str, Any]] = json.loads(model.VECTORS.read_text())
SECRET: Final = bytes.fromhex(VECTORS["secret"])
KEY: Final = SketchKey.of(derived(SECRET))
OF_MODEL: Final = derived(SECRET)


def columns(hashes: list[bytes]) -> Words:
    return words_of(b"".join(hashes))


def sketch_of(hashes: list[bytes], size: int) -> Symbols:
    symbols = Symbols.empty(size)
    symbols.put(columns(hashes), KEY)
    return symbols
