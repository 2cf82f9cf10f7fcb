"""I7: every table and buffer of a node against its bound.

One walk finds them all: from the runner through every object of ours down to each dictionary, list,
set, heap and array. `BOUNDS` names a bound for each; a table without one is an error of ours.
Tables that follow what the disk holds are bounded by that, those that follow links by their number:
who is linked is decided elsewhere, by `sync.structures.places` where people run it.
"""

from array import array
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator
from enum import Enum
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from sync.calimero.log import delta_messages
from sync.calimero.state import registers, tree
from sync.calimero.state.contents import StateKind
from sync.check import message as check_message
from sync.group import (
    aside,
    history_loading,
    logs,
    relays,
    stating,
    typing_notices,
    values,
    writer,
)
from sync.group.group import Group
from sync.manager import histories
from sync.p2panda import messages, sending
from sync.p2panda import session as p2panda
from sync.runner import input_queue
from sync.runner.runner import Runner
from sync.sds import (
    acknowledge,
    answering,
    asking,
    causal,
    evidence,
    history,
    incoming,
    log,
    message,
    participants,
    probes,
)
from sync.sessions import claims, receiving, served, sessions, sync_config, table
from sync.sessions.found_ids import Fate
from sync.sessions.handshake import SyncKind
from sync.sim.governance.bounds import GOVERNANCE_BOUNDS
from sync.sim.log_bounds import LOG_BOUNDS
from sync.sim.scale import Bound, Scale
from sync.structures import bloom_parameters, ordered_set, row_sets, row_table, token_bucket
from sync.structures.set_digest import ROW_BYTES
from sync.waku import asked, backlog, division, reading, reconcile, turn
from sync.waku import message as waku_message
from sync.waku import session as waku

SIZED: Final = (dict, list, set, frozenset, deque, bytearray, array, np.ndarray)

HOLDS: Final = (dict, list, set, frozenset, deque)
"""Those whose values may have tables of their own."""

NOTHING: Final[dict[str, object]] = {}

LOOKED_INTO: Final = 16
"""Values of one table that are looked into: rows of a table are alike."""

WANTED_MAX: Final = reconcile.NEED_MAX + check_message.NEED_MAX
"""Ids one session may find missing."""


def _links(scale: Scale) -> int:
    return scale.links + 1  # what no link brought has a place, too


def _stored(scale: Scale) -> int:
    return 2 * scale.stored + 64  # columns and tables grow in steps, by doubling


def _wanted(scale: Scale) -> int:
    """Ids that sessions want or have found lacking, of which over half may have come."""
    wanted = history_loading.LEFT_MAX + scale.sessions * WANTED_MAX
    return 2 * wanted + row_table.SPARSE_FROM + _stored(scale)


def _channels(scale: Scale) -> int:
    return scale.channels


def _filter(scale: Scale) -> int:
    return scale.filter_ids


def _filter_bytes(scale: Scale) -> int:
    return scale.filter_ids * bloom_parameters.WORD_BITS  # at any error rate there may be


def _looked_for(scale: Scale) -> int:
    """Heaps are made anew when more than half of them stands for nothing."""
    del scale
    return 2 * (incoming.WAITING_MAX + incoming.MISSING_MAX) + incoming.STALE_MAX


BOUNDS: Final[dict[str, Bound]] = {
    "Announcements.ours": _channels,
    "Announcing._changed": _links,
    "Announcing._linked": _links,
    "Announcing._ours": _channels,
    "Aside._followed_by": _links,
    "Aside._warned": aside.WARNED_MAX,
    "Aside.replaced": _stored,
    "AuthorLog._ids": lambda scale: 32 * scale.stored,
    "Buckets._levels": token_bucket.KEYS_MAX,
    "ChannelLogs._authors": _stored,
    "ChannelLogs._logs": _stored,
    "Causal._came": lambda scale: 2 * scale.links + 64,  # within a second
    "Causal._pouring": lambda scale: 2 * scale.links + 64,
    "Causal.aside": lambda scale: scale.stored + scale.outside,
    "Causal.forgone": causal.FORGONE_MAX,
    "Group.copies": lambda scale: scale.sessions + scale.links + 1,
    "Group.peers": _links,
    "Holders._hints": evidence.HINTS_MAX,
    "Holders._last_sync": evidence.TOLD_MAX,
    "Holders._told": evidence.TOLD_MAX,
    "Incoming._by_sender": incoming.WAITING_MAX,
    "Incoming._giving_way": incoming.WAITING_MAX,
    "Incoming._heap": _looked_for,
    "Incoming._lost_of": incoming.LOST_MAX,
    "Incoming._lost_via": incoming.LOST_MAX,
    "Incoming._named_via": incoming.MISSING_MAX,
    "Incoming.lost": incoming.LOST_MAX,
    "Incoming.missing": incoming.MISSING_MAX,
    "Incoming.waiting": incoming.WAITING_MAX,
    "Loading.awaited": lambda scale: history_loading.LEFT_MAX + scale.sessions * WANTED_MAX,
    "Loading.direct": _stored,
    "Loading.ids": _stored,
    "Loading.in_vain": history_loading.LEFT_MAX,
    "Loading.left": history_loading.LEFT_MAX,
    "Linked.channels": _channels,
    "Linked.offers": _channels,
    "Log._calm": message.HISTORY_MAX,
    "Log.torrent": history.TORRENT_MAX,
    "Log._newest": message.HISTORY_MAX,
    "Log.owed": history.OWED_MAX,
    "Log.tips": history.TIPS_MAX,
    "Expectations._until": _links,
    "Expectations._news": _links,
    "Holdings._since": _stored,
    "Histories._compared": lambda scale: histories.COMPARED_MAX * scale.channels,
    "Histories._logs": _channels,
    "Manager._dialled": _links,
    "Choosing._begun": _links,
    "FailedKinds._failed": lambda scale: 2 * scale.links + 2,  # a plane each
    "PeerSelection._known": _links,
    "LiveSessions._wanted": _links,
    "Relays._asked": relays.AUTHORS_MAX,
    "Asked.by": _links,
    "Relays._through": relays.AUTHORS_MAX,
    "Relays._told": _links,
    "Sending._due": _stored,
    "Sending._loose": sending.LOOSE_MAX + 1,
    "Slots.linked": _links,
    "Periodic.observed": _channels,
    "Periodic._regular": _channels,
    "Slots.running": sync_config.SESSIONS_MAX,
    "Seeking.searches": _channels,
    "Wishes._wishes": lambda scale: 2 * scale.links + 2,  # a plane each
    "Wishes._keys": _links,
    "OrderedLog._less_recent": log.RECENT_MAX,
    "OrderedLog.recent": log.RECENT_MAX,
    "OrderedSet._pending": ordered_set.PENDING_MAX,
    "Outgoing._heap": lambda scale: 16 * scale.stored + 64,
    "Outgoing._possibly_waits": 64,
    "Outgoing._waits": 64,
    "Outgoing._untold": _stored,
    "Outgoing.pending": _stored,
    "Parked._by_author": _stored,
    "Parked._heap": _stored,
    "Parked.outlines": _stored,
    "Presences._known": 64,
    "Presences._offered": _links,
    "Presences._spoken": _links,
    "Presences._waits": _links,
    "Participants._last_seen": participants.PARTICIPANTS_MAX,
    "Pending.possibly_by": acknowledge.POSSIBLY_BY_MAX,
    "Probes._held_by": probes.PEERS_MAX,
    "Search.tried": _links,
    "Block.numbers": _wanted,
    "Block.rows": _wanted,
    "RowTable._blocks": row_table.BLOCKS_MAX,
    "FoundIds._counts": len(Fate),
    "Brought._aside": check_message.ASIDE_MAX + 1,
    "Together._merged": claims.CLAIMS_BYTES_MAX // row_sets.BUCKET_BYTES,
    "Rows.buckets": claims.CLAIMS_BYTES_MAX // row_sets.BUCKET_BYTES,
    "OnItsWay.peers": _links,
    "OnItsWay.authors": lambda scale: scale.sessions * messages.LOGS_MAX,
    "OnItsWay.messages": lambda scale: scale.sessions * delta_messages.WALK_MAX,
    "Served._by_peer": served.PEERS_MAX,
    "Opening.failed": len(SyncKind),
    "Session.early_payloads": sessions.EARLY_MAX + 1,
    "Session.failed": len(SyncKind),
    "Session.asked": delta_messages.WALK_MAX,
    "Session.authors": messages.LOGS_MAX,
    "Session.put_off": delta_messages.WALK_MAX,
    "Session.pushed": _stored,
    "Table.running": lambda scale: 2 * scale.links + table.LIVE_MAX,
    "Table.shown": table.SHOWN_MAX,
    "WakuExchange._cards": waku.ROUNDS_MAX,
    "Shares._failures": _links,
    "Shares._returned": _links,
    "Shares.given": _links,
    "Shares.later": _links,
    "Exchange._cards": p2panda.ROUNDS_MAX,
    "Exchange._batches": 2,
    "Exchange._told": messages.LOGS_MAX,
    "_Batch.counted": 16,  # one for each type of message
    "Heads._heights": _stored,
    "Heads.items": _stored,
    "Fetching.linked": _links,
    "Fetching.pushing": _links,
    "Sessions._trips": _links,
    "Grace.sessions": lambda scale: scale.sessions,
    "Sought.waiters": incoming.WAITING_MAX,
    "Transfer._waiting": receiving.WAITING_MAX,
    "Typists._resting": typing_notices.RESTING_MAX,
    "Typists._typists": typing_notices.TYPISTS_MAX,
    "Weights._of": lambda scale: 2 * scale.links + scale.sessions,
    "_Log.runs": logs.RUNS_MAX,
    "Writer._changes": lambda scale: 2 * scale.stored + writer.FORGET_FROM,
    "Writer._waiting": lambda scale: 2 * scale.stored + writer.FORGET_FROM,
    "Answering.answers": answering.ANSWERS_MAX,
    "Answering.given": answering.ANSWERS_MAX,
    "Answering.forestalled": answering.FORESTALLED_MAX,
    "Answering._heap": 4 * answering.ANSWERS_MAX,
    "Answering._rounds": answering.ROUNDS_MAX,
    "Asked.again": 2 * asking.REQUESTS_MAX + asking.STALE_MAX,
    "Asked.heap": 2 * asking.REQUESTS_MAX + asking.STALE_MAX,
    "Asked.in_line": incoming.MISSING_MAX,
    "Asking._links": incoming.MISSING_MAX,
    "Asking.in_line": incoming.MISSING_MAX,
    "Asking.requests": asking.REQUESTS_MAX,
    "Reference.members": _links,
    "Current.profiles": registers.ENTRIES_MAX,
    "Current.reads": registers.ENTRIES_MAX,
    "Registers._entries": registers.ENTRIES_MAX,
    "Registers._lowest": 2 * registers.ENTRIES_MAX + registers.STALE_MAX,
    "Registers._of_author": registers.ENTRIES_MAX,
    "Registers._of_kind": len(StateKind),
    "_Node.entries": tree.LEAF_ENTRIES_MAX,
    "StateBeats._agreed": _links,
    "Stating._ahead": stating.AHEAD_MAX,
    "StateBeats._differing": _links,
    "StateBeats._dialled": _links,
    "StateBeats._unshaken": _links,
    "StateBeats._missed": _links,
    "StateBeats._new": _links,
    "Unsettled._of": stating.WAITING_MAX,
    "RollingBloomFilter._older": _filter,
    "RollingBloomFilter._one_by_one": _filter,
    "RollingBloomFilter._unset": _filter,
    "RollingBloomFilter._younger": _filter,
    "RollingBloomFilter._bits": _filter_bytes,
    "RollingBloomFilter._younger_bits": _filter_bytes,
    "Ranges.counts": waku_message.RANGES_MAX,
    "Ranges.fingerprints": 32 * waku_message.RANGES_MAX,
    "Ranges.id_hashes": waku_message.PAYLOAD_BYTES_MAX,
    "Ranges.id_timestamps": waku_message.PAYLOAD_BYTES_MAX // reading.ELEMENT_BYTES_MIN,
    "Ranges.kinds": waku_message.RANGES_MAX,
    "Ranges.hashes": waku_message.RANGES_MAX,
    "Ranges.timestamps": waku_message.RANGES_MAX,
    "Reconciliation._unanswered": turn.PAYLOADS_MAX,
    "Step.have_rows": ROW_BYTES * (division.ITEMS_MAX + asked.WORK),
    "Step.need_rows": ROW_BYTES * waku_message.PAYLOAD_BYTES_MAX // reading.ELEMENT_BYTES_MIN,
    "Step.payloads": turn.PAYLOADS_MAX,
    "Stretch.contents": backlog.BACKLOG_MAX,
    "Stretch.uppers": backlog.BACKLOG_MAX,
    "Deadlines._changed": _channels,
    "Deadlines._due": _channels,
    "Deadlines._groups": _channels,
    "InputQueue._answering": lambda scale: scale.sessions,
    "InputQueue._payloads": lambda scale: 2 * scale.sessions,  # each session and its check
    "InputQueue._peers": input_queue.PEERS_MAX,
    "Runner._profiles": 64,
    "InputQueue._put_off": input_queue.QUEUE_MAX,
    "InputQueue._queue": input_queue.QUEUE_MAX,
    "Runner._rebuilt": _channels,
    "Runner.groups": _channels,
    "Runner.memberships": _channels,
    **GOVERNANCE_BOUNDS,
    **LOG_BOUNDS,
}
"""By class and attribute. Of `Parked`, which is bounded for each author, and what the person wrote,
the disk is the bound."""

COLUMNS: Final = {"Digest": 8, "IdTable": 64, "OrderedLog": 8, "Probes": 8, "Run": 8}
"""Classes whose tables are columns of what is stored: so many numbers or bytes for each message."""

COLUMNS_MIN: Final = 4096
"""Of an empty one: an `IdTable` begins with a thousand parts, a `Run` with room to grow."""

CLAIMED: Final = {"Run": claims.CLAIMS_BYTES_MAX // claims.CLAIM_BYTES}
"""A session keeps in one what it has found missing, too."""

SIMULATED: Final = "sync.sim."
"""Our own module: what a world knows of all its nodes together is no table of one."""


class Table(NamedTuple):
    """One table of a node, and how full it is."""

    name: str
    size: int
    most: int | None
    """None where `BOUNDS` names none."""


def tables(one: Runner) -> Iterator[Table]:
    """Yield every table of a node.

    One that several hold, or of which there are several, comes as often.
    """
    scale = _scale(one)
    for name, size in _sizes(one):
        owner = name.split(".", maxsplit=1)[0]
        bound = BOUNDS.get(name)
        if owner in COLUMNS:
            most: int | None = COLUMNS[owner] * scale.stored + COLUMNS_MIN + CLAIMED.get(owner, 0)
        else:
            most = bound(scale) if callable(bound) else bound
        yield Table(name, size, most)


def check_bounds(one: Runner, node: int) -> None:
    """I7: every queue, table and buffer of a node is within its limit."""
    for each in tables(one):
        if each.most is not None:
            assert each.size <= each.most, (
                f"I7: node {node} has {each.size} in {each.name}, {each.most} at most"
            )
    for group in one.groups.values():
        waiting = Counter(held.content.sender_id for held in group.sds.incoming.waiting.values())
        most = max(waiting.values(), default=0)
        assert most <= incoming.WAITING_PER_SENDER_MAX, (
            f"I7: node {node} holds back {most} messages of one author"
        )


def _outside(group: Group) -> int:
    """Return how many entries wait for governance, or were dropped."""
    governing = group.governing
    return 0 if governing is None else len(governing.pending.entries) + len(governing.dropped)


def _nearby(group: Group) -> int:
    """Return with how many peers ops alone are exchanged."""
    return 0 if group.governing is None else len(group.governing.nearby)


def _joining(one: Runner) -> int:
    """Return how many came or went of whom a group does not know that yet, as one made anew."""
    moves = (values.PeerJoined, values.PeerGone)
    return sum([isinstance(each.event, moves) for each in one.inputs._queue])  # noqa: SLF001


def _ops(group: Group) -> int:
    governing = group.governing
    return 0 if governing is None else len(governing.governance.dag)


def _scale(one: Runner) -> Scale:
    groups = one.groups.values()
    return Scale(
        stored=sum([group.holdings.items.added + len(group.aside) for group in groups]),
        outside=sum([_outside(group) for group in groups]),
        ops=sum([_ops(group) for group in groups]),
        links=sum([len(group.peers) + _nearby(group) for group in groups]) + _joining(one),
        channels=len(groups),
        filter_ids=max([group.sds.parameters.bloom.capacity for group in groups], default=0),
    )


def _sizes(root: object) -> list[tuple[str, int]]:
    """Return (class and attribute, size) of every table that is reached from `root`."""
    sizes: list[tuple[str, int]] = []
    seen = {id(root)}
    todo = [root]
    roles = ROLES
    while todo:
        owner = todo.pop()
        kind = type(owner)
        for name, value in _attributes(owner, kind):
            role = roles[type(value)]
            if role in SKIPPED:
                continue
            if role == OURS:
                inner: Iterable[object] = (value,)
            else:
                sizes.append((_named(kind, name), len(value)))  # type: ignore[arg-type]  # a table
                if role == TABLE:
                    continue
                inner = value.values() if isinstance(value, dict) else value  # type: ignore[assignment]  # one that holds others
            for one in islice(inner, LOOKED_INTO):
                role = roles[type(one)]
                if role == PLAIN:
                    continue
                for each in one if role == TUPLE else (one,):  # type: ignore[attr-defined]  # what it says
                    if roles[type(each)] == OURS and id(each) not in seen:
                        seen.add(id(each))
                        todo.append(each)
    return sizes


class Roles(dict[type, int]):
    """Role of a value in the walk by its class, worked out once for each class."""

    def __missing__(self, kind: type) -> int:
        """Return the role of a class that has not been met yet."""
        if issubclass(kind, SIZED):
            role = HOLDING if issubclass(kind, HOLDS) else TABLE
        elif issubclass(kind, tuple):
            role = TUPLE
        else:
            module = kind.__module__
            ours = module.startswith("sync.") and not module.startswith(SIMULATED)
            role = OURS if ours and not issubclass(kind, (Enum, type)) else PLAIN
        self[kind] = role
        return role


PLAIN, OURS, TABLE, HOLDING, TUPLE = range(5)
"""Roles: nothing to look into; an object of ours, which may have tables; a table; one whose values
may have tables of their own; a tuple, which is looked into where it stands in a table."""

SKIPPED: Final = (PLAIN, TUPLE)
"""Roles of attributes that are no tables, and have none: what never changes cannot grow."""

ROLES: Final = Roles()


@cache
def _named(kind: Hashable, name: str) -> str:
    assert isinstance(kind, type)
    return f"{kind.__name__}.{name}"


def _attributes(owner: object, kind: type) -> Iterable[tuple[str, object]]:
    slots = _slots(kind)
    own: dict[str, object] = getattr(owner, "__dict__", NOTHING)
    if not slots:
        return own.items()
    found = [(name, getattr(owner, name, None)) for name in slots]
    return [*own.items(), *found] if own else found


@cache
def _slots(kind: type) -> tuple[str, ...]:
    names: list[str] = []
    for base in type.mro(kind):
        slots = base.__dict__.get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return tuple([name for name in names if not name.startswith("__")])
