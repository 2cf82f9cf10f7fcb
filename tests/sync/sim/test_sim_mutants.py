"""The simulator's own assertions catch a broken rule: each test breaks one, and sees it reported.

Each mutant is the real function but for the rule. That the same run is well without it is asserted
beside it, where no other test does.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from sync.entries.entry import Entry
from sync.group.ingest import Gate
from sync.group.records import StoredMessage
from sync.group.values import Broadcast
from sync.machine import DAY, MINUTE, SECOND, Nanos
from sync.runner.batch import Batch, Release
from sync.runner.runner import Runner
from sync.sds.acknowledge import Outgoing, Pending
from sync.sds.answering import Answering
from sync.sds.asking import Asking, Request
from sync.sds.causal import Causal
from sync.sds.coming import NOTHING, Coming
from sync.sds.events import Effect
from sync.sds.history import Log
from sync.sds.incoming import Content
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sds.parameters import LAN
from sync.sds.repair import Window
from sync.sim.network import PERFECT, Link
from sync.sim.rooms import CHANNEL
from sync.sim.scenario import ClockJump, Scenario, run
from sync.sim.world import Terms, World
from tests.support.sync.entries import Author
from tests.support.sync.scenarios import lossy

ALONE = Terms(reconcile=False)
Enough: TypeAlias = Callable[[], bool] | None


def caught(scenario: Scenario) -> str:
    """Return the error that the simulator raises in a run."""
    with pytest.raises(AssertionError) as error:
        run(scenario)
    return str(error.value)


# --- Marks -------------------------------------------------------------------------------------


def test_an_acknowledgement_on_a_filter_hit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Outgoing.hint

    def mutant(
        self: Outgoing, bloom_filter: bytes, by: str, now: Nanos
    ) -> tuple[list[str], list[Pending]]:
        hits, changed = whole(self, bloom_filter, by, now)  # type: ignore[arg-type]  # a peer
        for entry in changed:
            entry.delivery = Delivery.ACKNOWLEDGED
        return list(hits), changed

    monkeypatch.setattr(Outgoing, "hint", mutant)

    assert "I4" in (said := caught(Scenario(4, 20, lossy(0.1), 1)))
    assert "nobody named it or proved to hold it" in said


def test_filters_that_are_always_believed_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def mutant(self: object, columns: object, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        del self, columns
        return rows

    monkeypatch.setattr("sync.structures.bloom.ReceivedFilter.rows_held", mutant)

    assert "falsely possibly acknowledged" in caught(Scenario(5, 40, Link(loss=0.3), 2))


# --- Order -------------------------------------------------------------------------------------


def gap_that_nobody_fills() -> World:
    """Three among whom one names, once, what nobody ever wrote."""
    world = World(4, 1, terms=Terms(hostile=1))
    assert world.hostiles is not None
    world.run(6 * SECOND)
    world.write_text(0, "before")
    world.run(2 * SECOND)
    world.hostiles.act(world.hostiles.members[0], "invented parents")
    world.run(3 * MINUTE)
    return world


def test_a_gap_that_is_not_marked_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    assert gap_that_nobody_fills().witness.gaps > 0

    monkeypatch.setattr(Causal, "_follows_gap", lambda self, content: False)

    with pytest.raises(AssertionError, match=r"I3: node \d lacks a parent"):
        gap_that_nobody_fills()


def write_after_a_start_with_a_slow_clock() -> None:
    """Somebody alone starts anew ten minutes ago, and writes."""
    world = World(2, 1, PERFECT, ALONE)
    world.run(6 * SECOND)
    world.partition({0}, {1})
    world.write_text(0, "before")
    world.run(SECOND)
    world.crash(0)
    world.set_clock(0, -10 * MINUTE)
    world.restart(0)
    world.write_text(0, "after")
    world.run(SECOND)
    assert len(world.nodes[0].disk.log()) == 2


def test_a_lamport_time_that_is_not_restored_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    write_after_a_start_with_a_slow_clock()
    whole = Causal.restore

    def mutant(self: Causal, event: object, now: Nanos) -> object:
        effects = whole(self, event, now)  # type: ignore[arg-type]  # what is restored
        self.lamport = 0
        return effects

    monkeypatch.setattr(Causal, "restore", mutant)

    with pytest.raises(AssertionError, match="I6: node 0 wrote lamport"):
        write_after_a_start_with_a_slow_clock()


def test_a_message_no_later_than_what_its_author_had_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two whose clocks differ by four minutes: the later one's lines are answered."""
    scenario = Scenario(2, 6, PERFECT, 1, troubles=(ClockJump(0, 10 * MINUTE, 0, 4 * MINUTE),))
    run(scenario)
    whole = Causal._put

    def mutant(
        self: Causal, content: Content, effects: list[Effect], *, after_gap: bool
    ) -> list[Content]:
        before = self.lamport
        released = whole(self, content, effects, after_gap=after_gap)
        self.lamport = before
        return released

    monkeypatch.setattr(Causal, "_put", mutant)

    assert "late" in caught(scenario)


# --- What leaves, and what comes ---------------------------------------------------------------


def test_a_frame_that_leaves_before_its_commit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Runner.turn
    late: dict[int, list[object]] = {}

    def mutant(
        self: Runner, now: Nanos, enough: Enough = None, begun: Batch | None = None
    ) -> Batch:
        batch = whole(self, now, enough, begun)
        records = late.pop(id(self), [])
        late[id(self)] = list(batch.records)
        batch.records = records  # type: ignore[assignment]  # those of the turn before
        return batch

    monkeypatch.setattr(Runner, "turn", mutant)

    assert "are on its disk" in caught(Scenario(3, 5, PERFECT, 1))


def test_a_message_that_its_sender_does_not_keep_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Runner.turn
    kept_by_nobody = Author("carol", CHANNEL).write("hello", lamport=1)

    def mutant(
        self: Runner, now: Nanos, enough: Enough = None, begun: Batch | None = None
    ) -> Batch:
        batch = whole(self, now, enough, begun)
        if batch.records:
            batch.releases.append(Release(CHANNEL, Broadcast(kept_by_nobody.payload)))
        return batch

    monkeypatch.setattr(Runner, "turn", mutant)

    said = caught(Scenario(3, 5, PERFECT, 1))
    assert f"sends {kept_by_nobody.entry.message_id} before it is on its disk" in said


def test_a_name_that_leaves_before_its_message_is_here_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = Log.sync_history
    never_written = HistoryEntry("ab" * 32)  # type: ignore[arg-type]  # an id

    def mutant(self: Log, size: int) -> tuple[HistoryEntry, ...]:
        return (*whole(self, size)[:-1], never_written)

    monkeypatch.setattr(Log, "sync_history", mutant)

    assert "before it is on its disk" in caught(Scenario(3, 5, PERFECT, 1))


def test_a_forged_delivery_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def mutant(self: Gate, message: Message) -> StoredMessage:
        entry: Entry = self.check_copy(message)
        return self.store(entry, message)  # whoever signed it

    monkeypatch.setattr(Gate, "check", mutant)
    world = World(5, 2, terms=Terms(hostile=1))
    assert world.hostiles is not None
    world.run(6 * SECOND)
    for number in range(3):
        world.write_text(number, "an honest line")
    world.run(2 * SECOND)
    world.hostiles.act(world.hostiles.members[0], "forgeries")

    with pytest.raises(AssertionError, match=r"I5: node \d shows \w+, which \w+ never signed"):
        world.run(MINUTE)


# --- Repair ------------------------------------------------------------------------------------

LOST = Scenario(5, 40, Link(loss=0.2), 3, within=10 * MINUTE)


def test_a_group_in_which_nobody_asks_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Asking.ask

    def mutant(
        self: Asking, most: int, window: Window, now: Nanos, coming: Coming = NOTHING
    ) -> list[Request]:
        whole(self, most, window, now, coming)
        return []

    monkeypatch.setattr(Asking, "ask", mutant)

    assert "nobody asks: one of" in caught(LOST)


def test_a_group_in_which_nobody_answers_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Answering.due

    def mutant(self: Answering, now: Nanos) -> list[str]:
        whole(self, now)
        return []

    monkeypatch.setattr(Answering, "due", mutant)

    assert "nobody answers:" in caught(LOST)


def test_who_may_wait_a_day_need_not_ask() -> None:
    patient = replace(LAN, t_min=DAY, t_max=DAY)

    outcome = run(replace(LOST, parameters=patient))

    assert outcome.repairs.requests.max == 0
