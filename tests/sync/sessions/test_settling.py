"""Sessions over much: what is held is put in order in slices, before they begin and are checked."""

import pytest

from sync.group import values
from sync.sessions import sessions
from sync.sessions.holdings import Holdings
from sync.structures import set_digest
from sync.structures.ordered_set import EVERYTHING, SyncId
from sync.structures.set_digest import Digest, RowSource
from tests.support.sync.digests import plain_root
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, only
from tests.support.sync.pairs import Pair, pair
from tests.support.sync.waku.sets import numbered

HOUR_NS = 3_600 * 10**9
HOUR_MS = 3_600 * 10**3


def much(monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Two who hold forty lines of forty buckets each, three of which are a slice."""
    monkeypatch.setattr(set_digest, "LEAVES_AT_ONCE", 3)
    both = pair()
    for number in range(80):
        (both.one, both.other)[number % 2].write(f"line {number}", NOW - HOUR_NS * (80 - number))
    for member in (both.one, both.other):
        member.in_steps = True
    return both


def test_no_input_hashes_more_than_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    both, hashed = much(monkeypatch), [0]
    refresh = Digest.refresh_some

    def counted(digest: Digest, source: RowSource) -> bool:
        before = len(digest._stale)
        done = refresh(digest, source)
        hashed[-1] += before - len(digest._stale)
        return done

    monkeypatch.setattr(Digest, "refresh_some", counted)
    both.start(both.one)
    while both.queue:
        hashed.append(0)
        both.step()

    assert both.one.shown() == both.other.shown()
    assert [ended.converged for ended in both.ended] == [True, True]
    assert max(hashed) <= 3
    assert sum(hashed) >= 2 * 80


def test_it_is_done_though_something_comes_after_each_slice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_digest, "SLICE", 10)
    holdings, ids = Holdings(), [numbered(number, 10 * number) for number in range(1, 96)]
    for one in ids:
        holdings.add(one)

    slices, later = 1, list[SyncId]()
    while not holdings.settle():
        slices += 1
        later.append(numbered(slices, slices))
        holdings.add(later[-1])
    items, held = holdings.frozen()
    after = holdings.frozen()[1]

    assert slices <= 11
    assert items.items(*EVERYTHING) == ids
    assert held.digest.root == plain_root(ids)
    assert after.digest.root == plain_root([*ids, *later])


def test_what_was_begun_for_a_session_that_ended_is_not_compared_by_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = much(monkeypatch)
    number, peer = both.number(), both.other.peer_id
    both.one.tell(values.SessionOffered(number, peer, "/vac/waku/reconciliation/1.0.0"))
    both.one.tell(values.SessionClosed(number))
    both.one.write("and one more")

    both.start(both.one)
    both.run()

    mine = next(end for end in both.ended if end.why == "test")
    assert (mine.have, mine.converged) == (41, True)


def test_payloads_that_come_before_a_session_can_begin_are_answered_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = much(monkeypatch)
    both.start(both.one)
    while not isinstance(both.queue[0][1], values.SessionOffered):
        both.step()
    member, offered = both.queue.popleft()
    assert isinstance(offered, values.SessionOffered)
    [wait] = member.tell(offered)
    assert wait == values.Continue(offered.session)
    while not isinstance(both.queue[0][1], values.SessionPayload):
        both.step()
    _, first = both.queue.popleft()

    assert member.tell(first) == []
    both.carry_out(member, wait)
    both.run()

    assert both.one.shown() == both.other.shown()
    assert [ended.converged for ended in both.ended] == [True, True]


def test_who_sends_too_much_before_is_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    both = much(monkeypatch)
    number, peer = both.number(), both.other.peer_id
    both.one.tell(values.SessionOffered(number, peer, "/vac/waku/reconciliation/1.0.0"))

    for _ in range(sessions.EARLY_MAX):
        assert both.one.tell(values.SessionPayload(number, b"garbage")) == []
    effects = both.one.tell(values.SessionPayload(number, b"garbage"))

    [ended] = only(values.SessionEnded, effects)
    assert ended.result.startswith("refused")


def test_whether_anything_is_held_is_known_without_merging_what_waits() -> None:
    holdings = Holdings()
    empty = bool(holdings)
    holdings.add(numbered(1))

    assert (empty, bool(holdings)) == (False, True)
    assert holdings.items._pending == [numbered(1)]


def test_whoever_opens_over_sets_says_more_than_waits_and_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_digest, "LEAVES_AT_ONCE", 3)
    both = pair()
    for member in (both.one, both.other):
        member.in_steps = True
    authors = [Author(f"author {at}") for at in range(80)]
    for number in range(320):
        line = authors[number % 80].write(f"{number}", lamport=NOW_MS - (320 - number) * HOUR_MS)
        both.other.hear(line)
        if number < 300:
            both.one.hear(line)
    both.other.start()  # nothing is hashed yet
    peer = both.other.peer_id
    start = values.StartSession(both.number(), peer, "test", None, "sets", offered=True)
    both.queue.append((both.one, start))
    while both.queue:  # the other one is busy while the offer comes, and all that follows it
        ours = [at for at, (member, _) in enumerate(both.queue) if member is both.one]
        both.queue.rotate(-ours[0] if ours else 0)
        both.step()

    assert both.one.shown() == both.other.shown()
    assert [ended.converged for ended in both.ended] == [True, True]
