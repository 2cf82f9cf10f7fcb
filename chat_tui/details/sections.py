"""All about one message, part by part: a plain sentence first, then facts with their values."""

from collections.abc import Iterable, Sequence
from typing import Final

from chat_tui.debug.explanations import answer as answer_detail
from chat_tui.debug.explanations import at, outgoing, request
from chat_tui.details.acts import act_parts
from chat_tui.details.changes import changes
from chat_tui.details.facts import Arrival, Known, Way, is_here
from chat_tui.details.frames import Role
from chat_tui.details.holders import holders
from chat_tui.details.parts import Part, Said, single, some_of
from chat_tui.details.state import state_parts
from chat_tui.details.timeline import lateness, moments, not_kept, stamp
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from chat_tui.text.times import count, day_of, size
from chat_tui.wording import clocks
from chat_tui.wording.acts import name_of
from chat_tui.wording.contradictions import MEANING, said
from chat_tui.wording.glyphs import UNICODE, WORDS, Glyphs, hidden_by, pending
from chat_tui.wording.replies import quote
from chat_tui.wording.sentences import short_id, status_of
from sync.entries.identity import short_fingerprint, verify
from sync.machine import MessageId
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from sync.view.governance_infos import Lateness
from sync.view.view import CausalNode, Place, Trust

KIN_SHOWN: Final = 8
"""Messages before and after that have a line; the graph (g) shows more."""

GOES_BACK: Final = (
    "Its author signed it as if not knowing acts of this channel that their message before it knew."
)
STAYS: Final = "Its bytes stay on all disks, and are passed on."

TEXT_CELLS: Final = 60
"""Of another message's text."""

LINES_SHOWN: Final = 4
BEGINNING_CELLS: Final = 240
"""Of the message's own text, before what else there is to say; a longer one stands at the end."""


def parts(known: Known, glyphs: Glyphs = UNICODE) -> list[Part]:
    """Return all about a message, or about an act of governance."""
    if known.line.act is not None:
        return act_parts(known)
    return [
        _head(known),
        single("In short", in_short(known)),
        _text(known),
        *_answers(known),
        _order(known),
        _kin(known, "Before it", known.disk.parents, "it is the first here", glyphs),
        _kin(known, "After it", known.disk.children, "nothing builds on it yet", glyphs),
        holders(known, glyphs),
        *state_parts(known),
        *changes(known, glyphs),
        *_contradictions(known),
        _history(known),
        *_next(known),
        *_bytes(known),
        single("Id", known.line.message_id),
        *_whole_text(known),
    ]


def _contradictions(known: Known) -> list[Part]:
    """Say what cannot be true beside it, in the log of its author."""
    message_id = known.line.message_id
    found = [one for one in known.snapshot.contradictions if message_id in one.message_ids]
    lines = [
        f"{known.name(one.author)} {said(one)}: {MEANING}. Whole ids: {', '.join(one.message_ids)}"
        for one in found
    ]
    return [single("Forks", " ".join(lines))] if lines else []


def _answers(known: Known) -> list[Part]:
    """Say what it answers, if it does."""
    if known.line.reply_to is None:
        return []
    words = quote(known.disk.answered, known.called)
    return [single("Answers", f"{words} ({short_id(known.line.reply_to)})")]


def as_text(known: Known) -> str:
    """Return all about a message for line mode."""
    lines: list[str] = []
    for part in parts(known):
        first, *others = [one.text for one in part.lines]
        lines.append(f"{part.label}: {first}" if part.label else first)
        lines += [f"  {other}" for other in others]
    return "\n".join(lines)


# -- the beginning ---------------------------------------------------------------------------------


def _head(known: Known) -> Part:
    line, arrival = known.line, known.arrival
    who = known.called(line.author, line.nick)
    who = f"you ({who})" if line.own else who
    said = [f"{who}, {stamp(line.created_ns)}, {day_of(line.created_ns)}"]
    if status := status_of(known.snapshot, line.author):
        said.append(f'Their status: "{status}"' if not line.own else f'Your status: "{status}"')
    if line.own:
        mark = None if line.parked else line.delivery
        said.append("" if mark is None else WORDS[mark])
    elif arrival.at is None:
        said.append("when it came is not kept")
    else:
        late = lateness(line.created_ns, arrival.at)
        said.append(f"received {stamp(arrival.at, line.created_ns)}, {late}{_by(known, arrival)}")
    if line.hidden_by is not None:
        said.append(hidden_by(name_of(line.hidden_by, known.called)))
    elif line.deleted:
        said.append("deleted")
    elif line.edited:
        said.append("edited")
    return Part("", (Said(" · ".join(one for one in said if one)),))


def _by(known: Known, arrival: Arrival) -> str:
    who = known.name(arrival.peer)
    match arrival.way:
        case Way.REPAIRED:
            return f", repaired by {who}"
        case Way.PUSHED:
            return f", pushed by {who}"
        case Way.PASSED_ON:
            return f", passed on by {who}"
        case Way.COPIED:
            return ", in a snapshot" + ("" if arrival.peer is None else f" from {who}")
        case _:
            return ""


def in_short(known: Known) -> str:
    """Return what happened to a message in one plain sentence, or two."""
    line = known.line
    if line.pending:
        return f"It {pending(line)}. It is shown to nobody else, and counts nowhere until then."
    if line.parked:
        return clocks.why_parked(line, known.snapshot.now)
    said = _own_in_short(known) if line.own else _others_in_short(known)
    if line.late is Lateness.BEYOND:
        said = f"{said} It was sent without knowing of its author's removal."
    elif line.late is Lateness.FOLDED:
        said = (
            f"{said} It is folded away: its author was removed, and what it answers knew of that."
        )
    if known.disk.stored is not None and known.disk.stored.goes_back:
        said = f"{said} {GOES_BACK}"
    if line.hidden_by is not None:
        return f"{said} {name_of(line.hidden_by, known.called)}, an admin, has hidden it. {STAYS}"
    if line.deleted:
        return f"{said} {'You' if line.own else 'Its author'} deleted it."
    if line.edited:
        return f"{said} {'You' if line.own else 'Its author'} changed it since."
    return said


def _others_in_short(known: Known) -> str:
    line = known.line
    arrival = known.arrival
    who, author = known.name(arrival.peer), known.called(line.author, line.nick)
    if line.loading:
        return "It is here, and waits for older messages that are on their way."
    gap = (
        " Something it builds on could not be found; /repair asks again." if line.after_gap else ""
    )
    match arrival.way:
        case Way.REPAIRED:
            return f"{_sent_before(known)}lost on the way, fetched again from {who}.{gap}"
        case Way.PUSHED:
            said = f"You lacked it; {who} had it and pushed it when your histories were compared."
        case Way.PASSED_ON:
            said = f"It came from {who}, who passed it on for {author}."
        case Way.COPIED:
            sent = "" if arrival.peer is None else f" that {who} sent"
            said = f"It came in a snapshot{sent}, with all the history that this channel had."
        case Way.STRAIGHT:
            said = f"It came straight from {author}."
        case _:
            said = (
                "It is on your disk; how it came was not kept, because that was before this start."
            )
            if arrival.at is not None:
                late = lateness(line.created_ns, arrival.at)
                said = f"It came {late}; the frame that brought it is not kept any more."
    return said + gap


def _sent_before(known: Known) -> str:
    following = known.disk.following
    if following is None or following.deleted:
        return "Sent, "
    text = clip_cells(" ".join(clean_text(following.text).split()), TEXT_CELLS // 2)
    return f"Sent before “{text}”, "


def _own_in_short(known: Known) -> str:
    held = () if known.story.holders is None else known.story.holders.holders
    me = known.snapshot.me
    certain = [known.name(peer) for peer, how in held if peer != me and how is not Evidence.FILTER]
    maybe = [known.name(peer) for peer, how in held if how is Evidence.FILTER]
    match known.line.delivery:
        case Delivery.ACKNOWLEDGED if certain:
            has = "has" if len(certain) == 1 else "have"
            return f"You wrote it, and {some_of(certain)} {has} it for certain."
        case Delivery.ACKNOWLEDGED:
            return "You wrote it, and somebody has it for certain; who that was is not kept."
        case Delivery.POSSIBLY_ACKNOWLEDGED:
            who = some_of(maybe) if maybe else "somebody"
            return f"You wrote it. Maybe {who} has it: a filter hints at that, which is no proof."
        case Delivery.FAILED:
            return "You wrote it and sent it several times; nobody named it. /resend tries again."
        case _:
            if known.info is None or not known.info.peers:
                return "You wrote it. Nobody is here; it goes out when somebody appears."
            return "You wrote it and it was sent; nobody has said yet that they have it."


def _text(known: Known) -> Part:
    line = known.line
    if line.hidden_by is not None:
        return single("Text", hidden_by(name_of(line.hidden_by, known.called)))
    if line.deleted:
        return single("Text", "hidden: its author deleted it")
    text = clean_text(line.text)
    lines = text.split("\n")
    extent = f"{count(len(text), 'character')} in {count(len(lines), 'line')}"
    if _is_long(text):
        begin = clip_cells(" ".join(text.split()), BEGINNING_CELLS)
        return Part("Text", (Said(begin), Said(f"{extent}, all of it at the end", quiet=True)))
    return Part("Text", (*[Said(one) for one in lines], Said(extent, quiet=True)))


def _whole_text(known: Known) -> list[Part]:
    text = clean_text(known.line.text)
    if known.line.deleted or not _is_long(text):
        return []
    return [Part("All of it", tuple([Said(one) for one in text.split("\n")]))]


def _is_long(text: str) -> bool:
    """Return whether a text would push everything else off the screen."""
    return text.count("\n") >= LINES_SHOWN or len(text) > BEGINNING_CELLS


# -- where it stands -------------------------------------------------------------------------------


def _order(known: Known) -> Part:
    disk, line = known.disk, known.line
    of = f"at least {disk.of:,}" if disk.of_more else f"{disk.of:,}"
    return Part(
        "Order",
        (
            Said(f"Lamport {line.lamport}, {ordinal(disk.nth)} of {of} this minute"),
            Said("the lower Lamport time comes first; of equal ones, the lower id", quiet=True),
        ),
    )


def ordinal(number: int) -> str:
    """Return `1st`, `2nd`, `3rd`, `4th`, and so on."""
    teen = 10 <= number % 100 <= 20  # noqa: PLR2004 eleventh to thirteenth too
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def _kin(known: Known, label: str, nodes: Sequence[CausalNode], none: str, glyphs: Glyphs) -> Part:
    if not nodes:
        return single(label, none)
    lines = [Said(_kin_line(known, one, glyphs)) for one in nodes[:KIN_SHOWN]]
    if len(nodes) > KIN_SHOWN:
        lines.append(Said(f"and {len(nodes) - KIN_SHOWN:,} more; g draws them", quiet=True))
    if label == "Before it":
        lines.append(Said(f"causal history, {len(nodes):,}: what its author had read", quiet=True))
    return Part(label, tuple(lines))


def _kin_line(known: Known, node: CausalNode, glyphs: Glyphs) -> str:
    line = (known.disk.lines or {}).get(node.message_id)
    who = known.name(node.author)
    if node.author is not None and node.nick:
        who = known.called(node.author, node.nick)
    text = node.text if line is None else "(deleted)" if line.deleted else line.text
    text = clip_cells(" ".join(clean_text(text).split()), TEXT_CELLS)
    if line is not None and line.delivery is not None:
        state = f"{glyphs.marks[line.delivery]} {WORDS[line.delivery]}"
    elif is_here(node):
        state = f"{glyphs.here} here"
    elif node.place is Place.WAITING:
        state = f"{glyphs.busy} here, waits"
    else:
        state = f"{glyphs.marks[Delivery.FAILED]} missing, {_sought(known, node.message_id)}"
    return f"{short_id(node.message_id)} {who} {state}" + (f"  {text}" if text else "")


def _sought(known: Known, message_id: MessageId) -> str:
    """Return what is done about a missing message."""
    info = known.info
    requests = () if info is None or info.repair is None else info.repair.requests
    t_req = next((one.t_req for one in requests if one.message_id == message_id), None)
    if t_req is not None:
        return f"T_req {at(known.snapshot, t_req)}"
    if info is not None and message_id in info.lost_ids:
        return "given up as lost"
    return "not asked for"


# -- what became of it -----------------------------------------------------------------------------


def _history(known: Known) -> Part:
    lines: list[Said] = []
    for one in moments(known):
        lines.append(Said(f"{stamp(one.at, known.line.created_ns)} {one.text}"))
        lines += [Said(f"  {step}", quiet=True) for step in one.steps]
    if left_out := not_kept(known):
        lines.append(Said(left_out, quiet=True))
    return Part("History", tuple(lines) or (Said("nothing was noted of it"),))


def _next(known: Known) -> list[Part]:
    """Return what the engine will do with it, and when."""
    info, message_id, snapshot = known.info, known.line.message_id, known.snapshot
    if info is None:
        return []
    for sending in info.outgoing:
        if sending.message_id == message_id:
            detail = outgoing(snapshot, info, sending)
            plan = "it goes out again when somebody appears"
            if sending.resend_at is not None:
                plan = f"sent again {at(snapshot, sending.resend_at)}, unless somebody names it"
            elif sending.delivery is Delivery.FAILED:
                plan = "nothing; /resend tries again"
            return [_with_facts("Next", plan, detail.facts)]
    repair = info.repair
    for asked in () if repair is None else repair.answers:
        if asked.message_id == message_id:
            detail = answer_detail(snapshot, info, asked)
            who = known.name(asked.requester)
            plan = f"{who} asks for it: we answer {at(snapshot, asked.t_resp)}"
            return [_with_facts("Next", plan, detail.facts)]
    for wanted in () if repair is None else repair.requests:
        if wanted.message_id == message_id:
            detail = request(snapshot, info, wanted)
            plan = f"asked for {at(snapshot, wanted.t_req)}"
            return [_with_facts("Next", plan, detail.facts)]
    return []


SAID_ALREADY: Final = ("id ", "sent again: ", "T_req: ", "T_resp: ")
"""Beginnings of facts that stand elsewhere here."""


def _with_facts(label: str, plan: str, facts: Iterable[str]) -> Part:
    shown = [one for one in facts if not one.startswith(SAID_ALREADY)]
    return Part(label, (Said(plan), *[Said(one, quiet=True) for one in shown]))


# -- its bytes -------------------------------------------------------------------------------------


def _bytes(known: Known) -> list[Part]:
    stored, message = known.disk.stored, known.disk.message
    if stored is None or message is None:
        return [single("Bytes", "its bytes cannot be read on this disk")]
    frame = next((one for one in known.heard if one.role is Role.CARRIES), None)
    said = f"{len(stored.payload):,} stored, of which {len(message.content):,} signed with the text"
    if frame is not None:
        way = "sent" if frame.sent else "received"
        said = f"{frame.size:,} on the wire as first {way} · {said}"
    lines = [Said(said)]
    if not known.line.deleted:
        text = size(len(known.line.text.encode(errors="replace")))
        lines.append(Said(f"the text alone {text}", quiet=True))
    return [Part("Bytes", tuple(lines)), single("Signature", _signature(known))]


def _signature(known: Known) -> str:
    entry, line = known.disk.entry, known.line
    if entry is None:
        return "cannot be checked: its content is of another version"
    holds = verify(entry.header.author, entry.signature, entry.header_bytes)
    known_as = next(
        (one.trust for one in known.snapshot.peers if one.peer == line.author), Trust.FIRST_SEEN
    )
    trust = "your own key" if line.own else known_as.value
    who = f"{clean_nick(line.nick)}, key {short_fingerprint(line.author)}, {trust}"
    return f"{'ok' if holds else 'WRONG: its author did not sign this'} ({who})"
