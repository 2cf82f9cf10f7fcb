"""Groups whose clocks are wrong, with people who follow, stay, or never answer.

Whatever they do: all logs are the same but for what is parked somewhere (I2), nothing is lost, and
those whose clocks are right go on as if nothing were.
"""

import pytest

from sync.group import values
from sync.group.reference import AGREE, UNASKED_MAX, Reference
from sync.machine import DAY, HOUR, MINUTE, SECOND, MessageId, Nanos
from sync.runner.batch import Release
from sync.sim.clocks.walls import Person
from sync.sim.network import Link
from sync.sim.timeline import EPOCH
from sync.sim.world import Terms, World

MESH = Terms(reconcile=True)
TO_1970: Nanos = -EPOCH
ASKED = (Person.FOLLOWS, Person.STAYS, Person.NEVER_ANSWERS)
SOON: Nanos = 2 * MINUTE

pytestmark = pytest.mark.slow

people = pytest.mark.parametrize("person", ASKED, ids=[one.value for one in ASKED])


class Watched(World):
    """A world whose people are all alike, and of whom is known what they are asked."""

    def __init__(self, size: int, person: Person, *, seed: int = 1, loss: float = 0.05) -> None:
        super().__init__(size, seed, Link(loss=loss), MESH)
        self.asked: list[int] = []
        self.differences: set[Nanos] = set()
        """In hours, over which anybody was asked."""
        self.ids: dict[str, MessageId] = {}
        for node in self.nodes:
            node.wall.person = person
        self.listeners.append(self._note)

    def _note(self, number: int, release: Release) -> None:
        effect = release.effect
        if isinstance(effect, values.ClockJudged) and effect.question is not None:
            self.asked.append(number)
            self.differences.add(round(effect.question.ahead / HOUR))

    def reference(self, number: int) -> Reference:
        runner = self.nodes[number].runner
        assert runner is not None
        return runner.groups[self.channel].aside.reference

    def off_by(self, number: int) -> Nanos:
        """Return how far a node's new messages are stamped ahead of the time of the world."""
        return self.reference(number).ruling.offset + self.nodes[number].machine_offset

    def say(self, number: int) -> None:
        """Let a node's person write; what becomes of it is `read_by`'s."""
        before = set(self.nodes[number].disk.rows)
        self.write_text(number, f"line {len(self.ids)} of {number}")
        self.run(SECOND)
        [written] = set(self.nodes[number].disk.rows) - before - set(self.ids.values())
        self.ids[f"line {len(self.ids)} of {number}"] = written

    def unread(self, *numbers: int) -> list[str]:
        """Return the lines that at least one of `numbers` lacks in its log."""
        logs = [{id_ for _, id_ in self.nodes[number].disk.log()} for number in numbers]
        return [text for text, id_ in self.ids.items() if not all(id_ in log for log in logs)]

    def end(self) -> None:
        """Let it become quiet, and see whether all is as it must be."""
        self.run(10 * MINUTE)
        self.check()
        assert not self.witness.failures


@people
def test_a_flat_battery_goes_by_the_others_unasked(person: Person) -> None:
    world = Watched(4, person)
    world.set_clock(0, TO_1970)
    world.run(10 * SECOND)
    for number in (0, 1, 2, 0):
        world.say(number)
    world.run(SOON)

    assert world.unread(0, 1, 2, 3) == []
    assert world.asked == []
    assert abs(world.off_by(0)) < SECOND
    world.end()


@people
def test_all_but_one_at_1970_go_by_the_one(person: Person) -> None:
    world = Watched(4, person)
    for number in (0, 1, 2):
        world.set_clock(number, TO_1970)
    world.run(10 * SECOND)
    for number in (3, 0, 1, 2):
        world.say(number)
    world.run(SOON)

    assert world.unread(0, 1, 2, 3) == []
    assert world.asked == []
    assert [abs(world.off_by(number)) < SECOND for number in range(4)] == [True] * 4
    world.end()


def test_at_1970_all_together_nobody_parks_anybody() -> None:
    world = Watched(3, Person.NEVER_ANSWERS)
    for number in range(3):
        world.set_clock(number, TO_1970 + number * DAY)
    world.run(10 * SECOND)
    for number in (0, 1, 2, 0):
        world.say(number)
    world.run(SOON)

    assert world.unread(0, 1, 2) == []
    world.end()


@pytest.mark.parametrize("ahead", [DAY, -DAY])
@people
def test_a_wrong_one_of_four_changes_nothing_for_the_others(person: Person, ahead: Nanos) -> None:
    world = Watched(4, person)
    world.partition({0}, {1, 2, 3})
    world.set_clock(0, ahead)
    world.run(20 * SECOND)
    world.say(0)
    world.say(1)
    world.heal()
    world.run(SOON)
    for number in (1, 2, 3):
        world.say(number)
    own = len(world.ids)
    world.say(0)
    world.run(SOON)

    assert set(world.asked) == {0}
    assert [text for text in world.unread(1, 2, 3) if not text.endswith("of 0")] == []
    if person is Person.FOLLOWS or ahead < 0:
        assert f"line {own} of 0" not in world.unread(0, 1, 2, 3)
    assert abs(world.off_by(1)) <= UNASKED_MAX
    world.end()


@people
def test_of_two_the_person_says_whose_clock_is_right(person: Person) -> None:
    world = Watched(2, person)
    world.set_clock(0, HOUR)
    world.run(10 * SECOND)
    for number in (0, 1):
        world.say(number)
    world.run(SOON)
    apart = abs(world.off_by(0) - world.off_by(1))

    assert set(world.asked) == {0, 1}
    assert (apart < AGREE) == (person is Person.FOLLOWS)
    if person is Person.FOLLOWS:
        world.say(0)
        world.say(1)
        world.run(SOON)
        assert [text for text in world.unread(0, 1) if text > "line 2"] == []
        smaller = min(world.nodes, key=lambda node: node.identity.peer_id).number
        assert abs(world.off_by(smaller) - world.nodes[smaller].clock_offset) < SECOND
    world.end()


def test_in_a_chat_of_two_a_line_written_alone_hours_ahead_silences_nobody() -> None:
    """Written alone, ended, set right, started: every later line was parked for ever."""
    world = Watched(2, Person.NEVER_ANSWERS)
    world.partition({0}, {1})
    world.set_clock(0, 2 * HOUR)
    world.run(20 * SECOND)
    world.say(0)
    world.crash(0)
    world.set_clock(0, 0)
    world.restart(0)
    world.heal()
    world.run(30 * SECOND)
    for number in (0, 1, 0):
        world.say(number)
    world.run(SOON)

    assert world.unread(0, 1) == ["line 0 of 0"]
    assert world.asked == []
    world.run(2 * HOUR)
    assert world.unread(0, 1) == [], "its time has come"
    world.end()


def test_what_waits_is_sent_by_its_author_once_it_is_answered_after_a_restart_too() -> None:
    """No session brings it: it goes out as any line does, and again where it is lost."""
    world = World(2, 5, Link(loss=0.3), Terms(reconcile=False))
    for node in world.nodes:
        node.wall.person = Person.NEVER_ANSWERS
    world.set_clock(0, HOUR)
    world.run(30 * SECOND)
    world.write_text(0, "whose clock is right?")
    world.run(SECOND)
    [waiting] = world.nodes[0].disk.parked()
    world.crash(0)
    world.run(MINUTE)
    world.restart(0)
    world.run(MINUTE)
    assert world.nodes[0].disk.parked() == [waiting]
    assert waiting not in world.nodes[1].disk.rows

    world.answer_clock(0, follow=False)
    world.run(MINUTE)
    assert world.nodes[1].disk.parked() == [waiting]
    world.run(HOUR)
    assert [id_ for _, id_ in world.nodes[1].disk.log()] == [waiting]


@people
def test_strangers_who_tell_another_year_move_nobody(person: Person) -> None:
    world = Watched(5, person)
    world.run(10 * SECOND)
    for stranger in (3, 4):
        world.nodes[stranger].wall.stranger = True
        world.tell_clock(stranger, 365 * DAY)
    for number in (0, 1, 2):
        world.say(number)
    world.run(SOON)

    assert world.unread(0, 1, 2) == []
    assert not {0, 1, 2} & set(world.asked)
    assert [abs(world.off_by(number)) < SECOND for number in (0, 1, 2)] == [True] * 3
    world.run(20 * MINUTE)
    logs = [set(world.nodes[number].disk.log()) for number in (0, 1, 2)]
    assert logs[0] == logs[1] == logs[2]


@people
def test_where_all_are_strangers_a_lie_is_asked_about_once_a_day(person: Person) -> None:
    world = Watched(3, person)
    for node in world.nodes:
        node.wall.stranger = True
    world.run(10 * SECOND)
    world.nodes[1].told_offset = world.nodes[2].told_offset = HOUR
    world.clocks_differ()
    world.run(MINUTE)
    world.tell_clock(1, 3 * HOUR)
    world.tell_clock(2, 3 * HOUR)
    world.run(MINUTE)

    assert 0 in world.asked
    assert world.differences <= {1, -1}, "and not of three hours on the same day"
    if person is not Person.FOLLOWS:
        assert abs(world.off_by(0)) <= UNASKED_MAX


@people
def test_a_clock_that_drifts_is_moved_and_then_asked_about(person: Person) -> None:
    """It gains 20 %: 1.6 minutes are moved away, nine are not."""
    world = Watched(3, person)
    world.nodes[0].wall.gains = SECOND // 5
    world.clocks_differ()
    world.run(8 * MINUTE)
    world.say(0)
    early = world.unread(0, 1, 2), list(world.asked), world.off_by(0)
    world.run(37 * MINUTE)
    world.say(1)
    world.run(SOON)

    assert early[:2] == ([], [])
    assert early[2] < SECOND, "the median takes it away"
    assert set(world.asked) == {0}
    assert world.unread(0, 1, 2) == []
    world.nodes[0].wall.gains = 0
    world.end()


@people
@pytest.mark.parametrize("shift", [HOUR, -HOUR])
def test_an_hour_shift_that_somebody_puts_right_leaves_no_trace(
    person: Person, shift: Nanos
) -> None:
    world = Watched(3, person)
    world.run(10 * SECOND)
    world.say(0)
    world.set_clock(0, shift)
    world.run(MINUTE)
    world.say(0)
    world.say(1)
    world.run(MINUTE)
    world.set_clock(0, 0)
    world.run(MINUTE)
    world.say(0)
    world.run(HOUR)

    assert world.off_by(0) == 0
    hidden = set(world.unread(0, 1, 2))
    assert hidden <= {"line 1 of 0"}, "which was written anew, or waits until it is said again"
    world.end()


@people
def test_a_machine_that_was_asleep_is_asked_nothing_once_its_clock_is_set(person: Person) -> None:
    """It wakes with the time of when it fell asleep; a minute later its system sets the clock."""
    world = Watched(3, person)
    world.run(10 * SECOND)
    world.partition({0}, {1, 2})
    for number in (1, 2):
        world.say(number)
    world.run(HOUR)
    world.set_clock(0, -HOUR)
    world.heal()
    world.run(10 * SECOND)
    world.set_clock(0, 0)
    world.run(SOON)
    world.say(0)
    world.run(SOON)

    assert world.unread(0, 1, 2) == []
    assert world.off_by(0) == 0
    world.end()


@people
@pytest.mark.parametrize("ahead", [HOUR // 2, -HOUR // 2])
def test_a_newcomer_with_a_wrong_clock_reads_everything(person: Person, ahead: Nanos) -> None:
    world = Watched(4, person)
    world.crash(3)
    world.nodes[3].wall.stranger = True
    world.run(10 * SECOND)
    for number in (0, 1, 2, 0):
        world.say(number)
    world.set_clock(3, ahead)
    world.restart(3)
    world.run(SOON)
    read = world.unread(3)
    world.run(HOUR // 2 if ahead < 0 else SOON)

    assert world.asked.count(3) >= 1
    if person is Person.FOLLOWS or ahead > 0:
        assert read == []
    assert world.unread(0, 1, 2, 3) == []
    world.end()


@pytest.mark.grid
def test_two_hundred_people_go_on_with_ten_wrong_clocks_among_them() -> None:
    world = World(200, 3, Link(), Terms(reconcile=False))
    for number, node in enumerate(world.nodes):
        node.wall.person = Person.NEVER_ANSWERS
        node.clock_offset = (number % 7) * SECOND
    for number in range(10):
        world.nodes[number].clock_offset = DAY * (1 if number % 2 else -1)
    world.clocks_differ()
    world.run(10 * SECOND)
    for number in range(10, 200, 19):
        world.write_text(number, f"hello of {number}")
    world.run(10 * SECOND)

    lines = [id_ for _, id_ in world.nodes[100].disk.log()]
    assert len(lines) == 10
    for node in world.nodes[10:]:
        assert [id_ for _, id_ in node.disk.log()] == lines
