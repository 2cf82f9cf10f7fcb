"""Sync messages that a participant sends unasked: their timing, and what they name."""

import random
from itertools import pairwise
from statistics import median

import pytest

from sync.machine import SECOND, Nanos
from sync.sds.channel import SYNC_BURST, Channel
from sync.sds.events import Broadcast, Connected
from sync.sds.message import HISTORY_MAX, Kind, Message
from sync.sds.parameters import LAN, WAKU
from sync.sds.timing import CROWD, SyncTimer
from tests.support.sync.channels import (
    NOW,
    advance,
    channel,
    hear,
    message,
    message_id,
    named,
    names,
    received,
    say,
    sync_message,
)
from tests.support.sync.rooms import Room

SEEDS = range(20)
OWED_MIN, OWED_MAX = LAN.acknowledge_within
IDLE_MIN, IDLE_MAX = LAN.idle_within


def sent_by(one: Channel, until: Nanos) -> list[tuple[Nanos, Message]]:
    """Return what `one` broadcasts unasked, with the times."""
    return [
        (at, effect.message) for at, effect in advance(one, until) if isinstance(effect, Broadcast)
    ]


def next_sync(one: Channel) -> Nanos:
    assert one.next_sync_at is not None
    return one.next_sync_at


def settled(name: str, *, seed: int = 0, peers: int = 1) -> Channel:
    """A channel with one message in its log and nothing to tell anybody."""
    one = channel(name, seed=seed, peers=peers)
    hear(one, message("old"))
    hear(one, sync_message("carol", named("old")))
    return one


# --- What is owed ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_delivery_that_nobody_has_named_is_acknowledged_within_seconds(seed: int) -> None:
    alice = channel("alice", seed=seed)
    hear(alice, message("one"))

    [(at, sent), *_] = sent_by(alice, NOW + 5 * SECOND)

    assert OWED_MIN <= at - NOW <= OWED_MAX
    assert sent.kind is Kind.SYNC
    assert names(sent.causal_history) == [message_id("one")]


def test_the_delays_differ_so_that_a_group_does_not_speak_at_once() -> None:
    delays = set()
    for seed in SEEDS:
        alice = channel("alice", seed=seed)
        hear(alice, message("one"))
        delays.add(next_sync(alice))

    assert len(delays) == len(SEEDS)


def test_it_is_cancelled_when_another_names_the_delivery() -> None:
    alice = channel("alice")
    hear(alice, message("one", sender="bob"))

    hear(alice, sync_message("carol", named("one")), NOW + 1)

    assert not alice.log.owed
    assert next_sync(alice) - NOW >= IDLE_MIN


def test_it_is_not_cancelled_by_the_author_naming_its_own_message() -> None:
    alice = channel("alice")
    hear(alice, message("one", sender="bob", lamport=1))

    hear(alice, message("two", sender="bob", after=named("one"), lamport=2))

    assert list(alice.log.owed) == [message_id("one"), message_id("two")]


def test_it_is_cancelled_by_a_reply_of_our_own() -> None:
    alice = channel("alice")
    hear(alice, message("one"))

    reply = say(alice, "hi")

    assert names(reply.causal_history) == [message_id("one")]
    assert not alice.log.owed


def test_a_message_that_others_named_before_it_came_is_not_owed() -> None:
    alice = channel("alice")
    hear(alice, message("reply", sender="carol", after=named("one")))

    hear(alice, message("one", sender="bob"))

    assert list(alice.log.owed) == [message_id("reply")]


def test_a_message_from_a_third_party_is_not_owed_to_its_author() -> None:
    alice = channel("alice")

    alice.handle(received(message("one"), from_author=False), NOW)

    assert not alice.log.owed


def test_an_author_who_sends_again_does_not_know_and_is_told_again() -> None:
    alice = channel("alice")
    hear(alice, message("one"))
    sent_by(alice, NOW + 4 * SECOND)
    told = dict(alice.log.owed)

    hear(alice, message("one"), NOW + 5 * SECOND)

    assert told == {}
    assert list(alice.log.owed) == [message_id("one")]
    assert next_sync(alice) - NOW - 5 * SECOND <= OWED_MAX


def test_many_owed_messages_are_named_oldest_first_in_bursts_within_seconds() -> None:
    alice = channel("alice")
    count = SYNC_BURST * HISTORY_MAX + 100
    for number in range(count):
        hear(alice, message(f"m{number}", lamport=number))

    sent = sent_by(alice, NOW + 5 * SECOND)

    named_ids = [entry for _, one in sent for entry in names(one.causal_history)]
    assert set(named_ids) == {message_id(f"m{number}") for number in range(count)}
    assert names(sent[0][1].causal_history)[:3] == [message_id(f"m{n}") for n in range(3)]
    assert all(len(one.causal_history) <= HISTORY_MAX for _, one in sent)
    first_burst = [one for at, one in sent if at == sent[0][0]]
    assert len(first_burst) == SYNC_BURST


def test_what_was_owed_while_nobody_was_there_is_told_in_its_time() -> None:
    alice = channel("alice")
    hear(alice, message("one"))
    alice.handle(Connected(0), NOW)
    alone = alice.next_sync_at

    alice.handle(Connected(1), NOW + 3600 * SECOND)

    assert alone is None
    assert OWED_MIN <= next_sync(alice) - NOW - 3600 * SECOND <= OWED_MAX


@pytest.mark.parametrize("peers", [21, 200, 1000])
def test_in_a_crowd_of_any_size_few_delays_are_short_but_the_first_is(peers: int) -> None:
    rng = random.Random(peers)
    delays = []
    for _ in range(peers):
        timer = SyncTimer(LAN, rng, peers)
        timer.owe(NOW)
        assert timer.owed_at is not None
        delays.append((timer.owed_at - NOW - OWED_MIN) / (OWED_MAX - OWED_MIN))

    assert all(0 <= delay <= 1 for delay in delays)
    assert min(delays) < 0.4
    assert sum(delay < min(delays) + 0.1 for delay in delays) <= 6, "before they can hear the first"
    assert median(delays) > 0.6


def test_a_small_group_draws_its_delays_evenly() -> None:
    rng = random.Random(0)
    delays = []
    for _ in range(1000):
        timer = SyncTimer(LAN, rng, peers=CROWD)
        timer.owe(NOW)
        assert timer.owed_at is not None
        delays.append((timer.owed_at - NOW - OWED_MIN) / (OWED_MAX - OWED_MIN))

    for fifth in range(5):
        assert 150 <= sum(fifth <= 5 * delay < fifth + 1 for delay in delays) <= 250


def test_a_crowd_acknowledges_a_line_with_a_few_sync_messages() -> None:
    room = Room([f"peer {number}" for number in range(100)])

    hello = room.write("peer 0", "hello")
    room.run(OWED_MAX + SECOND)

    acknowledging = [
        who for _, who, one in room.happened
        if isinstance(one, Broadcast) and hello in names(one.message.causal_history)
    ]  # fmt: skip
    assert 1 <= len(acknowledging) <= 8
    assert hello not in room.channels["peer 0"].outgoing.pending


# --- The idle interval -------------------------------------------------------------------------


def test_a_sync_message_has_no_content_and_an_incremented_time() -> None:
    alice = settled("alice")
    before = alice.lamport

    [(at, first), (_, second), *_] = sent_by(alice, NOW + 60 * SECOND)

    assert at > NOW
    assert first.kind is Kind.SYNC
    assert first.lamport is not None
    assert second.lamport is not None
    assert before < first.lamport < second.lamport
    assert first.bloom_filter is not None
    assert first.message_id != second.message_id


def test_a_sync_message_is_named_by_nothing_and_sent_only_once() -> None:
    alice = settled("alice")
    [(_, sync), *_] = sent_by(alice, NOW + 60 * SECOND)

    reply = say(alice, "hello", NOW + 60 * SECOND)

    assert sync.message_id not in names(reply.causal_history)
    assert sync.message_id not in alice.outgoing.pending
    assert sync.message_id not in alice.log.order
    assert sync.message_id not in alice.filter


def test_nothing_is_said_about_an_empty_log() -> None:
    alice = channel("alice")

    assert sent_by(alice, NOW + 600 * SECOND) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_while_nothing_happens_the_interval_doubles_up_to_a_minute(seed: int) -> None:
    alice = settled("alice", seed=seed)

    times = [at for at, _ in sent_by(alice, NOW + 900 * SECOND)]
    gaps = [later - earlier for earlier, later in pairwise(times)]

    assert IDLE_MIN <= times[0] - NOW <= IDLE_MAX
    for number, gap in enumerate(gaps, start=1):
        assert min(IDLE_MIN << number, LAN.idle_max // 2) <= gap <= LAN.idle_max, f"seed={seed}"
    assert len(set(gaps[-3:])) == 3, "even at its longest it is drawn"


def test_the_interval_stays_short_while_a_message_is_unacknowledged() -> None:
    alice = settled("alice")
    say(alice, "hello")

    times = [at for at, _ in sent_by(alice, NOW + 60 * SECOND)]
    gaps = [later - earlier for earlier, later in pairwise(times)]

    assert max(gaps) <= IDLE_MAX


def test_the_interval_stays_short_while_a_message_is_missing() -> None:
    alice = settled("alice")
    hear(alice, sync_message("bob", named("absent")))

    times = [at for at, _ in sent_by(alice, NOW + 60 * SECOND)]
    gaps = [later - earlier for earlier, later in pairwise(times)]

    assert max(gaps) <= IDLE_MAX


def test_a_message_that_failed_does_not_keep_the_channel_awake() -> None:
    alice = settled("alice")
    say(alice, "hello")
    sent_by(alice, NOW + 400 * SECOND)

    times = [at for at, _ in sent_by(alice, NOW + 1200 * SECOND)]

    assert times[-1] - times[-2] >= LAN.idle_max // 2


def test_whoever_hears_a_broadcast_waits_again() -> None:
    alice = settled("alice")
    due = next_sync(alice)

    hear(alice, sync_message("bob", named("old")), due - 1)

    assert next_sync(alice) >= due - 1 + IDLE_MIN


def test_it_waits_as_long_again_for_its_delay_is_drawn_once_for_each_time_it_speaks() -> None:
    alice = settled("alice")
    due = next_sync(alice)
    for second in range(1, 10):
        hear(alice, sync_message("bob", named("old")), NOW + second * SECOND)
    restarted = next_sync(alice)
    [(at, _), *_] = sent_by(alice, NOW + 60 * SECOND)

    assert restarted == due + 9 * SECOND
    assert at == restarted
    assert next_sync(alice) - at != 2 * (due - NOW), "a new draw"


def test_to_look_at_the_countdowns_changes_nothing() -> None:
    alice = settled("alice")
    before = alice._rng.getstate()

    times = {(alice.deadline(), alice.next_sync_at) for _ in range(3)}

    assert len(times) == 1
    assert alice._rng.getstate() == before


def test_a_sync_message_that_names_less_than_ours_would_does_not_silence_us() -> None:
    alice = settled("alice")
    hear(alice, message("alone", sender="dave", lamport=1_001))
    hear(alice, sync_message("carol", named("old", "alone")))
    due = next_sync(alice)

    hear(alice, sync_message("bob", named("old")), NOW + SECOND // 2)
    less = next_sync(alice)
    hear(alice, sync_message("bob", named("old", "alone", "old")), NOW + SECOND // 2)

    assert less == due
    assert next_sync(alice) == due + SECOND // 2


def test_any_line_that_somebody_writes_makes_us_wait_again() -> None:
    alice = settled("alice")
    due = next_sync(alice)

    hear(alice, message("old"), NOW + SECOND // 2)

    assert alice._timer.idle_at == due + SECOND // 2


def test_something_new_brings_the_short_interval_back() -> None:
    alice = settled("alice")
    sent_by(alice, NOW + 600 * SECOND)

    hear(alice, message("news"), NOW + 600 * SECOND)
    hear(alice, sync_message("carol", named("news")), NOW + 600 * SECOND)

    assert next_sync(alice) - NOW - 600 * SECOND <= IDLE_MAX


def test_a_crowd_waits_longer_each_so_that_it_speaks_no_more_often() -> None:
    alone = settled("alice", peers=20)
    crowd = settled("alice", peers=50)

    assert 2 * (next_sync(alone) - NOW) < next_sync(crowd) - NOW <= 3 * (next_sync(alone) - NOW)


def test_the_other_profile_speaks_within_half_a_minute() -> None:
    alice = channel("alice", parameters=WAKU)
    hear(alice, message("one"))

    [(at, _), *_] = sent_by(alice, NOW + 31 * SECOND)

    assert at - NOW <= 30 * SECOND


def test_an_idle_sync_message_names_the_newest_once_more() -> None:
    alice = channel("alice")
    for number in range(HISTORY_MAX + 4):
        after = named(f"m{number - 1}") if number else ()
        hear(alice, message(f"m{number}", after=after, lamport=number))
    alice.log.owed.clear()

    [(_, sent), *_] = sent_by(alice, NOW + 60 * SECOND)

    assert names(sent.causal_history) == [
        message_id(f"m{number}") for number in range(4, HISTORY_MAX + 4)
    ]


def test_what_no_message_names_is_named_in_turn_for_nothing_else_tells_that_it_was_lost() -> None:
    alice = channel("alice")
    count = 2 * HISTORY_MAX + 4
    for number in range(count):
        hear(alice, message(f"m{number}", lamport=number))
    alice.log.owed.clear()

    sent = [names(one.causal_history) for _, one in sent_by(alice, NOW + 120 * SECOND)]

    assert all(len(ids) == HISTORY_MAX for ids in sent)
    assert set(sent[0] + sent[1] + sent[2]) == {message_id(f"m{n}") for n in range(count)}
