"""Heights of author logs against their definition: a function of the set, whatever the order."""

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sync.entries.entry import lipmaa
from sync.group.logs import RUNS_MAX, ChannelLogs, LogPlace, LogState, linked_from_above, naming
from sync.group.values import Damaged, ReferenceClock
from sync.machine import MINUTE, MessageId, PeerId
from sync.structures.log_spans import LogHeight, LogSpan
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW_MS, Member

KEY = bytes(range(32))
ANN = PeerId(KEY.hex())
LOG = 7


class Link(NamedTuple):
    """An entry of a log."""

    message_id: MessageId
    place: LogPlace


def name(text: str) -> MessageId:
    return MessageId(hashlib.sha256(text.encode()).hexdigest())


def entry(seq: int, word: str = "", **other: MessageId | None) -> Link:
    """The entry with a number in the log that nobody contradicts, or one with other links."""
    skip = lipmaa(seq)
    place = LogPlace(
        LOG,
        seq,
        name(str(seq - 1)) if seq > 1 else None,
        name(str(skip)) if skip not in {0, seq - 1} else None,
    )
    return Link(name(f"{seq}{word}"), replace(place, **other))


def told(entries: Iterable[Link], logs: ChannelLogs | None = None) -> ChannelLogs:
    """Logs that were told of these entries, in this order."""
    logs = ChannelLogs() if logs is None else logs
    for one in entries:
        logs.add(ANN, one.message_id, one.place)
    return logs


def sound_height(entries: Sequence[Link]) -> int:
    """The definition: exactly one entry at each number, with right links."""
    ids: dict[int, str] = {0: ""}
    for seq in itertools.count(1):
        here = [one for one in entries if one.place.seq == seq]
        if len(here) != 1:
            return seq - 1
        [(message_id, place)] = here
        skip = lipmaa(seq)
        right = (ids[seq - 1] or None, ids[skip] or None if skip != seq - 1 else None)
        if (place.backlink, place.skiplink) != right:
            return seq - 1
        ids[seq] = message_id
    raise AssertionError


def test_anchors_are_the_entries_that_higher_ones_link_to() -> None:
    top = 400
    named: dict[int, int] = {}
    for seq in range(1, 3 * top + 2):
        for target in (seq - 1, lipmaa(seq)):
            named[target] = seq
    for height in range(1, top):
        expected = [one for one in range(1, height + 1) if named[one] > height]
        assert list(linked_from_above(height)) == expected
        assert naming(height) == sorted(
            seq for seq in range(1, 3 * top + 2) if height in {seq - 1, lipmaa(seq)}
        )
    assert max(len(linked_from_above(height)) for height in range(1, 30_000)) <= 12


@st.composite
def histories(draw: st.DrawFn) -> list[Link]:
    """Entries of one log in any order: with holes, forks, and links that are wrong or lack."""
    count = draw(st.integers(1, 45))
    entries = [entry(seq) for seq in range(1, count + 1)]
    kinds = st.sampled_from(["hole", "twin", "backlink", "skiplink", "none", "extra", "swap"])
    for kind in draw(st.lists(kinds, max_size=4)):
        seq = draw(st.integers(1, count))
        other = name(str(draw(st.integers(0, count))))
        match kind:
            case "hole":
                entries = [one for one in entries if one.place.seq != seq]
            case "twin":
                entries.append(entry(seq, "twin"))
            case "backlink":
                entries.append(entry(seq, "odd", backlink=other))
            case "skiplink" | "extra":
                entries.append(entry(seq, "odd", skiplink=other))
            case "none":
                entries.append(entry(seq, "odd", backlink=None))
            case _:
                entries = [one for one in entries if one.place.seq != seq]
                change = draw(st.sampled_from(["backlink", "skiplink"]))
                entries.append(Link(name(str(seq)), entry(seq, **{change: other}).place))
    return draw(st.permutations(list(dict.fromkeys(entries))))


@given(histories(), st.data())
def test_the_height_is_that_of_the_definition_in_every_order_and_after_every_restart(
    entries: list[Link], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(entries)))
    before = told(entries[:cut])
    assert before.height(KEY, LOG) == sound_height(entries[:cut])

    again = ChannelLogs()
    again.restore(before.states())
    told(entries[cut:], again)

    assert again.height(KEY, LOG) == sound_height(entries)
    in_order = told(sorted(entries, key=lambda one: one.place.seq))
    assert again.states() == in_order.states() == told(reversed(entries)).states()


@given(histories())
def test_a_log_says_where_entries_are_above_its_height(entries: list[Link]) -> None:
    logs = told(entries)
    height, top = sound_height(entries), max([one.place.seq for one in entries], default=0)

    spans = [LogSpan(KEY, LOG, height, top)] if top > height else []

    assert logs.all_above() == spans
    assert logs.above(KEY, LOG) == (spans[0] if spans else None)
    assert logs.heights() == ((LogHeight(KEY, LOG, height),) if height else ())


def test_heights_are_sorted_by_key_log_and_told_anew_when_they_change() -> None:
    logs = ChannelLogs()
    for author, log in (("b" * 64, 2), ("a" * 64, 3), ("b" * 64, 1)):
        logs.add(PeerId(author), name(f"{author}{log}"), LogPlace(log, 1, None, None))
    keys = [bytes.fromhex(one * 64) for one in "abb"]
    assert logs.heights() == tuple(LogHeight(*row, 1) for row in zip(keys, (3, 1, 2), strict=True))

    logs.add(PeerId("a" * 64), name("c"), LogPlace(3, 2, name(f"{'a' * 64}3"), None))

    assert logs.heights()[0] == LogHeight(keys[0], 3, 2)


def test_a_fork_is_told_with_its_number_and_freezes_the_height_below_it() -> None:
    entries = [entry(seq) for seq in range(1, 9)]
    logs = told([*entries, entry(5, "twin")])
    assert (logs.height(KEY, LOG), logs.fault(KEY, LOG)) == (4, 5)

    told([entry(9), entry(10)], logs)

    assert logs.height(KEY, LOG) == 4
    assert logs.above(KEY, LOG) == LogSpan(KEY, LOG, 4, 10)


@pytest.mark.parametrize("seq", [2**63, 2**64 - 1])
def test_numbers_of_any_size_are_taken(seq: int) -> None:
    logs = told([entry(seq), entry(seq - 1), entry(1)])
    assert logs.height(KEY, LOG) == 1
    assert logs.above(KEY, LOG) == LogSpan(KEY, LOG, 1, seq)


def test_a_log_full_of_holes_keeps_the_first_of_its_runs_and_no_more() -> None:
    logs = told([entry(seq) for seq in range(1, 4 * RUNS_MAX, 2)])
    [state] = logs.states()
    assert isinstance(state, LogState)
    assert [run.first for run in state.runs] == list(range(1, 2 * RUNS_MAX, 2))

    told([entry(seq) for seq in range(2, 2 * RUNS_MAX, 2)], logs)

    assert logs.height(KEY, LOG) == 2 * RUNS_MAX - 1


# --- Of a group -----------------------------------------------------------------------------------


def heights(member: Member) -> dict[tuple[PeerId, int], int]:
    """Heights as sessions see them; they are the same after a restart."""
    seen = member.group.holdings.heights()
    states = member.group.logs.states()
    member.start()
    assert member.group.logs.states() == states
    return {(PeerId(one.key.hex()), one.log): one.height for one in seen}


def test_a_group_knows_how_far_the_logs_go_that_it_wrote_and_heard() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.write("one")
    alice.write("two")
    lines = [bob.write(str(number)) for number in range(3)]
    for one in (lines[0], lines[2]):
        alice.hear(one)
    mine = (alice.peer_id, 1)
    assert heights(alice) == {mine: 2, (bob.peer_id, 1): 1}

    alice.hear(lines[1])

    assert heights(alice) == {mine: 2, (bob.peer_id, 1): 3}


def test_a_parked_entry_counts_once_it_is_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    lines = [bob.write("now"), bob.write("later", lamport=NOW_MS + 10 * MINUTE // 10**6)]
    for one in lines:
        alice.hear(one)
    assert heights(alice) == {(bob.peer_id, 1): 1}

    alice.tell(ReferenceClock(9 * MINUTE))

    assert heights(alice) == {(bob.peer_id, 1): 2}


def test_both_faces_of_a_fork_are_above_the_height_that_stays() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.hear(bob.write("first"))
    other = bob.fork()
    for one in (bob.write("yes"), other.write("no"), bob.write("so?")):
        alice.hear(one)
    key = bytes.fromhex(bob.peer_id)
    assert heights(alice) == {(bob.peer_id, 1): 1}
    assert alice.group.logs.above(key, 1) == LogSpan(key, 1, 1, 3)
    assert alice.group.logs.fault(key, 1) == 2


def test_an_entry_that_the_disk_has_damaged_is_a_hole() -> None:
    alice, bob = Member("alice"), Author("bob")
    lines = [bob.write(str(number)) for number in range(5)]
    for one in lines:
        alice.hear(one)
    alice.tell(Damaged((lines[2].entry.message_id,)))
    alice.start()
    assert heights(alice) == {(bob.peer_id, 1): 2}

    alice.hear(lines[2])

    assert heights(alice) == {(bob.peer_id, 1): 5}
