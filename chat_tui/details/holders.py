"""Holders of a message, each with the evidence: nobody is listed without a reason."""

from typing import Final

from chat_tui.debug.explanations import SAID, false_maybe, percent
from chat_tui.details.facts import Known
from chat_tui.details.frames import Role
from chat_tui.details.parts import NAMES_SHOWN, Part, Said
from chat_tui.details.state import readers_of
from chat_tui.details.timeline import within
from chat_tui.wording.glyphs import Glyphs
from chat_tui.wording.sentences import short_id
from sync.machine import PeerId
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery


def holders(known: Known, glyphs: Glyphs) -> Part:
    """Return who has it with the evidence, and who is here and not known to."""
    info, me = known.info, known.snapshot.me
    held = () if known.story.holders is None else known.story.holders.holders
    others = [(peer, how) for peer, how in held if peer != me]
    if (sender := known.arrival.peer) is not None and sender not in {me, *dict(others)}:
        others.append((sender, Evidence.SENT))  # of a whole history that came nobody keeps it
    marks = glyphs.marks
    sure, maybe = marks[Delivery.ACKNOWLEDGED], marks[Delivery.POSSIBLY_ACKNOWLEDGED]
    said = ["you (on this disk)"]
    for peer, how in others[:NAMES_SHOWN]:
        mark = maybe if how is Evidence.FILTER else sure
        said.append(f"{known.name(peer)} {mark} ({_how(known, peer, how)})")
    if len(others) > NAMES_SHOWN:
        said.append(f"and {len(others) - NAMES_SHOWN:,} more")
    readers = [peer for peer in readers_of(known) if peer not in dict(others)]
    said += [f"{known.name(peer)} ({READ})" for peer in readers[:NAMES_SHOWN]]
    here = () if info is None else info.peers
    unknown = [peer for peer in here if peer not in {me, *dict(others), *readers}]
    said += [f"{known.name(peer)} unknown" for peer in unknown[:NAMES_SHOWN]]
    lines = [Said(" · ".join(said))]
    if known.story.holders is None:
        lines.append(
            Said("of the others nothing is kept: it is too old, or before this start", quiet=True)
        )
    kinds = dict.fromkeys(how for _, how in others)
    lines += [Said(SAID[how], quiet=True) for how in kinds]
    if Evidence.FILTER in kinds and info is not None and info.bloom is not None:
        lines += [Said(one, quiet=True) for one in false_maybe(info.bloom)]
    return Part("Who has it", tuple(lines))


def _how(known: Known, peer: PeerId, how: Evidence) -> str:
    if how is Evidence.NAMED:
        heard = next((one for one in known.received(Role.NAMES) if one.author == peer), None)
        if heard is not None:
            return f"named it in {within(heard)}"
        where = next((named for by, named in known.story.named if by == peer), None)
        return f"named it in {'a sync message' if where is None else short_id(where)}"
    if how is Evidence.FILTER:
        bloom = None if known.info is None else known.info.bloom
        chance = "" if bloom is None else f", wrong in {percent(bloom.false_positives)}"
        return f"filter: maybe{chance}"
    return HOW[how]


READ: Final = "says to have read up to here"

HOW: Final = {
    Evidence.WROTE: "wrote it",
    Evidence.SENT: "sent it",
    Evidence.PROVED: "proved it in a session or by a signed mark",
}
