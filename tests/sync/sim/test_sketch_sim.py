"""Sketches in the simulator: loss, a cut in the middle, and stores that differ in many places."""

import random
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pytest
from msgspec.structs import replace

from sync.calimero.log import session as log_session
from sync.errors import LocalError
from sync.group import values
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.manager.payload_kinds import read
from sync.manager.registry import BY_RULE, WITH_CALIMERO
from sync.runner.batch import Release
from sync.runner.log_rows import LogKind, LogRow, Role
from sync.sessions.handshake import SyncHandshake, SyncKind
from sync.sessions.protocol import Opening
from sync.sim.bounds import tables
from sync.sim.network import Link
from sync.sim.recording import Recording
from sync.sim.world import Terms, World
from sync.sketch import messages
from sync.sketch.key import SketchKey, derived
from sync.sketch.prefix import Sketch
from sync.sketch.symbols import Symbols
from sync.structures.ordered_set import OrderedSet
from tests.support.storage.archives import archive
from tests.support.sync.sketch import model
from tests.support.sync.sketch.made import columns
from tests.support.sync.sketch.pairs import from_few

LINES = 300
TERMS = Terms(protocols=BY_RULE["sketch"])
LOSSY = Link(delay=(5 * MILLISECOND, 40 * MILLISECOND), loss=0.05)
SEEDS_USUAL = 4
SEEDS = 50


@pytest.fixture(autouse=True)
def _symbols_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    from_few(monkeypatch)


def meeting(lacking: list[set[int]], seed: int = 1, terms: Terms = TERMS) -> World:
    """Return a world of nodes that hold the same past, but for lines at some places."""
    world = World(len(lacking), seed, LOSSY, terms)
    past = archive("carol", LINES)
    for number, but in enumerate(lacking):
        world.preload(number, [line for at, line in enumerate(past) if at not in but])
    return world


def scattered(count: int, seed: int) -> set[int]:
    return set(random.Random(seed).sample(range(LINES - 20), count))


def ended_of(world: World) -> list[values.SessionEnded]:
    """Return a list to which each session is added that ends from now on."""
    ended: list[values.SessionEnded] = []

    def note(_: int, release: object) -> None:
        effect = getattr(release, "effect", None)
        if isinstance(effect, values.SessionEnded):
            ended.append(effect)

    world.listeners.append(note)
    return ended


def meet_through_a_cut(seed: int) -> None:
    """Let three meet while lines are lost and written, and a cut comes and goes."""
    rng = random.Random(seed)
    lost = random.Random(seed).sample(range(LINES - 20), 120)
    world = meeting([set(lost[at::3][: rng.randrange(1, 40)]) for at in range(3)], seed)
    ended = ended_of(world)
    world.run(rng.randrange(50, 4_000) * MILLISECOND)
    world.partition({0}, {1, 2})
    for line in range(6):
        world.write_text(line % 3, f"apart {line}")
        world.run(SECOND)
    world.heal()

    world.run(120 * SECOND)

    assert len({tuple(log) for log in world.logs()}) == 1
    assert [len(node.disk.rows) for node in world.nodes] == [LINES + 6] * 3
    world.check()
    world.check_bounds()
    assert "sketch" in {one.protocol for one in ended if one.converged}


@pytest.mark.parametrize("seed", range(SEEDS_USUAL))
def test_through_loss_and_a_cut_all_end_with_the_same(seed: int) -> None:
    meet_through_a_cut(seed)


@pytest.mark.grid
@pytest.mark.parametrize("seed", range(SEEDS_USUAL, SEEDS))
def test_through_loss_and_a_cut_with_every_seed_all_end_with_the_same(seed: int) -> None:
    meet_through_a_cut(seed)


def test_an_older_program_sees_nothing_new() -> None:
    """Nor is it compared with by what it does not speak."""
    ours = scattered(40, 1)
    world = meeting([ours, scattered(40, 2) - ours], terms=Terms(protocols=WITH_CALIMERO))
    assert "sketch" not in WITH_CALIMERO.announced
    ended = ended_of(world)
    world.run(30 * SECOND)

    assert [len(node.disk.rows) for node in world.nodes] == [LINES] * 2
    assert "sketch" not in {one.protocol for one in ended}
    for node in world.nodes:
        assert node.runner is not None
        assert node.runner.groups[world.channel].prefix.memory == 0


def with_older(world: World, number: int) -> None:
    """Start a node of a world anew, by a program that never heard of sketches."""
    world.crash(number)
    world._turning.protocols = WITH_CALIMERO
    world.restart(number)


@pytest.mark.parametrize("newer", ["rule", "sketch"])
@pytest.mark.parametrize("older", [0, 1, None])
def test_a_newer_program_says_nothing_of_sketches_to_an_older_one(
    older: int | None, newer: str
) -> None:
    """Node 1 opens all sessions here, so that either of the two does."""
    ours = scattered(40, 1)
    world = meeting([ours, scattered(40, 2) - ours], terms=Terms(protocols=BY_RULE[newer]))
    if older is not None:
        with_older(world, older)
    opened: set[int] = set()
    said: set[type[messages.Message]] = set()

    def note(number: int, release: Release) -> None:
        effect = release.effect
        if isinstance(effect, values.OpenSession):
            opened.add(number)
        elif isinstance(effect, values.SendPayload):
            message = read(effect.payload)
            said.update({type(message)} if isinstance(message, messages.Message) else ())

    world.listeners.append(note)
    ended = ended_of(world)
    world.run(30 * SECOND)

    assert opened == {1}
    assert len({tuple(log) for log in world.logs()}) == 1
    assert [len(node.disk.rows) for node in world.nodes] == [LINES] * 2
    assert [one for one in ended if one.converged]
    told = older is None and newer == "sketch"
    assert ("sketch" in {one.protocol for one in ended}) == told
    assert (messages.Opening in said) == bool(said) == told


@pytest.mark.parametrize("newer", [0, 1])
def test_a_person_who_asks_an_older_program_for_a_sketch_gets_none(newer: int) -> None:
    world = meeting([set(), set()], terms=Terms(protocols=BY_RULE["rule"]))
    with_older(world, 1 - newer)
    world.run(30 * SECOND)
    runner, peer = world.nodes[newer].runner, world.nodes[1 - newer].identity.peer_id
    assert runner is not None

    with pytest.raises(LocalError, match="sketch cannot compare"):
        runner.ask_sync(world.channel, peer, world.now, "sketch")


def test_the_protocol_log_tells_of_a_sketch_at_both_ends_alike() -> None:
    ours = scattered(40, 1)
    world = meeting([ours, scattered(40, 2) - ours])
    rows: list[LogRow] = []
    recording = Recording("test", rows.extend)
    world.record(recording)
    ended, sizes = ended_of(world), dict[type, int]()

    def note(_: int, release: Release) -> None:
        if isinstance(release.effect, values.SendPayload):
            kind, size = type(read(release.effect.payload)), len(release.effect.payload)
            sizes[kind] = sizes.get(kind, 0) + size

    world.listeners.append(note)
    world.run(30 * SECOND)
    recording.write_exports()

    of_sketch = {row.session for row in rows if row.protocol == "sketch"}
    ends = [row for row in rows if row.kind is LogKind.SESSION_ENDED and row.session in of_sketch]
    assert {(row.protocol, row.role, row.outcome) for row in ends} == {
        ("sketch", role, "converged") for role in Role
    }
    assert sorted((row.items_in, row.items_out) for row in ends) == sorted(
        (one.got, one.have) for one in ended if one.protocol == "sketch"
    )
    for end in ends:
        of_session = [r for r in rows if (r.node, r.session) == (end.node, end.session)]
        rounds = [row for row in of_session if row.kind is LogKind.SESSION_ROUND]
        assert [row.round for row in rounds] == list(range(1, len(rounds) + 1))
        assert end.round == len(rounds) >= 3
        assert end.size == sum(row.size or 0 for row in rounds)
        assert {row.protocol for row in rounds if row.round != 1} == {"sketch"}
    [size] = {row.size for row in ends}
    assert sizes.pop(messages.Entries), "each entry has a row of its own"
    assert sizes[messages.Done]
    assert size == sum(sizes.values()), "all else that both ends sent is of a round"


def going_on(world: World) -> Iterator[None]:
    for _ in range(4_000):
        world.run(MILLISECOND)
        yield


def test_every_table_of_a_session_has_a_bound() -> None:
    world = meeting([scattered(60, 1), scattered(60, 2)])
    found: set[str] = set()
    for _ in going_on(world):
        for node in world.nodes:
            assert node.runner is not None
            group = node.runner.groups[world.channel]
            if group.sessions.running:
                here = list(tables(node.runner))
                assert not [one.name for one in here if one.most is None]
                assert not [one.name for one in here if one.size > (one.most or 0)]
                found |= {one.name for one in here if one.size}
    assert {"SketchExchange.cards", "Symbols.rows", "Symbols.counts"} <= found


# --- Lies --------------------------------------------------------------------------------------


def noise(told: Sketch) -> Symbols:
    shape = told.symbols.rows.shape
    rows = np.random.default_rng(1).integers(0, 2**64, shape, dtype=np.uint64)
    return Symbols(rows, told.symbols.counts)


def counts_more(told: Sketch) -> Symbols:
    return Symbols(told.symbols.rows, np.minimum(told.symbols.counts + 1, told.ids))


def of_another_key(told: Sketch) -> Symbols:
    symbols = Symbols.empty(len(told.symbols))
    symbols.put(columns(model.made(told.ids)), SketchKey.of(derived(b"another")))
    return symbols


def with_invented(told: Sketch) -> Symbols:
    symbols = told.symbols.copy()
    symbols.put(columns(model.made(20)), told.key)
    symbols.counts[:] = np.minimum(symbols.counts, told.ids)
    return symbols


def of_nothing(told: Sketch) -> Symbols:
    return Symbols.empty(len(told.symbols))


LIES: Final[dict[str, Callable[[Sketch], Symbols]]] = {
    one.__name__: one for one in (noise, counts_more, of_another_key, with_invented, of_nothing)
}


@pytest.mark.parametrize("liar", [0, 1])
@pytest.mark.parametrize("lie", LIES)
def test_symbols_that_lie_cost_time_and_never_data(lie: str, liar: int) -> None:
    ours = scattered(40, 1)
    world = meeting([ours, scattered(40, 2) - ours])
    runner = world.nodes[liar].runner
    assert runner is not None
    prefix, lies = runner.groups[world.channel].prefix, 0
    made = prefix.frozen

    def lying(frozen: OrderedSet, floor: Nanos, now: Nanos) -> Sketch | None:
        nonlocal lies
        told = made(frozen, floor, now)
        lies += told is not None
        return None if told is None else replace(told, symbols=LIES[lie](told))

    prefix.frozen = lying  # type: ignore[method-assign]
    ended = ended_of(world)

    world.run(150 * SECOND)

    assert lies, "it had something to lie about"
    assert len({tuple(log) for log in world.logs()}) == 1
    assert [len(node.disk.rows) for node in world.nodes] == [LINES] * 2
    assert [one for one in ended if one.converged], "another kind brought them together"
    world.check()
    world.check_bounds()


@pytest.mark.parametrize(
    "claims",
    [{"count": 2**62}, {"count": LINES + 20_000}, {"floor": 2**62}, {"holes": 10_000}],
    ids=lambda one: next(iter(one)),
)
@pytest.mark.parametrize("liar", [0, 1])
def test_claims_about_what_is_held_cost_time_and_never_data(
    monkeypatch: pytest.MonkeyPatch, claims: dict[str, int], liar: int
) -> None:
    ours = scattered(40, 1)
    world = meeting([ours, scattered(40, 2) - ours])
    made, told = log_session._handshake, 0
    honest = world.nodes[1 - liar].identity.peer_id

    def lying(
        opening: Opening, forced: SyncKind | None, allowed: frozenset[SyncKind]
    ) -> SyncHandshake:
        nonlocal told
        true = made(opening, forced, allowed)
        if opening.peer != honest:
            return true
        told += 1
        return replace(true, log=replace(true.log, **claims))

    monkeypatch.setattr(log_session, "_handshake", lying)

    world.run(150 * SECOND)

    assert told, "it had something to lie about"
    assert len({tuple(log) for log in world.logs()}) == 1
    assert [len(node.disk.rows) for node in world.nodes] == [LINES] * 2
    world.check()
