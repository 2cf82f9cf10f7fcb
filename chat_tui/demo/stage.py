"""A run that can be looked at, stepped back, and meddled with.

Rules:
1. Every step (an event that was told of) leaves a picture; going back shows it again.
2. Whoever meddles in the past plays the run again from its seed, as far as that, and goes on from
   there: the same seed and acts give the same run.
"""

import time
from bisect import bisect_right
from collections.abc import Sequence
from math import inf
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from chat_tui.demo.acts import Act
from chat_tui.demo.crowd import field_of
from chat_tui.demo.moment import SOON, Air, Person, Shot, Titles, following
from chat_tui.demo.pacing.traffic import Traffic
from chat_tui.demo.phrases import what_happens
from chat_tui.demo.run import Intervention, Moment, Run
from chat_tui.demo.scenario import Scenario
from chat_tui.demo.scenarios import SCENARIOS
from chat_tui.text.listing import listed
from sync.machine import MILLISECOND, Nanos
from sync.sim.view import SimulatedView
from sync.sim.watch import Flight
from sync.view.view import Line, WaitingInfo

PICTURES_KEPT: Final = 1_000
"""Steps that can be gone back without playing again: more than any scenario has, 100 kB each."""

LINES_KEPT: Final = 40
"""Newest lines of each participant in a picture: as many as a tall panel shows."""

LOST_FOR: Final[Nanos] = 1500 * MILLISECOND
"""Time for which a lost frame is shown."""

SAID_KEPT: Final = 60
"""Newest sentences in a picture: more than a tall screen shows."""

SLICE_S: Final = 0.06
"""Seconds of computing at once: the chat below the demo must not wait for longer."""


class Picture(Struct, frozen=True):
    """A step: where it is in the run, and what it looks like."""

    moment: Moment
    shot: Shot
    told: int
    """Number of sentences told until then."""


class Stage:
    """Plays `scenario` with `seed`, and remembers what it looked like at each step."""

    def __init__(self, scenario: Scenario, seed: int, acts: Sequence[Intervention] = ()) -> None:
        self.scenario, self.seed = scenario, seed
        self._titles = Titles()
        self._fresh: Picture | None = None
        """Picture of the present, once somebody has looked."""
        self._take_up(Run(scenario, seed, acts))
        self._pictures = [self._picture()]
        self._forgotten = 0
        """Steps whose pictures are kept no more."""
        self._at: int | None = None
        """Which picture is shown; None for the present."""
        self._clock: Nanos = 0
        """The time shown while the past is played again."""
        self.slice_s = SLICE_S
        """Seconds of computing at once; endless where nobody waits."""
        self._oldest_again = 0
        """Where the oldest picture of before is, after `_remember`."""

    # --- What is shown -------------------------------------------------------------------------

    @property
    def shot(self) -> Shot:
        """The moment that is shown: the current one, or the step that was gone back to."""
        if self._at is None:
            if self._fresh is None:
                self._fresh = self._picture()
            return self._fresh.shot
        return replace(self._pictures[self._at].shot, earlier=True)

    @property
    def now(self) -> Nanos:
        """The simulated time that is shown."""
        if self._at is None:
            return self.run.now
        return max(self._clock, self._pictures[self._at].moment.now)

    @property
    def traffic(self) -> Traffic:
        """Frames and waits until now, also those after the step that is shown."""
        return self.run.traffic

    @property
    def titles(self) -> Titles:
        """Titles of messages."""
        return self._titles

    @property
    def over(self) -> bool:
        """True if the end is shown."""
        return self._at is None and self.run.over

    @property
    def acts(self) -> list[Intervention]:
        """Acts of the person, each with its moment."""
        return self.run.acts

    @property
    def step_number(self) -> int:
        """Number of the step that is shown, from 0 on."""
        at = len(self._pictures) - 1 if self._at is None else self._at
        return self._forgotten + at

    # --- Moving --------------------------------------------------------------------------------

    def forward(self) -> bool:
        """Show the next step; returns whether there was one."""
        if self._at is not None:
            self._at += 1
            left = len(self._pictures) - self._at
            if not left or (left == 1 and self._is_present(self._pictures[-1])):
                self._at = None
            return True
        if self.run.over:
            return False
        stepped = self.run.step()
        self._moved()
        return stepped

    def back(self) -> bool:
        """Show the step before; returns whether there was one."""
        at = len(self._pictures) if self._at is None else self._at
        if self._at is None and self._is_present(self._pictures[-1]):
            at -= 1
        if at == 0 and self._forgotten:
            self._remember()
            at = self._oldest_again
        if at == 0:
            return False
        self._at = at - 1
        self._clock = self._pictures[self._at].moment.now
        return True

    @property
    def far(self) -> bool:
        """True if earlier pictures have to be made again to show the step before."""
        return self._at == 0 and self._forgotten > 0

    def advance(self, duration: Nanos) -> None:
        """Let time pass; less of it where there is too much to do."""
        if self._at is not None:
            self._clock = max(self._clock, self._pictures[self._at].moment.now) + duration
            while self.in_the_past and self._next_time() <= self._clock:
                self.forward()
            return
        self._play_on(self.run.now + duration, self.slice_s)

    def seek(self, when: Nanos) -> None:
        """Show the moment `when`: the step before it, or what is played until then."""
        if when >= self.run.now:
            self._at = None
            self._play_on(when, inf)
            return
        times = [picture.moment.now for picture in self._pictures]
        self._at = max(0, bisect_right(times, when) - 1)
        self._clock = when

    def act(self, act: Act) -> bool:
        """Do what the person wants; in the present only, see `rewound`."""
        assert self._at is None
        told = len(self.run.said)
        done = self.run.act(act)
        self._fresh = None
        if len(self.run.said) > told:
            self._moved()
        return done

    @property
    def in_the_past(self) -> bool:
        """True if an earlier step is shown."""
        return self._at is not None

    def rewound(self) -> Run:
        """Play again up to the step that is shown; takes as long as it took until then."""
        assert self._at is not None
        moment = self._pictures[self._at].moment
        acts = [one for one in self.run.acts if one.moment < moment]
        run = Run(self.scenario, self.seed, acts)
        run.play_to(moment)
        return run

    def go_on_from(self, run: Run) -> None:
        """Make the step that is shown the present, as `run` played it: what came after is void."""
        assert self._at is not None
        del self._pictures[self._at + 1 :]
        self._at = None
        self._take_up(run)

    # --- Inside --------------------------------------------------------------------------------

    def _play_on(self, until: Nanos, seconds: float) -> None:
        """Play until then, or for as long as one may compute."""
        began = time.perf_counter()
        while self.run.now < until and not self.run.over:
            told = len(self.run.said)
            self.run.happen(until)
            self._fresh = None
            if len(self.run.said) > told:
                self._moved()
            if time.perf_counter() - began > seconds:
                break

    def _take_up(self, run: Run) -> None:
        self.run = run
        self._fresh = None
        everybody = [self._name(number) for number in range(self.scenario.size)]
        self._views = [
            SimulatedView(run.world, number, everybody)
            for number in range(len(self.scenario.names))
        ]

    def _name(self, number: int) -> str:
        names = self.scenario.names
        return names[number] if number < len(names) else f"participant {number + 1}"

    def _is_present(self, picture: Picture) -> bool:
        return picture.moment == self.run.moment and picture.shot.closing == self.run.verdicts

    def _next_time(self) -> Nanos:
        assert self._at is not None
        if self._at + 1 < len(self._pictures):
            return self._pictures[self._at + 1].moment.now
        return self.run.now

    def _moved(self) -> None:
        """A step is over: keep what it looks like."""
        self._fresh = picture = self._picture()
        self._pictures.append(picture)
        surplus = len(self._pictures) - PICTURES_KEPT
        if surplus > 0:
            del self._pictures[:surplus]
            self._forgotten += surplus

    def _remember(self) -> None:
        """Play again from the seed, to have the pictures of before that are kept no more."""
        wanted = self._forgotten
        first = max(0, wanted - PICTURES_KEPT // 2)
        again = Stage(self.scenario, self.seed, self.run.acts)
        for _ in range(first):
            again.run.step()
        pictures = [again._picture()]
        for _ in range(first + 1, wanted):
            again.run.step()
            pictures.append(again._picture())
        self._pictures[:0] = pictures
        self._forgotten = first
        self._oldest_again = len(pictures)

    def _picture(self) -> Picture:
        run = self.run
        people = tuple([self._person(number) for number in range(len(self._views))])
        now = run.now
        script = [
            (run.began + after, what_happens(act, self.scenario.names))
            for after, act in self.scenario.acts
            if run.began + after > now
        ][:SOON]
        coming = sorted([*following(people, self._titles), *script])[:SOON]
        told = len(run.said)
        shot = Shot(
            title=f'{self.scenario.number}/{len(SCENARIOS)} "{self.scenario.title}"',
            source=f"seed {self.seed}",
            about=self.scenario.about,
            now=now,
            people=people,
            said=tuple(run.said[-SAID_KEPT:]),
            following=() if run.over else tuple(coming),
            air=self._air(),
            flights=tuple([one for one in run.watch.flights if one.at > now]),
            lost=self._lost(now),
            closing=run.verdicts,
            field=field_of(run.world, run.answers) if self.scenario.people else None,
        )
        return Picture(run.moment, shot, told)

    def _lost(self, now: Nanos) -> tuple[Flight, ...]:
        return tuple([flight for when, flight in self.run.lost if when + LOST_FOR > now])

    def _person(self, number: int) -> Person:
        view, node = self._views[number], self.run.world.nodes[number]
        snapshot = view.snapshot()
        history = view.history
        lines = tuple(history.newest(LINES_KEPT))
        held: Sequence[Line] = ()
        if snapshot.channels:
            held = self._held(number, snapshot.channels[0].waiting[:LINES_KEPT])
        self._titles.note_lines([*lines, *held])
        alone = self.scenario.terms.mesh and not node.joined
        up = node.runner is not None
        return Person(self._name(number), up, snapshot, lines, tuple(held), alone=alone)

    def _held(self, number: int, waiting: Sequence[WaitingInfo]) -> list[Line]:
        """Return what is held back, from anybody's disk: its own may still be writing it."""
        views = [self._views[number], *self._views]
        lines: list[Line] = []
        for one in waiting:
            found = (view.history.held_back([one.message_id]) for view in views)
            lines += next((line for line in found if line), [])
        return lines

    def _air(self) -> Air:
        network, names = self.run.world.network, self.scenario.names
        sides = ""
        if network.side_of is not None:
            groups: dict[int, list[str]] = {}
            for number, name in enumerate(names):
                groups.setdefault(network.side_of[number], []).append(name)
            sides = " | ".join(listed(group) for group in groups.values())
        cuts = tuple([f"{names[a]}-{names[b]}" for a, b in sorted(network.cuts)])
        dooms = tuple(
            [
                f"next to {listed([names[one] for one in sorted(doom.receivers)])}"
                for doom in self.run.watch.dooms
            ]
        )
        link = network.link
        loss = max(link.loss, self.run.watch.content_loss)
        return Air(loss, link.delay, link.duplicate, sides, cuts, dooms)
