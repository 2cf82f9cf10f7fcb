"""Whatever a peer sends in a session: it ends with a reason, within bounds, and the next one works.

`honest` is the member under attack; the attacker is a member of the channel as well, whose link
stays up, and who can always be reconciled with when it behaves.
"""

import pytest

from sync.check.message import CHECK
from sync.group import values
from sync.machine import SECOND
from sync.sessions.session import SESSION_WITHIN
from sync.sessions.sessions import TOO_LONG
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, SyncId
from sync.waku import reconcile
from sync.waku.message import EVERYTHING, RANGES_MAX, RECONCILIATION, Bounds, Fingerprint
from sync.waku.reconcile import ROUNDS_MAX
from tests.support.storage.archives import scattered
from tests.support.sync.entries import CHANNEL
from tests.support.sync.groups import NOW, only
from tests.support.sync.pairs import pair
from tests.support.sync.waku.attacked import (
    GARBAGE,
    STREAM,
    attacked,
    check_unharmed,
    ended,
    fingerprint,
    offer,
    ranges,
    tell,
)
from tests.support.sync.waku.sets import subset_with_zero_xor

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
