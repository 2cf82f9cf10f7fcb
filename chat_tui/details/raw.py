"""The bytes of one message: decoded as a tree, and as they are stored."""

from typing import Final

from chat_tui.debug.frame_text import decoded, hex_lines
from chat_tui.details.facts import Known
from sync.view.view import FrameInfo, FrameKind

BODY: Final = "└ body"
"""Where the words of a message begin in its tree."""

NOT_HERE: Final = "The bytes of this message are not on this disk."


def raw_lines(known: Known) -> list[str]:
    """Return the stored SDS message as a tree, and its bytes; not those of what was deleted."""
    stored, line = known.disk.stored, known.line
    if stored is None:
        return [NOT_HERE]
    frame = FrameInfo(
        number=0,
        at=line.created_ns,
        sent=line.own,
        peer=line.author,
        channel=line.channel,
        kind=FrameKind.SDS,
        size=len(stored.payload),
        data=stored.payload,
    )
    tree = list(decoded(frame).tree)
    waku = f"Waku hash {stored.waku_hash.hex()}"
    if line.deleted:
        tree = [one.partition(": ")[0] if BODY in one else one for one in tree]
        return [*tree, waku, "The words and bytes are hidden: the author deleted this message."]
    return [*tree, waku, "", *hex_lines(stored.payload)]
