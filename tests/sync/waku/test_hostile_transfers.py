"""Messages that a peer pushes: unasked, late, forged or too old, they change nothing."""

import pytest
from msgspec.structs import replace

from sync.group import values
from sync.machine import HOUR, MILLISECOND, Tick
from sync.sds.wire import decode, encode
from sync.sessions.grace import GRACE
from sync.sessions.receiving import WAITING_MAX
from sync.waku.message import (
    EVERYTHING,
    PAYLOAD_BYTES_MAX,
    ItemSet,
    WakuMessage,
    content_topic,
    sync_id,
)
from sync.waku.wire import decode_transfer, encode_transfer
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, only
from tests.support.sync.pairs import TOPIC, transfer
from tests.support.sync.waku.attacked import STREAM, attacked, check_unharmed, offer, ranges, tell


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
        loose = encode(replace(decode(stored.payload), bloom_filter=bytes(1800)))
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
