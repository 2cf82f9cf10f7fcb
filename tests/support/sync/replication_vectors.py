"""Vectors of p2panda's replication messages, and why each invalid one is refused."""

import json
from pathlib import Path
from typing import Any, Final

from sync.p2panda.messages import Reason

VECTORS: Final[dict[str, list[dict[str, Any]]]] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "p2panda_cbor_messages.json").read_bytes()
)

REASONS: Final = [
    Reason.UNKNOWN_TYPE,
    Reason.FIELDS,
    Reason.FIELDS,
    Reason.FIELDS,
    Reason.FIELDS,
    Reason.EMPTY_SET,
    Reason.FIELDS,
    Reason.UNKNOWN_TYPE,
    Reason.UNSORTED,
]
"""The reason for which each of the invalid vectors is refused, in their order."""
