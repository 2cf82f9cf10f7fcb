"""Somebody removed signs anything at any old cut: nobody else's role changes."""

from typing import Final

import pytest

from sync.calimero.governance.dag import bits
from sync.calimero.governance.governance import Taken
from sync.calimero.governance.ops import Invite, Leave, Op, Remove, Role, SignedGroupOp
from sync.calimero.governance.projection import Projection, Reason
from tests.support.sync.governed import (
    Code,
    RandomHistory,
    everybody,
    key,
    named_roles,
    ticket_of,
)

OPS: Final = 24
FEW: Final = 50
MANY: Final = 1_000
"""Histories in which a missing cascade is found; five times as many are of the whole grid."""
ATTACKS: Final = 6
LENGTH_MAX: Final = 4
SYBILS: Final = [f"guest {number}" for number in range(40, 64)]


def removed(drawn: RandomHistory) -> list[str]:
    """Return who is out by a removal at the heads."""
    governance = drawn.history.governance
    names = everybody()
    return [
        names[one]
        for one, standing in governance.now.people.items()
        if not standing.member and isinstance(governance.dag.acts[standing.act].op, Remove)
    ]


def old_cuts(drawn: RandomHistory, name: str) -> list[SignedGroupOp]:
    """Return ops at which somebody was in."""
    governance = drawn.history.governance
    return [
        op
        for op in drawn.history.ops
        if governance.projection.state(
            governance.act(op.id).before | governance.act(op.id).bit
        ).role(key(name))
    ]


def known_codes(drawn: RandomHistory, name: str, heads: list[SignedGroupOp]) -> list[Code]:
    """Return the codes of a cut that they or their strangers made, or each removal of them saw."""
    governance = drawn.history.governance
    about = governance.projection.relations.about[key(name)]
    removals = [
        act
        for number in bits(about & governance.now.counting)
        if isinstance((act := governance.dag.acts[number]).op, Remove)
    ]
    return [
        code
        for code in drawn.seen_codes(heads)
        if everybody()[code.op.signed.signer] in (name, *SYBILS)
        or all(removal.before & governance.act(code.op.id).bit for removal in removals)
    ]


def attack(seed: int) -> tuple[int, list[str]]:
    """Return how many attacks somebody removed could sign, and what they changed."""
    drawn = RandomHistory(seed, OPS)
    rng, whole = drawn.rng, drawn.history
    tried, changed = 0, []
    before = named_roles(whole.governance)
    for name in removed(drawn):
        cuts = old_cuts(drawn, name)
        codes = list(drawn.codes)
        for _ in range(ATTACKS if cuts else 0):
            drawn.history, drawn.codes = whole.again(), list(codes)
            drawn.parts[0] = [rng.choice(cuts)]
            signed = [one for _ in range(rng.randint(1, LENGTH_MAX)) if (one := step(drawn, name))]
            tried += bool(signed)
            after = named_roles(drawn.history.governance)
            if {**after, name: None} != {**before, name: None}:
                changed.append(f"seed {seed}: {name} by {signed}: {before} -> {after}")
        drawn.history, drawn.codes = whole, codes
    return tried, changed


def step(drawn: RandomHistory, name: str) -> str:
    """Let somebody sign one thing at the cut of part 0, or a stranger enter by their codes."""
    heads = drawn.parts[0]
    op, signer, made = draw(drawn, name, heads)
    op_made = drawn.history.made(signer, op, heads)
    if not isinstance(drawn.history.take(op_made), Taken):
        return ""
    drawn.parts[0] = [op_made]
    if made:
        drawn.codes.append(Code(op_made, made))
    return type(op).__name__


def draw(drawn: RandomHistory, name: str, heads: list[SignedGroupOp]) -> tuple[Op, str, str | None]:
    rng, history = drawn.rng, drawn.history
    codes = known_codes(drawn, name, heads)
    chance = rng.random()
    if codes and chance < 0.4:
        code, sybil = rng.choice(codes), rng.choice(SYBILS)
        return history.joining(sybil, code.op, code.name), sybil, None
    present = drawn.present(heads)
    if chance < 0.5:
        return Leave(), name, None
    if present.get(name, Role.NONE) >= Role.ADMIN and chance < 0.85:
        return drawn.draw_of_admin(heads, present, codes), name, None
    made = f"attack {len(history.ops)}"
    strangers = [one for one in SYBILS if present.get(one, Role.NONE) >= Role.MEMBER]
    inviter = rng.choice([name, *strangers, *strangers])
    return Invite(ticket_of(made).public_key, Role.MEMBER), inviter, made


def attacks(seeds: range) -> tuple[int, list[str]]:
    runs = [attack(seed) for seed in seeds]
    return sum(tried for tried, _ in runs), [one for _, changed in runs for one in changed]


def test_nobody_elses_role_changes() -> None:
    tried, changed = attacks(range(FEW))

    assert changed == []
    assert tried > FEW


@pytest.mark.slow
@pytest.mark.parametrize("histories", [MANY, pytest.param(5 * MANY, marks=pytest.mark.grid)])
def test_nobody_elses_role_changes_in_many_histories(histories: int) -> None:
    tried, changed = attacks(range(histories))

    assert changed == []
    assert tried > histories


@pytest.mark.parametrize("reason", [Reason.CODE_ENDED, Reason.SIGNER_TAKEN_OUT, Reason.INVITE_VOID])
def test_without_a_rule_it_would(reason: Reason, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = Projection._loss

    def blind(*args: object) -> object:
        loss = judged(*args)  # type: ignore[arg-type]
        return None if loss and loss.reason is reason else loss

    monkeypatch.setattr(Projection, "_loss", blind)
    _, changed = attacks(range(FEW))

    assert changed


@pytest.mark.slow
def test_without_the_cascade_it_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Projection, "_inviting_lost", lambda *_: None)
    _, changed = attacks(range(MANY))

    assert changed
