"""History of a message after it was written: earlier texts, deletion, reactions by name."""

from chat_tui.details.facts import Known
from chat_tui.details.parts import Part, Said, single, some_of
from chat_tui.details.timeline import stamp
from chat_tui.text.safe_text import clean_text
from chat_tui.wording.acts import name_of
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.reactions import label as emoji_label
from chat_tui.wording.reactions import left_out
from sync.entries.changes import Edit, Redaction
from sync.entries.entry import decode_text
from sync.errors import DecodeError


def changes(known: Known, glyphs: Glyphs) -> list[Part]:
    """Return a part for each of them that there is."""
    line = known.line
    told: list[Part] = []
    stored = known.disk.stored
    all_of = () if stored is None else stored.changes
    own = [one for one in all_of if one.author == line.author]
    redactions = [one for one in own if isinstance(one.change, Redaction)]
    edits = [one for one in own if isinstance(one.change, Edit)]
    if line.hidden_by is not None:
        hid = [one for one in all_of if one.author == line.hidden_by.peer]
        when = f" at {stamp(hid[-1].created_ns, line.created_ns)}" if hid else ""
        by = name_of(line.hidden_by, known.called)
        told.append(
            single("Hidden", f"by {by}, an admin{when}; the signed bytes stay on all disks")
        )
    elif line.deleted:
        said = "by its author; what says so is damaged on this disk, and fetched again"
        if redactions:
            when = stamp(redactions[-1].created_ns, line.created_ns)
            said = f"by its author at {when}; the signed bytes stay, for what builds on them"
        told.append(single("Deleted", said))
    elif line.edited:
        lines = [Said(f"first: {_one_line(_first_text(known))}")]
        for one in edits:
            assert isinstance(one.change, Edit)
            when = stamp(one.created_ns, line.created_ns)
            lines.append(Said(f"{when} changed to: {_one_line(one.change.text)}"))
        told.append(Part("Edited", tuple(lines)))
    if line.reacted_to:
        who = [
            f"{emoji_label(one.emoji, glyphs)} {some_of([known.name(by) for by in one.who])}"
            for one in line.reactions
        ]
        who += left_out(line.more_kinds, line.more_reactors)
        told.append(single("Reactions", " · ".join(who)))
    return told


def _first_text(known: Known) -> str:
    if known.disk.entry is None:
        return "(cannot be read)"
    try:
        return decode_text(known.disk.entry.body).text
    except DecodeError:
        return "(cannot be read)"


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())
