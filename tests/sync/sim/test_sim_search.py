"""Searches for named messages that nobody has: their cost, and honest gaps meanwhile."""

import pytest

from sync.entries.entry import decode_text
from sync.group import values
from sync.machine import MINUTE, SECOND
from sync.runner.batch import Release
from sync.sds.answering import ANSWERS_BURST, ANSWERS_PER_SECOND
from sync.sds.incoming import MISSING_MAX, MISSING_PER_LINK_MAX
from sync.sds.message import REPAIR_MAX, HistoryEntry
from sync.sim.measure import Sent, Sort
from sync.sim.world import Terms, World
from tests.support.sync.hostiles import Mallory

PEERS = 8
LINE_NAMES = 16


def met(seed: int, *, size: int = PEERS, reconcile: bool = True) -> World:
    """A world in which everybody has said something, and all is quiet."""
    world = World(size, seed, terms=Terms(reconcile=reconcile))
    world.run(10 * SECOND)
    for number in range(size):
        world.write_text(number, f"hello from {number}")
    world.run(MINUTE)
    return world


def sessions_a_minute(world: World, minutes: int) -> list[int]:
    """Let time pass; returns how many sessions were over in each minute, each counted once."""
    counts = []
    for _ in range(minutes):
        before = len(world.witness.sessions)
        world.run(MINUTE)
        counts.append((len(world.witness.sessions) - before) // 2)
    return counts


def test_a_line_that_names_what_nobody_has_is_searched_for_ever_less() -> None:
    world = met(1)
    mallory = Mallory(world, 7)

    mallory.name_what_nobody_wrote(mallory.author("one"), ["nothing"])
    counts = sessions_a_minute(world, 10)

    everybody = PEERS * (PEERS - 1)
    assert max(counts) <= everybody
    assert sum(counts[5:]) <= 2 * everybody
    assert sum(counts) <= 5 * everybody
    world.check_bounds()


@pytest.mark.slow
def test_lines_that_name_what_nobody_has_are_asked_for_ever_less() -> None:
    world = met(1)
    mallory = Mallory(world, 7)
    for line in range(63):
        ghosts = [f"ghost {line}/{number}" for number in range(LINE_NAMES)]
        mallory.name_what_nobody_wrote(mallory.author("one"), [f"line {line}"], ghosts)
        world.run(SECOND // 3)
    sizes = []
    for _ in range(10):
        before = world.meter.sent[Sort.SYNC].size
        world.run(MINUTE)
        sizes.append(world.meter.sent[Sort.SYNC].size - before)

    assert max(sizes[3:]) < 500_000, sizes  # it was 8 MB in each minute
    assert sum(sizes) < 5_000_000, sizes
    world.check_bounds()


def invent(world: World, mallory: Mallory, *, names: int, authors: int) -> None:
    """Let `authors` that Mallory invented name so many messages that nobody wrote, 16 a line."""
    invented = [mallory.author(f"author {number}") for number in range(authors)]
    for line in range(names // LINE_NAMES):
        ghosts = [f"ghost {line}/{number}" for number in range(LINE_NAMES)]
        mallory.name_what_nobody_wrote(invented[line % authors], [f"line {line}"], ghosts)
        if line % 100 == 0:
            world.run(SECOND)
    world.run(SECOND)


@pytest.mark.slow
def test_an_honest_gap_among_thousands_of_invented_names_is_repaired_as_if_they_were_not() -> None:
    world = met(2, reconcile=False)
    invent(world, Mallory(world, 7), names=5 * MISSING_MAX // 4, authors=5)
    bob = world.nodes[1]
    assert bob.runner is not None
    incoming = bob.runner.groups[world.channel].sds.incoming
    full = len(incoming.missing)

    world.network.cuts.add((1, 2))
    world.write_text(2, "which bob does not get")
    world.run(SECOND)
    world.network.cuts.clear()
    world.write_text(2, "which names it")
    world.run(20 * SECOND)

    rows = [bob.disk.rows[one] for _, one in bob.disk.log()]
    shown = {decode_text(one.message.entry.body).text: one.after_gap for one in rows}
    assert full >= MISSING_PER_LINK_MAX
    assert shown.get("which bob does not get") is False
    assert shown.get("which names it") is False
    world.check_bounds()


def request_for(world: World, lacking: int) -> HistoryEntry:
    """Let node 2 write a line that node `lacking` does not get, and another that names it."""
    world.network.cuts.add((lacking, 2))
    world.write_text(2, "which one does not get")
    world.run(SECOND // 2)
    world.network.cuts.clear()
    newest = world.nodes[2].disk.log()[-1][1]
    world.write_text(2, "which names it")
    return world.nodes[2].disk.load(newest).named


def test_requests_that_name_no_sender_silence_nobody_who_would_ask() -> None:
    world = met(3, size=4, reconcile=False)
    mallory = Mallory(world, 3)
    wanted = request_for(world, 1)

    for _ in range(60):  # faster than T_req, as long as a gap may stay hidden
        mallory.ask([wanted._replace(sender_id=None)], to=[1])
        world.run(SECOND)

    row = world.nodes[1].disk.rows.get(wanted.message_id)
    assert row is not None
    assert world.meter.repairs().seconds.max < 20


@pytest.mark.parametrize("restarted", [False, True])
def test_who_answers_and_when_follows_from_the_author_and_not_from_the_request(
    restarted: bool,  # a parameter of the test
) -> None:
    world = met(4, size=4, reconcile=False)
    mallory, bob = Mallory(world, 3), world.nodes[1]
    if restarted:  # then only the disk knows the authors
        world.crash(1)
        world.restart(1)
        world.run(10 * SECOND)
    assert bob.runner is not None
    me, repairs = bob.identity.peer_id, bob.runner.groups[world.channel].sds.repairs
    window, answering = repairs.window(world.now), repairs.answering
    others = [bob.disk.load(one).named for _, one in bob.disk.log()]
    wanted = max(
        others, key=lambda one: window.answer_delay(me, one.sender_id or me, one.message_id)
    )

    loaded: list[Release] = []
    world.listeners.append(
        lambda node, release: (
            loaded.append(release)
            if node == 1 and isinstance(release.effect, values.LoadAuthors)
            else None
        )
    )
    mallory.ask([wanted._replace(sender_id=me)], to=[1])
    world.run(SECOND // 5)

    assert bool(loaded) is restarted
    answer = answering.answers.get(wanted.message_id)
    assert answer is not None, "as its author it would have answered at once"
    assert answer.sender == wanted.sender_id


def test_who_asks_for_everything_again_and_again_causes_no_more_than_its_share() -> None:
    world = met(5, size=4, reconcile=False)
    for number in range(200):
        world.write_text(number % 3, f"line {number}")
    world.run(10 * SECOND)
    mallory, disk = Mallory(world, 3), world.nodes[2].disk
    everything = [disk.load(one).named for _, one in disk.log()]
    before = world.meter.sent.get(Sort.ANSWER, Sent())

    spell = 30
    for turn in range(20 * spell):
        start = turn * REPAIR_MAX % len(everything)
        mallory.ask(everything[start : start + REPAIR_MAX])
        world.run(SECOND // 20)

    answered = world.meter.sent[Sort.ANSWER].frames - before.frames
    share = ANSWERS_BURST + ANSWERS_PER_SECOND * spell
    assert 0 < answered <= 3 * share, "of each of the three who may answer"
    assert answered < 20 * spell * REPAIR_MAX / 4
