"""Cost of governance: `python -m tests.bench.bench_governance --json`.

A channel of 1,000 and of 10,000 acts in three parts of a cut that meet now and then: owners and
admins let in up to 512 people, remove 500 (50 of 1,000 acts) and change roles, members invite and
are joined. Signatures are not checked: an act costs that beside (`governance_open`). Seconds are
processor time.

`restore` is a start from what was stored, without the reading; `first_state` the first full
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
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from sync.calimero.governance.acts import Drawn, batches, new_epoch
from sync.calimero.governance.governance import Governance, Taken, TakenOp
from sync.calimero.governance.limits import OP_SIZE_MAX
from sync.calimero.governance.ops import (
    Add,
    Invite,
    Op,
    Remove,
    Role,
    Seal,
    SetRole,
    SignedGroupOp,
)
from sync.calimero.governance.signing import open_op, sign
from sync.group import values
from sync.group.group import Group
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

SIZES: Final = (1_000, 10_000)
PARTS: Final = 3
MEETING: Final = 0.3
"""Share of acts before which their part hears of all others."""

MEMBERS: Final = 500
PEOPLE: Final = 1_100
REMOVED_SHARE: Final = 0.05
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
RUNS: Final = 5
OF_UNGOVERNED_MIN: Final = 0.9

REMOVED_OF: Final = 256
SEALED: Final = 3
REMOVAL_MAX_MS: Final = 25.0


class Parted:
    """A channel that grows in parts of a cut, until it has so many acts."""

    def __init__(self, acts: int) -> None:
        self.rng = random.Random(SEED)
        self.history = History("alice", "trent")
        self.parts = [[self.history.founded] for _ in range(PARTS)]
        self.names = [f"person {number}" for number in range(PEOPLE)]
        self.came = 0
        self.code: SignedGroupOp | None = None
        while len(self.history.ops) < acts:
            self._step()

    def _step(self) -> None:
        part = self.rng.randrange(PARTS)
        if self.rng.random() < MEETING:
            self.parts[part] = list({op.id: op for heads in self.parts for op in heads}.values())
        name, op = self._drawn(self.parts[part])
        made = self.history.made(name, op, self.parts[part])
        if isinstance(self.history.take(made), Taken):
            self.parts[part] = [made]
            if isinstance(op, Invite):
                self.code = made

    def _drawn(self, heads: list[SignedGroupOp]) -> tuple[str, Op]:
        rng, governance = self.rng, self.history.governance
        state = governance.projection.at(tuple(op.id for op in heads))
        assert state is not None
        present = [name for name in self.names[: self.came] if state.role(key(name))]
        chance = rng.random()
        owner = rng.choice(["alice", "trent"])
        if len(present) < MEMBERS and self.came < PEOPLE and chance < ADDED_SHARE + JOINED_SHARE:
            who = self.names[self.came]
            self.came += 1
            if chance < JOINED_SHARE and self.code is not None:
                return who, self.history.joining(who, self.code, "code")
            return owner, Add(key(who), noise(who), Role(rng.choice([1, 2, 2, 3])))
        if chance > 1 - REMOVED_SHARE and len(present) > 1:
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
        progress(f"governance: {size} acts ...")
        parted = Parted(size)
        params: Params = {"acts": size}
        yield Result(
            "governance_removals",
            float(sum(type(op.op).__name__ == "Remove" for op in parted.history.ops)),
            "acts",
            params=params,
        )
        yield from _start(parted.history, params)
        yield from _cuts(parted.history, params)
        yield from _ends(parted.history, params)
    yield _opening()
    yield _receiving()
    yield _removal()


def _start(history: History, params: Params) -> Iterator[Result]:
    stored = [TakenOp(op, history.governance.act(op.id).judgement) for op in history.ops]
    watch = fresh_watch()
    restored = _restored(history, stored, watch)
    result = at_most("governance_restore", watch.seconds, "s", RESTORE_MAX_S, params)
    yield explained(result, lambda: _restored(history, stored, Stopwatch()))
    watch = fresh_watch()
    with watch:
        there = restored.now
    yield at_most("governance_first_state", 1e3 * watch.seconds, "ms", NEW_CUT_MAX_MS, params)
    yield Result("governance_members", float(there.size), "people", params=params)
    tracemalloc.start()
    kept = _restored(history, stored, Stopwatch())
    memory = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    assert len(kept.dag) == len(stored)
    yield at_most("governance_memory", memory, "MB", MEMORY_MAX_MB, params)


def _restored(history: History, stored: list[TakenOp], watch: Stopwatch) -> Governance:
    made = Governance(history.governance.group)
    with watch:
        made.restore(stored)
    return made


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
