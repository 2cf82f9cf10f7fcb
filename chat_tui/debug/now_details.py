"""Details of the rows of the tab Now: a plain sentence, then the numbers behind it."""

from collections.abc import Sequence
from math import ceil
from typing import Final

from msgspec import Struct

from chat_tui.debug.range_rows import session_detail
from chat_tui.debug.section import Detail
from chat_tui.text.times import count, duration, milliseconds, size, span
from chat_tui.wording.presence import presence
from chat_tui.wording.sentences import name_of, short_id
from sync.machine import MILLISECOND, MessageId, Nanos
from sync.view.departures import DepartureInfo, Left
from sync.view.rates import SECONDS, RatesInfo, Series, Sort, summed
from sync.view.view import ChannelInfo, Inspection, PeerInfo, SessionInfo, Snapshot

ACK_BOUNDS: Final = tuple(250 * MILLISECOND * 2**power for power in range(7))
"""Times between which acknowledgements are counted: a quarter of a second to 16 seconds."""

FILTER_CELLS: Final = 60
"""Parts of the filter that are drawn: a multiple of both lengths of a sparkline."""

SLOWEST: Final = 5
"""Acknowledgements that are named: those that took longest."""

MEANT: Final = {
    Sort.MESSAGE: "messages on their way for the first time, or sent again by their author",
    Sort.REPAIR: "messages that somebody else sends because they were asked for",
    Sort.SYNC: "sync messages: no text, only which messages are known",
    Sort.EPHEMERAL: "ephemeral messages, as that somebody types; nobody keeps them",
    Sort.SESSION: "payloads of reconciliations: ranges, logs, entries and their checks",
    Sort.PUSH: "messages sent to whom a reconciliation found lacking them",
    Sort.LOGS: "announcements of author logs",
    Sort.OP: "signed ops of governed channels",
    Sort.HEADS: "heads of governance that somebody has",
    Sort.OPS: "messages of pulls of ops",
    Sort.STATE: "entries of the channel's state: topic, pins, names, and marks of what is read",
    Sort.ROOT: "roots of the channel's state, by which two notice that theirs differ",
    Sort.UNREADABLE: "frames that cannot be read",
}


class NowInfo(Struct, frozen=True):
    """Everything the tab Now shows beyond the snapshot."""

    rates: RatesInfo
    departures: tuple[DepartureInfo, ...] = ()
    cells: tuple[float, ...] = ()
    """Share of set bits in each part of the filter."""


def collect(inspection: Inspection, snapshot: Snapshot, info: ChannelInfo | None) -> NowInfo:
    """Return what is collected of the moment of a snapshot."""
    rates = inspection.rates(snapshot.now)
    if info is None:
        return NowInfo(rates)
    cells = inspection.filter_cells(info.channel, FILTER_CELLS)
    return NowInfo(rates, tuple(inspection.departures(info.channel)), cells)


def acks_of(left: Sequence[DepartureInfo]) -> list[tuple[MessageId, Nanos]]:
    """Return which own messages were acknowledged, newest first, and after how long."""
    return [
        (one.message_id, one.took)
        for one in left
        if one.how is Left.ACKNOWLEDGED and one.took is not None
    ]


def quantile(ordered: Sequence[Nanos], share: float) -> Nanos:
    """Return the least value that `share` of all, in ascending order, do not exceed."""
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def way(rates: RatesInfo, *, sent: bool) -> Detail:
    """Return what went one way in the last minute, by kind."""
    chosen = [one for one in rates.series if one.sent is sent]
    frames, bytes_ = sum(sum(one.frames) for one in chosen), sum(sum(one.bytes) for one in chosen)
    what = "left this computer" if sent else "came to this computer"
    seconds = summed([one.bytes for one in chosen])
    peak = max(seconds)
    ago = len(seconds) - 1 - max(at for at, one in enumerate(seconds) if one == peak)
    facts = [f"peak {size(peak)} in one second, {ago} s ago" if peak else "nothing passed"]
    facts += [f"{one.sort.value:<8}{_counted(one)}: {MEANT[one.sort]}" for one in chosen]
    title = "Out" if sent else "In"
    plain = f"{count(frames, 'frame')} with {size(bytes_)} after decryption {what} in a minute."
    return Detail(f"{title}, last {SECONDS} s", plain, tuple(facts))


def kind(rates: RatesInfo, sort: Sort) -> Detail:
    """Return what passed of one kind, by way."""
    chosen = [one for one in rates.series if one.sort is sort]
    facts = [f"{'out' if one.sent else 'in':<4}{_counted(one)}" for one in chosen]
    return Detail(f"{sort.value}, last {SECONDS} s", f"These are {MEANT[sort]}.", tuple(facts))


def _counted(one: Series) -> str:
    frames, bytes_ = sum(one.frames), sum(one.bytes)
    each = size(bytes_ // frames) if frames else "nothing"
    return f"{count(frames, 'frame')}, {size(bytes_)}, {each} each"


def acknowledged(snapshot: Snapshot, acks: Sequence[tuple[MessageId, Nanos]]) -> Detail:
    """Return how long acknowledgements took, in steps, and the slowest."""
    took = [one for _, one in acks]
    edges = [0, *ACK_BOUNDS]
    facts = []
    for at, low in enumerate(edges):
        high = edges[at + 1] if at + 1 < len(edges) else None
        n = sum(low <= one and (high is None or one < high) for one in took)
        facts.append(f"under {duration(high)}: {n:,}" if high else f"longer: {n:,}")
    slowest = sorted(acks, key=lambda ack: -ack[1])[:SLOWEST]
    facts += [f"slowest: {short_id(id_)} after {duration(one)}" for id_, one in slowest]
    del snapshot
    return Detail(
        "Time to acknowledge",
        f"Of your last {count(len(took), 'message')} that somebody proved to have, this is how "
        "long each took from being written. Sync messages and answers carry the proof, so a quiet "
        "channel takes longer.",
        tuple(facts),
    )


def waiting(snapshot: Snapshot, info: ChannelInfo) -> Detail:
    """Return what each of the four numbers counts."""
    repair = info.repair
    asks, answers = (repair.requests_count, repair.answers_count) if repair is not None else (0, 0)
    facts = [
        f"{count(info.waiting_count, 'message')} held back until what they build on is here",
        f"{count(asks, 'message')} missing, each with a time at which we ask",
        f"{count(answers, 'message')} that others asked for, each with a time at which we answer",
        f"{count(info.outgoing_count, 'message')} of yours that nobody has proved to have",
    ]
    if info.next_sync_at is not None:
        facts.append(f"next sync message in {span(info.next_sync_at - snapshot.now)}")
    return Detail("Waiting", "The tab Buffers shows each of these with its deadline.", tuple(facts))


def session(snapshot: Snapshot, one: SessionInfo) -> Detail:
    """Return what the tab Sync opens for a session."""
    return session_detail(snapshot, one)


def link(snapshot: Snapshot, peer: PeerInfo) -> Detail:
    """Return what is measured of a link."""
    facts = list(presence(snapshot, peer))
    if peer.rtts:
        ordered = sorted(peer.rtts)
        low, middle, high = (milliseconds(quantile(ordered, share)) for share in (0.0, 0.5, 1.0))
        facts.append(f"{count(len(ordered), 'round trip')}: {low} to {high}, median {middle}")
        facts.append(f"oldest first: {', '.join(milliseconds(one) for one in peer.rtts)}")
    else:
        facts.append("no ping was answered over it yet")
    if peer.dialled_us:
        facts.append("it dialled us")
    name = name_of(snapshot, peer.peer)
    plain = f"The link to {name}: pings measure how long the way there and back takes."
    return Detail(f"Link to {name}", plain, tuple(facts))
