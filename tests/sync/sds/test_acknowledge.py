"""Acknowledgement: causal histories prove, filters hint, and unacknowledged messages are resent."""

from collections.abc import Sequence
from itertools import pairwise

import pytest

from sync.machine import HOUR, SECOND, MessageId, Nanos, Tick
from sync.sds.acknowledge import (
    RESEND_BURST,
    RESEND_PAUSE,
    TELL_AFTER,
    TELL_BURST,
    TELL_PAUSE,
    TOLD_AT_ONCE,
)
from sync.sds.channel import Channel
from sync.sds.events import (
    Broadcast,
    Connected,
    Delivered,
    DeliveryChanged,
    Effect,
    FilterIgnored,
    Rebroadcast,
    SendAgain,
)
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sds.parameters import LAN
from sync.structures.bloom import RollingBloomFilter
from sync.structures.bloom_parameters import LAN as BLOOM
from tests.support.sync.channels import (
    NOW,
    advance,
    channel,
    hear,
    message,
    message_id,
    only,
    peer,
    received,
    say,
    sync_message,
)

ALL_ONES = b"\xff" * BLOOM.size_bytes


def naming(*sent: Message) -> tuple[HistoryEntry, ...]:
    return tuple(HistoryEntry(one.message_id, None, one.sender_id) for one in sent)


def filter_of(*sent: Message) -> bytes:
    bloom = RollingBloomFilter(BLOOM)
    for one in sent:
        bloom.insert(one.message_id)
    return bloom.to_bytes()


def state_of(one: Channel, sent: Message) -> Delivery:
    pending = one.outgoing.pending.get(sent.message_id)
    return Delivery.ACKNOWLEDGED if pending is None else pending.delivery


def resends(one: Channel, until: Nanos) -> list[Nanos]:
    """Seconds from now at which messages are sent again."""
    return [
        (at - NOW) // SECOND
        for at, effect in advance(one, until)
        if isinstance(effect, Rebroadcast)
    ]


# --- Names -------------------------------------------------------------------------------------


def test_a_reply_acknowledges_what_it_builds_on() -> None:
    alice, bob = channel("alice"), channel("bob")
    hello = say(alice, "hello")
    hear(bob, hello)
    reply = say(bob, "hi")

    effects = hear(alice, reply)

    assert effects[0] == DeliveryChanged(hello.message_id, Delivery.ACKNOWLEDGED, 0)
    assert not alice.outgoing.pending


def test_a_sync_message_acknowledges_what_it_names() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")

    effects = hear(alice, sync_message("bob", naming(hello)))

    assert effects == [DeliveryChanged(hello.message_id, Delivery.ACKNOWLEDGED, 0)]


def test_a_reply_acknowledges_even_while_it_waits_itself() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    reply = message("reply", after=(*naming(hello), HistoryEntry(message_id("absent"))))

    hear(alice, reply)

    assert message_id("reply") in alice.incoming.waiting
    assert state_of(alice, hello) is Delivery.ACKNOWLEDGED


def test_a_reply_that_came_by_another_way_acknowledges_as_well() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")

    alice.handle(received(message("reply", after=naming(hello)), from_author=False), NOW)

    assert state_of(alice, hello) is Delivery.ACKNOWLEDGED


def test_our_own_naming_proves_nothing() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    mine_from_elsewhere = message("mine", sender="alice", after=naming(hello))

    alice.handle(received(mine_from_elsewhere), NOW)

    assert state_of(alice, hello) is Delivery.UNACKNOWLEDGED


# --- Filters -----------------------------------------------------------------------------------


def test_a_filter_only_ever_says_possibly() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")

    states = []
    for number in range(100):
        hear(alice, sync_message(f"peer {number}", bloom_filter=filter_of(hello)))
        states.append(state_of(alice, hello))

    assert set(states) == {Delivery.POSSIBLY_ACKNOWLEDGED}


def test_only_the_first_filter_with_a_message_is_news_and_distinct_peers_are_counted() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")

    first = hear(alice, sync_message("bob", bloom_filter=filter_of(hello)))
    again = [hear(alice, sync_message("bob", bloom_filter=filter_of(hello))) for _ in range(9)]
    carol = hear(alice, sync_message("carol", bloom_filter=filter_of(hello)))

    assert first == [DeliveryChanged(hello.message_id, Delivery.POSSIBLY_ACKNOWLEDGED, 0)]
    assert again == [[]] * 9
    assert carol == []
    assert alice.outgoing.pending[hello.message_id].possibly_by == {peer("bob"), peer("carol")}


def told(happened: Sequence[tuple[Nanos, Effect]]) -> dict[Nanos, list[MessageId]]:
    """Return of which messages was told at which time that they are possibly acknowledged."""
    times: dict[Nanos, list[MessageId]] = {}
    for at, effect in happened:
        if isinstance(effect, DeliveryChanged):
            assert effect.delivery is Delivery.POSSIBLY_ACKNOWLEDGED
            times.setdefault(at, []).append(effect.message_id)
    return times


def test_of_many_in_a_filter_those_are_told_later_that_nobody_has_named_by_then() -> None:
    alice = channel("alice")
    sent = [say(alice, f"line {number}") for number in range(TELL_BURST + 30)]
    ids = [one.message_id for one in sent]

    heard = hear(alice, sync_message("bob", bloom_filter=filter_of(*sent)))
    states = {state_of(alice, one) for one in sent}
    named = hear(alice, sync_message("bob", naming(*sent[:20])))

    assert heard == []
    assert states == {Delivery.POSSIBLY_ACKNOWLEDGED}
    assert named == [DeliveryChanged(one, Delivery.ACKNOWLEDGED, 0) for one in ids[:20]]
    first = NOW + TELL_AFTER
    times = told([(first, one) for _ in range(2) for one in alice.handle(Tick(), first)])
    times |= told(advance(alice, NOW + 3 * SECOND))
    assert {at: len(some) for at, some in times.items()} == {
        first: TELL_BURST,
        first + TELL_PAUSE: 10,
    }
    assert sorted(one for some in times.values() for one in some) == sorted(ids[20:])


def test_a_few_in_a_filter_are_told_at_once_and_not_again() -> None:
    alice = channel("alice")
    sent = [say(alice, f"line {number}") for number in range(TOLD_AT_ONCE)]

    heard = hear(alice, sync_message("bob", bloom_filter=filter_of(*sent)))

    assert set(told([(NOW, one) for one in heard])[NOW]) == {one.message_id for one in sent}
    assert told(advance(alice, NOW + 3 * SECOND)) == {}


def test_what_the_person_sends_again_is_not_told_to_be_possibly_acknowledged() -> None:
    alice = channel("alice")
    sent = [say(alice, f"line {number}") for number in range(TOLD_AT_ONCE + 1)]
    hear(alice, sync_message("bob", bloom_filter=filter_of(*sent)))

    alice.handle(SendAgain(sent[0].message_id), NOW)

    [(at, ids)] = told(advance(alice, NOW + 3 * SECOND)).items()
    assert at == NOW + TELL_AFTER
    assert set(ids) == {one.message_id for one in sent[1:]}


def test_a_filter_without_our_message_changes_nothing() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")

    effects = hear(alice, sync_message("bob", bloom_filter=filter_of(message("other"))))

    assert effects == []
    assert state_of(alice, hello) is Delivery.UNACKNOWLEDGED


def test_a_filter_of_a_relayed_message_does_not_count() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    relayed = message("one", bloom_filter=filter_of(hello))

    alice.handle(received(relayed, from_author=False), NOW)

    assert state_of(alice, hello) is Delivery.UNACKNOWLEDGED


@pytest.mark.parametrize("malformed", [b"", b"short", ALL_ONES, ALL_ONES + b"\0"])
def test_a_malformed_filter_is_ignored_and_its_message_delivered(malformed: bytes) -> None:
    alice = channel("alice")
    hello = say(alice, "hello")

    effects = hear(alice, message("one", bloom_filter=malformed))

    assert [one.sender_id for one in only(FilterIgnored, effects)] == [peer("bob")]
    assert only(Delivered, effects) == [Delivered(message_id("one"), after_gap=False)]
    assert state_of(alice, hello) is Delivery.UNACKNOWLEDGED


def test_a_filter_counts_again_on_a_known_message() -> None:
    alice, bob = channel("alice"), channel("bob")
    first = say(bob, "hi")
    hear(alice, first)
    hello = say(alice, "hello")
    resent = message("again", bloom_filter=filter_of(hello))
    hear(alice, message("again"))

    hear(alice, resent)

    assert state_of(alice, hello) is Delivery.POSSIBLY_ACKNOWLEDGED


# --- Sending again -----------------------------------------------------------------------------


def test_an_unacknowledged_message_is_sent_again_five_times_ever_later_and_then_fails() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")

    happened = advance(alice, NOW + 400 * SECOND)
    times = [(at - NOW) // SECOND for at, one in happened if isinstance(one, Rebroadcast)]
    failed = [(at, one) for at, one in happened if isinstance(one, DeliveryChanged)]

    assert times == [5, 15, 35, 75, 155]
    assert failed == [
        (NOW + 315 * SECOND, DeliveryChanged(hello.message_id, Delivery.FAILED, LAN.resend_max))
    ]


def test_what_is_sent_again_carries_the_filter_of_then_and_is_counted() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    hear(alice, message("one"), NOW + SECOND)

    [resent] = [one for _, one in advance(alice, NOW + 5 * SECOND) if isinstance(one, Rebroadcast)]

    assert resent.message_id == hello.message_id
    assert resent.bloom_filter == alice.filter.to_bytes()
    assert (resent.attempts, resent.delivery) == (1, Delivery.UNACKNOWLEDGED)


def test_a_possibly_acknowledged_message_is_sent_again_ever_later_and_never_fails() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    hear(alice, sync_message("bob", bloom_filter=filter_of(hello)))

    times = resends(alice, NOW + 2600 * SECOND)
    days = resends(alice, NOW + 4 * 24 * HOUR)

    assert times == [20, 60, 140, 300, 620, 1260, 2540]
    pauses = [later - earlier for earlier, later in pairwise(times + days)]
    assert sorted(pauses) == pauses
    assert pauses[-2:] == [24 * HOUR // SECOND] * 2
    assert state_of(alice, hello) is Delivery.POSSIBLY_ACKNOWLEDGED


def test_no_attempt_is_counted_while_nobody_is_connected() -> None:
    alice = channel("alice", peers=0)
    hello = say(alice, "hello")
    alone = resends(alice, NOW + 3600 * SECOND)

    alice.handle(Connected(1), NOW)
    alice.handle(Connected(0), NOW + 4 * SECOND)
    interrupted = resends(alice, NOW + 60 * SECOND)
    alice.handle(Connected(2), NOW + 60 * SECOND)
    together = resends(alice, NOW + 80 * SECOND)

    assert (alone, interrupted, together) == ([], [], [65, 75])
    assert alice.outgoing.pending[hello.message_id].attempts == 2


def test_a_second_peer_does_not_start_the_countdown_anew() -> None:
    alice = channel("alice")
    say(alice, "hello")

    alice.handle(Connected(2), NOW + 4 * SECOND)

    assert resends(alice, NOW + 6 * SECOND) == [5]


def test_an_acknowledged_message_is_not_sent_again() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    hear(alice, sync_message("bob", naming(hello)))

    assert resends(alice, NOW + 400 * SECOND) == []


@pytest.mark.parametrize(
    ("evidence", "state"),
    [("name", Delivery.ACKNOWLEDGED), ("filter", Delivery.POSSIBLY_ACKNOWLEDGED)],
)
def test_a_failed_message_still_turns_on_later_evidence(evidence: str, state: Delivery) -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    advance(alice, NOW + 400 * SECOND)
    failed = state_of(alice, hello)
    by_name = sync_message("bob", naming(hello))
    by_filter = sync_message("bob", bloom_filter=filter_of(hello))

    hear(alice, by_name if evidence == "name" else by_filter, NOW + 500 * SECOND)

    assert failed is Delivery.FAILED
    assert state_of(alice, hello) is state


def test_a_failed_message_that_the_person_sends_again_begins_anew() -> None:
    alice = channel("alice")
    hello = say(alice, "hello")
    advance(alice, NOW + 400 * SECOND)

    changed, resent = alice.handle(SendAgain(hello.message_id), NOW + 400 * SECOND)
    times = resends(alice, NOW + 500 * SECOND)

    assert changed == DeliveryChanged(hello.message_id, Delivery.UNACKNOWLEDGED, 0)
    assert isinstance(resent, Rebroadcast)
    assert times == [405, 415, 435, 475]


def test_a_backlog_goes_out_in_portions() -> None:
    alice = channel("alice")
    for number in range(3 * RESEND_BURST + 1):
        say(alice, f"line {number}")

    first = alice.outgoing.deadline()
    assert first is not None
    portions = []
    for _ in range(4):
        due = alice.outgoing.deadline()
        assert due is not None
        again = len(alice.outgoing.sweep(due)[0])
        portions.append((due - first, again, len(alice.outgoing.sweep(due)[0])))

    pauses = [number * RESEND_PAUSE for number in range(4)]
    sizes = [RESEND_BURST, RESEND_BURST, RESEND_BURST, 1]
    assert portions == [(pause, size, 0) for pause, size in zip(pauses, sizes, strict=True)]


def test_two_people_reach_acknowledged_for_every_line() -> None:
    alice, bob = channel("alice"), channel("bob")
    for number in range(100):
        hear(bob, say(alice, f"line {number}"))

    for _, effect in advance(bob, NOW + 10 * SECOND):
        if isinstance(effect, Broadcast):
            hear(alice, effect.message, NOW + 10 * SECOND)

    assert not alice.outgoing.pending
