"""The simulator itself: its links and its air, its crashes, its clocks, and what it watches."""

import pytest
from msgspec.structs import replace

from sync.entries.entry import Kind, Text, encode_text
from sync.errors import RemoteError
from sync.group import values
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.sds.parameters import LAN
from sync.sim.network import PERFECT, Link, Network
from sync.sim.scenario import ClockJump, Crash, FullDisk, Partition, Scenario, run
from sync.sim.world import Terms, World
from sync.structures.bloom_parameters import BloomParameters
from tests.support.sync.scenarios import JUMPS, check, lossy

AIR = Terms(mesh=False, reconcile=False)
MESH = Terms(mesh=True, reconcile=False)


def texts(world: World, number: int) -> int:
    return len(world.nodes[number].disk.log())


# --- Links and air -----------------------------------------------------------------------------


def test_a_broadcast_reaches_everybody_without_links() -> None:
    world = World(50, 1, PERFECT, AIR)
    world.write_text(0, "hello")

    world.run(SECOND)

    assert world.converged()
    assert world.witness.deliveries == 50
    assert not any(node.joined for node in world.nodes)
    world.check()


def test_a_cut_in_the_air_is_silent_and_is_repaired_after_it() -> None:
    world = World(10, 2, PERFECT, AIR)
    world.partition({0, 1, 2}, set(range(3, 10)))
    world.write_text(0, "to three")
    world.write_text(9, "to seven")
    world.run(5 * SECOND)
    during = [texts(world, number) for number in range(10)]
    world.heal()

    world.run(MINUTE)

    assert during == [1] * 10
    assert [texts(world, number) for number in range(10)] == [2] * 10
    assert world.meter.repairs().losses > 0
    world.check()


def test_who_starts_again_is_told_its_audience_again() -> None:
    world = World(3, 3, PERFECT, AIR)
    world.write_text(0, "before")
    world.run(10 * SECOND)
    world.crash(1)
    world.write_text(0, "meanwhile")
    world.run(SECOND)
    world.restart(1)

    world.run(MINUTE)

    runner = world.nodes[1].runner
    assert runner is not None
    assert runner.groups[world.channel].audience == 2
    assert texts(world, 1) == 2
    world.check()


def test_a_full_disk_leaves_the_audience_as_it_was() -> None:
    world = World(3, 4, PERFECT, AIR)
    world.run(SECOND)
    world.fill_disk(0)
    world.write_text(0, "refused")
    world.run(SECOND)
    world.free_disk(0)
    world.write_text(0, "taken")

    world.run(10 * SECOND)

    assert [texts(world, number) for number in range(3)] == [1, 1, 1]
    world.check()


@pytest.mark.parametrize("seed", range(3))
def test_a_crowd_in_the_air_gets_through_all_troubles(seed: int) -> None:
    scenario = Scenario(
        40,
        30,
        lossy(0.1),
        seed,
        every=SECOND,
        troubles=(
            Partition(3 * SECOND, 8 * SECOND, side=13),
            Crash(5 * SECOND, 5 * SECOND, 2),
            Crash(12 * SECOND, 5 * SECOND, 20, in_commit=True),
            FullDisk(14 * SECOND, 3 * SECOND, 39),
            ClockJump(16 * SECOND, 8 * SECOND, 7, JUMPS[3]),
        ),
        within=HOUR,
    )

    outcome = run(scenario)

    check(scenario, outcome)


def test_few_have_links_and_many_a_broadcast_unless_told_otherwise() -> None:
    few, many = Scenario(20, 1), Scenario(30, 1)

    assert (few.is_mesh, many.is_mesh) == (True, False)
    assert (replace(few, mesh=False).is_mesh, replace(many, mesh=True).is_mesh) == (False, True)


def test_links_and_air_are_the_same_to_the_messages() -> None:
    outcomes = [run(Scenario(6, 20, lossy(0.1), seed=5, mesh=mesh)) for mesh in (True, False)]

    assert all(outcome.converged for outcome in outcomes)
    assert len({outcome.deliveries for outcome in outcomes}) == 1


# --- The network -------------------------------------------------------------------------------


def test_frames_are_lost_doubled_and_delayed_as_the_link_says() -> None:
    link = Link(0.2, (10 * MILLISECOND, 20 * MILLISECOND), duplicate=0.1, reorder=0.5)
    network = Network(2, link, World(2).rng)

    arrivals = [network.arrivals(0, 7, [1]) for _ in range(10_000)]

    times = [at for copies in arrivals for at, _ in copies]
    late = [at for at in times if at >= link.reorder_by]
    early = [at for at in times if at < link.reorder_by]
    assert sum(not copies for copies in arrivals) == pytest.approx(2000, rel=0.1)
    assert sum(len(copies) == 2 for copies in arrivals) == pytest.approx(800, rel=0.15)
    assert len(late) == pytest.approx(4000, rel=0.1)
    assert min(early) >= 10 * MILLISECOND
    assert max(early) <= 20 * MILLISECOND
    assert (network.frames, network.frame_bytes) == (10_000, 70_000)


def test_who_is_named_on_no_side_is_alone() -> None:
    network = Network(4, PERFECT, World(2).rng)

    network.partition({0, 1})

    assert network.reachable(0, 1)
    assert not any(network.reachable(*pair) for pair in [(0, 2), (2, 3), (1, 3)])
    network.heal()
    assert network.reachable(2, 3)


# --- Crashes -----------------------------------------------------------------------------------


def test_a_crash_in_the_midst_of_a_commit_takes_it_back() -> None:
    world = World(2, 1, PERFECT, MESH)
    world.run(6 * SECOND)
    world.crash_in_commit(0)
    world.write_text(0, "gone")

    world.run(SECOND)

    assert world.witness.crashes == 1
    assert world.nodes[0].runner is None
    assert (texts(world, 0), texts(world, 1)) == (0, 0)
    assert world.witness.sent == set()
    world.restart(0)
    world.write_text(0, "back")
    world.run(10 * SECOND)
    assert (texts(world, 0), texts(world, 1)) == (1, 1)
    world.check()


def test_who_commits_nothing_does_not_crash_in_a_commit() -> None:
    world = World(2, 1, PERFECT, MESH)
    world.run(6 * SECOND)
    world.crash_in_commit(0)
    world.restart(0)
    world.write_text(0, "hello")

    world.run(SECOND)

    assert world.witness.crashes == 0
    assert texts(world, 1) == 1


def test_a_crash_of_who_is_down_and_a_start_of_who_is_up_change_nothing() -> None:
    world = World(2, 1, PERFECT, MESH)
    world.crash(0)
    world.crash(0)
    world.restart(0)
    world.restart(0)

    world.run(10 * SECOND)

    assert world.witness.crashes == 1
    assert world.nodes[1].joined == {0}


# --- Clocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mesh", [True, False])
@pytest.mark.parametrize("offset", JUMPS)
def test_a_clock_that_jumps_among_three_is_outvoted(offset: int, *, mesh: bool) -> None:
    jump = ClockJump(4 * SECOND, 10 * SECOND, 1, offset)
    scenario = Scenario(3, 30, lossy(0.1), 6, every=SECOND, troubles=(jump,), mesh=mesh)

    outcome = run(scenario)

    check(scenario, outcome)


def test_a_node_may_tell_another_clock_than_it_goes_by() -> None:
    world = World(3, 7, PERFECT, MESH)
    world.run(6 * SECOND)
    world.tell_clock(1, HOUR)
    world.tell_clock(2, HOUR)
    world.run(SECOND)

    def references() -> list[Nanos]:
        running = [node.runner for node in world.nodes if node.runner is not None]
        return [runner.groups[world.channel].aside.offset for runner in running]

    assert references() == [HOUR, 0, 0], "two whom it has long known agree, and nobody is there"
    world.tell_clock(1, None)
    world.tell_clock(2, None)
    world.run(SECOND)
    assert references() == [0, 0, 0]


# --- What is shared, and what is not -----------------------------------------------------------


def test_every_frame_is_decoded_once_for_all_who_receive_it() -> None:
    world = World(5, 1, PERFECT, MESH)
    world.run(6 * SECOND)
    payloads: list[bytes] = []
    world.listeners.append(
        lambda _, release: (
            payloads.append(release.effect.payload)
            if isinstance(release.effect, values.Broadcast)
            else None
        )
    )
    world.write_text(0, "hello")
    world.run(SECOND // 2)
    [payload] = payloads
    gates = [
        node.runner.groups[world.channel].gate for node in world.nodes if node.runner is not None
    ]

    read = [gate.read(payload) for gate in gates]

    assert all(message is read[0] for message in read)
    assert all(gate.check(read[0]) is gates[0].check(read[0]) for gate in gates)
    stored = [node.disk.rows[read[0].message_id].message for node in world.nodes[1:]]
    assert all(message is stored[0] for message in stored)


def test_a_signature_that_nobody_made_is_refused() -> None:
    world = World(2, 1, PERFECT, MESH)
    world.run(6 * SECOND)
    world.write_text(0, "hello")
    world.run(SECOND)
    [row] = world.nodes[0].disk.rows.values()
    entry = row.message.entry
    forged = bytes([entry.signature[0] ^ 1]) + entry.signature[1:]

    author, data, verify = entry.header.author, entry.header_bytes, world._signatures.verify
    assert verify(author, entry.signature, data)
    assert not verify(author, forged, data)
    assert not verify(author, entry.signature, data + b"x")


def test_garbage_is_refused_by_each_who_gets_it() -> None:
    world = World(3, 1, PERFECT, MESH)
    world.run(6 * SECOND)
    peer = world.nodes[0].identity.peer_id
    for number in (1, 2):
        world._feed(world.nodes[number], values.Arrived(peer, b"\xff garbage"))

    world.run(SECOND)

    assert len(world.witness.failures) == 2
    assert all(isinstance(failure.error, RemoteError) for failure in world.witness.failures)


def test_a_filter_that_is_too_small_makes_false_hints_and_they_are_counted() -> None:
    small = replace(LAN, bloom=BloomParameters(capacity=8, error_rate=0.3))

    outcomes = [run(Scenario(3, 60, Link(loss=0.3), seed, parameters=small)) for seed in range(3)]

    assert all(outcome.converged for outcome in outcomes)
    assert sum(outcome.false_hints for outcome in outcomes) > 0
    assert all(outcome.false_hints < outcome.hints for outcome in outcomes)


def test_a_line_is_as_long_on_its_way_as_the_link_and_the_commits_take() -> None:
    link = Link(delay=(50 * MILLISECOND, 50 * MILLISECOND))

    outcome = run(Scenario(4, 20, link, seed=1, every=2 * SECOND))

    assert outcome.latency_ms.count == 3 * 20
    assert 50 < outcome.latency_ms.p50 <= 56
    assert outcome.latency_ms.max <= 62
    assert outcome.seconds_to_converge < 0.1


def test_what_is_written_is_the_text_that_was_given() -> None:
    world = World(2, 1)
    world.write_text(1, "hello")
    world.run(SECOND)

    [row] = world.nodes[1].disk.rows.values()
    assert row.message.entry.header.kind == Kind.TEXT
    assert row.message.entry.body == encode_text(Text("node1", "hello"))


def test_who_is_told_to_go_on_while_its_last_commit_runs_stays_up() -> None:
    world = World(2, 1)
    world.run(10 * SECOND)
    world.crash_in_commit(0)
    world.write_text(0, "in the midst of it")
    world.run(1)
    assert world.nodes[0].committing is not None

    world.restart(0)
    world.run(10 * SECOND)

    assert world.nodes[0].runner is not None
    assert world.converged()
    assert len(world.logs()[1]) == 1
