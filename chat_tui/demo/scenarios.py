"""The scenarios, by their numbers."""

from typing import Final

from msgspec.structs import replace

from chat_tui.demo import checks
from chat_tui.demo.acts import (
    Act,
    Divide,
    EnterCode,
    Expel,
    GiveCode,
    Lose,
    LosePart,
    PinLine,
    Power,
    ReadAll,
    SetTopic,
    Write,
)
from chat_tui.demo.scenario import LINK, At, Scenario
from sync.calimero.state.session import HASH, LEVEL, STATE
from sync.errors import LocalError
from sync.machine import MILLISECOND, SECOND
from sync.manager.registry import BY_RULE, SKETCH, WITH_CALIMERO, WITH_P2PANDA
from sync.sessions.protocol import Protocols
from sync.sessions.selection import SKETCH_IDS_MIN
from sync.sim.shapes import line
from sync.sim.world import Terms
from sync.waku.session import WAKU_SYNC

ALICE, BOB, CAROL, DAVE, ERIN = range(5)

CROWD_MIN, CROWD_MAX = 16, 1_000
"""Fewer are no crowd; more take minutes."""

CROWD: Final = 256
"""People from which on there are two response groups of 128 (SDS-R)."""

LINES: Final = 100
HISTORY: Final = 240
"""Lines that a newcomer lacks, or that both sides of a cut share: enough for ranges to be split."""

PAST: Final = SKETCH_IDS_MIN + 10
"""Lines of which symbols are kept."""


def _at(seconds: float, act: Act) -> At:
    return At(int(seconds * 1000) * MILLISECOND, act)


HELLO: Final = Scenario(
    number=1,
    title="Hello, and what the marks mean",
    about="Two people find each other and talk. Watch the mark of each line: sent, maybe "
    "received, received.",
    names=("alice", "bob"),
    joined=False,
    acts=(
        _at(7, Write(ALICE, "hi")),
        _at(14, Write(BOB, "hello alice!")),
        _at(14.6, Write(ALICE, "how are you?")),
        _at(22, Write(ALICE, "I brought")),
        _at(22.1, Write(ALICE, "the cable,")),
        _at(22.2, Write(ALICE, "the switch,")),
        _at(22.3, Write(ALICE, "and cake")),
        _at(22.6, Write(BOB, "cake!")),
    ),
    lasts=32 * SECOND,
    checks=(checks.same_order, checks.all_received, checks.parents_first),
)

AT_ONCE: Final = Scenario(
    number=2,
    title="Two people write at once",
    about="alice and bob write in the same millisecond. Nobody decides who was first, and yet all "
    "see the same order.",
    names=("alice", "bob", "carol"),
    acts=(
        _at(3, Write(ALICE, "lunch at noon?")),
        _at(3, Write(BOB, "lunch at one?")),
        _at(12, Write(CAROL, "one is fine")),
        _at(20, Write(ALICE, "who pays?")),
        _at(20, Write(BOB, "who drives?")),
        _at(20, Write(CAROL, "who cooks?")),
    ),
    lasts=32 * SECOND,
    checks=(
        checks.same_order,
        checks.equal_times,
        checks.parents_first,
        checks.all_received,
    ),
)

LOST: Final = Scenario(
    number=3,
    title="A message is lost",
    about="One of alice's lines never reaches carol. The next one names it, so carol notices, "
    "waits a random time and asks.",
    names=("alice", "bob", "carol"),
    acts=(
        _at(2, Write(ALICE, "hi")),
        _at(9, Lose(ALICE, (CAROL,))),
        _at(9, Write(ALICE, "coffee?")),
        _at(9.5, Write(ALICE, "now?")),
        _at(22, Write(CAROL, "coming!")),
    ),
    lasts=32 * SECOND,
    checks=(
        checks.same_order,
        checks.answered_once,
        checks.parents_first,
        checks.repaired,
    ),
)

GONE: Final = Scenario(
    number=4,
    title="The sender goes away, somebody else repairs",
    about="carol never gets alice's line, and alice is off before she can ask. Whoever else has "
    "it answers; the others hear that and stay silent.",
    names=("alice", "bob", "carol", "dave"),
    acts=(
        _at(2, Write(ALICE, "good morning")),
        _at(8, Lose(ALICE, (CAROL,))),
        _at(8, Write(ALICE, "the code is 4711")),
        _at(8.4, Power(ALICE, on=False)),
        _at(9, Write(BOB, "thanks!")),
        _at(26, Power(ALICE, on=True)),
    ),
    lasts=38 * SECOND,
    checks=(
        checks.same_order,
        checks.answered_once,
        checks.parents_first,
        checks.repaired,
    ),
)

PARTITION: Final = Scenario(
    number=5,
    title="The network falls in two, and heals",
    about="Both halves go on writing. When the network heals they compare their histories, range "
    "by range, and send only what differs.",
    names=("alice", "bob", "carol", "dave"),
    history=HISTORY,
    acts=(
        _at(2, Divide((ALICE, BOB))),
        _at(5, Write(ALICE, "is it me, or is it silent?")),
        _at(6, Write(CAROL, "bob? alice?")),
        _at(9, Write(BOB, "I read you")),
        _at(11, Write(DAVE, "they are gone")),
        _at(14, Write(ALICE, "let us go on")),
        _at(15, Write(DAVE, "so we go on")),
        _at(22, Divide(())),
        _at(32, Write(BOB, "there you are!")),
    ),
    lasts=42 * SECOND,
    checks=(
        checks.same_order,
        checks.reconciled,
        checks.parents_first,
        checks.all_received,
    ),
)

NEWCOMER: Final = Scenario(
    number=6,
    title="A newcomer without history",
    about=f"alice and bob have {HISTORY} lines. carol comes with none: one comparison finds what "
    "she lacks, and exactly that is sent.",
    names=("alice", "bob", "carol"),
    history=HISTORY,
    absent=frozenset((CAROL,)),
    acts=(
        _at(3, Power(CAROL, on=True)),
        _at(14, Write(CAROL, "hello! I have read it all")),
        _at(20, Write(BOB, "welcome")),
    ),
    lasts=30 * SECOND,
    checks=(
        checks.same_order,
        checks.caught_up,
        checks.parents_first,
        checks.all_received,
    ),
)


def crowded(people: int) -> Scenario:
    """Return the scenario of a crowd of so many."""
    return replace(CROWDED, title=f"{LINES} messages lost in a crowd of {people:,}", people=people)


CROWDED: Final = Scenario(
    number=7,
    title=f"{LINES} messages lost in a crowd of {CROWD}",
    about=f"alice writes {LINES} lines, each lost by some, and leaves. Everybody could answer; "
    "response groups and waiting keep it to about one answer each.",
    names=("alice", "bob", "carol", "dave", "erin"),
    people=CROWD,
    acts=(
        _at(1, LosePart(3)),
        *(_at(1 + 0.06 * line, Write(ALICE, f"line {line + 1}")) for line in range(LINES)),
        _at(7.2, LosePart(0)),
        _at(7.2, Write(ALICE, "that was all")),
        _at(7.6, Power(ALICE, on=False)),
        _at(55, Power(ALICE, on=True)),
    ),
    lasts=60 * SECOND,
    checks=(
        checks.same_order,
        checks.answered_about_once,
        checks.parents_first,
        checks.repaired,
    ),
    terms=Terms(mesh=False, reconcile=False),
    told=False,
)

BETWEEN: Final = Scenario(
    number=8,
    title="Two people who cannot reach each other",
    about="Only bob reaches both alice and carol. First lines take seconds, until somebody asks; "
    "then bob stays in touch with both and passes on what is new at once.",
    names=("alice", "bob", "carol"),
    rooms=line(3),
    acts=(
        _at(2, Write(ALICE, "carol, can you hear me?")),
        _at(14, Write(CAROL, "late, but yes")),
        _at(30, Write(ALICE, "and now?")),
        _at(34, Write(CAROL, "at once!")),
        _at(38, Write(BOB, "you are welcome")),
    ),
    lasts=46 * SECOND,
    checks=(
        checks.same_order,
        checks.passed_on,
        checks.parents_first,
        checks.all_received,
    ),
    terms=Terms(protocols=WITH_P2PANDA),
)

REMOVED: Final = Scenario(
    number=9,
    title="Removed while the network is cut",
    about="alice removes mallory, who is on the other side of a cut and does not know. Both sides "
    "go on writing; after it all agree who is in, and mallory is told.",
    names=("alice", "bob", "carol", "mallory"),
    acts=(
        _at(2, Write(BOB, "who brings the keys?")),
        _at(5, Divide((ALICE, BOB))),
        _at(8, Expel(ALICE, DAVE, "spam")),
        _at(11, Write(ALICE, "mallory is out")),
        _at(12, Write(DAVE, "buy my cake")),
        _at(14, Write(CAROL, "no, thanks")),
        _at(22, Divide(())),
        _at(34, Write(CAROL, "quiet at last")),
        _at(37, Write(DAVE, "hello?")),
    ),
    lasts=46 * SECOND,
    checks=(checks.one_membership, checks.nothing_after_removal, checks.parents_first),
    terms=Terms(governed=True, governed_alone=True),
)

LET_IN: Final = Scenario(
    number=10,
    title="Let in by a code while the inviter is away",
    about="alice gives carol a code and leaves. bob knows the act that made it, so he can let "
    "carol in: no server, and nobody who must be there.",
    names=("alice", "bob", "carol"),
    acts=(
        _at(2, Write(ALICE, "carol comes later")),
        _at(5, GiveCode(ALICE)),
        _at(9, Power(ALICE, on=False)),
        _at(13, EnterCode(CAROL)),
        _at(24, Write(CAROL, "here I am")),
        _at(28, Power(ALICE, on=True)),
        _at(36, Write(ALICE, "welcome, carol")),
    ),
    lasts=44 * SECOND,
    checks=(checks.one_membership, checks.let_in, checks.parents_first, checks.all_received),
    terms=Terms(governed=True, governed_alone=True, strangers=frozenset({CAROL})),
)

APART: Final = Scenario(
    number=11,
    title="Two halves set topic and pins apart, and meet",
    about="Both halves of a network set topic, pins and marks. When they meet, the hashes of two "
    "trees tell what differs, level by level, and only that is sent.",
    names=("alice", "bob", "carol", "dave"),
    history=12,
    acts=(
        _at(2, SetTopic(ALICE, "lunch")),
        _at(4, Divide((ALICE, BOB))),
        _at(7, SetTopic(ALICE, "lunch at noon")),
        _at(8.5, PinLine(ALICE, 3)),
        _at(9, PinLine(BOB, 5)),
        _at(10, Write(BOB, "noon it is")),
        _at(11, ReadAll(ALICE)),
        _at(12, SetTopic(CAROL, "lunch at one")),
        _at(13, PinLine(CAROL, 2)),
        _at(13.5, PinLine(DAVE, 7)),
        _at(14, Write(DAVE, "one is better")),
        _at(15, ReadAll(CAROL)),
        _at(16, ReadAll(DAVE)),
        _at(29, Divide(())),
        _at(42, Write(ALICE, "so it is one")),
    ),
    lasts=52 * SECOND,
    checks=(checks.one_state, checks.same_order, checks.parents_first, checks.all_received),
    terms=Terms(protocols=Protocols((WAKU_SYNC, STATE, HASH, LEVEL))),
)

BY_ITS_ID: Final = Scenario(
    number=12,
    title="One lost line, found by its id",
    about="bob misses a line and sees the answer to it, when the network is cut. On the new link "
    "he says which id he lacks, and gets that one line: no lists are compared.",
    names=("alice", "bob", "carol"),
    history=HISTORY,
    acts=(
        _at(3, Write(CAROL, "where is the key?")),
        _at(6, Lose(ALICE, (BOB,))),
        _at(6, Write(ALICE, "under the mat")),
        _at(6.2, Write(CAROL, "found it")),
        _at(6.4, Divide((BOB,))),
        _at(22, Divide(())),
        _at(32, Write(BOB, "I see: the mat")),
    ),
    lasts=42 * SECOND,
    checks=(
        checks.same_order,
        checks.found_by_id,
        checks.parents_first,
        checks.all_received,
    ),
    terms=Terms(protocols=WITH_CALIMERO),
)

BY_SNAPSHOT: Final = Scenario(
    number=13,
    title="A newcomer by snapshot, while others write",
    about="carol comes with nothing and takes over all that one peer holds, newest first, page by "
    "page. Lines that arrive meanwhile wait; then all becomes history at once.",
    names=("alice", "bob", "carol"),
    history=HISTORY,
    absent=frozenset((CAROL,)),
    acts=(
        _at(3, Power(CAROL, on=True)),
        _at(4.5, Write(ALICE, "is carol here yet?")),
        _at(5, Write(BOB, "she is coming")),
        _at(5.5, Write(ALICE, "good")),
        _at(18, Write(CAROL, "hello! I have read it all")),
        _at(24, Write(BOB, "welcome")),
    ),
    lasts=36 * SECOND,
    checks=(
        checks.same_order,
        checks.by_snapshot,
        checks.all_received,
    ),
    link=replace(LINK, uplink=40_000),
    terms=Terms(protocols=WITH_CALIMERO),
)

BY_SKETCH: Final = Scenario(
    number=14,
    title="A long past, told apart by a sketch",
    about="alice and bob hold a thousand lines, are cut apart, and both write. Then 64 symbols of "
    "all lines tell what differs. Watch the digits: the wave in which each symbol became pure.",
    names=("alice", "bob"),
    history=PAST,
    acts=(
        _at(1, Divide((BOB,))),
        *[_at(14 + line / 2, Write(line % 2, f"apart {line + 1}")) for line in range(12)],
        _at(22, Divide(())),
        _at(38, Write(BOB, "now we both have all of it")),
    ),
    lasts=46 * SECOND,
    checks=(
        checks.same_order,
        checks.by_sketch,
        checks.parents_first,
        checks.all_received,
    ),
    terms=Terms(protocols=BY_RULE[SKETCH.name]),
)

SCENARIOS: Final = (
    HELLO,
    AT_ONCE,
    LOST,
    GONE,
    PARTITION,
    NEWCOMER,
    CROWDED,
    BETWEEN,
    REMOVED,
    LET_IN,
    APART,
    BY_ITS_ID,
    BY_SNAPSHOT,
    BY_SKETCH,
)


def scenario(number: int, people: int | None = None) -> Scenario:
    """Return the scenario of a number, with a crowd of `people` if it has one.

    Raises:
        LocalError: there is none.
    """
    if not 1 <= number <= len(SCENARIOS):
        raise LocalError(f"There is no scenario {number}: they are 1 to {len(SCENARIOS)}.")
    found = SCENARIOS[number - 1]
    return crowded(people) if people is not None and found.people else found
