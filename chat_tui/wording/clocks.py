"""Clocks in words: what the person is asked about this one, and what waits for its time.

The screen, line mode and /clock all say it with these words; functions of snapshots.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from chat_tui.keys.table import USUAL, Chosen, with_keys
from chat_tui.text import namesakes
from chat_tui.text.listing import listed
from chat_tui.text.plain_lines import plain_name
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from chat_tui.text.times import count, day_of, milliseconds, span, time_of_day
from sync.entries.identity import short_fingerprint
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos, PeerId
from sync.view.view import (
    AheadShown,
    ChannelInfo,
    ClockAnswer,
    ClockInfo,
    ClockQuestion,
    ClockShown,
    ClockVoter,
    Line,
    PeerState,
    Snapshot,
    Trust,
)

NAMES_SHOWN: Final = 3
"""Number of people named in a sentence; the others are counted."""

FAR: Final[Nanos] = 5 * MINUTE
"""Difference of clocks below which nobody is asked (`sync.group.future_entries`)."""

TEXT_CELLS: Final = 60
"""Of a message in a list."""

DAY: Final[Nanos] = 24 * HOUR
UNITS: Final = ((730 * DAY, 365 * DAY, "year"), (2 * DAY, DAY, "day"), (2 * HOUR, HOUR, "hour"))
"""From which length on one is told in a unit: two of it, so that what is left out is little."""

ID_SHOWN: Final = 8
"""Characters of an id that a command is given."""

NO_CLOCK: Final = (
    "This computer's clock cannot be right: it is before this program was released, or after 2100. "
    "Set it."
)
HOLDS: Final = "It holds until your clock is set, or the difference changes by 5 minutes."


def length(distance: Nanos) -> str:
    """Return how far two clocks differ, whichever is ahead: `12 minutes`, `25 hours`, `3 days`."""
    distance = abs(distance)
    for least, unit, name in UNITS:
        if distance >= least:
            return count(round(distance / unit), name)
    return count(round(distance / MINUTE), "minute")


# -- the question --------------------------------------------------------------------------------


def asked(snapshot: Snapshot, question: ClockQuestion) -> str:
    """Return who says what of this computer's clock, as one sentence, and how many do not."""
    voters = [
        f"{called(snapshot, one.peer, one.nick)} ({_known(snapshot, one)})"
        for one in question.voters
    ]
    says = "says" if len(voters) == 1 else "say"
    way = "behind" if question.ahead_ns > 0 else "ahead"
    same = _same(snapshot, question)
    agree = f"; {count(same, 'other')} here {'shows' if same == 1 else 'show'} your time"
    far = length(question.ahead_ns)
    return f"{_some_of(voters)} {says} your clock is {far} {way}{agree if same else ''}."


def _same(snapshot: Snapshot, question: ClockQuestion) -> int:
    """Return how many who are here show our time: a channel of two asks without them."""
    voters = _who(question)
    offsets = [
        peer.clock_offset_ns
        for peer in snapshot.peers
        if peer.state is PeerState.UP and peer.peer not in voters
    ]
    return sum(offset is not None and abs(offset) <= FAR for offset in offsets)


def band(snapshot: Snapshot, chosen: Chosen = USUAL, where: str = "") -> list[str]:
    """Return what stands across the screen while the person is asked; no lines while not.

    `where` names the channels that it is asked of, if it is not asked of all.
    """
    question = snapshot.clock.question
    if question is None:
        return []
    them = "it" if len(question.voters) == 1 else "them"
    aside = f" ({_set_aside(question)})" if question.sets_aside else ""
    there = f" in {where}" if where else ""
    answers = (
        f"{{clock_follow}} follows {them}{there}{aside} · {{clock_stay}} stays · /clock says more"
    )
    return [f"CLOCK: {asked(snapshot, question)}", with_keys(answers, chosen)]


def in_words(snapshot: Snapshot, question: ClockQuestion) -> list[str]:
    """Return the question with both answers as commands, and what each does."""
    aside = f"; {_set_aside(question)} until then" if question.sets_aside else ""
    stays = "what they write stands here dim, and waits for its time"
    if question.ahead_ns < 0:
        stays = "what you write waits with them, until their clocks get there"
    return [
        asked(snapshot, question),
        f"/clock follow: what you write bears their time{aside}.",
        f"/clock stay: {stays}.",
    ]


def answered(snapshot: Snapshot, question: ClockQuestion, *, follow: bool) -> str:
    """Return what an answer has done."""
    them = _names(snapshot, question.voters)
    if not follow:
        return f"You stay with your clock, and do not follow {them}. {HOLDS}"
    aside = f" {_set_aside(question)}." if question.sets_aside else ""
    return f"You follow {them}: what you write bears their time.{aside} {HOLDS}"


def _set_aside(question: ClockQuestion) -> str:
    is_set = "is" if question.sets_aside == 1 else "are"
    return f"{count(question.sets_aside, 'message')} here {is_set} set aside"


# -- news ----------------------------------------------------------------------------------------


class ClockNews:
    """Sentences about clock changes as they happen.

    The person's own answers are not repeated here, nor is the question with `sees_question`.
    """

    def __init__(self, before: ClockInfo, *, sees_question: bool) -> None:
        self._before = before
        self._sees_question = sees_question

    def said_of(self, event: AheadShown | ClockShown, snapshot: Snapshot) -> list[str]:
        """Return what there is to say of an event, as sentences."""
        if isinstance(event, AheadShown):
            return [ahead(snapshot, event)]
        before, self._before = self._before, event.clock
        question = event.clock.question
        if question is not None:
            asked_before = before.question is not None and _who(question) <= _who(before.question)
            return [] if self._sees_question or asked_before else in_words(snapshot, question)
        if before.question is not None:
            answered = event.clock.answer is not ClockAnswer.NONE
            return [] if answered else [_settled(snapshot, before.question, event.clock)]
        changed = event.clock.answer is not before.answer
        return [f"{ANSWERS[event.clock.answer]} /clock says more."] if changed else []


ANSWERS: Final = {
    ClockAnswer.FOLLOW: "Your messages now carry the others' time instead of your clock's.",
    ClockAnswer.STAY: "You stay with your clock, though the others' differ.",
    ClockAnswer.NONE: "Your messages carry your own clock's time again.",
}


def _settled(snapshot: Snapshot, question: ClockQuestion, clock: ClockInfo) -> str:
    """Return why nothing is asked any more, as far as it can be seen."""
    peers = {peer.peer: peer for peer in snapshot.peers if peer.state is PeerState.UP}
    here = [voter for voter in question.voters if voter.peer in peers]
    far = [voter for voter in here if abs(peers[voter.peer].clock_offset_ns or 0) > FAR]
    if not here:  # they may be back in a moment: a clock that jumps has all links made anew
        are = "is" if len(question.voters) == 1 else "are"
        names = _names(snapshot, question.voters)
        return f"Nothing is asked about the clock while {names} {are} not here."
    following = [voter for voter in far if voter.peer in clock.followed_by]
    if following:
        follow = "follows" if len(following) == 1 else "follow"
        return f"{_names(snapshot, following)} {follow} your clock now: nothing is left to do."
    if far:
        return (
            f"{_names(snapshot, far)}'s clock still differs, but others here show your time: "
            "nothing is asked about it now."
        )
    return f"Your clock and {_names(snapshot, here)} agree now: nothing is left to do."


def ahead(snapshot: Snapshot, event: AheadShown) -> str:
    """Return the one notice about somebody whose clock is ahead."""
    name = called(snapshot, event.peer, event.nick)
    return (
        f"The clock of {name} is {length(event.ahead_ns)} ahead: "
        "what they write stands dim at the end, and waits for its time."
    )


# -- what stands ---------------------------------------------------------------------------------


def happens(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return what becomes of what we wrote and write by a wrong clock; empty if all is well."""
    own, question = len(info.parked_own), snapshot.clock.question
    yours = f"{count(own, 'message')} of yours {'waits' if own == 1 else 'wait'}"
    if own and question is not None and info.channel in question.channels:
        return f"{yours} for your answer about the clock; /clock says more."
    if info.unsent:
        wait = "waits" if info.unsent == 1 else "wait"
        yours = f"{count(info.unsent, 'message')} of yours {wait}"
        return f"{yours} for somebody who shows the time: your clock was doubted."
    if own:
        it = "it" if own == 1 else "them"
        return f"{yours} for {'its' if own == 1 else 'their'} time; /resend writes {it} anew."
    return _seen_late(snapshot, info)


def _seen_late(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return who may see only later what we write; who follows our clock sees it at once."""
    clock = snapshot.clock
    if clock.question is None and clock.answer is not ClockAnswer.STAY:
        return ""
    late = [
        peer
        for peer in snapshot.peers
        if peer.state is PeerState.UP
        and peer.peer in info.peers
        and (peer.clock_offset_ns or 0) - clock.moved_ns < -FAR
    ]
    if not late:
        return ""
    names = _some_of([called(snapshot, peer.peer, peer.nick) for peer in late])
    behind = length(max(-(peer.clock_offset_ns or 0) for peer in late))
    return f"{names} may see what you write only in {behind}: by your clock it is later; /clock."


def state(snapshot: Snapshot) -> list[str]:
    """Return what is known of this computer's clock, as sentences; one where all is well."""
    clock = snapshot.clock
    if not clock.is_clock:
        said = [NO_CLOCK]
    elif clock.synchronised:
        said = ["This computer's clock is kept right by the system (NTP)."]
    else:
        said = ["Nothing is known to keep this computer's clock right (NTP)."]
    if abs(clock.moved_ns) >= MINUTE:
        way = "ahead of" if clock.moved_ns > 0 else "behind"
        said.append(f"Your messages are stamped {length(clock.moved_ns)} {way} it.")
    if clock.answer is not ClockAnswer.NONE:
        said.append(f"{ANSWERS[clock.answer]} {HOLDS}")
    return said


def facts(snapshot: Snapshot) -> list[str]:
    """Return the same in few words, and who votes, for rows of the debug pane."""
    clock = snapshot.clock
    kept = "kept right by the system" if clock.synchronised else "not known to be kept right"
    said = [f"this computer's, {kept}" if clock.is_clock else "this computer's is none: set it"]
    if abs(clock.moved_ns) >= SECOND:
        way = "ahead" if clock.moved_ns > 0 else "behind"
        said.append(f"we stamp {_seconds_or_more(clock.moved_ns)} {way}")
    if clock.answer is not ClockAnswer.NONE:
        said.append(f"the answer stands: {clock.answer.value}")
    if clock.question is not None:
        aside = clock.question.sets_aside
        said.append(f"asked: follow {length(clock.question.ahead_ns)}, {aside:,} set aside")
        for voter in clock.question.voters[:NAMES_SHOWN]:
            name, known = called(snapshot, voter.peer, voter.nick), _known(snapshot, voter)
            said.append(f"{name} ({known}) {offset(voter.ahead_ns)}")
        if (more := len(clock.question.voters) - NAMES_SHOWN) > 0:
            said.append(f"and {count(more, 'other')}")
    return said


def _seconds_or_more(distance: Nanos) -> str:
    if abs(distance) < MINUTE:
        return count(round(abs(distance) / SECOND), "second")
    return length(distance)


def wrong(snapshot: Snapshot) -> list[str]:
    """Return what matters of our clock to who asks how the chat is doing; none if it is right."""
    question = snapshot.clock.question
    said = state(snapshot) if snapshot.clock != ClockInfo(synchronised=True) else []
    if snapshot.clock.is_clock:
        said = said[1:]
    return [*said, *([] if question is None else in_words(snapshot, question))]


def report(snapshot: Snapshot, parked: Sequence[Line]) -> str:
    """Return what stands: our clock, the question or the others' clocks, and what waits."""
    question = snapshot.clock.question
    said = state(snapshot)
    if question is not None:
        said += in_words(snapshot, question)
    else:
        said += _others(snapshot)
    if parked:
        said += ["", f"Set aside here until its time: {count(len(parked), 'message')}."]
        said += [f"  {_parked(snapshot, line)}" for line in parked]
    return "\n".join(said)


def _others(snapshot: Snapshot) -> list[str]:
    here = [
        peer
        for peer in snapshot.peers
        if peer.state is PeerState.UP and peer.clock_offset_ns is not None
    ]
    if not here:
        return ["Nobody is here whose clock could be compared with it."]
    far = [
        f"The clock of {called(snapshot, peer.peer, peer.nick)} is {off(peer.clock_offset_ns)} it."
        for peer in here
        if peer.clock_offset_ns is not None and abs(peer.clock_offset_ns) > FAR
    ]
    return far or ["No clock of who is here differs from it by more than 5 minutes."]


def offset(ahead_ns: Nanos) -> str:
    """Return how far somebody's clock is ahead of ours, or behind it, behind the word clock."""
    if abs(ahead_ns) < MINUTE:
        return f"{milliseconds(ahead_ns)} off"
    return f"{length(ahead_ns)} {'ahead' if ahead_ns > 0 else 'behind'}"


def short_offset(ahead_ns: Nanos) -> str:
    """Return the same for a column of eight cells: `+0.1 s`, `-25 h`."""
    if abs(ahead_ns) < MINUTE:
        tenths = round(ahead_ns * 10 / SECOND)  # a whole number has no -0
        return f"{tenths / 10:+.1f} s"
    return f"{'+' if ahead_ns > 0 else '-'}{span(abs(ahead_ns))}"


def off(offset: Nanos) -> str:
    """Return how far a clock is off, as `25 hours ahead of` another one."""
    return f"{length(offset)} {'ahead of' if offset > 0 else 'behind'}"


def why_parked(line: Line, now: Nanos) -> str:
    """Return why a line is set aside, and until when, as sentences."""
    let_in = _let_in(line)
    stands = f"It bears a time that is {length(let_in + FAR - now)} ahead of this computer's"
    until = f"it takes its place at {time_of_day(let_in)} on {day_of(let_in)}"
    if line.waits:
        unclear = "it waits until it is clear whose clock is right, and /clock says more"
        return f"{stands}: nobody was sent it yet, for {unclear}."
    if line.own:
        return f"{stands}: nobody is shown it before, and {until}. /resend writes it anew."
    return (
        f"{stands}: the clock of {clean_nick(line.nick)} was wrong, or this one is. It can be read "
        f"and waits: {until}, or once you follow that clock."
    )


def _let_in(line: Line) -> Nanos:
    return max(line.lamport * MILLISECOND, line.created_ns) - FAR


def _parked(snapshot: Snapshot, line: Line) -> str:
    who = "you" if line.own else called(snapshot, line.author, line.nick)
    text = clip_cells(" ".join(clean_text(line.text).split()), TEXT_CELLS)
    again = f" (/resend {line.message_id[:ID_SHOWN]})" if line.own else ""
    return f"{day_of(_let_in(line))}, {time_of_day(_let_in(line))}  {who}: {text}{again}"


# -- names ---------------------------------------------------------------------------------------


def called(snapshot: Snapshot, peer: PeerId, nick: str) -> str:
    """Return a name, with its key where several people go by it; nobody writes a sign of ours.

    Somebody who is met anew has no name until they say it: then it is the one of before.
    """
    if not nick.strip():
        nick = next((one.nick for one in snapshot.peers if one.peer == peer), "")
    if not nick.strip():
        return short_fingerprint(peer)
    return plain_name(nick, namesakes.called(peer, nick, snapshot.shared_names))


def _names(snapshot: Snapshot, voters: Iterable[ClockVoter]) -> str:
    return _some_of([called(snapshot, voter.peer, voter.nick) for voter in voters])


def _known(snapshot: Snapshot, voter: ClockVoter) -> str:
    """Return how well a voter is known."""
    trust = next((one.trust for one in snapshot.peers if one.peer == voter.peer), None)
    if trust is Trust.VERIFIED:
        return "verified"
    return "known" if voter.standing else "new here"


def _who(question: ClockQuestion) -> set[PeerId]:
    return {voter.peer for voter in question.voters}


def _some_of(names: Sequence[str]) -> str:
    """Return names in a row; what is beyond a few is counted."""
    more = len(names) - NAMES_SHOWN
    return listed(names[:NAMES_SHOWN], count(more, "other") if more > 0 else "")
