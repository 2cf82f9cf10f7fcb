"""Applies edits, redactions and reactions to a line."""

from msgspec.structs import replace

from sync.entries.changes import UNCHANGED, Look
from sync.machine import PeerId
from sync.view.governance_infos import Person
from sync.view.view import Line, Reaction


def changed(line: Line, look: Look, me: PeerId) -> Line:
    """Return `line` as edits, redactions and reactions make it."""
    if look == UNCHANGED:
        return line
    text = line.text if look.text is None else look.text
    return replace(
        line,
        text="" if look.hidden else text,
        edited=look.text is not None,
        deleted=look.hidden,
        hidden_by=None if look.hidden_by is None else Person(look.hidden_by),
        reactions=() if look.hidden else reactions_of(look, me),
        replaced=look.replaced,
    )


def reactions_of(look: Look, me: PeerId) -> tuple[Reaction, ...]:
    """Return the reactions by emoji, the most frequent first."""
    who: dict[str, list[PeerId]] = {}
    for author, emojis in look.reactions:
        for emoji in emojis:
            who.setdefault(emoji, []).append(author)
    ranked = sorted(who.items(), key=lambda one: (-len(one[1]), one[0]))
    return tuple([Reaction(emoji, len(by), me in by, tuple(by)) for emoji, by in ranked])
