"""SDS, rule by rule: send, receive, deliver, and ephemeral messages."""

import pytest
from msgspec.structs import replace

from sync.errors import LocalError
from sync.machine import HOUR, MINUTE, SECOND, Tick
from sync.sds.causal import POURED_FOR, POURING
from sync.sds.channel import Channel
from sync.sds.events import (
    Broadcast,
    Delivered,
    EphemeralArrived,
    Held,
    ReferenceClock,
    Send,
    SendAgain,
    SendEphemeral,
)
from sync.sds.history import TIPS_MAX, TORRENT_MAX
from sync.sds.message import Kind, Message
from sync.sds.parameters import LAN
from sync.structures.bloom import ReceivedFilter
from tests.support.sync.channels import (
    CHANNEL,
    NOW,
    NOW_MS,
    advance,
    channel,
    hear,
    message,
    message_id,
    named,
    names,
    only,
    peer,
    received,
    say,
    sync_message,
)

# --- Send Message ------------------------------------------------------------------------------


def test_the_first_message_carries_the_epoch_in_milliseconds() -> None:
    alice = channel("alice")

    sent = say(alice, "hello")

    assert sent.lamport == NOW_MS
    assert sent.kind is Kind.CONTENT


def test_what_a_message_is_about_is_named_before_what_every_message_names() -> None:
    alice = channel("alice")
    for number in range(5):
        hear(alice, message(f"line {number}", lamport=NOW_MS + number))
    about = named("line 0", "line 4")

    regular = names(alice.log.content_history(LAN.history_size))
    [sent] = only(Broadcast, alice.handle(Send("hello", about), NOW))

    history = names(sent.message.causal_history)
    assert history[:2] == names(about)
    assert history[2:] == [one for one in regular if one not in names(about)]
    assert names(say(alice, "again").causal_history)[-1] == sent.message.message_id


def pour(alice: Channel, count: int, *, since: int = 0, bulk: bool = False) -> list[Message]:
    """Let so many lines come within a second, each of which builds on the one before."""
    poured = [message(f"flood {since}", sender="mallory", lamport=NOW_MS + since)]
    for number in range(since + 1, since + count):
        after = named(f"flood {number - 1}")
        poured.append(message(f"flood {number}", "mallory", after, NOW_MS + number))
    for sent in poured:
        alice.handle(replace(received(sent), bulk=bulk), NOW)
    return poured


def test_nothing_builds_on_a_torrent_until_it_is_over_for_a_while_but_it_is_acknowledged() -> None:
    alice = channel("alice")
    hear(alice, message("calm", lamport=NOW_MS - 1))
    poured = [one.message_id for one in pour(alice, 3 * POURING)]

    during = names(say(alice, "one").causal_history)
    mine = names(say(alice, "two").causal_history)
    synced = [
        id_
        for _, one in advance(alice, NOW + 10 * SECOND)
        if isinstance(one, Broadcast)
        for id_ in names(one.message.causal_history)
    ]
    hear(alice, message("later", sender="carol", lamport=NOW_MS + 10_000), NOW + SECOND)
    answered = names(say(alice, "three", NOW + 11 * SECOND).causal_history)
    after = names(say(alice, "four", NOW + POURED_FOR).causal_history)

    assert not {*during, *mine, *answered} & {*poured[POURING:]}
    assert message_id("later") in answered
    assert {*poured} <= {*synced, *during, *mine}
    assert len(after) == LAN.history_size


def test_a_torrent_goes_on_over_the_turn_of_a_second_and_is_remembered_within_bounds() -> None:
    alice = channel("alice")
    pour(alice, 2 * POURING)
    for number in range(2 * TORRENT_MAX):
        more = message(f"more {number}", "mallory", lamport=NOW_MS + 100 + number)
        alice.handle(received(more), NOW + SECOND + number)

    assert message_id("more 0") not in alice.log.torrent, "the oldest are forgotten"
    assert len(alice.log.torrent) == TORRENT_MAX
    assert not {*names(say(alice, "hello", NOW + 2 * SECOND).causal_history)} & {*alice.log.torrent}


def test_a_history_that_is_transferred_and_few_lines_are_no_torrent() -> None:
    alice = channel("alice")

    [*_, newest] = pour(alice, 3 * POURING, bulk=True)
    before = names(say(alice, "one").causal_history)
    pour(alice, POURING, since=1000)

    assert newest.message_id in before
    assert not alice.log.torrent


def test_each_message_rises_above_the_last_even_within_a_millisecond() -> None:
    alice = channel("alice")

    lamports = [say(alice, text).lamport for text in ("one", "two", "three")]

    assert lamports == [NOW_MS, NOW_MS + 1, NOW_MS + 2]


def test_every_message_says_who_sends_it_and_in_which_channel() -> None:
    alice = channel("alice")
    hear(alice, message("one"))

    line = say(alice, "hello")
    sync = [
        one.message for _, one in advance(alice, NOW + 60 * SECOND) if isinstance(one, Broadcast)
    ]
    [ephemeral] = only(Broadcast, alice.handle(SendEphemeral(b"typing"), NOW))

    for sent in (line, sync[0], ephemeral.message):
        assert (sent.sender_id, sent.channel_id) == (peer("alice"), CHANNEL)


def test_a_message_rises_above_what_was_delivered() -> None:
    alice = channel("alice")
    hear(alice, message("ahead", lamport=NOW_MS + 500))

    assert say(alice, "hello").lamport == NOW_MS + 501


def test_messages_are_stamped_with_the_reference_clock() -> None:
    alice = channel("alice")
    alice.handle(ReferenceClock(-60 * SECOND), NOW)

    assert say(alice, "hello").lamport == NOW_MS - 60_000


def test_an_own_message_is_delivered_before_it_is_sent() -> None:
    alice = channel("alice")

    delivered, broadcast = alice.handle(Send("hello"), NOW)

    assert isinstance(delivered, Delivered)
    assert isinstance(broadcast, Broadcast)
    assert delivered == Delivered(broadcast.message.message_id, after_gap=False)


def test_a_message_carries_the_filter_of_what_was_received_before_it() -> None:
    alice = channel("alice")
    before = hear(alice, message("before"))

    sent = say(alice, "hello")

    assert before
    assert sent.bloom_filter is not None
    carried = ReceivedFilter.read(sent.bloom_filter, LAN.bloom)
    assert message_id("before") in carried
    assert sent.message_id not in carried
    assert sent.message_id in alice.filter


def test_a_causal_history_names_first_what_nobody_has_named() -> None:
    alice = channel("alice")
    hear(alice, message("one", lamport=1))
    hear(alice, message("alone", sender="carol", lamport=2))
    hear(alice, message("two", after=named("one"), lamport=3))
    hear(alice, message("three", after=named("two"), lamport=4))

    sent = say(alice, "hello")

    assert names(sent.causal_history) == [message_id("alone"), message_id("three")]


def test_a_causal_history_names_the_newest_two_where_all_but_one_are_named() -> None:
    alice = channel("alice")
    hear(alice, message("one", lamport=1))
    hear(alice, message("two", after=named("one"), lamport=2))
    hear(alice, message("three", after=named("two"), lamport=3))

    sent = say(alice, "hello")

    assert names(sent.causal_history) == [message_id("two"), message_id("three")]


def test_what_a_history_names_comes_with_its_hint_and_sender() -> None:
    alice = channel("alice")
    heard = message("one", sender="bob")
    hear(alice, heard)

    [entry] = say(alice, "hello").causal_history

    assert entry.retrieval_hint == bytes.fromhex(heard.message_id)
    assert entry.sender_id == peer("bob")


# --- Receive and Deliver Message ---------------------------------------------------------------


def test_a_message_without_unmet_dependencies_is_delivered_at_once() -> None:
    alice = channel("alice")

    effects = hear(alice, message("one"))

    assert effects == [Delivered(message_id("one"), after_gap=False)]
    assert message_id("one") in alice.filter


def test_a_message_that_is_held_back_is_in_the_filter_and_not_in_the_log() -> None:
    alice = channel("alice")

    effects = hear(alice, message("two", after=named("one")))

    assert effects[0] == Held(message_id("two"))
    assert message_id("two") in alice.filter
    assert message_id("two") not in alice.log.order


def test_delivery_moves_the_clock_and_holding_back_does_not() -> None:
    alice = channel("alice")
    alice.handle(Send("hello"), NOW)
    before = alice.lamport

    hear(alice, message("two", after=named("one"), lamport=before + 100))
    held = alice.lamport
    hear(alice, message("one", lamport=before + 50))

    assert held == before
    assert alice.lamport == before + 100


def test_an_old_message_does_not_turn_the_clock_back() -> None:
    alice = channel("alice")
    alice.handle(Send("hello"), NOW)

    hear(alice, message("old", lamport=1))

    assert alice.lamport == NOW_MS


def test_messages_stand_by_time_and_then_by_id() -> None:
    alice = channel("alice")
    ids = sorted(message_id(name) for name in ("a", "b", "c"))
    for name in ("a", "b", "c"):
        hear(alice, message(name, lamport=7))
    hear(alice, message("late", lamport=6))

    assert list(alice.log.order) == [(6, message_id("late")), *((7, id_) for id_ in ids)]


def test_a_message_received_twice_is_delivered_once() -> None:
    alice = channel("alice")
    hear(alice, message("one"))

    again = hear(alice, message("one"))

    assert again == []
    assert len(alice.log.order) == 1


def test_a_message_held_back_and_received_again_stays_held_back_once() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=named("one")))

    again = hear(alice, message("two", after=named("one")))
    freed = hear(alice, message("one"))

    assert again == []
    assert only(Delivered, freed) == [
        Delivered(message_id("one"), after_gap=False),
        Delivered(message_id("two"), after_gap=False),
    ]


def test_an_own_message_that_comes_back_changes_nothing() -> None:
    alice = channel("alice")
    sent = say(alice, "hello")

    effects = alice.handle(received(sent, from_author=False), NOW)

    assert effects == []
    assert sent.message_id in alice.outgoing.pending


def test_a_sync_message_leaves_no_trace_in_log_filter_or_clock() -> None:
    alice = channel("alice")
    say(alice, "hello")
    before = (list(alice.log.order), alice.filter.to_bytes(), alice.lamport, dict(alice.log.tips))

    hear(alice, sync_message("bob"))

    after = (list(alice.log.order), alice.filter.to_bytes(), alice.lamport, dict(alice.log.tips))
    assert after == before
    assert not alice.incoming.waiting


def test_a_sync_message_keeps_its_incremented_lamport_time() -> None:
    alice = channel("alice")
    first = say(alice, "hello")
    alice.handle(ReferenceClock(-HOUR), NOW)  # from here on every time is one above the last

    effects = [effect for _, effect in advance(alice, NOW + MINUTE)]
    syncs = [one.message.lamport for one in only(Broadcast, effects) if not one.message.content]
    answer = say(alice, "still here", NOW + MINUTE)

    times = [time for time in (first.lamport, *syncs, answer.lamport) if time is not None]
    assert len(times) > 4
    assert times == sorted(set(times)), "no two are alike, and the line is the latest"


# --- Ephemeral Messages ------------------------------------------------------------------------


def test_an_ephemeral_message_carries_only_its_content_and_is_not_kept() -> None:
    alice, bob = channel("alice"), channel("bob")

    [broadcast] = only(Broadcast, alice.handle(SendEphemeral(b"typing"), NOW))
    effects = hear(bob, broadcast.message)

    sent = broadcast.message
    assert sent.kind is Kind.EPHEMERAL
    assert (sent.lamport, sent.causal_history, sent.bloom_filter) == (None, (), None)
    assert not alice.outgoing.pending
    assert effects == [EphemeralArrived(peer("alice"), b"typing")]
    assert not len(bob.log.order)


def test_an_ephemeral_message_is_delivered_while_others_wait() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=named("one")))

    typing = Message(peer("bob"), message_id("typing"), alice.channel_id, None, content=b"typing")

    assert hear(alice, typing) == [EphemeralArrived(peer("bob"), b"typing")]


# --- All the time ------------------------------------------------------------------------------


def test_nothing_is_due_while_nobody_is_connected_and_nothing_is_missing() -> None:
    alice = channel("alice", peers=0)
    say(alice, "hello")

    assert alice.deadline() is None
    assert alice.handle(Tick(), NOW + 3600 * SECOND) == []


def test_every_deadline_is_over_once_it_was_ticked() -> None:
    alice = channel("alice")
    say(alice, "hello")
    hear(alice, message("two", after=named("one")))

    times = [at for at, _ in advance(alice, NOW + 900 * SECOND)]

    assert times == sorted(times)
    due = alice.deadline()
    assert due is not None
    assert due > NOW + 900 * SECOND


def test_only_an_own_waiting_message_can_be_sent_again() -> None:
    alice = channel("alice")
    hear(alice, message("one"))

    with pytest.raises(LocalError, match="does not wait"):
        alice.handle(SendAgain(message_id("one")), NOW)


def test_of_too_many_tips_the_oldest_are_forgotten() -> None:
    alice = channel("alice")
    for number in range(TIPS_MAX + 1):
        hear(alice, message(f"m{number}", lamport=number))

    kept = {lamport for lamport, _ in alice.log.tips.values()}

    assert TIPS_MAX // 2 < len(kept) <= TIPS_MAX
    assert min(kept) == TIPS_MAX + 1 - len(kept), "and no newer one"
