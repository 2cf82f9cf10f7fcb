"""Entries wait for governance, within bounds, and every one of them ends."""

import pytest

from sync.calimero.governance import limits
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Access, OpId, Policy, SetPolicy
from sync.calimero.governance.pending import Drained, Dropped, Pending, PendingEntry
from sync.calimero.governance.verdicts import Doing
from sync.machine import MessageId
from tests.support.sync.governed import History, key


def entry(number: int, author: str, *heads: OpId, doing: Doing = Doing.WRITE) -> PendingEntry:
    return PendingEntry(MessageId(f"{number:064x}"), key(author), heads, doing)


def stranger(number: int) -> PendingEntry:
    return entry(number, f"guest {number}", unknown(number))._replace(stranger=True, size=number)


def unknown(number: int) -> OpId:
    return OpId(number.to_bytes(32, "big"))


def behind(history: History) -> Governance:
    """Return a node that has the genesis alone."""
    other = Governance(history.governance.group)
    other.receive(history.founded)
    return other


def test_entries_are_applied_or_dropped_with_a_label_once_their_cut_is_here() -> None:
    history = History("alice")
    added = history.add("alice", "bob")
    closed = history.act("alice", SetPolicy(Policy(write=Access.ADMINS)))
    removed = history.remove("alice", "bob")
    governance, pending = behind(history), Pending()
    entries = [
        entry(1, "bob", added.id),
        entry(2, "bob", closed.id),
        entry(3, "bob", removed.id),
        entry(4, "carol", removed.id),
        entry(5, "alice", removed.id, unknown(9)),
        entry(6, "bob", closed.id, doing=Doing.REACT),
    ]
    assert [pending.add(one) for one in entries] == [()] * 6
    assert pending.drain_governance_pending(governance) == Drained()
    governance.receive(added)

    assert pending.drain_governance_pending(governance).reapply == (entries[0],)
    governance.receive(closed)
    governance.receive(removed)
    drained = pending.drain_governance_pending(governance)
    assert drained.reapply == (entries[5],)
    assert drained.dropped == (
        (entries[1], Dropped.NOT_MEMBER),
        (entries[2], Dropped.REMOVED),
        (entries[3], Dropped.NEVER_MEMBER),
    )
    assert list(pending.entries.values()) == [entries[4]]
    assert entries[4].message_id in pending
    assert pending.wanted(governance) == (unknown(9),)
    assert pending.drain_governance_pending(governance) == Drained()


def test_an_entry_is_forgotten_after_so_many_pulls_in_vain() -> None:
    pending = Pending()
    waiting, other = entry(1, "bob", unknown(1), unknown(2)), entry(2, "bob", unknown(3))
    pending.add(waiting)
    pending.add(other)
    for _ in range(limits.PULLS_MAX - 1):
        assert pending.on_pull_finished([unknown(1), unknown(2)]) == ()

    assert pending.on_pull_finished([unknown(1)]) == (waiting,)
    assert list(pending.entries) == [other.message_id]
    assert pending.on_pull_finished([unknown(1)]) == ()


def test_who_floods_drives_out_only_their_own() -> None:
    pending = Pending()
    honest = entry(0, "bob", unknown(0))
    pending.add(honest)
    flood = [entry(number, "mallory", unknown(number)) for number in range(1, 300)]
    forgotten = [gone for one in flood for gone in pending.add(one)]

    assert forgotten == flood[: len(flood) - limits.PENDING_OF_AN_AUTHOR_MAX]
    assert honest.message_id in pending


def test_all_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PENDING_MAX", 20)
    pending = Pending()
    honest = entry(0, "bob", unknown(0))
    pending.add(honest)
    for number in range(1, 200):
        pending.add(entry(number, f"guest {number % 4}", unknown(number)))

    assert len(pending.entries) == 20
    assert honest.message_id in pending
    history = History("alice")
    assert len(pending.wanted(history.governance)) == 20


def test_strangers_with_a_line_each_drive_out_none_of_a_member_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keys cost nothing: of strangers none has more than one who wrote two lines."""
    monkeypatch.setattr(limits, "PENDING_MAX", 20)
    pending = Pending()
    honest = [entry(number, "bob", unknown(number)) for number in range(9)]
    flood = [stranger(number) for number in range(10, 60)]

    forgotten = [gone for one in honest for gone in pending.add(one)]
    forgotten += [gone for one in flood for gone in pending.add(one)]

    assert forgotten == flood[: len(honest) + len(flood) - limits.PENDING_MAX]
    for one in honest + flood[-11:]:
        pending.remove(one.message_id)
    assert not pending._held
    assert not pending._sizes
    assert not pending._of_author


def test_a_member_s_flood_gives_way_to_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may be in whose adding is not here yet."""
    monkeypatch.setattr(limits, "PENDING_MAX", 20)
    pending = Pending()
    flood = [entry(number, "mallory", unknown(number)) for number in range(20)]
    newcomers = [stranger(number) for number in range(30, 35)]

    for one in flood:
        pending.add(one)
    forgotten = [gone for one in newcomers for gone in pending.add(one)]

    assert forgotten == flood[:5]


def test_of_those_with_most_bytes_the_oldest_goes_and_what_waits_on_is_theirs_as_before() -> None:
    pending = Pending()
    honest = entry(1, "bob", unknown(1))._replace(size=50)
    guests = [stranger(30), stranger(40)]
    for one in (honest, *guests):
        pending.add(one)
    pending.add(pending.remove(guests[0].message_id))

    gone = [pending.forget_of_largest() for _ in range(3)]

    assert gone == [guests[1], honest, guests[0]]
    assert pending.size == 0


def test_an_entry_waits_once() -> None:
    pending = Pending()
    one = entry(1, "bob", unknown(1), unknown(1))
    pending.add(one)
    pending.add(one)
    assert len(pending.entries) == 1
    pending.remove(one.message_id)

    assert one.message_id not in pending
    assert pending.wanted(History("alice").governance) == ()
