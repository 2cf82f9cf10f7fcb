"""Sections of the debug pane about governance: pure functions of a snapshot."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from chat_tui.debug import group_explanations as explanations
from chat_tui.debug.group_explanations import ACTS, called
from chat_tui.debug.section import Row, Section
from chat_tui.text.times import count, milliseconds, size, span
from chat_tui.wording.sentences import name_of, short_id
from sync.machine import SECOND, MessageId, Nanos
from sync.view.governance_infos import (
    CatchUpInfo,
    EpochInfo,
    GovernanceInfo,
    OpInfo,
    Role,
)
from sync.view.view import Snapshot

UNGOVERNED: Final = (
    "nobody governs this channel; /create founds one with an owner, and with members"
)
NOT_FOUNDED: Final = "the op that founded this channel is not here yet"

HEADS_SHOWN: Final = 8
EPOCHS_SHOWN: Final = 8
PULLING_FOR: Final = "waiting for a page"


def group_sections(snapshot: Snapshot, governance: GovernanceInfo) -> list[Section]:
    """Return how the governance of a channel stands, as the tab Group has it."""
    return [
        _state(governance),
        _heads(governance),
        _latest(snapshot, governance),
        _pending(governance),
        _epochs(snapshot, governance),
        _levels(snapshot, governance),
        catch_ups(snapshot, governance),
        _definition(governance),
    ]


def _state(governance: GovernanceInfo) -> Section:
    opens = partial(explanations.state, governance)
    rows = [
        Row(
            f"{count(len(governance.members), 'person', 'people')} in; our role: "
            f"{_role(governance.role)}",
            opens=opens,
        ),
        Row(
            f"{count(governance.ops, 'op')}, {count(governance.void_ops, 'void op')}; "
            f"{governance.waiting_ops:,} waiting for parents, {governance.refused_ops:,} refused",
            opens=opens,
        ),
    ]
    if not governance.founded:
        rows = [
            Row(NOT_FOUNDED, opens=opens),
            Row(f"{count(governance.waiting_ops, 'op')} waiting for parents", opens=opens),
        ]
    if governance.rotation_wanted:
        rows.append(
            Row(f"an admin's program changes the secret: {governance.rotation_wanted}", opens=opens)
        )
    return Section("Governance", 0, tuple(rows), "")


def _role(role: Role) -> str:
    return "not in" if role is Role.NONE else role.name.lower()


def _heads(governance: GovernanceInfo) -> Section:
    known = {one.op_id: one for one in governance.latest}
    rows = [
        Row(
            ACTS[known[head].kind] if head in known else "taken in before those below",
            subject=short_id(MessageId(head)),
            opens=partial(explanations.head, governance, head),
        )
        for head in governance.heads[:HEADS_SHOWN]
    ]
    return _with_rest("Heads", len(governance.heads), rows, "none: nothing is here yet")


def _latest(snapshot: Snapshot, governance: GovernanceInfo) -> Section:
    rows = [
        Row(
            op_text(snapshot, one),
            subject=short_id(MessageId(one.op_id)),
            opens=partial(explanations.op, snapshot, one),
        )
        for one in governance.latest
    ]
    more = governance.ops - len(rows)
    if rows and more > 0:
        rows.append(Row(f"and {more:,} before"))
    return Section("Last ops, newest first", governance.ops, tuple(rows), "none yet")


def op_text(snapshot: Snapshot, one: OpInfo) -> str:
    """Return an op in few words, and whether it came to nothing."""
    people = [called(snapshot, person) for person in one.people if person.peer != one.by.peer]
    words = " ".join(
        [called(snapshot, one.by), ACTS[one.kind], *([", ".join(people)] * bool(people))]
    )
    if one.reason is not None:
        return f"{words} · void: {one.reason.value}"
    return words if one.counts else f"{words} · asks only"


def _pending(governance: GovernanceInfo) -> Section:
    opens = partial(explanations.pending, governance)
    ended = [f"{outcome.replace('_', ' ')} {n:,}" for outcome, n in governance.drains]
    kept = [f"{label.replace('_', ' ')} {n:,}" for label, n in governance.dropped]
    rows = []
    if ended:
        rows.append(Row(f"drained in this run: {', '.join(ended)}", opens=opens))
    if kept:
        rows.append(Row(f"ids remembered as dropped: {', '.join(kept)}", opens=opens))
    if governance.pending:
        rows.insert(0, Row("wait for ops that say who may write them", opens=opens))
    return Section("Entries that wait", governance.pending, tuple(rows), "none")


def _epochs(snapshot: Snapshot, governance: GovernanceInfo) -> Section:
    rows = [
        Row(
            _epoch_text(snapshot, one),
            subject=f"{one.number}",
            opens=partial(explanations.epoch, snapshot, one),
        )
        for one in governance.epochs[:EPOCHS_SHOWN]
    ]
    return _with_rest("Epochs, by number", governance.epochs_count, rows, "none yet")


def _epoch_text(snapshot: Snapshot, one: EpochInfo) -> str:
    ago = span(max(0, snapshot.now - one.begun_ns))
    words = f"begun by {called(snapshot, one.by)} {ago} ago"
    if one.newest:
        return f"{words} · newest"
    return words if one.counts else f"{words} · of a void op"


def _levels(snapshot: Snapshot, governance: GovernanceInfo) -> Section:
    rows = tuple(
        Row(
            f"{name_of(snapshot, peer)}: {level}",
            opens=partial(explanations.level, name_of(snapshot, peer), level),
        )
        for peer, level in governance.levels
    )
    return Section("Levels of links", len(rows), rows, "no link of this channel")


def catch_ups(snapshot: Snapshot, governance: GovernanceInfo) -> Section:
    """Return the latest pulls of ops, ours and those of others."""
    rows = tuple(
        Row(
            _catch_up_text(snapshot, one),
            subject="asked" if one.asked else "gave",
            opens=partial(explanations.catch_up, snapshot, one),
        )
        for one in governance.catch_ups
    )
    return Section("Catch-ups of governance", len(rows), rows, "none since this start")


def _catch_up_text(snapshot: Snapshot, one: CatchUpInfo) -> str:
    words = [name_of(snapshot, one.peer)]
    if one.pages:
        brought = f"{count(one.ops, 'op')}, {one.new:,} new" if one.asked else count(one.ops, "op")
        words += [brought, count(one.pages, "page"), size(one.size)]
    elif one.ended_at is not None:
        words.append("no answer")
    if one.ended_at is None:
        words.append(f"{PULLING_FOR} {_took(snapshot.now - one.began_at)}")
    elif one.asked:
        words.append(_took(one.ended_at - one.began_at))
    return " · ".join(words)


def _took(length: Nanos) -> str:
    return milliseconds(length) if length < SECOND else span(length)


def _definition(governance: GovernanceInfo) -> Section:
    opens = partial(explanations.definition, governance)
    checked, skipped = governance.answers_checked, governance.answers_skipped
    rows = [
        Row(f"unified_projection_divergence on {plane}: {n:,}", opens=opens)
        for plane, n in governance.divergences
    ]
    if checked or skipped:
        said = "with no disagreement" if not governance.divergences else "with these disagreements"
        rows.append(
            Row(f"{count(checked, 'answer')} checked {said}, {skipped:,} skipped", opens=opens)
        )
    total = sum(n for _, n in governance.divergences)
    return Section("Disagreements with the definition", total, tuple(rows), "nothing checked yet")


def _with_rest(title: str, total: int, rows: Sequence[Row], none: str) -> Section:
    more = total - len(rows)
    if rows and more > 0:
        rows = [*rows, Row(f"and {more:,} more")]
    return Section(title, total, tuple(rows), none)
