"""Cost of governance: `python -m tests.bench.bench_governance --json`.

A channel of 10,000 acts, 500 of them removals, at whose end 512 people are in (and one of 1,000
acts, 50 and 128), in three parts of a cut that meet now and then: owners let in, remove and change
roles, members invite and are joined. A removal wraps as many bytes as a real one. Signatures are
not checked: an act costs that beside (`governance_open`). Seconds are processor time.

`restore` is a start from the bytes that the disk has; `memory` is what it keeps of them, with the
state at the end; `first_state` the first full
evaluation after it, with nothing remembered, `new_cut` one at a cut that lies far from all known
ones; `act_at_end` is all of taking in one act whose signer knows all others, with the state after
it; `known_cut` asks again for a cut.

`governed_receive` is all that a group does with a line of somebody else, parsing and storing
included, signatures left out: messages a second in a governed channel, and in one that is not
(`peer`), measured in turns in the same run.

`removal` is all that the removal of one of 256 costs before it is published: a secret is drawn and
wrapped for each who stays, and the op is signed twice (`History.made` signs, too).
"""

import argparse
import random
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from msgspec import structs

from sync.calimero.governance.acts import Drawn, batches, new_epoch
from sync.calimero.governance.governance import Governance, Taken
from sync.calimero.governance.keys import tag_of
from sync.calimero.governance.limits import OP_SIZE_MAX
from sync.calimero.governance.ops import (
    WRAPPED_SIZE,
    Add,
    Epoch,
    Invite,
    Op,
    Remove,
    Role,
    Seal,
    SetRole,
    SignedGroupOp,
    Wrap,
    Wraps,
)
from sync.calimero.governance.signing import open_op, sign
from sync.group import values
from sync.group.governing import Governing
from sync.group.group import Group
from sync.group.records import StoredOp
from sync.group.writer import Author as Writing
from sync.machine import ChannelId
from sync.net import clock
from sync.sds.parameters import LAN
from tests.bench.report import (
    Params,
    Result,
    Stopwatch,
    at_least,
    at_most,
    explained,
    fresh_watch,
    progress,
)
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, key, noise, person, ticket_of
from tests.support.sync.groups import NOW

PARTS: Final = 3
MEETING: Final = 0.3
"""Share of acts before which their part hears of all others."""

REMOVED_SHARE: Final = 0.045
ADDED_SHARE: Final = 0.16
JOINED_SHARE: Final = 0.05
SEED: Final = 1
ENDS: Final = 100
CUTS: Final = 15
ASKED: Final = 10_000

RESTORE_MAX_S: Final = 0.2
NEW_CUT_MAX_MS: Final = 25.0
AT_END_MAX_US: Final = 1_000.0
KNOWN_CUT_MAX_US: Final = 3.0
MEMORY_MAX_MB: Final = 10.0

LINES: Final = 2_000
RUNS: Final = 9
OF_UNGOVERNED_MIN: Final = 0.9

REMOVED_OF: Final = 256
SEALED: Final = 3
REMOVAL_MAX_MS: Final = 25.0


class Size(NamedTuple):
    """Acts of a channel, removals among them, and members at the end."""

    acts: int
    removals: int
    members: int


SIZES: Final = (Size(1_000, 50, 128), Size(10_000, 500, 512))


class Wrapping(History):
    """A channel whose removals wrap 48 bytes for each who stays."""

    def epoch(self, after: Iterable[SignedGroupOp] | None = None) -> Epoch:
        """Return the next epoch after those that somebody has seen."""
        begun = super().epoch(after)
        heads = self.governance.heads if after is None else tuple(one.id for one in after)
        state = self.governance.projection.at(heads)
        assert state is not None
        tags = sorted(tag_of(who) for who, one in state.people.items() if one.member)
        return structs.replace(
            begun, wrapped=Wraps.of(Wrap(tag, bytes(WRAPPED_SIZE)) for tag in tags)
        )


class Parted:
    """A channel that grows in parts of a cut, until it has the acts, removals and members asked."""

    def __init__(self, size: Size) -> None:
        self.rng = random.Random(SEED)
        self.size = size
        self.history = Wrapping("alice", "trent")
        self.parts = [[self.history.founded] for _ in range(PARTS)]
        self.names: list[str] = []
        self.removals = 0
        self.code: SignedGroupOp | None = None
        while len(self.history.ops) + self._lacked < size.acts:
            self._step()
        self._finish()
        assert len(self.history.ops) == size.acts
        assert self.removals == size.removals
        assert self.history.governance.now.room.size == size.members

    @property
    def _lacked(self) -> int:
        """Acts that it still takes to have all removals and members."""
        removals = self.size.removals - self.removals
        return removals + abs(self.size.members + removals - self.history.governance.now.room.size)

    def _finish(self) -> None:
        """Remove and let in whom it takes, by an owner who knows all acts."""
        while self.removals < self.size.removals:
            self._take(self.history.made("alice", self.history.removal(self._somebody())))
        while self.history.governance.now.room.size < self.size.members:
            who = self._newcomer()
            self._take(self.history.made("alice", Add(key(who), noise(who), Role.MEMBER)))

    def _somebody(self) -> str:
        return next(one for one in self.names if self.history.governance.now.role(key(one)))

    def _newcomer(self) -> str:
        self.names.append(f"person {len(self.names)}")
        return self.names[-1]

    def _step(self) -> None:
        part = self.rng.randrange(PARTS)
        if self.rng.random() < MEETING:
            self.parts[part] = list({op.id: op for heads in self.parts for op in heads}.values())
        name, op = self._drawn(self.parts[part])
        made = self.history.made(name, op, self.parts[part])
        if self._take(made):
            self.parts[part] = [made]
            if isinstance(op, Invite):
                self.code = made

    def _take(self, made: SignedGroupOp) -> bool:
        taken = isinstance(self.history.take(made), Taken)
        self.removals += taken and isinstance(made.op, Remove)
        return taken

    def _drawn(self, heads: list[SignedGroupOp]) -> tuple[str, Op]:
        rng, governance = self.rng, self.history.governance
        state = governance.projection.at(tuple(op.id for op in heads))
        assert state is not None
        present = [name for name in self.names if state.role(key(name))]
        chance = rng.random()
        owner = rng.choice(["alice", "trent"])
        if governance.now.room.size < self.size.members and chance < ADDED_SHARE + JOINED_SHARE:
            who = self._newcomer()
            if chance < JOINED_SHARE and self.code is not None:
                return who, self.history.joining(who, self.code, "code")
            return owner, Add(key(who), noise(who), Role(rng.choice([1, 2, 2, 3])))
        removes = chance > 1 - REMOVED_SHARE and self.removals < self.size.removals
        if removes and len(present) > 1:
            return owner, self.history.removal(rng.choice(present), after=heads)
        able = [name for name in present if state.role(key(name)) >= Role.MEMBER]
        if able and rng.random() < 0.7:
            return rng.choice(able), Invite(ticket_of("code").public_key, Role.MEMBER)
        who = rng.choice(present or ["nobody"])
        return owner, SetRole(key(who), Role(rng.choice([1, 2, 3])))


def governance(place: Path) -> Iterator[Result]:
    """Yield the figures of both sizes."""
    del place
    for size in SIZES:
        progress(f"governance: {size.acts} acts ...")
        parted = Parted(size)
        params: Params = {**size._asdict()}
        yield from _start(parted.history, params)
        yield from _cuts(parted.history, params)
        yield from _ends(parted.history, params)
    yield _opening()
    yield _receiving()
    yield _removal()


def _start(history: History, params: Params) -> Iterator[Result]:
    channel = ChannelId(history.governance.group.hex())
    stored = [StoredOp(op.content, history.governance.act(op.id).judgement) for op in history.ops]
    watch = fresh_watch()
    restored = _restored(channel, stored, watch)
    result = at_most("governance_restore", watch.seconds, "s", RESTORE_MAX_S, params)
    yield explained(result, lambda: _restored(channel, stored, Stopwatch()))
    watch = fresh_watch()
    with watch:
        there = restored.now
    yield at_most("governance_first_state", 1e3 * watch.seconds, "ms", NEW_CUT_MAX_MS, params)
    assert there.room.size == params["members"]
    tracemalloc.start()
    kept = _restored(channel, stored, Stopwatch())
    assert kept.now.room.size == there.room.size
    memory = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    assert len(kept.dag) == len(stored)
    yield at_most("governance_memory", memory, "MB", MEMORY_MAX_MB, params)


def _restored(channel: ChannelId, stored: list[StoredOp], watch: Stopwatch) -> Governance:
    alice = person("alice")
    made = Governing(channel, alice.peer_id, alice.sign, random.Random(SEED))
    with watch:
        made.reload_group_dags(stored, (), ())
    return made.governance


def _cuts(history: History, params: Params) -> Iterator[Result]:
    known = history.again().governance
    acts = known.dag.acts
    step = len(acts) // (2 * CUTS)
    figures = []
    for number in range(len(acts) - 1, len(acts) // 2, -step):
        watch = fresh_watch()
        with watch:
            known.projection.at((acts[number].id,))
        figures.append(1e3 * watch.seconds)
    yield at_most("governance_new_cut", median(figures), "ms", NEW_CUT_MAX_MS, params)
    heads = known.heads
    known.projection.at(heads)
    watch = fresh_watch()
    with watch:
        for _ in range(ASKED):
            known.projection.at(heads)
    yield at_most(
        "governance_known_cut", 1e6 * watch.seconds / ASKED, "us", KNOWN_CUT_MAX_US, params
    )


def _ends(history: History, params: Params) -> Iterator[Result]:
    figures = []
    now = history.governance.now
    gone = next(name for name in history.names.values() if now.role(key(name)) is Role.MEMBER)
    history.remove("alice", gone)  # there is room for one
    for number in range(ENDS):
        who = f"late {number}"
        made = history.made("alice", Add(key(who), noise(who), Role.MEMBER))
        watch = Stopwatch()
        with watch:
            taken = history.governance.receive(made)
            there = history.governance.now
        assert isinstance(taken, Taken)
        assert there.role(key(who)) is Role.MEMBER
        figures.append(1e6 * watch.seconds)
        history.remove("alice", who)
    yield at_most("governance_act_at_end", median(figures), "us", AT_END_MAX_US, params)


def _opening() -> Result:
    """Return the cost of parsing an act and of checking its signature."""
    history = History("alice", signing=True)
    made = history.made("alice", Add(key("bob"), noise("bob"), Role.MEMBER))
    watch = fresh_watch()
    with watch:
        for _ in range(ENDS):
            open_op(made.content, history.governance.group)
    return Result("governance_open", 1e6 * watch.seconds / ENDS, "us")


def _removal() -> Result:
    """Return the cost of removing one of many: a secret for each who stays, and our signature."""
    history = History("alice", signing=True)
    for number in range(REMOVED_OF - 1):
        history.add("alice", f"person {number}")
    alice, going = person("alice"), key("person 0")
    known: dict[bytes, bytes] = {history.founded.id: bytes(32)}
    seals = [Seal(going, log, 1, bytes(32)) for log in range(SEALED)]
    figures = []
    for _ in range(RUNS):
        watch = fresh_watch()
        with watch:
            [(keys, sealed)] = batches(history.governance, [going], {going: seals})
            drawn = Drawn(clock.draw(32), clock.draw_key())
            epoch = new_epoch(history.governance, key("alice"), drawn, known, frozenset(keys))
            op = Remove(keys, epoch, "spam", sealed)
            signed = sign(history.made("alice", op).signed, alice.sign)
        assert len(epoch.wrapped) == REMOVED_OF - 1
        assert len(signed.content) < OP_SIZE_MAX
        figures.append(1e3 * watch.seconds)
    params: Params = {"members": REMOVED_OF, "seals": SEALED, "runs": RUNS}
    return at_most("governance_removal", median(figures), "ms", REMOVAL_MAX_MS, params)


def _receiving() -> Result:
    """Compare the lines that a governed group and another one take in a second."""
    progress("governance: lines received ...")
    history = History("alice", signing=True)
    history.add("alice", "bob")
    channel = ChannelId(history.governance.group.hex())
    figures: dict[bool, list[float]] = {True: [], False: []}
    frames: dict[bool, list[values.Arrived]] = {}
    peer = person("bob").peer_id
    for governed in figures:
        bob = Author("bob", channel)
        bob.identity, bob.peer_id = person("bob"), peer
        cut = history.governance.heads if governed else ()
        sent = [bob.write(f"{number}", governance=cut) for number in range(LINES)]
        frames[governed] = [values.Arrived(peer, one.payload) for one in sent]
    ops = values.OpsArrived(peer, tuple(op.content for op in history.ops))
    alice = person("alice")
    author = Writing(alice.peer_id, alice.sign, lambda *_: True, lambda: 1)
    for _ in range(RUNS):
        for governed, rates in figures.items():
            group = Group(author, channel, LAN, random.Random(SEED), governed=governed)
            group.handle(values.Restored(values.ChannelState(1)), NOW)
            if governed:
                group.handle(ops, NOW)
            watch = fresh_watch()
            with watch:
                for frame in frames[governed]:
                    group.handle(frame, NOW)
            assert len(group.sds.log.order) == LINES
            rates.append(LINES / watch.seconds)
    ours, others = median(figures[True]), median(figures[False])
    params: Params = {"messages": LINES, "runs": RUNS}
    least = at_least("governed_receive", ours, "messages/s", OF_UNGOVERNED_MIN * others, params)
    return replace(least, peer=others, ratio=ours / others)


def main() -> None:
    """Run by itself."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line, as always")
    parser.parse_args()
    for result in governance(Path()):
        print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
