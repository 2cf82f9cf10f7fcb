"""The tab Group: governance in sections, and what each row opens to."""

from msgspec.structs import replace

from chat_tui.debug.group_explanations import ACTS, LEVELS, PLANES
from chat_tui.debug.group_sections import catch_ups, group_sections
from chat_tui.debug.section import Section, in_words
from sync.calimero.governance.verdicts import Plane
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.net.links.levels import Level
from sync.view.governance_infos import (
    ActKind,
    CatchUpInfo,
    EpochInfo,
    GovernanceInfo,
    OpInfo,
    Person,
    Reason,
    Role,
)
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.snapshots_of_state import present, snapshot

ALICE, BOB, CAROL = (Person(peer(name), name) for name in ("alice", "bob", "carol"))
SHOWN = snapshot(present("bob"))


def op(beginning: str, kind: ActKind, by: Person, *people: Person, **fields: object) -> OpInfo:
    known = OpInfo(beginning.ljust(64, "0"), kind, by, people, 12, 3, 0, False, True, None)
    return replace(known, **fields)


def governed(**fields: object) -> GovernanceInfo:
    """Alice removed carol, whom bob, whom alice removed at once, had added."""
    removed = op("aa11", ActKind.REMOVED, ALICE, BOB, head=True)
    added = op(
        "bb22", ActKind.ADDED, BOB, CAROL, counts=False, reason=Reason.SIGNER_TAKEN_OUT,
        because=removed.op_id, rank=1, head=True,
    )  # fmt: skip
    info = GovernanceInfo(
        founded=True,
        role=Role.OWNER,
        heads=(removed.op_id, added.op_id, "cc33".ljust(64, "0")),
        ops=9,
        void_ops=1,
        waiting_ops=2,
        refused_ops=4,
        latest=(added, removed),
    )
    return replace(info, **fields)


def section(governance: GovernanceInfo, title: str) -> Section:
    sections = group_sections(SHOWN, governance)
    return next(one for one in sections if one.title.startswith(title))


def said(found: Section) -> list[str]:
    return [in_words(row) for row in found.rows]


def facts(found: Section, at: int = 0) -> str:
    opens = found.rows[at].opens
    assert opens is not None
    detail = opens()
    return "\n".join([detail.title, detail.plain, *detail.facts])


def test_the_history_is_told_by_counts() -> None:
    state = section(governed(), "Governance")

    assert said(state) == [
        "0 people in; our role: owner",
        "9 ops, 1 void op; 2 waiting for parents, 4 refused",
    ]
    assert "9 ops, 1 of them void, 3 heads" in facts(state)


def test_before_the_founding_is_here_that_is_said() -> None:
    state = section(GovernanceInfo(founded=False, waiting_ops=3), "Governance")

    assert said(state) == [
        "the op that founded this channel is not here yet",
        "3 ops waiting for parents",
    ]


def test_ops_say_who_did_what_and_what_became_of_it() -> None:
    latest = section(governed(), "Last ops")

    assert said(latest) == [
        "bb2200 bob added carol · void: its signer was removed or lowered at once",
        "aa1100 alice removed bob",
        "and 7 before",
    ]
    assert "because of aa1100" in facts(latest)
    assert "rank 1, an admin's" in facts(latest)
    assert "It counts" in facts(latest, 1)


def test_somebody_removed_who_joins_asks_only() -> None:
    asks = op("dd44", ActKind.ASKED, BOB, BOB, counts=False)

    assert said(section(governed(latest=(asks,), ops=1), "Last ops")) == [
        "dd4400 bob asks to be let in again · asks only"
    ]


def test_heads_are_told_by_what_they_are() -> None:
    heads = section(governed(), "Heads")

    assert heads.total == 3
    assert said(heads) == ["aa1100 removed", "bb2200 added", "cc3300 taken in before those below"]
    assert "3 heads and all their ancestors, 9 ops" in facts(heads)


def test_waits_and_their_ends_are_counted() -> None:
    waiting = section(
        governed(
            pending=2, drains=(("applied", 7), ("never_member", 1)), dropped=(("removed", 3),)
        ),
        "Entries that wait",
    )

    assert waiting.total == 2
    assert said(waiting)[1:] == [
        "drained in this run: applied 7, never member 1",
        "ids remembered as dropped: removed 3",
    ]
    assert said(section(governed(), "Entries that wait")) == []


def test_epochs_are_told_by_number_and_never_by_secret() -> None:
    first = EpochInfo(0, "ab" * 32, ALICE, NOON - 3 * MINUTE, counts=True, newest=False)
    void = replace(first, number=1, counts=False)
    newest = replace(first, number=1, newest=True, begun_ns=NOON - MINUTE)
    epochs = section(governed(epochs=(newest, void, first), epochs_count=12), "Epochs")

    assert said(epochs) == [
        "1 begun by alice 1 min ago · newest",
        "1 begun by alice 3 min ago · of a void op",
        "0 begun by alice 3 min ago",
        "and 9 more",
    ]
    assert "the secret itself is in no snapshot" in facts(epochs)


def test_every_level_of_a_link_is_explained() -> None:
    levels = section(governed(levels=((BOB.peer, "full"), (CAROL.peer, "stub"))), "Levels")

    assert said(levels)[0] == "bob: full"
    assert "gets everything" in facts(levels)
    assert set(LEVELS) == {level.name.lower() for level in Level}


def test_catch_ups_say_what_they_brought_and_how_long_they_took() -> None:
    began = NOON - 20 * SECOND
    asked = CatchUpInfo(BOB.peer, True, began, began + 40 * MILLISECOND, 2, 900, 899, 300_000)
    rows = catch_ups(
        SHOWN,
        governed(
            catch_ups=(
                asked,
                replace(asked, ended_at=None, pages=0),
                replace(asked, pages=0),
                replace(asked, asked=False),
            )
        ),
    )

    assert said(rows) == [
        "asked bob · 900 ops, 899 new · 2 pages · 300.0 kB · 40 ms",
        "asked bob · waiting for a page 20 s",
        "asked bob · no answer · 40 ms",
        "gave bob · 900 ops · 2 pages · 300.0 kB",
    ]
    assert "2 pages of at most 256 KiB: 900 ops" in facts(rows)


def test_disagreements_stand_by_plane() -> None:
    clean = section(governed(answers_checked=40, answers_skipped=3), "Disagreements")
    assert said(clean) == ["40 answers checked with no disagreement, 3 skipped"]
    assert clean.total == 0

    found = section(
        governed(answers_checked=40, divergences=(("membership-cut-grant", 2),)), "Disagreements"
    )
    assert found.total == 2
    assert said(found)[0] == "unified_projection_divergence on membership-cut-grant: 2"
    assert "let in" in facts(found)
    assert set(PLANES) == {plane.value for plane in Plane}


def test_every_act_has_words() -> None:
    assert set(ACTS) == set(ActKind)
