"""The last minute and what goes on now, in sections of rows: pure functions of what is collected.

The tab Now draws them with sparklines; line mode says the same rows in words alone.
"""

from functools import partial
from typing import Final

from chat_tui.debug import explanations, now_details
from chat_tui.debug.departure_rows import departure_detail, departure_words
from chat_tui.debug.explanations import percent
from chat_tui.debug.frame_kinds import style_of
from chat_tui.debug.now_details import ACK_BOUNDS, NowInfo, acks_of, quantile
from chat_tui.debug.section import Row, Section
from chat_tui.text.safe_text import clean_text, clip_cells
from chat_tui.text.times import count, duration, milliseconds, size, span, to_the_second
from chat_tui.wording.sentences import name_of, short_id
from sync.machine import SECOND
from sync.view.departures import Left
from sync.view.rates import SECONDS, RatesInfo, summed
from sync.view.view import ChannelInfo, PeerInfo, PeerState, SessionInfo, Snapshot

ROWS_SHOWN: Final = 5
"""Repairs and sessions in a section: the newest; the other tabs have more."""

LINKS_SHOWN: Final = 12
"""Links in their section; those left out are counted."""

NAME_CELLS: Final = 8
"""Of a name before its sparkline."""

KIND_CELLS: Final = 7
"""Of the longest name of a kind."""

RESULT_CELLS: Final = 120
"""Of how a session ended, which may be a peer's words."""

WAYS: Final = (True, False)
"""Sent, and received."""

HALF: Final = 0.5
NEARLY_ALL: Final = 0.99


def now_sections(snapshot: Snapshot, info: ChannelInfo | None, now: NowInfo) -> list[Section]:
    """Return all sections of the tab."""
    sections = [traffic(now.rates)]
    if info is not None:
        sections += [
            acknowledged(snapshot, now),
            waiting(snapshot, info),
            repairs(snapshot, now),
        ]
    sections.append(links(snapshot, info))
    if info is not None:
        sections += [sessions(snapshot, info), bloom(info, now)]
    return sections


def traffic(rates: RatesInfo) -> Section:
    """Return frames and bytes of the last minute, by way and by kind."""
    frames = sum(sum(one.frames) for one in rates.series)
    rows = [_way(rates, sent=True), _way(rates, sent=False)]
    for sort in dict.fromkeys(one.sort for one in rates.series):
        chosen = [one for one in rates.series if one.sort is sort]
        counted = summed([one.frames for one in chosen])
        bytes_ = sum(sum(one.bytes) for one in chosen)
        rows.append(
            Row(
                f"{sum(counted):,}, {size(bytes_)}",
                subject=f"{sort.value:<{KIND_CELLS}}",
                spark=counted,
                passes=True,
                tone=style_of(sort.value),
                opens=partial(now_details.kind, rates, sort),
            )
        )
    known = rates.now - rates.since
    out, into = (summed([one.bytes for one in rates.series if one.sent is way]) for way in WAYS)
    note = f"{size(sum(out))} out, {size(sum(into))} in"
    if known < (SECONDS - 1) * SECOND:
        note += f"; known of the last {span(known)} alone"
    return Section(f"Frames of the last {SECONDS} s", frames, tuple(rows), "", note)


def _way(rates: RatesInfo, *, sent: bool) -> Row:
    chosen = [one for one in rates.series if one.sent is sent]
    bytes_ = summed([one.bytes for one in chosen])
    rate = f"{size(bytes_[-2])}/s"  # the last second is not over
    word = "out" if sent else "in"
    opens = partial(now_details.way, rates, sent=sent)
    subject = f"{word:<{KIND_CELLS}}"
    return Row(rate, subject=subject, spark=bytes_, passes=True, tone="bold", opens=opens)


def acknowledged(snapshot: Snapshot, now: NowInfo) -> Section:
    """Return how long it took until somebody proved to have what we wrote."""
    acks = acks_of(now.departures)
    if not acks:
        return Section("Time to acknowledge", 0, (), "nothing was acknowledged since this start")
    took = sorted(one for _, one in acks)
    shape = [0.0] * (len(ACK_BOUNDS) + 1)
    for one in took:
        shape[sum(one >= bound for bound in ACK_BOUNDS)] += 1
    row = Row(
        f"p50 {duration(quantile(took, HALF))}, p99 {duration(quantile(took, NEARLY_ALL))}",
        subject=f"{'ack':<{KIND_CELLS}}",
        spark=tuple(shape),
        tone=style_of("MSG"),
        opens=partial(now_details.acknowledged, snapshot, acks),
    )
    return Section("Time to acknowledge", len(took), (row,), "")


def waiting(snapshot: Snapshot, info: ChannelInfo) -> Section:
    """Return how much waits for what, and what is asked for next."""
    repair = info.repair
    asks, answers = (repair.requests_count, repair.answers_count) if repair is not None else (0, 0)
    total = info.waiting_count + asks + answers + info.outgoing_count
    opens = partial(now_details.waiting, snapshot, info)
    text = (
        f"for parents {info.waiting_count:,}, to request {asks:,}, to answer {answers:,}, "
        f"unacknowledged {info.outgoing_count:,}"
    )
    rows = [Row(text, opens=opens)]
    if repair is not None and repair.requests and info.peers:
        first = min(repair.requests, key=lambda one: one.t_req)
        left = first.t_req - snapshot.now
        rows.append(
            Row(
                f"named by {name_of(snapshot, first.namer)}",
                subject=short_id(first.message_id),
                share=max(0.0, min(1.0, left / repair.t_max)),
                when="asks in",
                left=left,
                opens=partial(explanations.request, snapshot, info, first),
            )
        )
    return Section("Waiting", total, tuple(rows), "")


def repairs(snapshot: Snapshot, now: NowInfo) -> Section:
    """Return what was missing and came, or was given up: when, how long, and by whom."""
    over = [one for one in now.departures if one.how in (Left.FOUND, Left.LOST)]
    rows = tuple(
        [
            Row(
                departure_words(snapshot, one),
                subject=short_id(one.message_id),
                tone=style_of("BAD" if one.how is Left.LOST else "REPAIR"),
                opens=partial(departure_detail, snapshot, one),
            )
            for one in over[:ROWS_SHOWN]
        ]
    )
    return Section("Repairs", len(over), rows, "nothing was missing since this start")


def sessions(snapshot: Snapshot, info: ChannelInfo) -> Section:
    """Return the newest reconciliations: when, with whom, kind, result, round trips, bytes."""
    ours = [one for one in snapshot.sessions if one.channel == info.channel]
    rows = tuple(
        [
            Row(
                session_words(snapshot, one),
                subject=to_the_second(one.began_at),
                tone=style_of("SESSION"),
                opens=partial(now_details.session, snapshot, one),
            )
            for one in ours[:ROWS_SHOWN]
        ]
    )
    return Section("Sessions", len(ours), rows, "none since this start")


def session_words(snapshot: Snapshot, session: SessionInfo) -> str:
    """Return a session in one line."""
    words = [
        name_of(snapshot, session.peer),
        clean_text(session.protocol),
        outcome(session),
    ]
    return ", ".join(words)


def outcome(session: SessionInfo) -> str:
    """Return how a session ended or goes on, and what it cost."""
    result = clip_cells(clean_text(session.result), RESULT_CELLS) or session.state
    cost = session.bytes_in + session.bytes_out
    if not session.payloads:
        return result
    return f"{result}, {count(session.trips, 'round trip')}, {size(cost)}"


def links(snapshot: Snapshot, info: ChannelInfo | None) -> Section:
    """Return each link: its last round trips, and what it is doing."""
    order = sorted(snapshot.peers, key=lambda one: one.state is PeerState.DOWN)
    rows = [_link(snapshot, info, one) for one in order[:LINKS_SHOWN]]
    more = len(order) - LINKS_SHOWN
    if more > 0:
        rows.append(Row(f"and {more:,} more: /peers shows all"))
    here = sum(one.state is PeerState.UP for one in snapshot.peers)
    return Section("Links", here, tuple(rows), "nobody yet")


def _link(snapshot: Snapshot, info: ChannelInfo | None, peer: PeerInfo) -> Row:
    name = clip_cells(name_of(snapshot, peer.peer), NAME_CELLS)
    opens = partial(now_details.link, snapshot, peer)
    if peer.state is PeerState.DOWN:
        since = "" if peer.last_seen_ns is None else f" since {to_the_second(peer.last_seen_ns)}"
        return Row(f"gone{since}", subject=f"{name:<{NAME_CELLS}}", opens=opens)
    words = [] if peer.rtt_ns is None else [milliseconds(peer.rtt_ns)]
    words.append(doing(snapshot, info, peer))
    return Row(
        ", ".join(words),
        subject=f"{name:<{NAME_CELLS}}",
        spark=peer.rtts,
        tone="$primary",
        opens=opens,
    )


def doing(snapshot: Snapshot, info: ChannelInfo | None, peer: PeerInfo) -> str:
    """Return what a peer and we do now, or did last."""
    if peer.syncing:
        return "comparing histories"
    with_it = [
        one
        for one in snapshot.sessions
        if one.peer == peer.peer and (info is None or one.channel == info.channel)
    ]
    if not with_it:
        return "here, nothing compared yet"
    last = with_it[0]
    when = last.began_at if last.ended_at is None else last.ended_at
    result = clip_cells(clean_text(last.result), RESULT_CELLS) or last.state
    return f"{result} {to_the_second(when)}"


def bloom(info: ChannelInfo, now: NowInfo) -> Section:
    """Return how full the filter is: each cell as high as the share of its bits that are set."""
    if info.bloom is None:
        return Section("Filter", 0, (), "not known yet")
    one = info.bloom
    row = Row(
        f"{one.count:,} of {one.capacity:,} ids, false maybe {percent(one.false_positives)}",
        subject=f"{'bits':<{KIND_CELLS}}",
        spark=now.cells,
        peak=HALF,  # a full filter has about half of its bits set
        tone="$secondary",
        opens=partial(explanations.bloom, one),
    )
    return Section("Filter", 0, (row,), "")
