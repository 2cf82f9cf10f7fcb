"""Gathers all that is known of one message at one moment, from disk, engine and frames.

Rule: the disk is read once when somebody begins to look, and again when the channel has changed;
the rest is looked at anew each second, and costs nothing while nobody looks.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

from chat_tui.client.chat import Chat
from chat_tui.details.frames import Heard, Role, about
from chat_tui.text import namesakes
from chat_tui.wording import sentences
from sync.entries.entry import Entry, open_content
from sync.errors import RemoteError
from sync.machine import MINUTE, SECOND, MessageId, Nanos, PeerId
from sync.sds import message as sds
from sync.sds.evidence import Evidence
from sync.sds.wire import decode
from sync.view.message_infos import Happening, MessageStory, StoredInfo, What
from sync.view.view import CausalNode, ChannelInfo, History, Line, Place, Snapshot, Unshown

NEAR: Final = 200
"""Lines read before and after, to count those of the same minute; more says `at least`."""

KIN_MAX: Final = 64
"""Messages it builds on and that build on it, at most."""

SLACK: Final[Nanos] = SECOND
"""Within which a frame and the notes of what came of it belong together."""


class Way(Enum):
    """The way in which a message came here."""

    OWN = "own"
    STRAIGHT = "straight"
    """From its author, as it was written."""
    REPAIRED = "repaired"
    """It was missing, we or others asked, and somebody answered (SDS-R)."""
    PUSHED = "pushed"
    """A reconciliation found it missing, and the peer sent it."""
    PASSED_ON = "passed on"
    """From another than its author, for somebody else who asked."""
    COPIED = "copied"
    """In a snapshot: with all that the channel had when we came."""
    UNKNOWN = "unknown"


class Arrival(Struct, frozen=True):
    """Way, time and sending peer of a message's arrival, as far as they are kept."""

    way: Way
    at: Nanos | None = None
    peer: PeerId | None = None


class FromDisk(Struct, frozen=True):
    """Data on a message that is read from the disk."""

    stored: StoredInfo | None = None
    message: sds.Message | None = None
    entry: Entry | None = None
    parents: tuple[CausalNode, ...] = ()
    children: tuple[CausalNode, ...] = ()
    lines: Mapping[MessageId, Line] | None = None
    """Those of the parents and children that are lines near it: with their marks."""
    answered: Line | Unshown | None = None
    """The message that it answers; None if it answers none."""
    following: Line | None = None
    nth: int = 1
    of: int = 1
    of_more: bool = False
    """Whether the minute has more than were counted."""


class Known(Struct, frozen=True):
    """See the module docstring."""

    snapshot: Snapshot
    info: ChannelInfo | None
    line: Line
    disk: FromDisk
    story: MessageStory
    heard: tuple[Heard, ...]
    frames_since: Nanos | None
    """From when on frames are kept, if some were let go of."""

    @property
    def arrival(self) -> Arrival:
        """Way and time of the arrival; `Way.UNKNOWN` if that is not kept."""
        if self.line.own:
            return Arrival(Way.OWN, self.first(What.WRITTEN))
        shown = self.first(What.DELIVERED, What.PREVIEWED, What.FOUND)
        came = next((one for one in self.received(Role.CARRIES)), None)
        missed = self.first(What.MISSING)
        if came is None or (shown is None and not self.line.loading):
            came = None
        elif shown is not None and came.at > shown + SLACK:
            came = None  # a copy: the frame that brought it is not kept any more
        if came is None:
            return self._from_notes(shown, missed)
        if came.pushed:
            way = Way.PUSHED
        elif missed is not None and missed <= came.at:
            way = Way.REPAIRED
        else:
            way = Way.STRAIGHT if came.peer == self.line.author else Way.PASSED_ON
        return Arrival(way, came.at, came.peer)

    def _from_notes(self, shown: Nanos | None, missed: Nanos | None) -> Arrival:
        held = () if self.story.holders is None else self.story.holders.holders
        sender = next((peer for peer, how in held if how is Evidence.SENT), None)
        if shown is not None and missed is not None:
            return Arrival(Way.REPAIRED, shown, sender)
        if copied := self.happened(What.COPIED):
            return Arrival(Way.COPIED, copied[0].at, copied[0].by)
        return Arrival(Way.UNKNOWN, shown, sender)

    def first(self, *kinds: What) -> Nanos | None:
        """Return when the first of these happened."""
        found = self.happened(*kinds)
        return found[0].at if found else None

    def happened(self, *kinds: What) -> list[Happening]:
        """Return what happened of these kinds."""
        return [one for one in self.story.happenings if one.what in kinds]

    def received(self, role: Role) -> list[Heard]:
        """Return the frames that came in such a role."""
        return [one for one in self.heard if one.role is role and not one.sent]

    def sent(self, role: Role) -> list[Heard]:
        """Return the frames that went out in such a role."""
        return [one for one in self.heard if one.role is role and one.sent]

    def name(self, peer: PeerId | None) -> str:
        """Return what somebody is called; us `you`."""
        if peer is None:
            return "somebody"
        return "you" if peer == self.snapshot.me else sentences.name_of(self.snapshot, peer)

    def called(self, peer: PeerId, nick: str) -> str:
        """Return a name that a message bears, with the key where others go by it too."""
        around: list[Line | CausalNode] = [self.line]
        around += [*self.disk.parents, *self.disk.children]
        shared = namesakes.shared_among(around, self.snapshot.shared_names)
        return namesakes.called(peer, nick, shared)


def know(chat: Chat, line: Line, disk: FromDisk) -> Known:
    """Return what is known now."""
    snapshot, inspection = chat.snapshot(), chat.inspection
    frames = inspection.frames()
    let_go = bool(frames) and frames[0].number > 1
    return Known(
        snapshot=snapshot,
        info=sentences.find(snapshot, line.channel),
        line=line,
        disk=disk,
        story=inspection.story(line.channel, line.message_id),
        heard=about(frames, line.channel, line.message_id),
        frames_since=frames[0].at if let_go else None,
    )


def stamp_of(snapshot: Snapshot, line: Line) -> object:
    """Return a value that is another one when the disk may say something new of a message."""
    info = sentences.find(snapshot, line.channel)
    return (line, None) if info is None else (line, info.messages, info.waiting_count)


async def read(history: History, line: Line) -> FromDisk:
    """Read what the disk says of a message.

    Raises:
        LocalError: the disk cannot be read.
    """
    channel, message_id = line.channel, line.message_id
    stored = await history.stored(channel, message_id)
    nodes = await history.causal(channel, message_id, depth=1, limit=KIN_MAX)
    near = await history.page(channel, before=line.position, limit=NEAR)
    before = [one for one in near if one.act is None]
    near = await history.page_after(channel, after=line.position, limit=NEAR)
    after = [one for one in near if one.act is None]
    message, entry = opened(stored)
    own = next((one for one in nodes if one.message_id == message_id), None)
    named = frozenset() if own is None else frozenset(own.parents)
    minute = line.created_ns // MINUTE
    earlier = [one for one in before if one.created_ns // MINUTE == minute]
    later = [one for one in after if one.created_ns // MINUTE == minute]
    kin = {one.message_id for one in nodes}
    lines = {one.message_id: one for one in (*before, *after) if one.message_id in kin}
    for one in named - lines.keys():  # what it builds on may be far above
        found = await history.named(channel, one, limit=1)
        lines.update({line.message_id: line for line in found})
    answered: Mapping[MessageId, Line | Unshown] = {}
    if line.reply_to is not None:
        answered = await history.answered(channel, [line.reply_to])
    return FromDisk(
        stored=stored,
        message=message,
        entry=entry,
        parents=tuple([one for one in nodes if one.message_id in named]),
        children=tuple([one for one in nodes if message_id in one.parents]),
        lines=lines,
        answered=None if line.reply_to is None else answered[line.reply_to],
        following=after[0] if after else None,
        nth=len(earlier) + 1,
        of=len(earlier) + 1 + len(later),
        of_more=NEAR in (len(earlier), len(later)),
    )


def opened(stored: StoredInfo | None) -> tuple[sds.Message | None, Entry | None]:
    """Return the message and the entry in it; None for what another version has stored."""
    if stored is None:
        return None, None
    try:
        message = decode(stored.payload, sds.WAKU_LIMITS)
    except RemoteError:
        return None, None
    try:
        return message, open_content(message.content)
    except RemoteError:
        return message, None


def is_here(node: CausalNode) -> bool:
    """Return whether a message of the graph is delivered."""
    return node.place is Place.HERE
