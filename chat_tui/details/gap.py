"""All that is known of messages that are missing: who named them, who was asked, and what next.

Rule: what is missing is known by what names it alone; the naming messages are read from the disk.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from chat_tui.client.chat import Chat
from chat_tui.debug.explanations import at, request, seconds
from chat_tui.details.facts import FromDisk, Known, know, opened
from chat_tui.details.frames import Role
from chat_tui.details.parts import Part, Said, single, some_of
from chat_tui.details.timeline import moments, stamp
from chat_tui.keys.table import with_keys
from chat_tui.text.times import count, times
from chat_tui.wording import sentences
from chat_tui.wording.sentences import short_id
from sync.errors import LEFT, LocalError
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import HistoryEntry
from sync.view.view import ChannelInfo, Line, Place, RequestInfo, Snapshot

SHOWN: Final = 8
"""Missing messages of which all is told at once; a gap seldom has more than one."""

NAMERS_READ: Final = 32
"""Waiting messages that are read for what they name."""

HINT_SHOWN: Final = 16
"""Hex digits of a retrieval hint: enough to find it in a list."""

SAID: Final = ("id ", "T_req: ", "named by ")
"""Beginnings of facts that stand elsewhere here."""

NOTHING: Final = "Nothing is missing here, as far as anybody has said."
NO_MORE: Final = "Nothing is missing here any more, as far as anybody has said."
"""The same where something was."""
NOT_SAID: Final = "nobody has said who wrote it"


class Hole(Struct, frozen=True):
    """A missing message, as the messages here name it."""

    entry: HistoryEntry
    named_by: MessageId | None = None
    """None where only a sync message named it."""


async def holes_of(
    chat: Chat, channel: ChannelId, after_gap: MessageId | None = None
) -> tuple[Hole, ...]:
    """Return what a message builds on and is missing; without one, all that is missing or lost.

    Raises:
        LocalError: the disk cannot be read, or we are not in that channel now.
    """
    info = sentences.find(chat.snapshot(), channel)
    if info is None:
        raise LocalError(LEFT)
    if after_gap is not None:
        nodes = await chat.history.causal(channel, after_gap, depth=1, limit=NAMERS_READ)
        gone = {one.message_id for one in nodes if one.place is Place.MISSING}
        named = await _named_in(chat, channel, [after_gap])
        return tuple([hole for id_, hole in named.items() if id_ in gone])
    wanted = dict.fromkeys((*info.missing, *info.lost_ids))
    named = await _named_in(chat, channel, _namers(chat, info))
    return tuple([named.get(one, Hole(HistoryEntry(one))) for one in wanted])


def _namers(chat: Chat, info: ChannelInfo) -> list[MessageId]:
    """Return the messages that name what is missing, as far as the engine remembers them."""
    requests = () if info.repair is None else info.repair.requests
    named_by = [MessageId(one.named_by) for one in requests if one.named_by != one.namer]
    waiting = [one.message_id for one in info.waiting]
    of_lost = [
        MessageId(one.noticed.named_by)
        for lost in info.lost_ids[:SHOWN]
        for one in chat.inspection.story(info.channel, lost).happenings
        if one.noticed is not None and one.noticed.named_by != one.noticed.namer
    ]
    return list(dict.fromkeys((*named_by, *waiting, *of_lost)))[:NAMERS_READ]


async def _named_in(
    chat: Chat, channel: ChannelId, namers: Iterable[MessageId]
) -> dict[MessageId, Hole]:
    """Return what these messages name, whether it is missing or not."""
    found: dict[MessageId, Hole] = {}
    for namer in namers:
        message, _ = opened(await chat.history.stored(channel, namer))
        for entry in () if message is None else message.causal_history:
            found.setdefault(entry.message_id, Hole(entry, namer))
    return found


# -- in words --------------------------------------------------------------------------------------


def hole_parts(
    chat: Chat, channel: ChannelId, holes: tuple[Hole, ...], none: str = NOTHING
) -> list[Part]:
    """Return all that is known of missing messages now, one after the other; `none` if none is."""
    snapshot = chat.snapshot()
    info = sentences.find(snapshot, channel)
    if not holes or info is None:
        return [Part("", (Said(none),))]
    waits = sentences.what_waits(snapshot, info)
    are = "is" if len(holes) == 1 else "are"
    head = [f"{count(len(holes), 'message')} of which others speak, and which {are} not here."]
    parts = [Part("", tuple([Said(one) for one in (*head, waits) if one]))]
    for hole in holes[:SHOWN]:
        parts += _of_one(chat, snapshot, info, hole)
    if len(holes) > SHOWN:
        key = with_keys("{debug}", chat.settings.keys())
        parts.append(single("And", f"{count(len(holes) - SHOWN, 'more')}; {key} lists them"))
    return parts


def in_words(parts: Iterable[Part]) -> str:
    """Return parts for line mode."""
    lines: list[str] = []
    for part in parts:
        first, *others = [one.text for one in part.lines]
        lines.append(f"{part.label}: {first}" if part.label else first)
        lines += [f"  {other}" for other in others]
    return "\n".join(lines)


def _of_one(chat: Chat, snapshot: Snapshot, info: ChannelInfo, hole: Hole) -> list[Part]:
    message_id = hole.entry.message_id
    known = know(chat, _stand_in(snapshot, info.channel, hole), FromDisk())
    asked = _request(info, message_id)
    return [
        single("Missing", message_id),
        single("Written by", _author(known, hole.entry.sender_id)),
        single("Named by", _namer(known, hole, asked)),
        single("Hint", _hint(hole.entry.retrieval_hint)),
        single("Asked", who_was_asked(known, info, asked)),
        _next(snapshot, info, message_id, asked),
        _history(known),
    ]


def _request(info: ChannelInfo, message_id: MessageId) -> RequestInfo | None:
    requests = () if info.repair is None else info.repair.requests
    return next((one for one in requests if one.message_id == message_id), None)


def _author(known: Known, author: PeerId | None) -> str:
    return NOT_SAID if author is None else known.name(author)


def _namer(known: Known, hole: Hole, asked: RequestInfo | None) -> str:
    if hole.named_by is not None:
        of = "" if asked is None or asked.namer == known.snapshot.me else known.name(asked.namer)
        return f"{short_id(hole.named_by)}{f' of {of}' if of else ''}, which builds on it"
    if asked is not None and asked.namer != known.snapshot.me:
        return f"a sync message of {known.name(asked.namer)}"
    return "a message that is not remembered any more"


def _hint(hint: bytes | None) -> str:
    if hint is None:
        return "none: only whoever knows its id can find it"
    return f"{hint.hex()[:HINT_SHOWN]}, its Waku hash: comparing histories finds it by that"


def who_was_asked(known: Known, info: ChannelInfo, asked: RequestInfo | None) -> str:
    """Return who was asked for a message, how often, and when last."""
    here = [
        sentences.called(known.snapshot, one.peer, one.nick)
        for one in sentences.peers_of(known.snapshot, info)
    ]
    everybody = f"everybody here: {some_of(here)}" if here else "nobody is here to ask"
    by_us = known.sent(Role.ASKS)
    if asked is not None and asked.asked:
        often = f"{times(asked.asked)}, by us or by others who lack it"
    elif by_us:
        often = f"{times(len(by_us))} by us, as far as the frames are kept"
    else:
        return f"not yet; {everybody}"
    last = by_us[-1].at if by_us else None if asked is None else asked.asked_at
    if last is not None:
        often += f", last by us at {stamp(last)}"
    return f"{often}; {everybody}"


def _next(
    snapshot: Snapshot, info: ChannelInfo, message_id: MessageId, asked: RequestInfo | None
) -> Part:
    """Return what happens next, with the formula and its values."""
    if asked is None:
        if message_id in info.missing:
            return single("Next", "it waits for its turn: so much else is asked for first")
        return single("Next", "nothing by itself: given up as lost, until somebody new comes")
    if not info.peers:
        return single("Next", "it is asked for once somebody is here")
    facts = [one for one in request(snapshot, info, asked).facts if not one.startswith(SAID)]
    plan = Said(f"asked for {at(snapshot, asked.t_req)}")
    return Part("Next", (plan, *[Said(one, quiet=True) for one in facts]))


def _history(known: Known) -> Part:
    lines = [Said(f"{stamp(one.at, known.snapshot.now)} {one.text}") for one in moments(known)]
    return Part("History", tuple(lines) or (Said("nothing was noted of it in this run"),))


def _stand_in(snapshot: Snapshot, channel: ChannelId, hole: Hole) -> Line:
    """Return a line for a message of which nobody here has any."""
    return Line(
        channel=channel,
        message_id=hole.entry.message_id,
        author=hole.entry.sender_id or PeerId(""),
        nick="",
        text="",
        lamport=0,
        created_ns=snapshot.now,
        own=False,
        after_gap=False,
        delivery=None,
    )


def asked_just_now(snapshot: Snapshot, info: ChannelInfo, ids: Iterable[MessageId]) -> Nanos | None:
    """Return when all of some messages were asked for by us last, if answers may still come."""
    if info.repair is None:
        return None
    latest: Nanos | None = None
    for message_id in ids:
        asked = _request(info, message_id)
        if asked is None or asked.asked_at is None:
            return None
        if snapshot.now - asked.asked_at >= info.repair.t_max:
            return None
        latest = asked.asked_at if latest is None else max(latest, asked.asked_at)
    return latest


def until_again(snapshot: Snapshot, info: ChannelInfo, asked_at: Nanos) -> str:
    """Return how long an answer to what was asked for then may still take."""
    assert info.repair is not None
    return seconds(asked_at + info.repair.t_max - snapshot.now)
