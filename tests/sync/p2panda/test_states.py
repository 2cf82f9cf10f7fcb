"""The state tables of author-log sessions: every row happens, and nothing else does."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeAlias

import pytest

from sync.machine import HOUR
from sync.p2panda import session, set_reconciliation
from sync.p2panda.heads import Heads
from sync.p2panda.messages import SyncDone, Terminal
from sync.p2panda.session import Exchange, Mode
from sync.p2panda.states import TRANSITIONS, State
from sync.sessions.values import Stored
from sync.structures.differences import Role
from sync.structures.ordered_set import SyncId
from tests.support.sync.groups import NOW, Member
from tests.support.sync.heights import A, B, C, reconciled
from tests.support.sync.intruder import STATES, Scene, leaving, opening, requested_by_sets, staying

Table: TypeAlias = Mapping[Any, Mapping[Any, Enum]]
Seen = set[tuple[Enum, Enum]]
"""States, and steps that were taken in them."""


class Row(dict[Enum, Enum]):
    """Steps of one state, which notes those that are taken."""

    def __init__(self, state: Enum, steps: Mapping[Enum, Enum], seen: Seen) -> None:
        super().__init__(steps)
        self._state = state
        self._seen = seen

    def __getitem__(self, step: Enum) -> Enum:
        self._seen.add((self._state, step))
        return super().__getitem__(step)


def watched(table: Table, seen: Seen) -> dict[Enum, Row]:
    """Return a table that notes which rows are used."""
    return {state: Row(state, steps, seen) for state, steps in table.items()}


def rows(table: Table) -> Seen:
    return {(state, step) for state, steps in table.items() for step in steps}


def overflow(exchange: Exchange) -> None:
    """Let more be stored meanwhile than may be due, none of it in a row."""
    carol = Member("carol").peer_id
    for number in range(2_000):
        sync_id = SyncId(number, bytes(32))
        exchange.stored(Stored(carol, 7, 2 + 2 * number, sync_id, None), NOW, known=False)


def test_every_row_of_a_session_happens_and_every_step_is_a_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: Seen = set()
    monkeypatch.setattr(session, "TRANSITIONS", watched(TRANSITIONS, seen))

    for state in STATES:
        for way in ("time", "much"):
            scene = Scene()
            state(scene)
            if scene.exchange is None:
                continue
            exchange = scene.exchange
            if way == "time":
                exchange.tick(NOW + HOUR)
            else:
                overflow(exchange)
            mute = (
                exchange.state is State.LIVE if way == "time" else exchange.state is State.LEAVING
            )
            assert mute or exchange.state is State.OVER
    for state in (staying, leaving):
        scene = Scene()
        state(scene)
        scene.hear(SyncDone(0, live=False))
    scene = Scene()
    requested_by_sets(scene)
    scene.hear(Terminal(0))  # whatever comes
    Exchange(opening(Role.INITIATOR), Mode.SETS).open(NOW)  # of nothing at all

    assert seen == rows(TRANSITIONS)


def test_every_row_of_set_reconciliation_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Seen = set()
    table = set_reconciliation.TRANSITIONS
    monkeypatch.setattr(set_reconciliation, "TRANSITIONS", watched(table, seen))

    for one in (Heads(), Heads([A, B]), Heads([B, C])):
        for other in (Heads(), Heads([A, B]), Heads([A, B, C])):
            reconciled(one, other)

    assert seen == rows(table)


@pytest.mark.parametrize(
    "table", [TRANSITIONS, set_reconciliation.TRANSITIONS], ids=["session", "sets"]
)
def test_every_state_but_the_last_leads_there(table: Table) -> None:
    last = list(table)[-1]

    assert set(table) == {*type(last).__members__.values()}
    assert table[last] == {}
    for state in table:
        reached = {state}
        while more := {to for one in reached for to in table[one].values()} - reached:
            reached |= more
        assert last in reached
