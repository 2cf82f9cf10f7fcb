"""The simulator sees wrong answers of governance: each test breaks a rule, and has it told."""

from collections.abc import Callable

import pytest

from sync.calimero.governance.ops import Key, Role, SetRole, Verdict
from sync.calimero.governance.projection import Projection, Reason, State
from sync.calimero.governance.verdicts import verdict_at_cut
from sync.group import governing
from sync.machine import SECOND
from sync.sim.governance.codes import removal
from sync.sim.governance.witness import GovernanceWitness
from sync.sim.network import Link
from sync.sim.world import Terms, World


def removed_in_a_cut() -> World:
    """An owner removes an admin, who writes and removes somebody meanwhile; then the cut heals."""
    world = World(4, 1, Link(), Terms(governed=True))
    assert world.governed is not None
    keys = [Key(node.identity.public_key) for node in world.nodes]
    world.run(20 * SECOND)
    world.act(0, SetRole(keys[1], Role.ADMIN))
    world.run(5 * SECOND)
    world.partition({0, 2}, {1, 3})
    world.act(0, removal(world, 0, keys[1]))
    world.act(1, removal(world, 1, keys[2]))
    world.run(5 * SECOND)
    world.write_text(2, "stays", world.governed)
    world.write_text(1, "does not know", world.governed)
    world.run(5 * SECOND)
    world.heal()
    world.run(30 * SECOND)
    world.write_text(2, "is in", world.governed)
    world.write_text(1, "is out", world.governed)
    world.act(0, SetRole(keys[3], Role.READER))
    world.run(30 * SECOND)
    world.write_text(3, "reads only", world.governed)
    world.run(60 * SECOND)
    return world


def test_answers_are_checked_all_the_time() -> None:
    world = removed_in_a_cut()

    world.check()
    assert world.governed is not None
    witness = world.rooms[world.governed].witness
    assert witness.governance is not None
    assert witness.governance.answers > 10
    assert witness.deliveries > 8


def test_a_projection_without_a_rule_is_told_by_its_plane(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = Projection._loss

    def blind(*args: object) -> object:
        loss = judged(*args)  # type: ignore[arg-type]  # as it came
        return None if loss and loss.reason is Reason.SIGNER_TAKEN_OUT else loss

    monkeypatch.setattr(Projection, "_loss", blind)

    with pytest.raises(AssertionError, match=r"I9: .*divergence on membership-sync"):
        removed_in_a_cut()


@pytest.mark.parametrize(
    ("mutant", "plane"),
    [
        (lambda verdict: Verdict.NO, "membership-cut:"),
        (lambda verdict: Verdict.YES, "membership-cut-grant:"),
    ],
    ids=["denies", "grants"],
)
def test_a_false_verdict_is_told_by_its_plane(
    mutant: Callable[[Verdict], Verdict], plane: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = verdict_at_cut
    monkeypatch.setattr(governing, "verdict_at_cut", lambda *args: mutant(whole(*args)))
    monkeypatch.setattr(governing.Governing, "check_writing", lambda *_: None)
    monkeypatch.setattr(GovernanceWitness, "delivered", lambda *_: None)  # or I8 comes first

    with pytest.raises(AssertionError, match=rf"I9: .* on {plane} the projection"):
        removed_in_a_cut()


def test_a_false_answer_to_who_wants_to_sync_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governing, "peer_is_group_member", lambda *_: True)

    with pytest.raises(AssertionError, match=r"I9: .* on membership-sync: the projection grants"):
        removed_in_a_cut()


def test_a_line_of_somebody_who_is_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict that is wrong past the projection."""
    monkeypatch.setattr(governing.Governing, "judge", lambda *_: Verdict.YES)
    monkeypatch.setattr(governing.Governing, "check_writing", lambda *_: None)

    with pytest.raises(AssertionError, match=r"I8: node \d shows a line of"):
        removed_in_a_cut()


def test_a_membership_that_differs_at_the_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    world = removed_in_a_cut()
    whole = Projection.at

    def lowered(self: Projection, heads: tuple[bytes, ...]) -> State | None:
        state = whole(self, heads)  # type: ignore[arg-type]  # ids
        if state is not None:
            state.people.pop(next(reversed(state.people)))
        return state

    monkeypatch.setattr(Projection, "at", lowered)

    with pytest.raises(AssertionError, match="I9: node 0"):
        world.check()
