"""The history of one message: what was noted, heard and said of it, in the order of time."""

from typing import Final

from msgspec import Struct

from chat_tui.debug.explanations import T_REQ, T_RESP, answer_draw, request_draw, seconds
from chat_tui.details.facts import SLACK, Known, Way
from chat_tui.details.frames import Heard, Role
from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import count, day_of, span, time_of_day
from chat_tui.wording.sentences import short_id
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.sds.message import Delivery
from sync.sds.parameters import PROFILES
from sync.sds.repair import Window, digest
from sync.view.message_infos import Happening, Noticed, What

EVENTS_MAX: Final = 200
"""Lines of a history: of what happens more often, the first and the last are told."""

MARKED: Final = {
    Delivery.UNACKNOWLEDGED: "nobody is known to have it",
    Delivery.POSSIBLY_ACKNOWLEDGED: "maybe received: somebody's filter has all bits of its id set",
    Delivery.ACKNOWLEDGED: "received for certain",
    Delivery.FAILED: "given up sending: nobody named it, and no filter has it",
}


class Moment(Struct, frozen=True):
    """Something that happened; `steps` are the formula with its values."""

    at: Nanos
    text: str
    steps: tuple[str, ...] = ()


def stamp(when: Nanos, since: Nanos | None = None) -> str:
    """Return a time of day down to seconds; with the day, if that is not the one of `since`."""
    clock = f"{time_of_day(when)}:{when // SECOND % 60:02}"
    if since is None or day_of(when) == day_of(since):
        return clock
    return f"{day_of(when).partition(', ')[2].rsplit(' ', 1)[0]}, {clock}"


def moments(known: Known) -> list[Moment]:
    """Return all that is known to have happened to a message, oldest first."""
    came = known.first(What.DELIVERED) is not None
    noted = [one for one in known.story.happenings if not (came and one.what is What.FOUND)]
    told = [
        *[_happening(known, one) for one in noted],
        *_received(known),
        *_sent(known),
        *_named(known),
        *_asked(known),
    ]
    told.sort(key=lambda one: one.at)
    if len(told) <= EVENTS_MAX:
        return told
    half = EVENTS_MAX // 2
    left_out = Moment(told[half].at, f"{count(len(told) - EVENTS_MAX, 'more')} like these")
    return [*told[:half], left_out, *told[-half:]]


def not_kept(known: Known) -> str:
    """Return what cannot be told because it was not kept; empty if all of it was."""
    created, since = known.line.created_ns, known.story.since
    if created < since:
        began = stamp(since, known.snapshot.now)
        if not known.story.happenings and not known.heard:
            return f"Not kept: it is from before {began}, and notes begin with this start."
        return f"Nothing from before {began} is kept: notes begin with this start."
    if known.frames_since is not None and created < known.frames_since:
        return f"Of frames before {stamp(known.frames_since)}, newer ones have taken the room."
    return ""


# -- what was noted --------------------------------------------------------------------------------


def _happening(known: Known, one: Happening) -> Moment:
    match one.what:
        case What.MISSING:
            return _missing(known, one.at, one.noticed)
        case What.MARKED:
            assert one.delivery is not None
            return Moment(one.at, f"{MARKED[one.delivery]}{_by_whom(known, one.delivery)}")
        case What.DELIVERED:
            text = "taken into the chat" if known.line.own else "delivered: it has its place here"
            gap = ", although something before it could not be found" if one.after_gap else ""
            return Moment(one.at, text + gap)
        case What.COPIED:
            return Moment(one.at, f"came in a snapshot{_from(known, one)}, with all before it")
        case What.RESENT:
            resent = known.happened(What.RESENT)
            nth = resent.index(one) + 1
            return Moment(one.at, f"sent again, resend {nth}, with our filter of then")
        case _:
            return Moment(one.at, PLAIN[one.what])


def _from(known: Known, one: Happening) -> str:
    return "" if one.by is None else f" from {known.name(one.by)}"


def _by_whom(known: Known, delivery: Delivery) -> str:
    """Return who acknowledged it first, where the frame that did so is not kept."""
    if delivery is not Delivery.ACKNOWLEDGED or known.received(Role.NAMES) or not known.story.named:
        return ""
    by, within = known.story.named[0]
    where = "a sync message" if within is None else short_id(within)
    return f": {known.name(by)} named it in {where}"


PLAIN: Final = {
    What.WRITTEN: "written, and safe on this disk",
    What.FOUND: "missing no more",
    What.LOST: "given up as lost: asked for many times, and nobody had it",
    What.PREVIEWED: "shown early: it waits for older messages on their way",
    What.ANSWERED: "sent by us to whoever asked, as the answer to a repair request",
    What.DISCARDED: "found damaged on this disk, and set aside: the others are asked for it",
    What.PUSHED_OUT: "taken off the screen: more came than can wait; a session brings it again",
    What.WITHDRAWN: "set aside until its time, which our clock has not reached",
}


def _missing(known: Known, at: Nanos, noticed: Noticed | None) -> Moment:
    if noticed is None:
        return Moment(at, "noticed missing")
    named = known.name(noticed.namer) if noticed.namer is not None else ""
    if noticed.named_by == noticed.namer:
        where = f"a sync message of {named}"
    else:
        where = clean_text(noticed.named_by)[:6] + (f" of {named}" if named else "")
    text = f"noticed missing, named by {where}"
    if noticed.t_req is None or noticed.t_min is None or noticed.t_max is None:
        return Moment(at, text)
    me, message_id = known.snapshot.me, known.line.message_id
    spread = max(1, (noticed.t_max - noticed.t_min) // MILLISECOND)
    drawn = digest(me + message_id) % spread
    wait = noticed.t_min + drawn * MILLISECOND
    plan = (
        f"T_req {seconds(wait)} = {seconds(noticed.t_min)} + hash(me, id) mod "
        f"{seconds(spread * MILLISECOND)} = {seconds(drawn * MILLISECOND)}: "
        f"to be asked for at {stamp(noticed.t_req)}"
    )
    steps = request_draw(me, message_id, noticed.t_min, noticed.t_max)
    return Moment(at, text, (plan, T_REQ, *steps[:2]))


# -- what was heard --------------------------------------------------------------------------------


def _received(known: Known) -> list[Moment]:
    """Return how it came, and that it came again."""
    arrival = known.arrival
    told: list[Moment] = []
    copies: list[Heard] = []
    for one in known.received(Role.CARRIES):
        if one.at == arrival.at and not told:
            told.append(_arrived(known, one))
        else:
            copies.append(one)
    if copies:
        names = dict.fromkeys(known.name(one.peer) for one in copies)
        again = f"came again from {', '.join(names)}, {count(len(copies), 'copy', 'copies')}"
        told.append(Moment(copies[0].at, f"{again}: it was here already"))
    return told


def _arrived(known: Known, one: Heard) -> Moment:
    who, arrival = known.name(one.peer), known.arrival
    if arrival.way is Way.PUSHED:
        return Moment(one.at, f"received from {who}, who pushed it after comparing histories")
    if arrival.way is Way.STRAIGHT:
        return Moment(one.at, f"received from {who}, who wrote it")
    if arrival.way is Way.PASSED_ON:
        return Moment(one.at, f"received from {who}, who answered somebody else's request")
    plan, steps = _t_resp(known, one)
    return Moment(one.at, f"received from {who}, the answer to a repair request", (*plan, *steps))


def _t_resp(known: Known, one: Heard) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return how long the one who answered waited: everybody can work that out alike."""
    author, message_id, info = known.line.author, known.line.message_id, known.info
    if one.peer is None or info is None or info.repair is None:
        return (), ()
    if one.peer == author:
        plan = f"T_resp of {known.name(author)} is 0: the author answers first"
        return (plan,), ()
    terms = PROFILES.get(info.profile)
    if terms is None:
        return (), ()
    window = Window.of(terms, info.repair.participants)
    delay = window.answer_delay(one.peer, author, message_id)
    plan = f"T_resp of {known.name(one.peer)} {seconds(delay)}, by the size of the group now"
    return (plan, T_RESP), tuple(answer_draw(one.peer, author, message_id, window.t_max))


def _sent(known: Known) -> list[Moment]:
    """Return that it went out: first, and to whom it was pushed; notes tell of the rest."""
    noted = [one.at for one in known.happened(What.RESENT, What.ANSWERED)]
    told: list[Moment] = []
    for one in known.sent(Role.CARRIES):
        if one.pushed:
            who = known.name(one.peer)
            told.append(Moment(one.at, f"pushed to {who}, who lacked it by comparing histories"))
        elif not any(abs(one.at - at) < SLACK // 10 for at in noted):
            told.append(Moment(one.at, f"sent to whoever was connected, {one.size:,} bytes"))
    return told


def _named(known: Known) -> list[Moment]:
    """Return who named it first, which proves that they have it."""
    told: list[Moment] = []
    seen: set[str | None] = {known.line.author}
    proof = ": that acknowledges it" if known.line.own else ": so it is there too"
    for one in known.received(Role.NAMES):
        if one.author not in seen:
            seen.add(one.author)
            told.append(
                Moment(one.at, f"named by {known.name(one.author)} in {within(one)}{proof}")
            )
    for one in known.sent(Role.NAMES)[:1]:
        if one.author == known.snapshot.me and not known.line.own:
            text = f"named by you in {within(one)}: that tells the others you have it"
            told.append(Moment(one.at, text))
    return told


def _asked(known: Known) -> list[Moment]:
    """Return who asked for it, each time."""
    asked: list[Moment] = []
    for one in known.heard:
        if one.role is Role.ASKS and (one.sent or one.author != known.snapshot.me):
            who = "you" if one.sent else known.name(one.author)
            asked.append(Moment(one.at, f"asked for by {who} in {within(one)}"))
    return asked


def within(one: Heard) -> str:
    """Return which message a frame had in it."""
    if one.within is None:
        return "a message"
    return f"{'SYNC ' if one.is_sync else ''}{short_id(one.within)}"


def lateness(created: Nanos, came: Nanos) -> str:
    """Return how long a message was on its way, by two clocks."""
    late = came - created
    if late < 0:
        return f"{seconds(-late)} before it was written, by clocks that differ"
    return f"{span(late)} late" if late >= 2 * SECOND else f"{late // MILLISECOND:,} ms later"
