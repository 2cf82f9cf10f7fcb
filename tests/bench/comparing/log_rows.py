"""Rows of `bench_state_sync` about messages: what each kind of session takes to find what lacks.

Two members hold 20,000 messages of 18 authors, who write in bursts; one of them, or both, lack
some. The kinds run over a perfect stream. `bytes` are those behind the handshake and before the
bodies that lack; bodies that were there already count. A round trip counts as 20 kB, as in the
rule (`sync.sessions.selection`); `log_chosen` is the cost of the kind that the rule picks beside
the cheapest of the row (`peer`). Processor time is of both ends, with the bodies' signatures.
"""

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, NamedTuple

from sync.calimero.log import delta_messages
from sync.errors import DecodeError
from sync.group import values
from sync.group.records import StoreMessage
from sync.group.status import Status
from sync.group.values import StoredMessage
from sync.manager.registry import WITH_CALIMERO
from sync.p2panda import messages as p2panda
from sync.sds import events as sds
from sync.sds.message import HistoryEntry
from sync.sessions.protocol import ROUND_TRIP
from tests.bench.report import Params, Result, at_most, fresh_watch, progress
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.pairs import Pair

MESSAGES: Final = 20_000
AUTHORS: Final = 18
BURST_MAX: Final = 6
PARENTS: Final = 2
FRONTIER: Final = 20
"""Newest messages that both have, where what lacks is scattered."""

CUT: Final = 1_000
AFTER_A_CUT: Final = f"cut, {CUT:,} and {CUT:,}"
"""The row of two halves that each wrote so many messages without the other."""

KINDS: Final = ("logheight", "delta", "waku")
DELTA_GOALS: Final = {"50 scattered": (2_500, 2), "1,000 scattered": (40_000, 3)}
"""Bytes before bodies, and round trips, at most."""

CHOSEN_MAX: Final = 1.2


class Lack(NamedTuple):
    """A row: the places of the messages that the one and the other lack."""

    name: str
    one: frozenset[int]
    other: frozenset[int] = frozenset()


class Cost(NamedTuple):
    """Cost of one session: bytes without lacking bodies, and round trips."""

    size: int
    trips: float

    @property
    def all(self) -> float:
        """Both in bytes."""
        return self.size + ROUND_TRIP * self.trips


def rows(count: int = MESSAGES) -> Iterator[Lack]:
    """Yield what lacks in each row."""
    for missing in (1, 50, 2_000):
        yield Lack(f"{missing:,} newest", frozenset(range(count - missing, count)))
    for missing in (1, 10, 50, 1_000):
        scattered = random.Random(missing).sample(range(count - FRONTIER), missing)
        yield Lack(f"{missing:,} scattered", frozenset(scattered))
    both = random.Random(2).sample(range(count - FRONTIER), 100)
    yield Lack("50 and 50 scattered", frozenset(both[:50]), frozenset(both[50:]))
    cut = range(count - 2 * CUT, count)
    yield Lack(AFTER_A_CUT, frozenset(cut[::2]), frozenset(cut[1::2]))


def log_rows() -> Iterator[Result]:
    """Yield the figures of all rows."""
    lines, cut = bursts(MESSAGES), with_a_cut(MESSAGES)
    for lack in rows():
        progress(f"messages: {lack.name} ...")
        yield from _row(cut if lack.name == AFTER_A_CUT else lines, lack)


def _row(lines: Sequence[StoredMessage], lack: Lack) -> Iterator[Result]:
    costs: dict[str, Cost] = {}
    for kind in KINDS:
        both = met(lines, lack)
        watch = fresh_watch()
        with watch:
            cost = measured(both, kind)
        if cost is None:
            continue
        costs[kind] = cost
        params: Params = {"messages": len(lines), "lacking": lack.name, "kind": kind}
        goals = DELTA_GOALS.get(lack.name) if kind == "delta" else None
        yield _figure("log_bytes", cost.size, "B", goals and goals[0], params)
        yield _figure("log_round_trips", cost.trips, "", goals and goals[1], params)
        yield Result("log_cpu", 1e3 * watch.seconds, "ms", params=params)
    chosen = chosen_by(met(lines, lack))
    cheapest = min(one.all for one in costs.values())
    row: Params = {"messages": len(lines), "lacking": lack.name, "kind": chosen}
    result = at_most("log_chosen", costs[chosen].all, "B", CHOSEN_MAX * cheapest, row)
    yield replace(result, peer=cheapest, ratio=costs[chosen].all / cheapest)


def _figure(name: str, value: float, unit: str, goal: float | None, params: Params) -> Result:
    if goal is None:
        return Result(name, float(value), unit, params=params)
    return at_most(name, float(value), unit, float(goal), params)


def bursts(count: int) -> list[StoredMessage]:
    """Return lines of authors who write a few at a time, each of which names the two before it."""
    rng = random.Random(1)
    people = [Author(f"writer {number}") for number in range(AUTHORS)]
    lines: list[StoredMessage] = []
    while len(lines) < count:
        author = rng.choice(people)
        for _ in range(min(rng.randint(1, BURST_MAX), count - len(lines))):
            number = len(lines)
            after = lines[-PARENTS:]
            lines.append(author.write(f"{number}", after=after, lamport=NOW_MS - count + number))
    return lines


def with_a_cut(count: int) -> list[StoredMessage]:
    """Return lines of which the last ones were written in two halves that did not hear each other.

    They take turns, so every second line is of one half.
    """
    lines = bursts(count - 2 * CUT)
    before = lines[-PARENTS:]
    halves = [list(before), list(before)]
    people = [[Author(f"{half} {number}") for number in range(AUTHORS // 2)] for half in "ab"]
    rng = random.Random(2)
    for number in range(2 * CUT):
        half = halves[number % 2]
        author = rng.choice(people[number % 2])
        place = NOW_MS + number
        half.append(author.write(f"cut {number}", after=half[-PARENTS:], lamport=place))
        lines.append(half[-1])
    return lines


def met(lines: Sequence[StoredMessage], lack: Lack) -> Pair:
    """Return two members that hold these lines but what they lack, and know of their holes."""
    one, other = sorted(
        (Member(name, protocols=WITH_CALIMERO) for name in ("alice", "bob")),
        key=lambda member: member.peer_id,
    )
    _fill(one, lines, lack.one)
    _fill(other, lines, lack.other)
    return Pair(one, other)


def _fill(member: Member, lines: Sequence[StoredMessage], but: Collection[int]) -> None:
    held = [line for number, line in enumerate(lines) if number not in but]
    member.disk.commit([StoreMessage(line, Status.DELIVERED) for line in held])
    member.start()
    known = {line.entry.message_id for line in held}
    for line in held:
        named = [
            HistoryEntry(parent.message_id, parent.waku_hash, parent.author)
            for parent in line.entry.header.parents
            if parent.message_id not in known
        ]
        if named:
            author = line.entry.header.author
            member.group.feed_sds(sds.Seek(tuple(named), line.entry.message_id, author, None))


def measured(both: Pair, kind: str) -> Cost | None:
    """Run a session of one kind; None if it does not suit."""
    lacked = [_lacking(both.beside(member), member) for member in (both.one, both.other)]
    _begin(both, kind)
    said: list[tuple[str, bytes]] = []
    while both.queue:
        hears, event = both.queue[0]
        if isinstance(event, values.SessionPayload):
            session = hears.group.sessions.numbered(event.session)
            if session is not None and session.check_stream != event.session:
                said.append((both.beside(hears).name, event.payload))
        both.step(NOW)
    if any("does not suit" in one.result for one in both.ended):
        return None
    if kind == "delta":
        del said[:2]  # the handshakes
    words = [name for name, payload in said if not _body(payload, kind)]
    turns = len([name for name, _ in groupby(words)])
    bodies = sum(lacked)
    came = sum(_body(payload, kind) for _, payload in said)
    size = sum(len(payload) for _, payload in said)
    return Cost(size - came + max(0, came - bodies), turns / 2)


def chosen_by(both: Pair) -> str:
    """Return the kind that the rule picks."""
    _begin(both, "log")
    both.run()
    [ours] = [one for one in both.ended if one.peer == both.other.peer_id]
    return ours.then or ours.protocol


def _begin(both: Pair, protocol: str) -> None:
    start = values.StartSession(
        both.number(), both.other.peer_id, "bench", protocol=protocol, offered=True
    )
    both.queue.append((both.one, start))


def _lacking(one: Member, other: Member) -> int:
    """Return the bytes of the bodies that one has and the other has not."""
    rows = one.disk.rows.items()
    lacking = [row for id_, row in rows if id_ not in other.disk.rows]
    return sum(len(row.message.entry.content) for row in lacking)


def _body(payload: bytes, kind: str) -> int:
    """Return the bytes of entries in a payload."""
    if kind == "delta":
        message = delta_messages.decode(payload)
        if isinstance(message, delta_messages.DeltaEntries):
            return sum(map(len, message.contents))
    if kind == "logheight":
        try:
            said = p2panda.decode(payload)
        except DecodeError:
            return 0
        return len(payload) if isinstance(said, p2panda.Entry) else 0
    return 0
