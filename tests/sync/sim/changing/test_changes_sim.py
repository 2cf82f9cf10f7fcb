"""Changes among simulated participants: all show the same, whatever was lost, late or racing."""

import random

import pytest

from chat_tui.client.simulated import SimulatedChat
from chat_tui.model.conversation import Conversation
from sync.entries import changes
from sync.entries.changes import CHANGING, Change, Edit, Look, Reactions, Redaction
from sync.entries.entry import Entry
from sync.errors import LocalError
from sync.group import values
from sync.group.values import Status
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, MessageId
from sync.runner.batch import Batch, Release, tell_looks
from sync.sds.message import HISTORY_MAX, Delivery, HistoryEntry
from sync.sds.parameters import LAN
from sync.sim.clocks.walls import Person
from sync.sim.disk import Disk
from sync.sim.network import PERFECT, Link
from sync.sim.view import SimulatedView
from sync.sim.world import Terms, World
from sync.view.projection import event_of
from sync.view.view import Event, Line, LineChanged, MessageShown, PreviewShown
from tests.support.grids import with_grid
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, Member, only

NAMES = ("alice", "bob", "carol", "dave")
LOSSY = Link(loss=0.2, duplicate=0.05, reorder=0.05)
WORDS = ("tea", "milk", "toast")
EMOJIS = ("👍", "❤", "👀")


def lines_of(world: World, number: int) -> list[tuple[MessageId, int]]:
    """The lines on a node's disk, and by whom."""
    disk = world.nodes[number].disk
    by = {node.identity.peer_id: node.number for node in world.nodes}
    return [(one, by[disk.rows[one].message.entry.header.author]) for _, one in disk.lines()]


def change_something(world: World, rng: random.Random) -> None:
    """Let somebody change a line they hold, their own or, in vain, another's."""
    who = rng.randrange(len(world.nodes))
    lines = lines_of(world, who)
    if not lines:
        return
    own = [line for line in lines if line[1] == who]
    target, _ = rng.choice((own if own and rng.random() < 0.5 else lines)[-6:])
    acts: list[Change] = [
        Edit(target, f"{rng.choice(WORDS)} {world.now}"),
        Redaction(target),
        Reactions(target, tuple(sorted(rng.sample(EMOJIS, rng.randrange(3))))),
    ]
    world.change(who, rng.choice(acts))


def quiet(world: World) -> None:
    """Let time pass until all have the same."""
    world.run(10 * SECOND)
    until = world.now + 3 * HOUR
    while world.now < until and not (world.converged() and world.settled()):
        world.run(10 * SECOND)
    assert world.converged()
    assert world.settled()


class Watching:
    """A screen's rows from events alone, beside what its disk says."""

    def __init__(self, world: World, number: int) -> None:
        self.view = SimulatedView(world, number, NAMES[: len(world.nodes)])
        self.events: list[Event] = []
        self.channel = world.channel
        self.view.subscribe(self.events.append)

    async def page(self) -> list[Line]:
        return list(await self.view.history.page(self.channel, before=None, limit=1000))

    def rows(self) -> Conversation:
        snapshot = self.view.snapshot()
        held = Conversation(self.channel, snapshot.me, snapshot.nick)
        held.add_older([], before=None, complete=True)
        for event in self.events:
            if isinstance(event, MessageShown):
                held.arrive(event.line)
            elif isinstance(event, LineChanged):
                held.change(event.line)
        return held


def as_anybody_sees(line: Line) -> object:
    """A line without what depends on who looks."""
    reactions = [(one.emoji, one.count, set(one.who)) for one in line.reactions]
    return (line.message_id, line.author, line.text, line.edited, line.deleted, reactions)


@pytest.mark.parametrize("reconcile", [True, False])
@pytest.mark.parametrize("seed", with_grid(range(3), range(3, 6)))
async def test_all_show_the_same_after_any_trouble(seed: int, reconcile: bool) -> None:
    """Invariants I1 to I7 hold too: `World` asserts them, and `check` at the end."""
    world = World(4, seed, LOSSY, Terms(reconcile=reconcile))
    rng = random.Random(seed)
    watching = [Watching(world, number) for number in range(4)]
    world.run(6 * SECOND)
    for step in range(60):
        if step == 10:
            world.partition({0, 1}, {2, 3})
        if step == 18:
            world.crash(3)
        if step == 22:
            world.restart(3)
        if step == 28:
            world.heal()
        if step < 4 or rng.random() < 0.3:
            world.write_text(rng.randrange(4), f"line {step}")
        else:
            change_something(world, rng)
        world.run(SECOND)
    quiet(world)

    world.check()
    pages = [await one.page() for one in watching]
    seen = [[as_anybody_sees(line) for line in page] for page in pages]
    assert seen == [seen[0]] * 4
    assert any(line.edited for line in pages[0])
    assert any(line.deleted for line in pages[0])
    assert any(line.reactions for line in pages[0])
    for one, page in zip(watching, pages, strict=True):
        rows = one.rows().rows
        assert [as_anybody_sees(row.line) for row in rows] == [as_anybody_sees(x) for x in page]


@pytest.mark.parametrize("seed", range(4))
def test_what_others_edit_or_delete_stays_as_its_author_left_it(seed: int) -> None:
    world = World(3, seed, LOSSY)
    world.run(6 * SECOND)
    world.write_text(0, "mine")
    world.run(MINUTE)
    [(line, _)] = lines_of(world, 1)

    world.change(1, Edit(line, "forged"))
    world.change(2, Redaction(line))
    quiet(world)

    world.check()
    assert [node.disk.looks() for node in world.nodes] == [{}] * 3
    assert {len(log) for log in world.logs()} == {3}


def test_edits_that_race_with_a_deletion_end_alike_everywhere() -> None:
    world = World(3, 5, PERFECT)
    world.run(6 * SECOND)
    world.write_text(0, "mine")
    world.run(MINUTE)
    [(line, _)] = lines_of(world, 0)
    world.partition({0}, {1}, {2})
    for change in (Edit(line, "a"), Redaction(line), Edit(line, "b"), Redaction(line)):
        world.change(0, change)
    world.change(1, Reactions(line, ("👍",)))
    world.heal()
    quiet(world)

    world.check()
    bob = world.nodes[1].identity.peer_id
    look = Look(deleted=True, reactions=((bob, ("👍",)),))
    assert [node.disk.looks() for node in world.nodes] == [{line: look}] * 3


async def test_who_comes_late_sees_only_what_is_left() -> None:
    world = World(2, 7, PERFECT)
    late = Watching(world, 1)
    world.crash(1)
    world.write_text(0, "a secret")
    world.run(SECOND)
    [(line, _)] = lines_of(world, 0)
    world.change(0, Redaction(line))
    world.run(MINUTE)

    world.restart(1)
    quiet(world)

    [shown] = await late.page()
    assert (shown.text, shown.deleted) == ("", True)
    world.check()


async def test_an_edit_of_a_wrong_clock_is_taken_back_until_it_is_sent_anew() -> None:
    """Its author alone saw it; then it is set aside like every line of that clock."""
    world = World(5, 2, Link(loss=0.1, duplicate=0.05))
    world.nodes[0].wall.person = Person.FOLLOWS
    world.run(6 * SECOND)
    world.write_text(0, "before")
    world.run(10 * SECOND)
    [(line, _)] = lines_of(world, 0)
    loner = SimulatedChat(world, 0, (*NAMES, "erin"))
    events: list[Event] = []
    loner.subscribe(events.append)
    world.partition({0}, {1, 2, 3, 4})
    world.run(20 * SECOND)
    world.set_clock(0, 24 * HOUR)
    await loner.edit(world.channel, line, "after")
    alone = world.nodes[0].disk.looks()
    world.heal()
    world.run(2 * MINUTE)
    withdrawn = world.nodes[0].disk.looks()
    world.set_clock(0, 0)
    world.run(MINUTE)
    [info] = loner.snapshot().channels
    [parked] = info.parked_own

    await loner.resend(world.channel, parked)
    quiet(world)

    world.check()
    assert (alone, withdrawn) == ({line: Look(text="after")}, {})
    changed_lines = [event.line for event in events if isinstance(event, LineChanged)]
    assert [one.text for one in changed_lines] == ["after", "before", "after"]
    assert [node.disk.looks() for node in world.nodes] == [{line: Look(text="after")}] * 5


@pytest.mark.slow
async def test_what_was_sent_anew_does_not_win_again_once_its_time_comes() -> None:
    """It was changed once more meanwhile, and reacted to otherwise; so it stays."""
    world = World(3, 2, Link(loss=0.1))
    world.nodes[0].wall.person = Person.FOLLOWS
    world.run(6 * SECOND)
    world.write_text(1, "theirs")
    world.run(5 * SECOND)
    world.write_text(0, "mine")
    world.run(10 * SECOND)
    theirs, mine = (line for line, _ in lines_of(world, 0))
    loner = SimulatedChat(world, 0, NAMES[:3])
    world.partition({0}, {1, 2})
    world.run(20 * SECOND)
    world.set_clock(0, 24 * HOUR)
    await loner.edit(world.channel, mine, "second")
    world.change(0, Reactions(theirs, ("👍",)))
    world.heal()
    world.run(2 * MINUTE)
    world.set_clock(0, 0)
    world.run(MINUTE)
    for parked in loner.snapshot().channels[0].parked_own:
        await loner.resend(world.channel, parked)
    quiet(world)
    [info] = loner.snapshot().channels
    assert info.parked_own == (), "written anew, so nothing is left to send"
    world.crash(0)
    world.restart(0)
    quiet(world)
    [info] = loner.snapshot().channels
    assert info.parked_own == (), "nor after a start"

    world.change(0, Edit(mine, "third"))
    world.change(0, Reactions(theirs, ()))
    world.run(25 * HOUR)
    assert world.nodes[0].disk.parked() == [], "its time has come"

    world.check()
    assert [node.disk.looks() for node in world.nodes] == [{mine: Look(text="third")}] * 3


# --- One participant ---------------------------------------------------------------------------


def test_a_change_names_its_target_whatever_else_it_names() -> None:
    world = World(2, 1, PERFECT)
    world.run(6 * SECOND)
    for number in range(30):
        world.write_text(number % 2, f"line {number}")
        world.run(SECOND)
    (oldest, _), *_, (newest, _) = lines_of(world, 0)

    world.change(0, Reactions(oldest, ("👍",)))
    world.run(SECOND)
    world.change(0, Reactions(newest, ("👍",)))
    world.run(SECOND)

    disk = world.nodes[1].disk
    entries = [disk.rows[one].message.entry for _, one in disk.log()]
    made = [entry for entry in entries if entry.header.kind in CHANGING]
    assert [changes.change_of(entry) for entry in made] == [
        Reactions(oldest, ("👍",)),
        Reactions(newest, ("👍",)),
    ]
    for entry in made:
        named = [parent.message_id for parent in entry.header.parents]
        assert len(set(named)) == len(named) <= LAN.history_size + 1


def test_names_given_never_make_a_history_longer_than_its_limit() -> None:
    alice = Member("alice")
    heard = [Author(f"peer{number}").write(str(number)) for number in range(20)]
    for message in heard:
        alice.hear(message)
    about = tuple(
        [
            HistoryEntry(m.entry.message_id, m.waku_hash, m.entry.header.author)
            for m in heard[:HISTORY_MAX]
        ]
    )
    change = Redaction(about[0].message_id)
    written = values.Write(1, changes.kind_of(change), changes.encode(change), about)

    effects = alice.tell(written)

    [stored] = only(values.StoreMessage, effects)
    parents = stored.message.entry.header.parents
    assert tuple(parent.message_id for parent in parents) == tuple(one.message_id for one in about)


def test_what_waits_for_its_place_cannot_be_changed_yet() -> None:
    alice, bob = Member("alice"), Author("bob")
    lost = bob.write("lost")
    waits = bob.write("waits", after=[lost])
    alice.hear(waits)
    change = Reactions(waits.entry.message_id, ("👍",))
    named = HistoryEntry(waits.entry.message_id, waits.waku_hash, bob.peer_id)

    with pytest.raises(LocalError, match="waits for its place"):
        alice.tell(values.Write(1, changes.kind_of(change), changes.encode(change), (named,)))

    assert only(values.StoreMessage, alice.tell(values.Write(2, 1, b"\n\x01a\x12\x01b"))) != []


def test_a_change_that_comes_first_waits_and_counts_once_its_target_is_there() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    target = bob.write("first")
    one = target.entry.message_id
    edit = changed(bob, Edit(one, "second"), target)

    alice.hear(edit)
    held = alice.disk.rows[edit.entry.message_id].status
    alice.hear(target)

    assert held is Status.WAITING
    assert alice.disk.look(one) == Look(text="second")


def test_a_change_after_a_gap_counts_if_its_target_ever_comes() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    target = bob.write("first")
    one = target.entry.message_id
    edit = changed(bob, Edit(one, "second"), target)
    alice.hear(edit)
    alice.advance(NOW + HOUR)
    given_up = alice.disk.rows[edit.entry.message_id]

    alice.hear(target, NOW + HOUR)

    assert (given_up.status, given_up.after_gap) == (Status.DELIVERED, True)
    assert alice.disk.look(one) == Look(text="second")


def test_who_joins_late_never_sees_in_its_place_what_was_deleted_long_before() -> None:
    """A preview may come a moment before its redaction, which hides it as soon as it is here."""
    world = World(3, 5, PERFECT)
    world.crash(2)
    written = [text for text in (f"line {number}" for number in range(400)) if _said(world, text)]
    targets = [one for one, _ in lines_of(world, 0)][::3]
    for target in targets:
        world.change(0, Redaction(target))
        world.run(MILLISECOND)
    world.run(20 * SECOND)
    seen: list[Line] = []

    def look(event: Event) -> None:
        if isinstance(event, MessageShown | PreviewShown | LineChanged):
            seen.append(event.line)

    SimulatedView(world, 2, NAMES[:3]).subscribe(look)
    world.restart(2)
    world.run(MINUTE)

    hidden = set(targets)
    assert len(written) == 400
    assert {line.message_id for line in seen} >= hidden
    taken = [line for line in seen if line.message_id in hidden and not line.loading]
    assert [line.text for line in taken if not line.deleted] == []
    assert any(line.loading and line.deleted for line in seen), "previews were among them"


def _said(world: World, text: str) -> bool:
    world.write_text(0, text)
    world.run(MILLISECOND)
    return True


def test_what_one_commit_delivers_is_told_once_as_it_looks_by_then() -> None:
    bob = Author("bob")
    target = bob.write("a secret")
    gone = changed(bob, Redaction(target.entry.message_id), target)
    disk = Disk(Author("alice").peer_id, 1)
    batch = Batch(
        records=[values.StoreMessage(one, Status.DELIVERED) for one in (target, gone)],
        releases=[
            Release(CHANNEL, values.Deliver(one.entry.message_id, one.entry, False, None))
            for one in (target, gone)
        ],
    )

    tell_looks(batch, disk.commit(batch.records))

    events = [event_of(CHANNEL, one.effect, disk.me, _never) for one in batch.releases]
    [shown] = [event for event in events if event is not None]
    assert isinstance(shown, MessageShown)
    assert (shown.line.text, shown.line.deleted) == ("", True)


def _never(deliver: values.Deliver) -> tuple[Entry, Delivery | None]:
    raise AssertionError(f"{deliver} has its entry")


def test_an_entry_whose_change_is_worth_nothing_is_kept_like_every_other() -> None:
    alice, bob = Member("alice"), Author("bob")
    target = bob.write("first")
    alice.hear(target)

    for kind in sorted(CHANGING):
        broken = bob.write(kind=kind, body=b"\xff\xff", after=[target])
        effects = alice.hear(broken)
        assert only(values.Refused, effects) == []
        assert alice.disk.rows[broken.entry.message_id].status is Status.DELIVERED

    assert alice.disk.looks() == {}
    assert [one for _, one in alice.disk.lines()] == [target.entry.message_id]
