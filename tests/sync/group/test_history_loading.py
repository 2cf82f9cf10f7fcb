"""History on its way: what waits for it, for how long, and who can make it wait."""

from msgspec.structs import replace

from sync.group import values
from sync.group.history_loading import (
    HELD_MAX,
    IN_VAIN_MAX,
    LEFT_MAX,
    PATIENCE,
    RESTART_PATIENCE,
    STALLED_AFTER,
    SWEEP,
    Loading,
)
from sync.machine import SECOND, MessageId
from sync.sds.message import Delivery, HistoryEntry
from sync.sessions.session import STALLED_AFTER as SILENT_FOR
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, SyncId
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    RECONCILIATION,
    Bounds,
    Fingerprint,
    ItemSet,
    Ranges,
    RangesData,
    shard,
)
from sync.waku.wire import encode_ranges
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, Member, arrived, name_of, only, sds_of
from tests.support.sync.pairs import transfer
from tests.support.sync.waku.sets import numbered

FIRST, SECOND_ID = numbered(1), numbered(2)
SWEEPING = [values.LoadHeldBack(None, SWEEP)]


def naming(*ids: SyncId) -> list[HistoryEntry]:
    return [HistoryEntry(MessageId(one.hash.hex()), one.hash, None) for one in ids]


def waiting() -> Loading:
    """Something waits for what a session has found missing."""
    loading = Loading()
    loading.want([FIRST, SECOND_ID])
    loading.add(MessageId("aa" * 32), naming(FIRST, SECOND_ID), NOW)
    return loading


def test_what_waits_does_so_for_what_it_names_alone() -> None:
    loading = waiting()
    loading.want([numbered(number) for number in range(3, 300)])

    loading.came(FIRST.hash, NOW)
    before = loading.sweep(NOW)
    loading.came(SECOND_ID.hash, NOW)

    assert before == []
    assert loading.sweep(NOW) == SWEEPING


def test_what_a_peer_that_stalls_claimed_is_given_up_unless_another_brings_it() -> None:
    loading = waiting()
    loading.want([FIRST, SECOND_ID])

    loading.unwant([FIRST, SECOND_ID], NOW, stalled=True)
    hoped = {one for one, _ in loading.coming.items()}
    loading.unwant([FIRST, SECOND_ID], NOW, stalled=True)

    assert hoped == {FIRST.hash, SECOND_ID.hash}
    assert not loading.coming
    assert loading.sweep(NOW) == SWEEPING


def test_who_leaves_the_same_again_does_not_make_it_hoped_for_longer() -> None:
    loading = waiting()
    loading.unwant([FIRST, SECOND_ID], NOW)
    for seconds in range(1, 20):
        loading.want([FIRST, SECOND_ID])
        loading.unwant([FIRST, SECOND_ID], NOW + seconds * SECOND)

    assert loading.sweep(NOW + PATIENCE) == SWEEPING


def test_what_waits_takes_its_place_once_all_has_come() -> None:
    loading = waiting()
    assert loading.sweep(NOW) == []

    for one in (FIRST, SECOND_ID):
        loading.came(one.hash, NOW)
    loading.session_over(NOW, complete=True)

    assert loading.sweep(NOW) == SWEEPING


def test_after_a_cut_what_was_coming_is_still_hoped_for_a_while() -> None:
    loading = waiting()

    loading.unwant([FIRST, SECOND_ID], NOW)
    loading.session_over(NOW, complete=False)

    assert {one for one, _ in loading.coming.items()} == {FIRST.hash, SECOND_ID.hash}
    assert loading.sweep(NOW + PATIENCE - 1) == []
    assert loading.sweep(NOW + PATIENCE) == SWEEPING
    assert not loading.coming


def test_what_comes_while_the_disk_is_read_follows_at_once() -> None:
    alice, bob = Member("alice"), Author("bob")
    at = NOW // 10**6
    oldest = bob.write("long ago", lamport=at, created_ns=NOW)
    older = bob.write("after that", after=[oldest], lamport=at + 1, created_ns=NOW)
    live = bob.write("while the disk is read", after=[older], lamport=at + 2, created_ns=NOW)
    last = bob.write("and once more", after=[live], lamport=at + 3, created_ns=NOW)
    alice.join(bob.peer_id)
    alice.tell(values.SessionOffered(1, bob.peer_id, RECONCILIATION))
    alice.tell(claim(1, SyncId(NOW, oldest.waku_hash)))
    alice.hear(older)

    then = NOW + SECOND
    effects = alice.hear(oldest, then)  # nothing is missing any more
    for come_meanwhile in (live, last):
        [wanted] = only(values.LoadHeldBack, effects)
        outlines = alice.disk.load_held_back(wanted.after, wanted.limit)
        alice.hear(come_meanwhile, then)
        effects = alice.tell(values.HeldBackLoaded(outlines), then)
    swept(alice, effects, then)

    assert alice.shown() == [one.entry.message_id for one in (oldest, older, live, last)]
    assert alice.group.loading.deadline() is None


def test_filter_and_request_beside_a_message_that_waits_for_history_count() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    mine = alice.write("mine")
    at = NOW // 10**6
    oldest = bob.write("long ago", lamport=at, created_ns=NOW)
    live = bob.write("now", after=[oldest], lamport=at + 1, created_ns=NOW)
    alice.tell(values.SessionOffered(1, bob.peer_id, RECONCILIATION))
    alice.tell(claim(1, SyncId(NOW, oldest.waku_hash)))
    filter_of = alice.group.sds.filter.to_bytes()
    message = replace(sds_of(live), bloom_filter=filter_of, repair_request=(name_of(mine),))

    effects = alice.tell(arrived(message, bob.peer_id))

    assert live.entry.message_id in alice.group.loading.ids
    assert only(values.DeliveryChanged, effects) == [
        values.DeliveryChanged(mine.entry.message_id, Delivery.POSSIBLY_ACKNOWLEDGED)
    ]
    assert list(alice.group.sds.repairs.answering.answers) == [mine.entry.message_id]


def test_a_session_that_is_cut_while_the_disk_is_read_may_be_followed_by_another() -> None:
    loading = waiting()
    for one in (FIRST, SECOND_ID):
        loading.came(one.hash, NOW)
    loading.session_over(NOW, complete=True)
    assert loading.sweep(NOW) == SWEEPING
    loading.want([FIRST])

    loading.unwant([FIRST], NOW)
    loading.session_over(NOW, complete=False)
    loading.take_loaded((), NOW)

    assert loading.deadline() == NOW + PATIENCE


def test_what_the_disk_does_not_show_is_not_looked_for_at_every_turn() -> None:
    loading = waiting()
    for one in (FIRST, SECOND_ID):
        loading.came(one.hash, NOW)
    assert loading.sweep(NOW) == SWEEPING

    loading.take_loaded((), NOW)

    assert loading.deadline() == NOW + PATIENCE


def test_another_session_that_wants_the_same_is_waited_for() -> None:
    loading = waiting()
    loading.unwant([FIRST, SECOND_ID], NOW)
    loading.session_over(NOW, complete=False)
    loading.want([FIRST, SECOND_ID])

    early = loading.sweep(NOW + PATIENCE)
    for one in (FIRST, SECOND_ID):
        loading.came(one.hash, NOW + PATIENCE)
    loading.session_over(NOW + PATIENCE, complete=True)

    assert early == []
    assert loading.sweep(NOW + PATIENCE) == SWEEPING


def test_what_is_hoped_for_is_given_up_in_time_though_nothing_waits() -> None:
    loading = Loading()
    loading.want([FIRST])
    loading.unwant([FIRST], NOW)
    loading.session_over(NOW, complete=False)

    assert loading.deadline() == NOW + PATIENCE
    assert loading.sweep(NOW + PATIENCE) == []
    assert not loading.coming
    assert loading.deadline() is None


def test_only_so_much_is_hoped_for() -> None:
    loading = Loading()
    claimed = [numbered(number) for number in range(LEFT_MAX + 5)]
    loading.want(claimed)

    loading.unwant(claimed, NOW)

    assert len(loading.coming) == LEFT_MAX


def test_sessions_that_bring_nothing_hold_nothing_up_for_long() -> None:
    loading = waiting()

    assert loading.sweep(NOW + STALLED_AFTER - 1) == []
    assert loading.sweep(NOW + STALLED_AFTER) == SWEEPING


def test_sessions_that_bring_little_hold_nothing_up_for_ever() -> None:
    loading = Loading()
    many = [numbered(number) for number in range(100)]
    loading.want(many)
    loading.add(MessageId("aa" * 32), naming(*many), NOW)

    for number, one in enumerate(many[:-1]):
        loading.came(one.hash, NOW + number * (STALLED_AFTER - 1))
    due = loading.deadline()

    assert due == NOW + HELD_MAX


def test_after_a_start_somebody_is_given_time_to_be_found() -> None:
    loading = Loading()

    loading.restore([MessageId("aa" * 32)], NOW)

    assert loading.sweep(NOW + RESTART_PATIENCE - 1) == []
    assert loading.sweep(NOW + RESTART_PATIENCE) == SWEEPING


def claim(session: int, *claimed: SyncId) -> values.SessionPayload:
    """A payload whose sender says that it has `claimed`, and goes on."""
    above = SyncId(claimed[-1].timestamp + 1, ZERO_HASH)
    ranges = Ranges.of(
        [
            ItemSet(Bounds(ORIGIN, above), claimed, reconciled=True),
            Fingerprint(Bounds(above, EVERYTHING.upper), b"\1" * 32),
        ]
    )
    return values.SessionPayload(
        session, encode_ranges(RangesData(CLUSTER, (shard(CHANNEL),), ranges))
    )


def test_a_peer_that_claims_what_it_never_sends_does_not_stop_the_channel() -> None:
    alice, bob, mallory = Member("alice"), Author("bob"), Author("mallory")
    at = NOW // 10**6
    hidden = mallory.write("nobody gets this", lamport=at, created_ns=NOW)
    bait = mallory.write("bait", after=[hidden], lamport=at + 1, created_ns=NOW)
    reply = bob.write("an answer", after=[bait], lamport=at + 2, created_ns=NOW)
    alice.join(bob.peer_id, mallory.peer_id)
    claimed = SyncId(NOW, hidden.waku_hash)
    now = NOW
    effects: list[values.Effect] = []

    alice.tell(values.SessionOffered(1, mallory.peer_id, RECONCILIATION), now)
    alice.tell(claim(1, claimed), now)
    alice.hear(bait, now)
    alice.hear(reply, now)
    waited = alice.shown()
    for session in range(2, 60):  # one session after another, each with the same claim
        now += 10 * SECOND
        told = alice.tell(values.SessionOffered(session, mallory.peer_id, RECONCILIATION), now)
        told += alice.tell(claim(session, claimed), now)
        effects += swept(alice, [*told, *alice.advance(now)], now)

    assert waited == []
    assert len(alice.shown()) == 2
    assert [effect.after_gap for effect in only(values.Deliver, effects)] == [True, False]


def test_what_a_peer_owes_that_stalls_is_hoped_for_again_once_it_goes_on() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    at = NOW // 10**6
    first, second = (bob.write(text, lamport=at, created_ns=NOW) for text in ("one", "two"))
    ids = sorted(SyncId(NOW, one.waku_hash) for one in (first, second))
    alice.tell(values.SessionOffered(1, bob.peer_id, RECONCILIATION))
    alice.tell(claim(1, *ids))
    hoped = [dict(alice.group.loading.coming.items())]

    later = NOW + SILENT_FOR
    alice.advance(later)
    hoped.append(dict(alice.group.loading.coming.items()))
    alice.tell(values.Transferred(bob.peer_id, transfer(first)), later)
    hoped.append(dict(alice.group.loading.coming.items()))

    assert hoped == [{one.hash: 1 for one in ids}, {}, {second.waku_hash: 1}]
    alice.advance(later + SILENT_FOR)
    assert not alice.group.loading.coming


def test_of_history_on_its_way_only_what_its_author_sent_is_acknowledged_by_name() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    at = NOW // 10**6
    oldest = carol.write("long ago", lamport=at, created_ns=NOW)
    older = carol.write("after that", after=[oldest], lamport=at + 1, created_ns=NOW)
    live = bob.write("meanwhile", after=[oldest], lamport=at + 2, created_ns=NOW)
    alice.join(bob.peer_id)
    alice.tell(values.SessionOffered(1, bob.peer_id, RECONCILIATION))
    alice.tell(claim(1, SyncId(NOW, oldest.waku_hash)))

    alice.tell(values.Arrived(bob.peer_id, older.payload))
    alice.hear(live)
    swept(alice, alice.tell(values.Arrived(bob.peer_id, oldest.payload)), NOW)

    assert len(alice.shown()) == 3
    assert [*alice.group.sds.log.owed] == [live.entry.message_id]


def test_what_is_claimed_again_and_again_and_never_sent_is_asked_of_others() -> None:
    alice, mallory = Member("alice"), Author("mallory")
    at = NOW // 10**6
    hidden = mallory.write("nobody gets this", lamport=at, created_ns=NOW)
    bait = mallory.write("bait", after=[hidden], lamport=at + 1, created_ns=NOW)
    later = mallory.write("more", after=[bait, hidden], lamport=at + 2, created_ns=NOW)
    alice.join(mallory.peer_id)
    claimed = SyncId(NOW, hidden.waku_hash)
    now = NOW
    missing: list[values.Missing] = []

    for session in range(1, 120):
        told = alice.tell(values.SessionOffered(session, mallory.peer_id, RECONCILIATION), now)
        told += alice.tell(claim(session, claimed), now)
        if session == 1:
            told += alice.hear(bait, now)
        now += 5 * SECOND
        missing += only(values.Missing, swept(alice, [*told, *alice.advance(now)], now))
    coming = dict(alice.group.loading.coming.items())
    told = alice.hear(later, now)

    assert [one.message_id for one in missing] == [hidden.entry.message_id]
    assert coming == {}
    assert later.entry.message_id in alice.group.sds.incoming.waiting


def test_who_stalls_once_may_still_bring_it() -> None:
    loading = waiting()
    loading.unwant([FIRST, SECOND_ID], NOW)
    loading.session_over(NOW, complete=False)
    assert loading.sweep(NOW + PATIENCE) == SWEEPING

    loading.want([FIRST, SECOND_ID])

    assert {one for one, _ in loading.coming.items()} == {FIRST.hash, SECOND_ID.hash}


def test_what_came_after_all_may_be_hoped_for_like_anything_else() -> None:
    loading = Loading()
    for _ in range(IN_VAIN_MAX):
        loading.want([FIRST])
        loading.unwant([FIRST], NOW)
        loading.session_over(NOW, complete=False)
        loading.sweep(NOW + PATIENCE)
    loading.want([FIRST])
    doubted = dict(loading.coming.items())

    loading.came(FIRST.hash, NOW)
    loading.want([FIRST])

    assert doubted == {}
    assert dict(loading.coming.items()) == {FIRST.hash: 1}


def swept(member: Member, effects: list[values.Effect], now: int) -> list[values.Effect]:
    """Load for it what it asks for."""
    for wanted in only(values.LoadHeldBack, effects):
        outlines = member.disk.load_held_back(wanted.after, wanted.limit)
        effects = [*effects, *member.tell(values.HeldBackLoaded(outlines), now)]
    return effects
