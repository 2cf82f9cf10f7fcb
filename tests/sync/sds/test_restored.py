"""SDS after a start: what the disk brings back goes on as before."""

from msgspec.structs import replace

from sync.sds.events import Admit, Connected, Delivered, Missing, Restored, RestoredOwn
from sync.sds.message import Delivery
from sync.sds.parameters import LAN
from tests.support.storage.rows import log_rows
from tests.support.sync.channels import (
    NOW,
    NOW_MS,
    channel,
    hear,
    message,
    message_id,
    named,
    only,
    outline,
    received,
    say,
)


def test_what_a_start_brings_back_goes_on_as_before() -> None:
    alice = channel("alice")
    heard = [
        message("one", lamport=1),
        message("alone", sender="carol", lamport=2),
        message("two", after=named("one"), lamport=3),
        message("three", after=named("two"), lamport=4),
        message("held", after=named("absent"), lamport=5),
    ]
    for sent in heard:
        alice.handle(replace(received(sent), via=None), NOW)  # the disk knows no links
    again = channel("alice", peers=0)

    again.handle(
        Restored(
            log=log_rows(alice.log.order),
            tips=tuple(outline(sent) for sent in (heard[1], heard[2], heard[3])),
            outgoing=(),
            waiting=(outline(heard[4]),),
        ),
        NOW,
    )
    again.handle(Connected(1), NOW)

    assert list(again.log.order) == list(alice.log.order)
    assert again.log.tips == alice.log.tips
    assert again.filter.to_bytes() == alice.filter.to_bytes()
    assert again.incoming.waiting == alice.incoming.waiting
    assert again.incoming.missing == alice.incoming.missing
    mine, hers = say(alice, "hello"), say(again, "hello")
    assert (hers.causal_history, hers.lamport) == (mine.causal_history, mine.lamport)


def test_messages_held_back_are_sought_anew_after_a_start_each_missing_id_once() -> None:
    alice = channel("alice", peers=0)
    late, later = message("two", after=named("one")), message("three", after=named("two"))
    state = Restored(log=b"", tips=(), outgoing=(), waiting=(outline(later), outline(late)))

    effects = alice.handle(state, NOW)
    freed = hear(alice, message("one", lamport=999))

    assert [missing.message_id for missing in only(Missing, effects)] == [message_id("one")]
    assert [one.message_id for one in only(Delivered, freed)] == [
        message_id("one"),
        message_id("two"),
        message_id("three"),
    ]


def test_unacknowledged_messages_wait_after_a_start_until_somebody_is_there() -> None:
    alice = channel("alice", peers=0)
    own = RestoredOwn(message_id("mine"), Delivery.UNACKNOWLEDGED, 2)
    state = Restored(log=log_rows([(1, message_id("mine"))]), tips=(), outgoing=(own,), waiting=())
    alice.handle(state, NOW)

    alone = alice.deadline()
    alice.handle(Connected(1), NOW)

    assert alone is None
    assert alice.outgoing.pending[own.message_id].attempts == 2
    assert alice.outgoing.deadline() == NOW + (LAN.resend_after << 2)


def test_a_message_that_was_kept_aside_counts_when_it_is_admitted() -> None:
    alice = channel("alice")
    mine = say(alice, "hello")
    aside = message("aside", after=alice.log.content_history(1), lamport=NOW_MS + 1)

    effects = alice.handle(Admit(outline(aside)), NOW)

    assert mine.message_id not in alice.outgoing.pending
    assert Delivered(message_id("aside"), after_gap=False) in effects
