"""Applies edits, redactions and reactions to a line."""

from typing import Final

from msgspec.structs import replace

from sync.entries.changes import UNCHANGED, Look
from sync.machine import PeerId
from sync.view.governance_infos import Person
from sync.view.view import Line, Reaction

KINDS_MAX: Final = 50
"""Kinds of reactions to one message that are told: more than its lines on a screen have room for.
A few made-up authors could have hundreds, which would be told and laid out with each further one.
"""


def changed(line: Line, look: Look, me: PeerId) -> Line:
    """Return `line` as edits, redactions and reactions make it."""
    if look == UNCHANGED:
        return line
    text = line.text if look.text is None else look.text
    shown, more_kinds = reactions_of(look, me)
    return replace(
        line,
        text="" if look.hidden else text,
        edited=look.text is not None,
        deleted=look.hidden,
        hidden_by=None if look.hidden_by is None else Person(look.hidden_by),
        reactions=() if look.hidden else shown,
        more_kinds=0 if look.hidden else more_kinds,
        more_reactors=0 if look.hidden else look.more_reactors,
        replaced=look.replaced,
    )


def reactions_of(look: Look, me: PeerId) -> tuple[tuple[Reaction, ...], int]:
    """Return the reactions by emoji, the most frequent first, and how many kinds are left out.

    Ours are always among them: whoever takes one back or adds one says them all again.
    """
    who: dict[str, list[PeerId]] = {}
    for author, emojis in look.reactions:
        for emoji in emojis:
            who.setdefault(emoji, []).append(author)
    ranked = sorted(who.items(), key=lambda one: (-len(one[1]), one[0]))
    kinds = [Reaction(emoji, len(by), me in by, tuple(by)) for emoji, by in ranked]
    shown = [*kinds[:KINDS_MAX], *[one for one in kinds[KINDS_MAX:] if one.mine]]
    return tuple(shown), len(kinds) - len(shown)
