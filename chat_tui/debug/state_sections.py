"""State of the protocol, in sections of rows: pure functions of a snapshot.

The debug pane draws them with marks and bars; line mode says the same rows in words alone.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Final

from msgspec import structs

from chat_tui.debug import explanations
from chat_tui.debug.explanations import percent
from chat_tui.debug.section import Row, Section, in_words
from chat_tui.debug.sync_cards import session_cards
from chat_tui.debug.trace_words import step_detail, step_words
from chat_tui.text.safe_text import clean_text, clip_cells
from chat_tui.text.times import count, milliseconds, size, span, times
from chat_tui.wording import clocks
from chat_tui.wording.glyphs import WAITING, WORDS
from chat_tui.wording.sentences import name_of, peer_row, short_id
from sync.machine import MessageId, Nanos, PeerId
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from sync.view.view import (
    AnswerInfo,
    BloomInfo,
    ChannelInfo,
    HoldersInfo,
    OutgoingInfo,
    RepairInfo,
    RequestInfo,
    Snapshot,
    WaitingInfo,
)

ROWS_SHOWN: Final = 20
"""Rows of one section; those left out are counted."""

HOLDERS_SHOWN: Final = 10
"""Messages whose holders are shown: the newest."""

NAMES_SHOWN: Final = 3
"""Names that stand together; the others are counted."""

BAR_CELLS: Final = 24
"""Of the bar that shows how full the filter is."""

REFUSED_SHOWN: Final = 5
"""Rows of the worst senders of bad input."""

REFUSED_CELLS: Final = 24
"""Of a sender of bad input who has no name."""

IDLE_STEP: Final = "Tick → nothing"
"""Ending of a step that did nothing; between them the others would not be found."""

BY_EVIDENCE: Final = {
    Evidence.WROTE: "wrote it",
    Evidence.NAMED: "named it",
    Evidence.SENT: "sent it to us",
    Evidence.PROVED: "proved to have it",
    Evidence.FILTER: "maybe",
}
"""Wording of the evidence that somebody has a message, the strongest first."""


class Order(Enum):
    """By what the rows of a buffer are sorted; the value is what is said of it."""

    TIME = "by time"
    ID = "by id"
    PERSON = "by person"


def as_text(snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return what waits for what, and who has what, for line mode."""
    lines: list[str] = []
    for section in of_channel(snapshot, info):
        total = f"{section.total:,}" if section.total else ""
        lines.append(f"{section.title}: {total if section.rows else section.none}".rstrip())
        if section.rows and section.note:
            lines.append(f"  {section.note}")
        lines += [f"  {in_words(row)}" for row in section.rows]
    return "\n".join(lines)


def of_channel(snapshot: Snapshot, info: ChannelInfo) -> list[Section]:
    """Return buffers, sessions, and what is known of others."""
    return [
        *buffers(snapshot, info),
        *session_cards(snapshot, info),
        *knowledge(snapshot, info),
    ]


def buffers(snapshot: Snapshot, info: ChannelInfo, order: Order = Order.TIME) -> list[Section]:
    """Return the channel's buffers: buffers: what waits for what, and until when."""
    repair = info.repair
    sections = [
        _waiting(snapshot, info, order),
        _to_request(snapshot, info, repair, order),
        _to_answer(snapshot, info, repair, order),
        _unacknowledged(snapshot, info, order),
    ]
    if info.lost:
        row = Row(
            "each place is marked in the chat; /sync looks again",
            opens=partial(explanations.lost, info),
        )
        sections.append(Section("Given up as lost", info.lost, (row,), ""))
    if info.parked:
        sections.append(_parked(info))
    return sections


# -- the buffers ----------------------------------------------------------------------------------


def _waiting(snapshot: Snapshot, info: ChannelInfo, order: Order) -> Section:
    rows = [_waiting_row(snapshot, info, waiting) for waiting in info.waiting]
    return _section("Waiting for parents", info.waiting_count, _in_order(rows, order), "none")


def _waiting_row(snapshot: Snapshot, info: ChannelInfo, waiting: WaitingInfo) -> Row:
    parents = [_parent(snapshot, info, waiting, parent) for parent in waiting.unmet]
    return Row(
        subject=short_id(waiting.message_id),
        when="shown anyway in",
        left=waiting.give_up_at - snapshot.now,
        text=f"from {name_of(snapshot, waiting.author)}, needs {_listed(parents)}",
        who=name_of(snapshot, waiting.author),
        opens=partial(explanations.waiting, snapshot, info, waiting),
    )


def _parent(snapshot: Snapshot, info: ChannelInfo, waiting: WaitingInfo, parent: MessageId) -> str:
    """Return a parent that is missing, and who named it, unless the waiting message did."""
    if any(other.message_id == parent for other in info.waiting):
        return f"{short_id(parent)} (waiting too)"
    requests = info.repair.requests if info.repair is not None else ()
    namer = next((one.namer for one in requests if one.message_id == parent), waiting.author)
    named = "" if namer == waiting.author else f" (named by {name_of(snapshot, namer)})"
    return short_id(parent) + named


def _to_request(
    snapshot: Snapshot, info: ChannelInfo, repair: RepairInfo | None, order: Order
) -> Section:
    if repair is None:
        return Section("To request (T_req)", 0, (), "nothing is missing")
    rows = [_request_row(snapshot, info, one) for one in repair.requests]
    return structs.replace(
        _section(
            f"To request (T_req {span(repair.t_min)} to {span(repair.t_max)})",
            repair.requests_count,
            _in_order(rows, order),
            "nothing is missing",
        ),
        note=f"{count(repair.participants, 'participant')}, "
        f"{count(repair.groups, 'response group')}",
    )


def _request_row(snapshot: Snapshot, info: ChannelInfo, request: RequestInfo) -> Row:
    assert info.repair is not None
    namer = name_of(snapshot, request.namer)
    words = [f"named by {namer}"]
    if request.named_by != request.namer:
        words = [f"named by {namer} in {short_id(MessageId(request.named_by))}"]
    if request.asked:
        words.append(f"asked for {times(request.asked)}")
    if request.waiters:
        words.append(f"{request.waiters:,} wait{'s' if request.waiters == 1 else ''} for it")
    row = Row(
        subject=short_id(request.message_id),
        text=", ".join(words),
        share=1.0,
        who=namer,
        opens=partial(explanations.request, snapshot, info, request),
    )
    if not info.peers:
        return replace(row, text=f"asked for once somebody is here, {row.text}")
    left = request.t_req - snapshot.now
    return replace(row, share=_share(left, info.repair.t_max), when="asks in", left=left)


def _to_answer(
    snapshot: Snapshot, info: ChannelInfo, repair: RepairInfo | None, order: Order
) -> Section:
    if repair is None:
        return Section("To answer (T_resp)", 0, (), "nobody asks")
    rows = [_answer_row(snapshot, info, repair, one) for one in repair.answers]
    title = f"To answer (T_resp up to {span(repair.t_max)})"
    return _section(title, repair.answers_count, _in_order(rows, order), "nobody asks")


def _answer_row(
    snapshot: Snapshot, info: ChannelInfo, repair: RepairInfo, answer: AnswerInfo
) -> Row:
    left = answer.t_resp - snapshot.now
    return Row(
        subject=short_id(answer.message_id),
        share=_share(left, repair.t_max),
        when="answers in",
        left=left,
        text=f"for {name_of(snapshot, answer.requester)}",
        who=name_of(snapshot, answer.requester),
        opens=partial(explanations.answer, snapshot, info, answer),
    )


def _unacknowledged(snapshot: Snapshot, info: ChannelInfo, order: Order) -> Section:
    rows = _in_order([_outgoing_row(snapshot, info, one) for one in info.outgoing], order)
    return _section("Unacknowledged", info.outgoing_count, rows, "none, all was received")


def _outgoing_row(snapshot: Snapshot, info: ChannelInfo, outgoing: OutgoingInfo) -> Row:
    state = WORDS[outgoing.delivery]
    if outgoing.delivery is Delivery.UNACKNOWLEDGED and outgoing.resend_at is None:
        state = WAITING
    if outgoing.possibly_by:
        state += f" by {_names(snapshot, outgoing.possibly_by)} (filter)"
    again = f", resent {times(outgoing.attempts)}" if outgoing.attempts else ""
    row = Row(
        subject=short_id(outgoing.message_id),
        mark=outgoing.delivery,
        text=f"{state}{again}",
        who=name_of(snapshot, min(outgoing.possibly_by)) if outgoing.possibly_by else "",
        opens=partial(explanations.outgoing, snapshot, info, outgoing),
    )
    if outgoing.resend_at is None:
        return row
    return replace(row, when="again in", left=outgoing.resend_at - snapshot.now)


def _parked(info: ChannelInfo) -> Section:
    own = [
        Row(
            "yours; /resend writes it anew",
            subject=short_id(message_id),
            opens=partial(explanations.parked, info, message_id),
        )
        for message_id in info.parked_own[:ROWS_SHOWN]
    ]
    opens = partial(explanations.parked, info)
    rows = [Row("put aside until the time they claim", opens=opens), *own]
    return Section("Stamped in the future", info.parked, tuple(rows), "")


# -- what is known of others ----------------------------------------------------------------------


def knowledge(snapshot: Snapshot, info: ChannelInfo) -> list[Section]:
    """Return the channel's filter, and who has its newest messages."""
    if info.bloom is None:
        return []
    own = {one.message_id: one.delivery for one in info.outgoing}
    complete = info.outgoing_count == len(info.outgoing)
    if complete:
        own = {one.message_id: Delivery.ACKNOWLEDGED for one in info.holders if one.own} | own
    rows = tuple(
        replace(
            _holders_row(snapshot, info.bloom, one, own.get(one.message_id)),
            opens=partial(explanations.holders, snapshot, info, one),
        )
        for one in info.holders[:HOLDERS_SHOWN]
    )
    return [
        Section("Filter", 0, _filter_rows(info.bloom), ""),
        Section("Holders, newest first", 0, rows, "no message yet"),
    ]


def _filter_rows(bloom: BloomInfo) -> tuple[Row, ...]:
    opens = partial(explanations.bloom, bloom)
    left = bloom.capacity - bloom.count
    full = math.ceil(BAR_CELLS * bloom.count / bloom.capacity)
    rolls = f"rolls over in {left:,}" if left else "rolls over with the next"
    return (
        Row(
            cells="#" * full + "." * (BAR_CELLS - full),
            text=f"{bloom.count:,} of {bloom.capacity:,} ids, {rolls}",
            opens=opens,
        ),
        Row(f"{bloom.bits:,} bits, k {bloom.hashes}, {percent(bloom.fill)} set", opens=opens),
        Row(f"chance of a false “maybe”: {percent(bloom.false_positives)}", opens=opens),
    )


def _holders_row(
    snapshot: Snapshot, bloom: BloomInfo, shown: HoldersInfo, mark: Delivery | None
) -> Row:
    words = ["yours"] if shown.own else []
    for evidence, said in BY_EVIDENCE.items():
        peers = [who for who, how in shown.holders if how is evidence and who != snapshot.me]
        if peers:
            words.append(f"{_names(snapshot, peers)} {said}")
    if words == ["yours"] and mark is not None:
        # Evidence is not kept on disk, states are.
        settled = mark is Delivery.ACKNOWLEDGED
        words.append("received before this start" if settled else "nobody else yet")
    if any(how is Evidence.FILTER for _, how in shown.holders):
        words[-1] += f" (filter, {percent(bloom.false_positives)})"
    return Row(subject=short_id(shown.message_id), mark=mark, text=" · ".join(words))


# -- the rest -------------------------------------------------------------------------------------


def timers(snapshot: Snapshot, info: ChannelInfo) -> Section:
    """Return what happens next unasked."""
    rows: list[Row] = []
    if info.next_sync_at is not None:
        left = info.next_sync_at - snapshot.now
        rows.append(
            Row(
                "unless somebody speaks before",
                when="next sync message in",
                left=left,
                same="sync message",
                opens=partial(explanations.sync_message, snapshot, info),
            )
        )
    if snapshot.longest_block_ns:
        words = f"longest wait of the screen: {milliseconds(snapshot.longest_block_ns)}"
        opens = partial(explanations.longest_wait, snapshot)
        rows.append(Row(words, same="longest wait", opens=opens))
    return Section("Timers", 0, tuple(rows), "no sync message while nobody is here")


def clock(snapshot: Snapshot) -> Section:
    """Return what is known of our clock, and whom the person is asked to follow."""
    opens = partial(explanations.clock, snapshot)
    rows = [Row(words, opens=opens) for words in clocks.facts(snapshot)]
    return Section("Clock", 0, tuple(rows), "")


def peers(snapshot: Snapshot) -> Section:
    """Return who is here and was, as links measure them."""
    rows = tuple(Row(peer_row(snapshot, peer)) for peer in snapshot.peers)
    return Section("Peers", len(rows), rows, "nobody yet")


def refusals(snapshot: Snapshot) -> list[Section]:
    """Return who sent what it must not, the worst first."""
    if not snapshot.refused:
        return []
    worst = sorted(snapshot.refused.items(), key=lambda item: -item[1])[:REFUSED_SHOWN]
    names: dict[str, str] = {one.peer: name_of(snapshot, one.peer) for one in snapshot.peers}
    rows = tuple(
        Row(
            f"{names.get(who) or clip_cells(clean_text(who), REFUSED_CELLS)}: {n:,}"
            f"{_skipped(snapshot, who)}"
        )
        for who, n in worst
    )
    return [Section("Bad input refused", sum(snapshot.refused.values()), rows, "")]


def _skipped(snapshot: Snapshot, who: str) -> str:
    """Return how much of it were frames of a later version, which are passed over."""
    skipped = snapshot.skipped_bytes.get(who)
    return f", {size(skipped)} of unknown kinds" if skipped else ""


def steps(snapshot: Snapshot, words: Sequence[str] = (), *, as_names: bool = False) -> Section:
    """Return the last steps that did something and have all of `words`, newest first.

    They are in words, or in the names of the classes (`as_names`); `words` may be of either.
    """
    lines = [clean_text(line) for line in reversed(snapshot.trace)]
    both = [(line, step_words(line)) for line in lines if not line.endswith(IDLE_STEP)]
    chosen = [one for one in both if has_all(" ".join(one), words)]
    none = "none has these words" if words else "nothing happened yet"
    rows = [
        Row(line if as_names else said, same=line, opens=partial(step_detail, line))
        for line, said in chosen
    ]
    return Section("Last steps, newest first", 0, tuple(rows), none)


def has_all(text: str, words: Sequence[str]) -> bool:
    """Return whether all of `words` are in `text`, in any case."""
    folded = text.casefold()
    return all(word in folded for word in words)


def _section(title: str, total: int, rows: Sequence[Row], none: str) -> Section:
    """Return a section of a buffer that may hold more than is shown."""
    rows = rows[:ROWS_SHOWN]
    more = total - len(rows)
    if rows and more > 0:
        rows = [*rows, Row(f"and {more:,} more")]
    return Section(title, total, tuple(rows), none)


def _in_order(rows: list[Row], order: Order) -> list[Row]:
    """Return rows sorted; a buffer stands in the order of its times already."""
    match order:
        case Order.ID:
            return sorted(rows, key=lambda row: row.subject)
        case Order.PERSON:
            return sorted(rows, key=lambda row: (not row.who, row.who.casefold()))
        case _:
            return sorted(rows, key=lambda row: (row.left is None, row.left or 0))


def _share(left: Nanos, whole: Nanos) -> float:
    """Return how much of the longest wait is left."""
    return min(max(left / whole, 0.0), 1.0)


def _names(snapshot: Snapshot, peers: Iterable[PeerId]) -> str:
    return _listed([name_of(snapshot, peer) for peer in peers])


def _listed(words: Sequence[str]) -> str:
    """Return words with commas; what is beyond a few is counted."""
    more = len(words) - NAMES_SHOWN
    shown = ", ".join(words[:NAMES_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown
