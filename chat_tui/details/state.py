"""Parts of a message's details that the channel's state tells: its pin, and who has read it."""

from chat_tui.details.facts import Known
from chat_tui.details.parts import Part, single
from chat_tui.text.times import day_and_time
from sync.machine import PeerId


def state_parts(known: Known) -> list[Part]:
    """Return by whom a message is pinned, and who says that they have read so far."""
    if known.info is None:
        return []
    parts: list[Part] = []
    pin = known.info.state.pin(known.line.message_id)
    if pin is not None:
        parts.append(
            single("Pinned", f"by {known.name(pin.by)}, {day_and_time(pin.at_ns)}; /unpin ends it.")
        )
    if readers := readers_of(known):
        said = f"{', '.join(known.name(one) for one in readers)}, by what their programs say."
        parts.append(single("Read by", said))
    return parts


def readers_of(known: Known) -> list[PeerId]:
    """Return who of the others says that they have read up to a message, or further."""
    if known.info is None:
        return []
    return [
        one.peer
        for one in known.info.state.reads
        if (one.lamport, one.message_id) >= known.line.position
        and one.peer not in (known.line.author, known.snapshot.me)
    ]
