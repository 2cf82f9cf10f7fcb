"""Messages by which two trees of state are compared: ids first, then the entries themselves.

Ends of a session take turns. A turn is any number of `Entries`, then the messages of one other
kind, the last of which has no `more` (`Outcome` is alone). `Authors` come before all turns. A hash
of a node, and the id of an entry (its leaf), travel cut to 16 bytes.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias, TypeVar

from msgspec import Struct

from sync.calimero.governance.ops import Key
from sync.calimero.state.entry import ENTRY_SIZE_MAX
from sync.calimero.state.tree import DEPTH_MAX, FAN_OUT, Path
from sync.errors import DecodeError
from sync.structures.borsh import BOOLS, BorshReader, BorshWriter, BoundError, read_kind

CUT: Final = 16
"""Bytes of a node's hash, and of an entry's id."""

NODES_MAX: Final = 10_000
"""Nodes in one message; more go in several, and nothing is left out."""

MESSAGE_SIZE: Final = 256 * 1024
"""Bytes after which a message is full: others have their turns in between."""

IDS_MAX: Final = MESSAGE_SIZE // CUT
ENTRIES_MAX: Final = 2_048
"""Entries in one message."""

ROOT_SIZE: Final = 32
KEY_SIZE: Final = 32
AUTHORS_MAX: Final = MESSAGE_SIZE // KEY_SIZE
"""Keys of people in one message."""


class Children(Struct, frozen=True):
    """The children of a node: index and hash of each, rising."""

    path: Path
    hashes: tuple[tuple[int, bytes], ...]


class Leaves(Struct, frozen=True):
    """The ids of all entries below a place, rising; with that, nothing is left to ask there."""

    path: Path
    ids: tuple[bytes, ...]


Node: TypeAlias = Children | Leaves


class HashNodes(Struct, frozen=True):
    """All nodes of one depth that differ, by rising place."""

    nodes: tuple[Node, ...]
    wanted: tuple[bytes, ...] = ()
    more: bool = False


class LevelData(Struct, frozen=True):
    """All nodes at a depth, by rising place; leaf nodes above it are among them."""

    depth: int
    nodes: tuple[tuple[Path, bytes], ...]
    more: bool = False


class Want(Struct, frozen=True):
    """Ids of entries that the sender lacks."""

    ids: tuple[bytes, ...]
    more: bool = False


class Entries(Struct, frozen=True):
    """Entries as their authors signed them."""

    contents: tuple[bytes, ...]


class Outcome(Struct, frozen=True):
    """State of the sender when it is through.

    Attributes:
        root: hash of its tree.
        count: entries in it.
        aside: entries that came and wait, out of the tree.
        moved: whether its state changed meanwhile by something else than the session.
    """

    root: bytes
    count: int
    aside: int = 0
    moved: bool = False


class Authors(Struct, frozen=True):
    """People by their keys, rising: of whom the sender has state, and whom it knows of those told.

    `sync.calimero.state.common` says when.
    """

    held: tuple[Key, ...]
    known: tuple[Key, ...]
    more: bool = False


Message: TypeAlias = HashNodes | LevelData | Want | Entries | Outcome | Authors

TAGS: Final[dict[type[Message], int]] = {
    HashNodes: 0, LevelData: 1, Want: 16, Entries: 17, Outcome: 18, Authors: 21,
}  # fmt: skip
"""Discriminants of MessagePayload."""

Item = TypeVar("Item")


def encode(message: Message) -> bytes:
    """Return the bytes of a message."""
    out = BorshWriter()
    out.u8(TAGS[type(message)])
    match message:
        case HashNodes(nodes, wanted, more):
            out.each(nodes, lambda node: _write_node(out, node))
            out.each(wanted, lambda one: out.fixed(one, CUT))
            out.u8(more)
        case LevelData(depth, placed, more):
            out.u8(depth)
            out.each(placed, lambda one: _write_placed(out, *one))
            out.u8(more)
        case Want(ids, more):
            out.each(ids, lambda one: out.fixed(one, CUT))
            out.u8(more)
        case Entries(contents):
            out.u32(len(contents))
            for content in contents:
                out.u32(len(content))
                out.fixed(content, len(content))
        case Outcome(root, count, aside, moved):
            out.fixed(root, ROOT_SIZE)
            out.u64(count)
            out.u64(aside)
            out.u8(moved)
        case Authors(held, known, more):
            out.each(held, lambda one: out.fixed(one, KEY_SIZE))
            out.each(known, lambda one: out.fixed(one, KEY_SIZE))
            out.u8(more)
    return bytes(out.data)


def decode(payload: bytes) -> Message:
    """Parse a message.

    Raises:
        DecodeError: none, not canonical, or over a limit.
    """
    return read_kind(payload, READERS)


def node_size(node: Node) -> int:
    """Return about how many bytes a node takes in a message."""
    items = node.hashes if isinstance(node, Children) else node.ids
    return 8 + len(node.path) // 2 + CUT * len(items)


def in_parts(
    items: tuple[Item, ...], size_of: Callable[[Item], int], count_max: int
) -> Iterator[tuple[tuple[Item, ...], bool]]:
    """Yield as many items as fit into a message each time, and whether more follow."""
    part: list[Item] = []
    size = 0
    for item in items:
        size += size_of(item)
        if part and (size > MESSAGE_SIZE or len(part) == count_max):
            yield tuple(part), True
            part, size = [], size_of(item)
        part.append(item)
    yield tuple(part), False


def _write_node(out: BorshWriter, node: Node) -> None:
    match node:
        case Children(path, hashes):
            out.u8(0)
            _write_path(out, path)
            out.u8(sum(1 << index for index, _ in hashes) & 255)
            out.u8(sum(1 << index for index, _ in hashes) >> 8)
            for _, node_hash in hashes:
                out.fixed(node_hash, CUT)
        case Leaves(path, ids):
            out.u8(1)
            _write_path(out, path)
            out.each(ids, lambda one: out.fixed(one, CUT))


def _read_node(reader: BorshReader) -> Node:
    kind = reader.u8()
    path = _read_path(reader)
    if kind == 0:
        present = reader.u8() | reader.u8() << 8
        indexes = [index for index in range(FAN_OUT) if present >> index & 1]
        if not indexes:
            raise DecodeError("an inner node without children")
        return Children(path, tuple([(index, reader.fixed(CUT)) for index in indexes]))
    if kind == 1:
        return Leaves(path, _read_ids(reader))
    raise DecodeError(f"a node of the unknown kind {kind}")


def _write_placed(out: BorshWriter, path: Path, node_hash: bytes) -> None:
    _write_path(out, path)
    out.fixed(node_hash, CUT)


def _write_path(out: BorshWriter, path: Path) -> None:
    out.u8(len(path))
    padded = path + bytes(len(path) & 1)
    out.data += bytes([high << 4 | low for high, low in zip(*[iter(padded)] * 2, strict=True)])


def _read_path(reader: BorshReader) -> Path:
    depth = reader.u8()
    if depth > DEPTH_MAX:
        raise BoundError(f"a node at depth {depth}")
    packed = reader.fixed((depth + 1) // 2)
    path = bytes([half for byte in packed for half in (byte >> 4, byte & 15)])
    if depth & 1 and path[-1]:
        raise DecodeError("bits behind the place of a node")
    return path[:depth]


def _read_ids(reader: BorshReader) -> tuple[bytes, ...]:
    ids = reader.each(lambda: reader.fixed(CUT), IDS_MAX)
    _rising(ids)
    return ids


def _read_keys(reader: BorshReader) -> tuple[Key, ...]:
    keys = reader.each(lambda: Key(reader.fixed(KEY_SIZE)), AUTHORS_MAX)
    _rising(keys)
    return keys


def _rising(values: tuple[bytes, ...]) -> None:
    if any(one >= other for one, other in pairwise(values)):
        raise DecodeError("not in order")


def _read_flag(reader: BorshReader) -> bool:
    flag = reader.u8()
    if flag >= len(BOOLS):
        raise DecodeError(f"{flag} is neither 0 nor 1")
    return bool(flag)


def _read_hash_nodes(reader: BorshReader) -> HashNodes:
    nodes = reader.each(lambda: _read_node(reader), NODES_MAX)
    _rising(tuple([node.path for node in nodes]))
    return HashNodes(nodes, _read_ids(reader), _read_flag(reader))


def _read_level(reader: BorshReader) -> LevelData:
    depth = reader.u8()
    nodes = reader.each(lambda: (_read_path(reader), reader.fixed(CUT)), NODES_MAX)
    if depth > DEPTH_MAX or any(len(path) > depth for path, _ in nodes):
        raise DecodeError("a node below its level")
    _rising(tuple([path for path, _ in nodes]))
    return LevelData(depth, nodes, _read_flag(reader))


def _read_entries(reader: BorshReader) -> Entries:
    return Entries(reader.each(lambda: _read_content(reader), ENTRIES_MAX))


def _read_content(reader: BorshReader) -> bytes:
    size = reader.u32()
    if size > ENTRY_SIZE_MAX:
        raise BoundError(f"a state entry of {size} bytes")
    return reader.fixed(size)


READERS: Final[dict[int, Callable[[BorshReader], Message]]] = {
    0: _read_hash_nodes,
    1: _read_level,
    16: lambda reader: Want(_read_ids(reader), _read_flag(reader)),
    17: _read_entries,
    18: lambda reader: Outcome(
        reader.fixed(ROOT_SIZE), reader.u64(), reader.u64(), _read_flag(reader)
    ),
    21: lambda reader: Authors(_read_keys(reader), _read_keys(reader), _read_flag(reader)),
}
