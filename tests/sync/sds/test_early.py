"""Messages delivered before the time for what they name is over: what is written builds on none.

Others may have the room to wait for it, and would hold back with it whatever builds on it.
"""

from collections.abc import Iterator

import pytest

from sync.machine import SECOND
from sync.sds.channel import Channel
from sync.sds.events import Broadcast, Delivered, Held, Restored
from sync.sds.incoming import MISSING_MAX, MISSING_PER_LINK_MAX, WAITING_PER_SENDER_MAX
from sync.sds.message import Message
from sync.sds.parameters import LAN
from tests.support.storage.rows import log_rows
from tests.support.sync.channels import (
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
    outline,
    say,
    sync_message,
)

GAP_AFTER = LAN.gap_after


def slowly(messages: Iterator[Message], alice: Channel) -> int:
    """Let her hear these, ten a second, which is no torrent; return the time of the last one."""
    now = NOW
    for one in messages:
        now += SECOND // 10
        hear(alice, one, now)
    return now


def names_without_end(count: int, sender: str) -> Iterator[Message]:
    """So many ids that nobody has, in messages that nobody waits for."""
    for number in range(count // 16 + 1):
        yield sync_message(sender, named(*(f"{sender}'s {number}/{at}" for at in range(16))))


def test_nothing_builds_on_what_was_let_in_for_want_of_room_until_it_waits_nowhere() -> None:
    """A member filled its own share at alice, and what she wrote then waited at all others."""
    alice, bob = channel("alice"), channel("bob")
    calm = message("calm", "carol", lamport=NOW_MS - 1)
    for each in (alice, bob):
        hear(each, calm)
    now = slowly(names_without_end(MISSING_PER_LINK_MAX, "mallory"), alice)
    poison = message("poison", "mallory", named("nobody's"), NOW_MS + 10)
    next_one = message("next", "mallory", named("poison"), NOW_MS + 20)

    [let_in] = only(Delivered, hear(alice, poison, now))
    hear(alice, next_one, now)
    assert let_in.after_gap
    assert Held(message_id("poison")) in hear(bob, poison, now)
    hear(bob, next_one, now)
    written = say(alice, "hello", now)
    later = say(alice, "there", now + GAP_AFTER - 1)
    at_bob = only(Delivered, hear(bob, written, now)) + only(Delivered, hear(bob, later, now))

    assert [one.message_id for one in at_bob] == [written.message_id, later.message_id]
    assert message_id("next") in names(say(alice, "again", now + GAP_AFTER).causal_history)


@pytest.mark.parametrize("crowd", ["of one author", "of all"])
def test_nor_does_it_on_what_made_room_for_others(crowd: str) -> None:
    alice = channel("alice")
    hear(alice, message("calm", "carol", lamport=NOW_MS - 1))
    if crowd == "of one author":
        waiting = (
            message(f"m{number}", after=named("absent"), lamport=NOW_MS + number)
            for number in range(WAITING_PER_SENDER_MAX + 1)
        )
    else:
        waiting = (
            message(f"m{number}", f"bob {number % 5}", named(f"absent {number}"), NOW_MS + number)
            for number in range(MISSING_MAX + 1)
        )
    now = slowly(waiting, alice)
    let_in = [id_ for id_ in alice.log.order.newest(9) if id_ != message_id("calm")]

    assert let_in
    assert not {*let_in} & {*names(say(alice, "hello", now).causal_history)}


def test_it_is_acknowledged_all_the_same() -> None:
    alice = channel("alice")
    now = slowly(names_without_end(MISSING_PER_LINK_MAX, "mallory"), alice)
    hear(alice, message("poison", "mallory", named("nobody's"), NOW_MS + 10), now)
    assert message_id("poison") in alice.log.owed

    told = [
        id_
        for _, one in advance(alice, now + 10 * SECOND)
        if isinstance(one, Broadcast)
        for id_ in names(one.message.causal_history)
    ]
    assert message_id("poison") in told


def test_what_was_waited_for_to_the_end_is_built_on() -> None:
    alice = channel("alice")
    hear(alice, message("late", "carol", named("nobody's"), NOW_MS))
    advance(alice, NOW + GAP_AFTER)

    assert message_id("late") in names(say(alice, "hello", NOW + GAP_AFTER).causal_history)


@pytest.mark.parametrize("chain", [1, 2, 5])
def test_nor_does_it_after_a_start_while_others_may_still_wait(chain: int) -> None:
    """The disk knows what was let in after a gap, not when, and only the newest of the rest."""
    calm = message("calm", "carol", lamport=NOW_MS - 1)
    poison = message("poison 0", "mallory", named("nobody's"), NOW_MS + 10)
    onto = [
        message(f"poison {at}", "mallory", named(f"poison {at - 1}"), NOW_MS + 10 + at)
        for at in range(1, chain)
    ]
    heard = [calm, poison, *onto]
    alice = channel("alice", peers=0)
    alice.handle(
        Restored(
            log=log_rows([(one.lamport or 0, one.message_id) for one in heard]),
            tips=tuple(outline(one) for one in (calm, *heard[1:][-2:])),
            outgoing=(),
            waiting=(),
            gaps=(outline(poison),),
        ),
        NOW,
    )

    first = say(alice, "hello", NOW)
    later = say(alice, "again", NOW + GAP_AFTER)

    assert names(first.causal_history) == [message_id("calm")]
    assert heard[-1].message_id in names(later.causal_history)


def test_what_followed_an_old_gap_is_built_on_after_a_start() -> None:
    """Only what stands on it directly may have come just now all the same."""
    old = message("old", "bob", named("lost"), NOW_MS - 10**7)
    onto = message("onto", "bob", named("old"), NOW_MS - 1)
    new = message("new", "carol", lamport=NOW_MS)
    alice = channel("alice", peers=0)
    alice.handle(
        Restored(
            log=log_rows([(one.lamport or 0, one.message_id) for one in (old, onto, new)]),
            tips=(outline(onto), outline(new)),
            outgoing=(),
            waiting=(),
            gaps=(outline(old),),
        ),
        NOW,
    )

    assert names(say(alice, "hello", NOW).causal_history) == [message_id("new")]
