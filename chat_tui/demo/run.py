"""A scenario being played: the world, its script, and what is told, event by event.

A run is a function of scenario, seed and acts: the same three give the same run, to the byte. So
whoever wants to go back plays it again as far as that.
"""

import random
from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from chat_tui.demo.acts import Act, Write, do
from chat_tui.demo.cast import Said
from chat_tui.demo.crowd import ANSWERS_KEPT
from chat_tui.demo.narrator import Narrator
from chat_tui.demo.pacing.traffic import Traffic
from chat_tui.demo.scenario import JOINING, Past, Scenario, Verdict
from sync.group.values import BroadcastStored, Deliver, SessionEnded
from sync.machine import MILLISECOND, SECOND, Nanos
from sync.runner.batch import Release
from sync.sim.shapes import unlinked
from sync.sim.turning import COMMIT
from sync.sim.watch import LOST_KEPT, Flight, Watch
from sync.sim.world import World

HISTORY_STEP: Final[Nanos] = 400 * MILLISECOND
"""Between two lines of the history: nobody owes hundreds of acknowledgements then."""

PATIENCE: Final[Nanos] = 90 * SECOND
"""Time for which a scenario goes on after its time while somebody still waits for something."""

SETTLED_EVERY: Final[Nanos] = 250 * MILLISECOND
"""Between two looks whether all is settled."""


class Moment(NamedTuple):
    """A place in a run: how many events have happened, the time, and what the person has done."""

    events: int
    now: Nanos
    acts: int


class Intervention(Struct, frozen=True):
    """An act of the person, and the moment at which it was done."""

    moment: Moment
    act: Act


class Run:
    """Plays `scenario` with `seed`; `acts` are done again at their moments, rising."""

    def __init__(self, scenario: Scenario, seed: int, acts: Sequence[Intervention] = ()) -> None:
        self.scenario, self.seed = scenario, seed
        self.acts: list[Intervention] = []
        self.failure = ""
        """Which invariant broke while it ran; nothing happens any more then."""
        self.verdicts: tuple[Verdict, ...] = ()
        """Results of the checks, once it is over."""
        self.lost: deque[tuple[Nanos, Flight]] = deque(maxlen=LOST_KEPT)
        """Frames lost, and when that was seen."""
        self.traffic = Traffic(sum(scenario.link.delay) // 2)
        """Frames that were on their way among those with a panel, and waits."""
        self._to_do = list(acts)
        names = scenario.names
        self.watch = Watch(len(names), random.Random(seed))  # noqa: S311  # a seeded run
        self.world = World(scenario.size, seed, scenario.link, scenario.terms, watch=self.watch)
        self.world.membership = replace(self.world.membership, name="demo")
        self.watch.gate = self.world.gate
        self.world.network.cuts |= unlinked(scenario.rooms)
        self._shown: list[list[str]] = [[] for _ in range(scenario.size)]
        self._sessions: list[tuple[int, SessionEnded]] = []
        self._answers: list[tuple[str, Nanos]] = []
        self.answers: deque[tuple[int, Nanos]] = deque(maxlen=ANSWERS_KEPT)
        """The newest answers: by whom, and when."""
        self._released: list[tuple[int, Release]] = []
        self.world.listeners.append(self._note)
        self._digest = ""
        self.narrator = Narrator(self.world, names, told=scenario.told)
        self.events = 0
        self._set_up()
        self._look_at = self.ends_at

    @property
    def now(self) -> Nanos:
        """The world's time."""
        return self.world.now

    @property
    def moment(self) -> Moment:
        """Current position of the run."""
        return Moment(self.events, self.world.now, len(self.acts))

    @property
    def said(self) -> list[Said]:
        """Everything that was told so far."""
        return self.narrator.said

    @property
    def ends_at(self) -> Nanos:
        """Time at which the script ends."""
        return self.began + self.scenario.lasts

    @property
    def over(self) -> bool:
        """True if the checks have been made."""
        return bool(self.verdicts)

    # --- Playing -------------------------------------------------------------------------------

    def happen(self, until: Nanos) -> bool:
        """Let the next event happen if there is one up to `until`; else the time is `until`.

        An intervention to be done again counts as one. Returns whether something happened.
        """
        if self.over:
            return False
        if self._to_do and self._is_due(self._to_do[0].moment, until):
            due = self._to_do.pop(0)
            self._pass_until(due.moment.now)
            self.act(due.act)
            return True
        next_at = self.world.time.next_at
        if next_at is not None and next_at <= min(until, self._look_at):
            self._step()
            return True
        self.world.time.run(min(until, self._look_at))
        if self.world.now >= self._look_at:
            self._look()
        return False

    def step(self) -> bool:
        """Go on until something is told; returns whether anything was, before the end."""
        told = len(self.said)
        while not self.over and len(self.said) == told:
            self.happen(self._look_at)
        return len(self.said) > told

    def finish(self) -> None:
        """Play to the end."""
        while not self.over:
            self.happen(self._look_at)

    def play_to(self, moment: Moment) -> None:
        """Play as far as a moment of before."""
        while self.moment < moment and not self.over:
            if self.events == moment.events and not self._to_do:
                self._pass_until(moment.now)
            else:
                self.happen(max(moment.now, self.world.now))

    def act(self, act: Act) -> bool:
        """Do what the person wants, now; returns whether it changed anything."""
        if self.over or self.failure:
            return False
        self.acts.append(Intervention(self.moment, act))
        return self._do(act)

    def _is_due(self, moment: Moment, until: Nanos) -> bool:
        return moment.events == self.events and moment.now <= until

    def _pass_until(self, when: Nanos) -> None:
        """Let time pass in which nothing happens."""
        if when > self.world.now:  # of what is planned for now, some may not have happened yet
            self.world.time.run(when)

    # --- Inside --------------------------------------------------------------------------------

    def _set_up(self) -> None:
        """Let all find each other, and history be written, before it begins."""
        scenario, world = self.scenario, self.world
        for number in scenario.absent:
            world.crash(number)
        if scenario.joined:
            world.run(JOINING)
        present = [n for n in range(len(scenario.names)) if n not in scenario.absent]
        for line in range(scenario.history):
            world.write_text(present[line % len(present)], f"earlier line {line + 1}")
            world.run(HISTORY_STEP)
        if scenario.history:
            world.run(JOINING)
        self.began = world.now
        self.history = frozenset(message_id for log in world.logs() for _, message_id in log)
        self._released.clear()
        self._sessions.clear()
        self.watch.take_steps()
        self.watch.take_begun()
        self.watch.flights.clear()
        for after, act in scenario.acts:
            world.time.plan(self.began + after, self._do_planned, act)

    def _step(self) -> None:
        self.events += 1
        try:
            self.world.time.step()
        except AssertionError as error:
            self.failure = str(error)
            self._finish()
        self._tell()

    def _do_planned(self, act: Act, _: object) -> None:
        self._do(act)

    def _do(self, act: Act) -> bool:
        """Do an act; what it does is told before what comes of it."""
        names = self.scenario.names
        if isinstance(act, Write) and act.who >= len(names):
            return False
        done = do(act, self.world, self.watch)
        if done:
            self.narrator.tell_act(act)
        return done

    def _tell(self) -> None:
        steps, lost = self.watch.take_steps()
        self.lost.extend((self.world.now, flight) for flight in lost)
        self.traffic.note_flights(self.watch.take_begun(), lost, self.world.now)
        for step in steps:
            self.traffic.note_step(step)
        released = self._released
        if steps or lost or released:
            self._released = []
            self.narrator.tell(steps, released, lost)

    def _note(self, number: int, release: Release) -> None:
        effect = release.effect
        if isinstance(effect, Deliver):
            self._shown[number].append(effect.message_id)
        elif isinstance(effect, SessionEnded):
            self._sessions.append((number, effect))
        elif isinstance(effect, BroadcastStored) and effect.bloom_filter is None:
            self._answers.append((effect.message_id, self.world.now))
            self.answers.append((number, self.world.now))
        if number < len(self.scenario.names):
            self._released.append((number, release))

    def _look(self) -> None:
        """It may be over: unless somebody still waits, and there is patience left.

        The looks are at fixed times, so that they change nothing of what a run is.
        """
        settled = self.world.converged() and self.world.settled()
        if settled or self._look_at >= self.ends_at + PATIENCE:
            self._finish()
        else:
            self._look_at += SETTLED_EVERY

    def _finish(self) -> None:
        """Make the checks."""
        past = Past(
            self.world,
            self.scenario.names,
            self._shown,
            self.history,
            self._sessions,
            self._answers,
            self.scenario.link.delay[1] + COMMIT[1],
            self.scenario.absent,
        )
        verdicts = [check(past) for check in self.scenario.checks]
        if self.failure:
            broken = Verdict("every invariant holds at every step", False, self.failure)  # noqa: FBT003
            verdicts.insert(0, broken)
        self.verdicts = tuple(verdicts)

    def digest(self) -> str:
        """Return the digest of all that the nodes did; only once it is over."""
        assert self.over
        if not self._digest:
            self._digest = self.world.meter.digest((self.world.logs(), self.world.witness.marks))
        return self._digest
