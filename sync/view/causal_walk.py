"""The causal graph around a message: what it builds on and what builds on it, the nearest first."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from sync.entries.changes import Look, Reactions, change_of
from sync.entries.entry import Entry, Kind, decode_text
from sync.errors import DecodeError
from sync.machine import MessageId, PeerId
from sync.view.view import CausalNode, Place

TEXT_SHOWN: Final = 120
"""Characters of a text kept in a node: what one line of a wide terminal has room for."""

CHANGES_SAID: Final[dict[int, str]] = {
    Kind.EDIT: "(edits)",
    Kind.REACTION: "(a reaction)",
    Kind.REDACTION: "(deletes)",
}
"""Words for the text of a message that is no line itself."""

DELETED: Final = "(deleted)"
"""Words for a text that its author has hidden."""

BLOCKED: Final = "(of somebody you have blocked)"
"""Words for what whoever looks does not want to see."""

CHILDREN_MAX: Final = 32
"""Messages looked at that build on one message: beyond that no drawing shows them apart."""


class Kin(NamedTuple):
    """One message as a disk knows it: itself, if it is here, and what builds on it."""

    entry: Entry | None
    place: Place
    children: Sequence[MessageId]


Find: TypeAlias = Callable[[MessageId], Kin]


def walk(find: Find, centre: MessageId, depth: int, limit: int) -> list[CausalNode]:
    """Return up to `limit` messages at most `depth` steps above or below `centre`.

    Up is what a message builds on, down is what builds on it; a walk never turns, or in a lively
    channel everything would be near everything.
    """
    found: dict[MessageId, CausalNode] = {}
    authors: dict[MessageId, PeerId] = {}
    waiting = deque([(centre, 0, True, True)])
    reached = {centre}
    while waiting and len(found) < limit:
        message_id, steps, upwards, downwards = waiting.popleft()
        kin = find(message_id)
        if kin.entry is None and not kin.children and message_id == centre:
            return []
        node = found[message_id] = _node(message_id, kin, authors)
        if steps == depth:
            continue
        next_ids = [(one, True, False) for one in node.parents if upwards]
        next_ids += [(one, False, True) for one in kin.children if downwards]
        for one, up, down in next_ids:
            if one not in reached:
                reached.add(one)
                waiting.append((one, steps + 1, up, down))
    return list(found.values())


def as_it_looks(node: CausalNode, look: Look) -> CausalNode:
    """Return a node with the text that its author wants to be seen by now."""
    if look.deleted:
        return replace(node, text=DELETED)
    return node if look.text is None else replace(node, text=look.text[:TEXT_SHOWN])


def _node(message_id: MessageId, kin: Kin, authors: dict[MessageId, PeerId]) -> CausalNode:
    """Return a message as it is shown; of a missing one its author is known from who named it."""
    if kin.entry is None:
        return CausalNode(message_id, Place.MISSING, authors.get(message_id))
    header = kin.entry.header
    authors.update({parent.message_id: parent.author for parent in header.parents})
    nick, text = "", CHANGES_SAID.get(header.kind, "(a kind this version does not know)")
    change = change_of(kin.entry)
    if isinstance(change, Reactions):
        text = f"(reacts {' '.join(change.emojis)})" if change.emojis else "(reacts no more)"
    elif header.kind == Kind.TEXT:
        try:
            body = decode_text(kin.entry.body)
        except DecodeError:
            text = "(a text that cannot be read)"
        else:
            nick, text = body.nick, body.text[:TEXT_SHOWN]
    return CausalNode(
        message_id=message_id,
        place=kin.place,
        author=header.author,
        lamport=header.lamport,
        created_ns=header.created_ns,
        nick=nick,
        text=text,
        parents=tuple([parent.message_id for parent in header.parents]),
    )
