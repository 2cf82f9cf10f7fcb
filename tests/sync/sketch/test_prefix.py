"""The symbols that a channel keeps: whatever happened, they are those of a prefix made anew."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sync.group import values
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.sessions import selection
from sync.sessions.selection import SKETCH_IDS_MIN
from sync.sketch import prefix as machine
from sync.sketch.key import SketchKey, derived, words_of
from sync.sketch.messages import SYMBOLS_MAX
from sync.sketch.prefix import BATCH, IDS_MANY, PAUSE, SLICE, SYMBOLS_FEW, Prefix, Sketch
from sync.sketch.symbols import Symbols
from sync.structures.ordered_set import EVERYTHING, OrderedSet, SyncId
from sync.structures.set_digest import LEAF_BITS
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.sketch import model
from tests.support.sync.sketch.pairs import from_few, lines

KEY: Final = derived(b"secret")
BUCKET: Final = 1 << LEAF_BITS


@dataclass
class Channel:
    """Ids that are held, and their symbols."""

    items: OrderedSet = field(default_factory=OrderedSet)
    now: Nanos = 0
    kept: bool = True

    def __post_init__(self) -> None:
        self.prefix = Prefix(KEY, self.items, kept=self.kept)

    def hold(self, *ids: SyncId) -> None:
        for one in ids:
            self.items.add(one)
            self.prefix.add(one, self.now)

    def ready(self) -> int:
        """Let all slices that are due be done; return how many there were."""
        slices = 0
        while (due := self.prefix.deadline()) is not None:
            self.now = max(self.now, due)
            self.prefix.tick(self.now)
            slices += 1
        return slices

    def sketch(self, floor: Nanos = 0) -> Sketch | None:
        return self.prefix.frozen(self.items, floor, self.now)

    def is_right(self, sketch: Sketch) -> bool:
        """Return whether a sketch is the one that is made of all ids anew."""
        lower = sketch.floor << LEAF_BITS
        held = [one for one in self.items.items(*EVERYTHING) if one.timestamp >= lower]
        anew = Symbols.empty(len(sketch.symbols))
        anew.put(words_of(b"".join([one.hash for one in held])), SketchKey.of(KEY))
        return sketch.ids == len(held) and anew.less(sketch.symbols).is_empty


def ids(count: int, seed: int = 1, step: Nanos = SECOND, first: Nanos = 0) -> list[SyncId]:
    return [SyncId(first + at * step, one) for at, one in enumerate(model.made(count, seed))]


def test_there_is_none_where_no_session_would_use_it() -> None:
    channel = Channel(kept=False)
    channel.hold(*ids(SKETCH_IDS_MIN + BATCH + 1))
    channel.prefix.begin_anew(0)
    assert channel.prefix.deadline() is None
    assert channel.sketch() is None


def test_there_is_none_of_a_thousand_and_one_of_one_more() -> None:
    channel = Channel()
    *first, last = ids(SKETCH_IDS_MIN + 1)
    channel.hold(*first)
    channel.ready()
    assert channel.sketch() is None

    channel.hold(last)
    channel.ready()
    assert (told := channel.sketch()) is not None
    assert len(told.symbols) == SYMBOLS_FEW
    assert channel.is_right(told)


def test_it_grows_with_the_channel_and_takes_less_than_a_megabyte() -> None:
    channel = Channel()
    held = ids(IDS_MANY + BATCH)
    channel.items.extend(held[:IDS_MANY])
    channel.prefix.begin_anew(0)
    channel.ready()
    assert (few := channel.sketch()) is not None
    assert len(few.symbols) == SYMBOLS_FEW

    channel.hold(*held[IDS_MANY:])
    assert channel.ready() > IDS_MANY // SLICE
    assert (many := channel.sketch()) is not None
    assert len(many.symbols) == SYMBOLS_MAX
    assert channel.is_right(many)
    assert channel.prefix.memory <= 800_000


def test_a_slice_is_no_longer_than_it_may_be_and_others_have_turns_between() -> None:
    channel = Channel()
    channel.items.extend(ids(3 * SLICE))
    channel.prefix.begin_anew(5)
    assert channel.prefix.deadline() == 5
    channel.prefix.tick(5)
    assert channel.prefix.deadline() == 5 + PAUSE
    channel.prefix.tick(5)
    assert channel.prefix.deadline() == 5 + PAUSE, "it was not due"
    assert channel.ready() == 4


def test_what_somebody_holds_stays_as_it_was() -> None:
    channel = Channel()
    channel.hold(*ids(SKETCH_IDS_MIN + 1))
    channel.ready()
    before = channel.sketch()
    assert before is not None
    kept = before.symbols.copy()
    channel.hold(*ids(BATCH + 1, 2))

    assert kept.less(before.symbols).is_empty
    assert (after := channel.sketch()) is not None
    assert channel.is_right(after)


def test_what_is_below_a_floor_is_taken_out_by_whole_buckets() -> None:
    channel = Channel()
    channel.hold(*ids(SKETCH_IDS_MIN + 1, step=BUCKET // 100 + 1))
    channel.ready()

    assert (told := channel.sketch(3 * BUCKET + BUCKET // 2)) is not None
    assert (told.floor, told.ids) == (3, SKETCH_IDS_MIN + 1 - 300)
    assert channel.is_right(told)
    channel.hold(SyncId(2 * BUCKET, b"\7" * 32), SyncId(4 * BUCKET, b"\7" * 32))
    assert (told := channel.sketch(3 * BUCKET)) is not None
    assert channel.is_right(told), "what is older than the floor stays out"


def test_of_much_below_a_floor_it_is_made_anew() -> None:
    channel = Channel()
    channel.items.extend(ids(SLICE + SKETCH_IDS_MIN, step=MILLISECOND))
    channel.items.extend(ids(SKETCH_IDS_MIN, 2, first=2 * BUCKET))
    channel.prefix.begin_anew(0)
    channel.ready()

    assert channel.sketch(2 * BUCKET) is None
    channel.ready()
    assert (told := channel.sketch(2 * BUCKET)) is not None
    assert (told.floor, told.ids) == (2, SKETCH_IDS_MIN)
    assert channel.is_right(told)


def test_one_that_counts_other_ids_than_are_held_is_made_anew() -> None:
    channel = Channel()
    channel.hold(*ids(SKETCH_IDS_MIN + 1))
    channel.ready()
    channel.items.extend(ids(3, 2))  # which nobody told it

    assert channel.sketch() is None
    channel.ready()
    assert (told := channel.sketch()) is not None
    assert channel.is_right(told)


def test_it_grows_though_a_session_comes_after_each_id() -> None:
    channel = Channel()
    channel.items.extend(ids(IDS_MANY - 1))
    channel.prefix.begin_anew(0)
    channel.ready()
    for one in ids(3, seed=2):
        channel.hold(one)
        channel.sketch()
    channel.ready()
    assert (told := channel.sketch()) is not None
    assert len(told.symbols) == SYMBOLS_MAX
    assert channel.is_right(told)


def test_a_floor_that_comes_down_again_is_followed() -> None:
    channel = Channel()
    channel.hold(*ids(SKETCH_IDS_MIN + 1, step=BUCKET // 400))
    channel.ready()
    assert (high := channel.sketch(2 * BUCKET)) is not None
    assert (low := channel.sketch(BUCKET)) is not None
    assert (low.floor, low.ids) == (1, high.ids + 400)
    assert channel.is_right(low)
    assert channel.prefix.deadline() is None


def test_there_is_none_of_what_was_frozen_before_more_came() -> None:
    channel = Channel()
    channel.hold(*ids(SKETCH_IDS_MIN + 1))
    channel.ready()
    frozen = channel.items.frozen()
    channel.hold(*ids(1, seed=2))
    assert channel.prefix.frozen(frozen, 0, channel.now) is None
    assert channel.prefix.deadline() is None, "there is nothing to make anew"
    assert channel.sketch() is not None


SYMBOLS_OF_MANY: Final = 64


class Life(RuleBasedStateMachine):
    """Ids come, floors move, slices are done in between, sessions freeze what there is."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        from_few(self.patch)
        for name, value in (("SLICE", 16), ("BATCH", 4), ("IDS_MANY", 40), ("SYMBOLS_FEW", 8)):
            self.patch.setattr(machine, name, value)
        self.patch.setattr(machine, "SYMBOLS_MAX", SYMBOLS_OF_MANY)
        self.channel = Channel()
        self.floor, self.seed = 0, 0
        self.lent: list[tuple[Sketch, Symbols]] = []

    def teardown(self) -> None:
        self.patch.undo()

    @rule(count=st.integers(1, 12), bucket=st.integers(0, 8))
    def hold(self, count: int, bucket: int) -> None:
        self.seed += 1
        self.channel.hold(*ids(count, self.seed, first=bucket * BUCKET))

    @rule()
    def start(self) -> None:
        self.channel.prefix.begin_anew(self.channel.now)

    @rule()
    def slice(self) -> None:
        due = self.channel.prefix.deadline()
        if due is not None:
            self.channel.now = max(self.channel.now, due)
            self.channel.prefix.tick(self.channel.now)

    @rule(more=st.integers(-2, 2))
    def freeze(self, more: int) -> None:
        self.floor = min(max(self.floor + more, 0), 8)
        told = self.channel.sketch(self.floor * BUCKET)
        if told is not None:
            assert self.channel.is_right(told)
            self.lent.append((told, told.symbols.copy()))

    @rule()
    def settle(self) -> None:
        self.channel.ready()
        self.channel.sketch(self.floor * BUCKET)
        self.channel.ready()
        told = self.channel.sketch(self.floor * BUCKET)
        held = self.channel.items.added
        assert (told is not None) == (held > selection.SKETCH_IDS_MIN)
        if told is not None:
            size = SYMBOLS_OF_MANY if held > machine.IDS_MANY else machine.SYMBOLS_FEW
            assert (len(told.symbols), told.floor) == (size, self.floor)

    @invariant()
    def lent_ones_stay(self) -> None:
        for told, kept in self.lent:
            assert kept.less(told.symbols).is_empty


TestLife = Life.TestCase


# --- In a group --------------------------------------------------------------------------------


def symbols_of(member: Member) -> Symbols:
    """Return the symbols of a group once they are ready."""
    member.advance(NOW + MINUTE)
    told = member.group.prefix.frozen(member.group.holdings.items, 0, NOW)
    assert told is not None
    return told.symbols


def anew(member: Member) -> Symbols:
    """Return what a prefix is that is made of what a group holds."""
    made = Prefix(bytes(32), member.group.holdings.items)
    made.begin_anew(NOW)
    while (due := made.deadline()) is not None:
        made.tick(due)
    told = made.frozen(member.group.holdings.items, 0, NOW)
    assert told is not None
    return told.symbols


def keeping(monkeypatch: pytest.MonkeyPatch) -> Member:
    from_few(monkeypatch)
    return Member("alice")


def test_lines_that_are_set_aside_are_out_until_their_time_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alice = keeping(monkeypatch)
    *told, early = lines(12)
    ahead = Author("ahead").write("ahead", lamport=NOW_MS + 20 * MINUTE // MILLISECOND)
    for one in [*told, ahead]:
        alice.hear(one)
    assert symbols_of(alice).counts[0] == len(told)

    alice.hear(early)
    alice.advance(NOW + HOUR)
    assert symbols_of(alice).counts[0] == len(told) + 2
    assert anew(alice).less(symbols_of(alice)).is_empty


def test_after_a_start_and_after_undo_it_is_that_of_what_the_disk_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alice = keeping(monkeypatch)
    for one in lines(12):
        alice.hear(one)
    before = symbols_of(alice).copy()
    lost = lines(1, "lost")[0]
    alice.group.handle(values.Arrived(lost.entry.header.author, lost.payload), NOW)
    assert symbols_of(alice).counts[0] == 13, "the commit has failed, and it does not know yet"

    alice.start()

    assert before.less(symbols_of(alice)).is_empty
    assert anew(alice).less(symbols_of(alice)).is_empty


@given(st.integers(0, 2**63 - 1))
def test_a_floor_of_whatever_height_is_answered(floor: int) -> None:
    channel = Channel()
    channel.items.extend(ids(SKETCH_IDS_MIN + 1))
    channel.prefix.begin_anew(0)
    channel.ready()
    told = channel.sketch(floor)
    assert told is None or (told.floor == floor >> LEAF_BITS and channel.is_right(told))
    assert np.all(channel.prefix._own().counts >= 0) if told is not None else True
