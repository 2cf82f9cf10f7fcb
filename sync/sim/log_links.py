"""Links between entries of one author log, and what cannot be true of them."""

from dataclasses import dataclass

from sync.entries.entry import Entry, lipmaa
from sync.group.records import Contradiction, Contradicts
from sync.machine import ChannelId, MessageId, PeerId


@dataclass(slots=True)
class LogLink:
    """An entry names another one, which should stand at a place."""

    target: MessageId
    place: tuple[PeerId, int, int]
    what: Contradicts
    named_by: MessageId
    seq: int
    told: bool = False


def links_of(entry: Entry) -> list[LogLink]:
    """Return what an entry says of others of its log."""
    header, named_by, links = entry.header, entry.message_id, []
    author, log, seq = header.author, header.log, header.seq
    if header.backlink is not None:
        place = (author, log, seq - 1)
        links.append(LogLink(header.backlink, place, Contradicts.BACKLINK, named_by, seq))
    if header.skiplink is not None:
        place = (author, log, lipmaa(seq))
        links.append(LogLink(header.skiplink, place, Contradicts.SKIPLINK, named_by, seq))
    return links


def is_false(link: LogLink, target: Entry) -> bool:
    """Return whether what a link names stands elsewhere, and nobody has said so."""
    header = target.header
    return (header.author, header.log, header.seq) != link.place and not link.told


def broken(link: LogLink, channel: ChannelId) -> Contradiction:
    """Return the finding about a false link, which is told once."""
    link.told = True
    author, log, _ = link.place
    return Contradiction(channel, author, link.what, log, link.seq, link.named_by, link.target)


def fork(entry: Entry) -> tuple[PeerId, Contradicts, int, int]:
    """Return the place of an entry where another one stands already, as it is told."""
    return entry.header.author, Contradicts.FORK, entry.header.log, entry.header.seq
