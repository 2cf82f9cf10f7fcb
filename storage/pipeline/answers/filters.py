"""Row filters of `show`: by node, author, message and channel, with the beginnings of their ids."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from storage.pipeline.answers.local_results import Table, open_dataset
from storage.pipeline.answers.people import Names
from storage.pipeline.errors import PipelineError

NODES: Final = ("node", "member", "peer")
AUTHORS: Final = ("author",)
MESSAGES: Final = ("message_id", "message_ids", "parent", "parents")
CHANNELS: Final = ("channel",)

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "node": NODES,
    "author": AUTHORS,
    "message": MESSAGES,
    "channel": CHANNELS,
}
"""Columns that an option looks at: a row counts if one of them fits."""

ID_DIGITS: Final = 64
DIGITS: Final = re.compile(f"[0-9a-f]{{1,{ID_DIGITS}}}")

MEMBERS_MAX: Final = 1_000_000
"""Numbered members of a delivery that are looked through."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Values of the options; None for those that were not given."""

    node: str | None = None
    author: str | None = None
    message: str | None = None
    channel: str | None = None


def chosen(table: Table, dataset: Any, wanted: Wanted, names: Names) -> Any:  # noqa: ANN401
    """Return the expression of the rows that are wanted, None for all.

    Raises:
        PipelineError: an option asks for what the table does not say, or is no id.
    """
    expression = None
    for option, columns in COLUMNS.items():
        value = getattr(wanted, option)
        if value is None:
            continue
        there = [name for name in columns if name in dataset.schema.names]
        if not there:
            having = ", ".join(dataset.schema.names)
            raise PipelineError(
                f"The table {table.full_name} has no column for --{option}; it has: {having}."
            )
        fits = None
        for name in there:
            one = _fits(table, dataset.schema.field(name), option, value, names)
            fits = one if fits is None else fits | one
        expression = fits if expression is None else expression & fits
    return expression


def _fits(table: Table, field: pa.Field, option: str, value: str, names: Names) -> Any:  # noqa: ANN401
    column = pc.field(field.name)
    if option == "message":
        low, high = id_range(value)
        if pa.types.is_list(field.type):  # the whole list is looked at, once the rows are read
            return pc.is_valid(column)
        return (column >= pa.scalar(low)) & (column <= pa.scalar(high))
    if pa.types.is_integer(field.type):
        return column.isin(_numbers(table, value))
    if option == "channel":
        wanted = value.removeprefix("#")
        known = [key for key, name in names.channels.items() if name == wanted]
        return column.isin(known) if known else pc.starts_with(column, pattern=wanted.lower())
    return pc.starts_with(column, pattern=plain_id(value))


def _numbers(table: Table, key: str) -> list[int]:
    """Return the numbers of members whose keys begin so: some tables of delivery say these."""
    members = table.directory.parent / "members"
    if not members.is_dir():
        raise PipelineError(f"The table {table.full_name} numbers its nodes, and tells no keys.")
    rows = open_dataset(members).head(MEMBERS_MAX, columns=["member", "node"]).to_pylist()
    return [row["member"] for row in rows if row["node"].startswith(plain_id(key))]


def plain_id(value: str) -> str:
    """Return the beginning of a key as the tables have it: people read them with dashes."""
    return value.replace("-", "").strip().lower()


def id_range(prefix: str) -> tuple[bytes, bytes]:
    """Return the first and the last message id that begin so.

    Raises:
        PipelineError: it is not the beginning of one.
    """
    digits = plain_id(prefix)
    if not DIGITS.fullmatch(digits):
        raise PipelineError(
            f"{prefix[:ID_DIGITS]} is not the beginning of a message id: these are "
            f"{ID_DIGITS} digits from 0 to f."
        )
    first, last = digits.ljust(ID_DIGITS, "0"), digits.ljust(ID_DIGITS, "f")
    return bytes.fromhex(first), bytes.fromhex(last)


def lists_fit(row: Mapping[str, Any], wanted: Wanted) -> bool:
    """Return whether a row has the wanted message in one of its columns, lists too."""
    if wanted.message is None:
        return True
    low, high = id_range(wanted.message)
    for name in MESSAGES:
        value = row.get(name)
        ids = value if isinstance(value, list) else [value]
        if any(isinstance(one, bytes) and low <= one <= high for one in ids):
            return True
    return False
