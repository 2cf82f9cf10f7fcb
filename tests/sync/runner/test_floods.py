"""Floods: who sends much has turns, and a share of what waits, by inputs and by bytes."""

import gc
import sys

from sync.errors import DecodeError
from sync.group import values
from sync.runner.batch import BATCH_MAX, Batch
from sync.runner.input_queue import (
    BURST,
    CROWDED_BY_ONE,
    FAIR_FROM,
)
from sync.runner.weights import BYTES_CROWDED, BYTES_OF_ONE, BYTES_OF_TURN, BYTES_SHARED
from tests.support.sync.alone.turned import Driver
from tests.support.sync.entries import CHANNEL
from tests.support.sync.entries import Author as Writer
from tests.support.sync.groups import NOW


def flooded(driver: Driver, count: int) -> tuple[list[values.StoredMessage], values.StoredMessage]:
    """`count` frames of mallory wait, and behind them one of carol."""
    mallory, carol = Writer("mallory"), Writer("carol")
    flood = [mallory.write(f"line {number}") for number in range(count)]
    honest = carol.write("hello")
    for sent in (*flood, honest):
        author = sent.entry.header.author
        driver.runner.queue_input(CHANNEL, values.Arrived(author, sent.payload))
    return flood, honest


def test_a_flood_of_valid_messages_does_not_make_the_others_wait() -> None:
    alice = Driver()
    flood, honest = flooded(alice, FAIR_FROM + 2 * int(BURST))

    first = alice.turn()

    shown = [one.message_id for one in alice.released if isinstance(one, values.Deliver)]
    place = shown.index(honest.entry.message_id)
    assert place == FAIR_FROM + int(BURST), "only what everybody may send comes before"
    assert len(first.inputs) == len(flood) + 1, "and nothing is lost"
    assert shown[:place] + shown[place + 1 :] == [one.entry.message_id for one in flood]


def test_without_a_backlog_nobody_is_put_off() -> None:
    alice = Driver()
    flood, honest = flooded(alice, FAIR_FROM - 1)

    alice.turn()

    shown = [one.message_id for one in alice.released if isinstance(one, values.Deliver)]
    assert shown == [one.entry.message_id for one in (*flood, honest)]


def test_what_was_put_off_counts_as_waiting_and_survives_a_failed_commit() -> None:
    alice = Driver()
    count = BATCH_MAX + 2 * int(BURST)
    flooded(alice, count)
    alice.disk.full = True

    alice.turn()
    waiting = alice.runner.waiting
    alice.disk.full = False
    while alice.runner.busy:
        alice.turn()

    assert waiting >= count + 1 - BATCH_MAX
    assert len(alice.disk.log()) == count + 1 - BATCH_MAX


def test_peers_that_flood_have_turns_and_are_read_no_further_than_their_share() -> None:
    alice = Driver()
    floods = {name: Writer(name) for name in ("mallory", "eve")}
    for name, count in (("mallory", CROWDED_BY_ONE + 3 * int(BURST)), ("eve", 2 * int(BURST))):
        for number in range(count):
            sent = floods[name].write(f"line {number}")
            alice.runner.queue_input(CHANNEL, values.Arrived(floods[name].peer_id, sent.payload))
    carol = Writer("carol").peer_id
    crowded = [alice.runner.inputs.is_crowded_by(one.peer_id) for one in floods.values()]
    backlog = alice.runner.inputs.backlog

    handled = [one.event for one in alice.runner.turn(NOW).inputs]

    of_mallory, of_eve = (one.peer_id for one in floods.values())
    assert crowded == [True, False]
    assert not alice.runner.inputs.is_crowded_by(carol)
    assert not alice.runner.inputs.crowded
    assert set(backlog) == {of_mallory, of_eve}
    at_once = FAIR_FROM + 2 * int(BURST)
    last = [one.peer for one in handled[at_once:][:60] if isinstance(one, values.Arrived)]
    assert last == [last[0], last[1]] * 30, "by turns"
    assert set(last) == {of_mallory, of_eve}


def feed_large(alice: Driver, name: str, size: int, at_most: int) -> int:
    """Feed frames of a peer until it is not read any more; returns their bytes."""
    peer, fed = Writer(name).peer_id, 0
    while not alice.runner.inputs.is_crowded_by(peer) and fed < at_most:
        alice.runner.queue_input(CHANNEL, values.Arrived(peer, bytes(size)))
        fed += size
    return fed


def test_of_large_frames_no_more_bytes_wait_than_the_share_of_their_sender() -> None:
    alice, large = Driver(), 256 * 1024
    of_mallory = feed_large(alice, "mallory", large, 64 * large)
    of_many = [feed_large(alice, f"eve {number}", large, 64 * large) for number in range(100)]
    carol = Writer("carol").peer_id

    assert of_mallory == BYTES_OF_ONE
    assert sum(of_many) + of_mallory < BYTES_CROWDED + large
    crowded = [alice.runner.inputs.crowded]
    while alice.runner.busy:
        alice.turn()
    crowded.append(alice.runner.inputs.crowded)

    assert crowded == [True, False], "so many peers take all there is"
    assert not alice.runner.inputs.is_crowded_by(carol)
    assert not alice.runner.inputs.is_crowded_by(Writer("mallory").peer_id)


def test_those_who_send_large_frames_share_so_much_that_others_are_still_read() -> None:
    alice, large = Driver(), 128 * 1024
    names = [f"eve {number}" for number in range(16)]
    fed = sum(feed_large(alice, name, large, large) for name in names)
    fed += sum(feed_large(alice, name, large, BYTES_OF_ONE) for name in names)

    assert BYTES_SHARED <= fed < BYTES_SHARED + len(names) * large
    assert not alice.runner.inputs.crowded
    assert not alice.runner.inputs.is_crowded_by(Writer("carol").peer_id)


def payload_bytes(batch: Batch) -> int:
    return sum([len(getattr(one.event, "payload", b"")) for one in batch.inputs])


def test_a_turn_ends_with_its_bytes() -> None:
    alice, large = Driver(), 256 * 1024
    for number in range(16):
        peer = Writer(f"eve {number}").peer_id
        alice.runner.queue_input(CHANNEL, values.Arrived(peer, bytes(large)))
    batch = alice.runner.turn(NOW)

    assert payload_bytes(batch) == BYTES_OF_TURN
    assert payload_bytes(alice.runner.turn(NOW)) == BYTES_OF_TURN


def test_what_was_refused_is_gone_with_its_turn() -> None:
    alice, payload = Driver(), bytes(1024)
    gc.collect()
    gc.disable()  # a collection comes when many objects were made, and a large frame is one
    try:
        before = sys.getrefcount(payload)
        alice.runner.queue_input(CHANNEL, values.Arrived(Writer("eve").peer_id, payload))
        batch = alice.runner.turn(NOW)
        refused = [type(failure.error) for failure in batch.failures]
        del batch
        after = sys.getrefcount(payload)
    finally:
        gc.enable()

    assert refused == [DecodeError]
    assert after == before


def test_a_session_and_a_transfer_have_shares_of_bytes_of_their_own() -> None:
    alice, mallory = Driver(), Writer("mallory").peer_id
    feed_large(alice, "mallory", 1024 * 1024, BYTES_CROWDED)
    alice.runner.queue_input(CHANNEL, values.SessionPayload(7, bytes(BYTES_OF_ONE)))
    alice.runner.queue_input(CHANNEL, values.Transferred(mallory, b"little"))

    assert alice.runner.inputs.is_crowded_by(mallory)
    assert alice.runner.inputs.is_crowded_by_session(7)
    assert not alice.runner.inputs.is_crowded_by(mallory, transfers=True)
    assert not alice.runner.inputs.is_crowded_by_session(8)


def test_what_survives_a_failed_commit_still_counts_by_its_bytes() -> None:
    alice = Driver()
    alice.write(1)
    for _ in range(BATCH_MAX):
        alice.runner.queue_input(CHANNEL, values.Typing("alice"))
    alice.runner.queue_input(CHANNEL, values.Arrived(Writer("eve").peer_id, bytes(BYTES_OF_ONE)))
    alice.disk.full = True
    alice.turn()
    crowded = alice.runner.inputs.is_crowded_by(Writer("eve").peer_id)
    alice.disk.full = False
    while alice.runner.busy:
        alice.turn()

    assert crowded
    assert not alice.runner.inputs.is_crowded_by(Writer("eve").peer_id)


def test_what_a_peer_transfers_waits_beside_what_it_says_and_in_order_with_its_end() -> None:
    alice, bob = Driver(), Writer("bob")
    waku = b"not a message"
    for _ in range(FAIR_FROM + 2 * int(BURST)):
        alice.runner.queue_input(CHANNEL, values.Transferred(bob.peer_id, waku))
    ends: list[values.Input] = [values.TransferEnded(bob.peer_id), values.PeerGone(bob.peer_id)]
    ends.append(values.PeerJoined(bob.peer_id))
    for event in ends:
        alice.runner.queue_input(CHANNEL, event)
    said = values.Arrived(bob.peer_id, bob.write("live").payload)
    alice.runner.queue_input(CHANNEL, said)

    handled = [one.event for one in alice.runner.turn(NOW).inputs]

    assert handled[-3:] == ends
    assert handled.index(said) == FAIR_FROM + int(BURST)
    assert alice.runner.inputs.backlog == {}
