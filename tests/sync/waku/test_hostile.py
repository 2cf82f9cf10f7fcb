"""Whatever a peer sends in a session: it ends with a reason, within bounds, and the next one works.

`honest` is the member under attack; the attacker is a member of the channel as well, whose link
stays up, and who can always be reconciled with when it behaves.
"""

import gc
import random
from collections.abc import Iterator, Sequence

import pytest

from sync.check.message import CHECK
from sync.group import values
from sync.group.history_loading import LEFT_MAX, STALLED_AFTER
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos, PeerId, Tick
from sync.sds.wire import decode, encode
from sync.sessions.claims import CLAIMS_BYTES_MAX, CLAIMS_LEAST
from sync.sessions.grace import GRACE, LATE_MAX
from sync.sessions.receiving import WAITING_MAX
from sync.sessions.session import SESSION_WITHIN
from sync.sessions.sessions import TOO_LONG
from sync.sessions.table import COMPARED_MAX, SHOWN_MAX
from sync.structures.codec import append_uvarint
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, OrderedSet, SyncId
from sync.waku import reconcile
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    PAYLOAD_BYTES_MAX,
    RANGES_MAX,
    RECONCILIATION,
    Bounds,
    Fingerprint,
    ItemSet,
    Range,
    Ranges,
    RangesData,
    WakuMessage,
    content_topic,
    shard,
    sync_id,
)
from sync.waku.reconcile import NEED_MAX, ROUNDS_MAX
from sync.waku.session import ROUNDS_MAX as ROUNDS_SHOWN_MAX
from sync.waku.wire import decode_ranges, decode_transfer, encode_ranges, encode_transfer
from tests.support.storage.archives import scattered
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, Member, only
from tests.support.sync.pairs import TOPIC, Pair, pair, transfer
from tests.support.sync.waku.sets import subset_with_zero_xor

EFFECTS_MAX = 8
"""More than an answer, a difference, an end, a push and a refusal never follow one payload."""

STREAM = 900


def header() -> bytearray:
    encoded = bytearray()
    for number in (CLUSTER, 1, shard(CHANNEL)):
        append_uvarint(encoded, number)
    return encoded


def raw(*parts: int | bytes) -> bytes:
    """A payload's header and what follows: numbers as varints, bytes as they are."""
    encoded = header()
    for part in parts:
        if isinstance(part, int):
            append_uvarint(encoded, part)
        else:
            encoded += part
    return bytes(encoded)


def ranges(*given: Range) -> bytes:
    return encode_ranges(RangesData(CLUSTER, (shard(CHANNEL),), Ranges.of(given)))


SKIP, FINGERPRINT, ITEM_SET = b"\0", b"\1", b"\2"
GARBAGE: dict[str, bytes] = {
    "a bound below the one before it": raw(5, SKIP, b"\0\x01\x09", SKIP, b"\0\x01\x03", SKIP),
    "the same bound again": raw(5, SKIP, b"\0\x01\0", SKIP),
    "an overlong varint": raw(b"\x85\x00", SKIP),
    "a varint that never ends": raw(b"\xff" * 200),
    "2^60 shards": bytes(header()[:3]) + raw(2**60)[-9:],
    "2^60 items": raw(5, ITEM_SET, 2**60, b"\0"),
    "items that fall": raw(9, ITEM_SET, 2, 3, b"\2" * 32, 0, b"\1" * 32, b"\0"),
    "items outside their range": raw(2, ITEM_SET, 1, 7, b"\2" * 32, b"\0"),
    "a fourth kind of range": raw(5, b"\3"),
    "a fingerprint that breaks off": raw(5, FINGERPRINT, b"\1" * 31),
    "a flag of 2": raw(5, ITEM_SET, 0, b"\2"),
    "too many tiny ranges": raw(*[b"\1\0"] * (RANGES_MAX + 1)),
    "a mebibyte of noise": random.Random(1).randbytes(PAYLOAD_BYTES_MAX),
    "a mebibyte of ones": b"\xff" * PAYLOAD_BYTES_MAX,
    "a mebibyte of zeros": bytes(PAYLOAD_BYTES_MAX),
    "over a mebibyte": raw(5, ITEM_SET) + bytes(PAYLOAD_BYTES_MAX),
}


def attacked() -> tuple[Member, Pair]:
    """The member under attack, who holds a hundred lines, and its streams to the attacker."""
    both = pair()
    for number in range(100):
        both.one.write(f"line {number}")
        if number % 10 == 0:
            both.other.write(f"other line {number}")
    return both.one, both


def tell(honest: Member, event: values.Input) -> list[values.Effect]:
    """Give an input, and hold what comes of it against the bounds."""
    effects = honest.tell(event)
    sent = [effect.payload for effect in only(values.SendPayload, effects)]
    assert len(effects) <= EFFECTS_MAX, [type(effect).__name__ for effect in effects]
    assert all(len(payload) <= PAYLOAD_BYTES_MAX for payload in sent)
    assert len(honest.group.sessions.by_peer) <= 1
    return effects


def offer(honest: Member, both: Pair, protocol: str | None = None) -> list[values.Effect]:
    if protocol is None:
        return tell(
            honest, values.SessionOffered(STREAM, both.beside(honest).peer_id, RECONCILIATION)
        )
    return tell(honest, values.SessionOffered(STREAM + 1, both.beside(honest).peer_id, protocol))


def ended(effects: Sequence[values.Effect]) -> values.SessionEnded:
    [end] = only(values.SessionEnded, effects)
    return end


def check_unharmed(honest: Member, both: Pair) -> None:
    """Nothing is left over, and an honest session makes both equal."""
    sessions = honest.group.sessions
    assert not sessions.by_peer
    assert len(honest.group.loading.coming) <= LEFT_MAX
    assert len(sessions.shown) <= SHOWN_MAX
    assert all(len(shown.rounds) <= ROUNDS_SHOWN_MAX for shown in sessions.shown)
    both.ended.clear()
    both.queue.clear()
    both.start(honest)
    both.run()
    assert both.one.shown() == both.other.shown()
    assert all(end.converged for end in both.ended), both.ended
    assert len(both.ended) == 2
    honest.advance(NOW + 2 * STALLED_AFTER)
    assert not honest.group.loading.coming
    assert honest.group.loading.deadline() is None


# --- Payloads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_ends_its_session_with_a_reason_and_harms_nothing_else(what: str) -> None:
    honest, both = attacked()
    offer(honest, both)

    effects = tell(honest, values.SessionPayload(STREAM, GARBAGE[what]))

    end = ended(effects)
    assert end.result.startswith("refused: ")
    assert not end.converged
    assert only(values.CloseSession, effects) == [values.CloseSession(STREAM)]
    assert [refused.peer for refused in only(values.Refused, effects)] == [both.other.peer_id]
    check_unharmed(honest, both)


def test_thousands_of_tiny_ranges_are_answered_within_one_payload() -> None:
    honest, both = attacked()
    offer(honest, both)
    uppers = [SyncId(NOW + number, ZERO_HASH) for number in range(1, RANGES_MAX + 1)]
    bounds = [Bounds(*each) for each in zip([ORIGIN, *uppers[:-1]], uppers, strict=True)]
    tiny = ranges(*(Fingerprint(each, b"\1" * 32) for each in bounds))

    effects = tell(honest, values.SessionPayload(STREAM, tiny))

    assert len(only(values.SendPayload, effects)) == 1
    tell(honest, values.SessionClosed(STREAM))
    check_unharmed(honest, both)


def test_rounds_that_never_end_are_ended() -> None:
    honest, both = attacked()
    offer(honest, both)
    again = ranges(Fingerprint(EVERYTHING, b"\1" * 32))

    for number in range(ROUNDS_MAX):
        effects = tell(honest, values.SessionPayload(STREAM, again))
        assert not only(values.SessionEnded, effects), number
    effects = tell(honest, values.SessionPayload(STREAM, again))

    assert ended(effects).result == (
        f"refused: reconciliation is not done after {ROUNDS_MAX} payloads"
    )
    check_unharmed(honest, both)


@pytest.mark.parametrize("begins", ["we", "the peer"])
def test_a_peer_that_answers_a_little_at_a_time_is_left_after_minutes(begins: str) -> None:
    honest, both = attacked()
    peer = both.beside(honest).peer_id
    if begins == "we":
        tell(honest, values.StartSession(STREAM, peer, "test"))
        tell(honest, values.SessionOpened(STREAM))
    else:
        offer(honest, both)
    again = ranges(Fingerprint(EVERYTHING, b"\1" * 32))
    step = reconcile.INACTIVITY_MAX - SECOND
    over: list[values.SessionEnded] = []
    now = NOW

    while not over:
        effects = honest.tell(values.SessionPayload(STREAM, again), now)
        assert not only(values.SessionEnded, effects)
        now += step
        over = only(values.SessionEnded, honest.advance(now))

    assert over[0].result == TOO_LONG
    assert not over[0].converged
    assert SESSION_WITHIN <= now - NOW < SESSION_WITHIN + step
    check_unharmed(honest, both)


def invented(size: int) -> Iterator[bytes]:
    """Payloads of so many ids each that nobody has, never the same, with something left open."""
    first = 1
    while True:
        items = tuple([SyncId(at, at.to_bytes(32)) for at in range(first, first + size)])
        first += size
        middle = SyncId(first, ZERO_HASH)
        yield ranges(
            ItemSet(Bounds(ORIGIN, middle), items, reconciled=True),
            Fingerprint(Bounds(middle, EVERYTHING.upper), b"\1" * 32),
        )


@pytest.mark.slow
def test_half_a_million_invented_ids_are_too_many_and_are_not_kept() -> None:
    honest, both = attacked()
    offer(honest, both)
    payloads = invented(size=25_000)

    end: list[values.SessionEnded] = []
    while not end:
        end = only(values.SessionEnded, tell(honest, values.SessionPayload(STREAM, next(payloads))))

    assert end[0].result == "refused: a reconciliation payload came while finished"
    assert not end[0].converged
    assert end[0].need <= NEED_MAX
    assert kept(honest) == 0
    check_unharmed(honest, both)


def claim(
    honest: Member, number: int, payloads: int, now: Nanos = NOW
) -> tuple[PeerId, list[values.SessionEnded]]:
    """Have somebody new claim ids, in so many payloads or until the session is over."""
    peer = PeerId(f"{number:064x}")
    honest.join(peer)
    honest.tell(values.SessionOffered(STREAM + number, peer, RECONCILIATION), now)
    claims = invented(size=16_000)
    for _ in range(payloads):
        effects = honest.tell(values.SessionPayload(STREAM + number, next(claims)), now)
        if over := only(values.SessionEnded, effects):
            return peer, over
        if honest.group.sessions.by_peer[peer].settled:
            break
    return peer, []


@pytest.mark.slow
def test_the_claims_of_all_sessions_have_one_budget_and_leave_room_for_an_honest_one() -> None:
    honest, both = attacked()
    for number in range(100):
        both.other.write(f"more {number}")
    sessions = honest.group.sessions
    most = 0
    for number in range(12):
        peer, over = claim(honest, number, payloads=10)
        most = max(most, sum(sessions.claimed))
        assert not any(end.converged for end in over)
        first = sessions.by_peer[peer].transfer.lacking if number == 0 else 0
        assert not first or first >= 100_000  # what one may take is enough for a long history

    assert most <= CLAIMS_BYTES_MAX + 12 * CLAIMS_LEAST
    for minutes in range(1, 10):
        both.ended.clear()
        now = NOW + minutes * MINUTE
        honest.advance(now)
        both.start(honest)
        both.run(now)
        if all(end.converged for end in both.ended):
            break
    assert {end.converged for end in both.ended} == {True}
    assert both.one.shown() == both.other.shown()


def without_a_leader() -> tuple[Member, Nanos]:
    """The member under attack, and a time at which nobody leads: two who did only stalled."""
    honest, both = attacked()
    honest.tell(values.PeerGone(both.other.peer_id))
    for number, now in ((-1, NOW), (-2, NOW + 6 * SECOND)):
        honest.advance(now)
        honest.tell(values.SessionOffered(number, PeerId(f"leader {number}"), RECONCILIATION), now)
        honest.tell(values.SessionPayload(number, one_id()), now)
    later = NOW + 12 * SECOND
    honest.advance(later)
    return honest, later


@pytest.mark.slow
def test_who_claims_in_one_session_after_another_and_sends_nothing_gives_way() -> None:
    honest, begin = without_a_leader()
    sessions = honest.group.sessions
    taken, over = [], []
    for number in range(40):
        now = begin + number * SECOND // 4
        honest.advance(now)
        over += claim(honest, number, payloads=1 + number % 3, now=now)[1]
        taken.append(sum(sessions.claimed))
    friend, ended = claim(honest, 40, payloads=1, now=begin + 10 * SECOND)

    assert CLAIMS_BYTES_MAX // 2 < max(taken) <= CLAIMS_BYTES_MAX + 5 * CLAIMS_LEAST  # of a second
    assert friend not in {end.peer for end in ended}
    assert sessions.by_peer[friend].transfer.lacking == 16_000, "there is room for who comes now"
    assert not any(end.converged for end in over)


def test_of_sessions_that_wait_for_a_little_there_are_so_many_and_no_more() -> None:
    honest, begin = without_a_leader()
    sessions = honest.group.sessions
    for number in range(3 * COMPARED_MAX):
        now = begin + number * MILLISECOND
        honest.tell(values.SessionOffered(number, PeerId(f"{number:064x}"), RECONCILIATION), now)
        honest.tell(values.SessionPayload(number, one_id()), now)
    newest = [PeerId(f"{number:064x}") for number in range(2 * COMPARED_MAX, 3 * COMPARED_MAX)]

    assert list(sessions.by_peer) == newest
    assert len(sessions.claimed) <= COMPARED_MAX + LATE_MAX


def one_id() -> bytes:
    """A payload that says all there is is one message, which nobody has."""
    whole = Bounds(ORIGIN, EVERYTHING.upper)
    return ranges(ItemSet(whole, (SyncId(1, b"\1" * 32),), reconciled=True))


def claimed_ids() -> int:
    """Ids in payloads that are still held."""
    return sum([len(one.id_timestamps) for one in gc.get_objects() if type(one) is Ranges])


def test_what_is_not_answered_to_its_end_is_gone_with_its_session() -> None:
    gc.collect()
    gc.disable()  # a collection comes when there are many objects, and not when they are large
    try:
        before = claimed_ids()
        machine = reconcile.Reconciliation(
            reconcile.Role.RESPONDER, OrderedSet(), (shard(CHANNEL),), NOW
        )
        received = decode_ranges(next(invented(size=16_000)))
        effects = machine.handle(reconcile.PayloadReceived(received), NOW)
        held = claimed_ids()
        del machine, received
        after = claimed_ids()
    finally:
        gc.enable()

    assert effects == [reconcile.Continue()]
    assert held - before >= 16_000
    assert after == before


@pytest.mark.slow
def test_ids_claimed_by_one_session_after_another_are_not_piled_up() -> None:
    honest, both = attacked()
    payloads = invented(size=5_000)

    for number in range(2 * SHOWN_MAX):
        tell(honest, values.SessionOffered(STREAM + number, both.other.peer_id, RECONCILIATION))
        tell(honest, values.SessionPayload(STREAM + number, next(payloads)))
        assert kept_now(honest) <= 5_000
    tell(honest, values.SessionClosed(STREAM + 2 * SHOWN_MAX - 1))

    check_unharmed(honest, both)


def kept_now(honest: Member) -> int:
    """Ids that sessions which are over still hold."""
    return sum(
        len(shown.transfer.missing) + len(shown.found) + len(shown.lacked)
        for shown in honest.group.sessions.shown
    )


def kept(honest: Member) -> int:
    """The same, once the grace is over."""
    honest.advance(NOW + 2 * GRACE)
    return kept_now(honest)


def test_sessions_opened_again_and_again_replace_each_other() -> None:
    honest, both = attacked()

    for number in range(500):
        effects = tell(
            honest, values.SessionOffered(STREAM + number, both.other.peer_id, RECONCILIATION)
        )
        assert not number or ended(effects).result == "put off: the peer began one too"
    tell(honest, values.SessionClosed(STREAM + 499))

    check_unharmed(honest, both)


@pytest.mark.parametrize("what", GARBAGE)
def test_garbage_on_the_stream_of_a_check_ends_its_session(what: str) -> None:
    honest, both = attacked()
    offer(honest, both)
    same = values.SessionPayload(STREAM, ranges(Fingerprint(EVERYTHING, fingerprint(honest))))
    tell(honest, same)
    offer(honest, both, CHECK)

    effects = tell(honest, values.SessionPayload(STREAM + 1, GARBAGE[what]))

    assert ended(effects).result.startswith("refused: ")
    check_unharmed(honest, both)


def fingerprint(of: Member) -> bytes:
    return of.group.holdings.items.fingerprint(*EVERYTHING)


# --- Transfers ---------------------------------------------------------------------------------


def unwanted(count: int) -> list[bytes]:
    author = Author("mallory")
    return [transfer(author.write(f"buy {number}", lamport=number + 1)) for number in range(count)]


def test_messages_pushed_before_any_session_are_declined() -> None:
    honest, both = attacked()
    peer = both.other.peer_id

    for pushed in unwanted(20):
        [refused] = tell(honest, values.Transferred(peer, pushed))
        assert refused == values.Refused(peer, "a transferred message outside a session")

    check_unharmed(honest, both)


def test_only_so_many_messages_pushed_before_their_range_is_decided_wait() -> None:
    honest, both = attacked()
    peer = both.other.peer_id
    before = honest.shown()
    offer(honest, both)

    answers = [tell(honest, values.Transferred(peer, one)) for one in unwanted(WAITING_MAX + 10)]
    tell(honest, values.SessionPayload(STREAM, bytes(PAYLOAD_BYTES_MAX)))

    assert [len(effects) for effects in answers] == [0] * WAITING_MAX + [1] * 10
    [refused] = answers[-1]
    assert isinstance(refused, values.Refused)
    assert "too many messages wait" in refused.reason
    assert honest.shown() == before
    check_unharmed(honest, both)


@pytest.mark.parametrize("late", [GRACE, GRACE + 1])
def test_within_the_grace_only_what_is_missing_is_taken_and_nothing_after_it(late: int) -> None:
    honest, both = attacked()
    both.lose_pushed_after = 2
    both.start(honest)
    both.run()
    lost = [row.message for id_, row in both.other.disk.rows.items() if id_ not in honest.disk.rows]
    assert lost
    before = honest.shown()

    [spam] = unwanted(1)
    declined = honest.tell(values.Transferred(both.other.peer_id, spam), NOW + late)
    taken = honest.tell(values.Transferred(both.other.peer_id, transfer(lost[0])), NOW + late)

    assert [type(effect) for effect in declined] == [values.Refused]
    in_time = late <= GRACE
    assert bool(only(values.StoreMessage, taken)) is in_time
    assert (len(honest.shown()) > len(before)) is in_time
    both.lose_pushed_after = None
    check_unharmed(honest, both)


def test_after_the_grace_nothing_of_a_session_is_kept() -> None:
    honest, both = attacked()
    both.lose_pushed_after = 2
    both.start(honest)
    both.run()
    kept = sum(honest.group.sessions.claimed)

    honest.tell(Tick(), NOW + GRACE)
    still = sum(honest.group.sessions.claimed)
    due = honest.group.sessions.deadline()
    honest.tell(Tick(), NOW + GRACE + 1)

    assert kept == still > 0
    assert due == NOW + GRACE + 1
    assert honest.group.sessions.claimed == []
    assert not honest.group.sessions.receives_from(both.other.peer_id, NOW + GRACE + 1)


@pytest.mark.parametrize("other", ["bytes", "time"])
def test_a_transfer_that_is_not_canonical_is_refused_though_it_was_claimed_and_wanted(
    other: str,
) -> None:
    honest, both = attacked()
    stored = Author("mallory", CHANNEL).write("hello", lamport=NOW // MILLISECOND, created_ns=NOW)
    loose = stored.payload
    created_ns = stored.entry.header.created_ns + 1
    if other == "bytes":
        loose = encode(decode(stored.payload)._replace(bloom_filter=bytes(1800)))
        created_ns -= 1
    pushed = encode_transfer(WakuMessage(loose, content_topic(CHANNEL), created_ns), TOPIC)
    before = honest.shown()
    offer(honest, both)
    claimed = (sync_id(TOPIC, decode_transfer(pushed)[0]),)
    tell(
        honest, values.SessionPayload(STREAM, ranges(ItemSet(EVERYTHING, claimed, reconciled=True)))
    )

    effects = honest.tell(values.Transferred(both.other.peer_id, pushed))

    assert [refused.reason for refused in only(values.Refused, effects)] == [
        "a transferred message is not in its canonical form"
    ]
    assert not only(values.StoreMessage, effects)
    assert honest.shown() == before
    tell(honest, values.SessionClosed(STREAM))


def test_a_transfer_from_before_the_window_is_refused_at_once() -> None:
    """Not kept until its range is decided: nothing that old is ever decided."""
    honest, both = attacked()
    peer = both.other.peer_id
    tell(honest, values.StartSession(STREAM, peer, "test", HOUR))
    tell(honest, values.SessionOpened(STREAM))
    times = [NOW - 3 * HOUR, NOW - HOUR // 2]
    old, young = [
        transfer(Author("mallory", CHANNEL).write("hi", lamport=at // MILLISECOND, created_ns=at))
        for at in times
    ]

    refused = honest.tell(values.Transferred(peer, old))
    waits = honest.tell(values.Transferred(peer, young))

    assert refused == [values.Refused(peer, "a transferred message from before what was compared")]
    assert waits == []
    assert honest.group.sessions.by_peer[peer].transfer.waiting_bytes == len(young)


# --- Forged fingerprints -----------------------------------------------------------------------


@pytest.mark.parametrize("begins", ["who has them", "who lacks them"])
def test_a_forged_fingerprint_deceives_no_session_and_both_end_up_equal(begins: str) -> None:
    pool = scattered(400, 30_000 * SECOND, CHANNEL)
    by_id = {
        SyncId(message.entry.header.created_ns, message.waku_hash): message for message in pool
    }
    forged = {by_id[one].entry.message_id for one in subset_with_zero_xor(sorted(by_id)[:257])}
    both = pair()
    for member in (both.one, both.other):
        for message in pool:
            if member is both.one or message.entry.message_id not in forged:
                stored = values.StoreMessage(message, values.Status.DELIVERED)
                member.disk.commit([stored])
        member.start()
        member.join(both.beside(member).peer_id)
    assert fingerprint(both.one) == fingerprint(both.other)

    both.start(both.one if begins == "who has them" else both.other)
    both.run()
    first, both.ended = both.ended, []
    both.start(both.one)
    both.run()

    told = f"fingerprints lied: the check found {len(forged)} more differences"
    assert [(end.result, end.converged) for end in first] == [(told, False)] * 2
    assert both.one.shown() == both.other.shown()
    assert len(both.one.shown()) == len(pool)
    assert [(end.result, end.converged) for end in both.ended] == [("equal", True)] * 2
