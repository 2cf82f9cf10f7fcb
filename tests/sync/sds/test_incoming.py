"""Incoming buffer: messages are held back for dependencies, freed, given up, and bounded."""

import pytest
from msgspec.structs import replace

from sync.machine import SECOND, Tick
from sync.sds.asking import REQUESTS_PER_LINK_MAX
from sync.sds.events import AskAgain, Broadcast, Connected, Delivered, Found, Held, Missing, Seek
from sync.sds.incoming import (
    LOST_MAX,
    MISSING_MAX,
    MISSING_PER_LINK_MAX,
    STALE_MAX,
    WAITING_MAX,
    WAITING_PER_SENDER_MAX,
    Content,
    Incoming,
)
from sync.sds.message import HistoryEntry
from sync.sds.parameters import LAN
from tests.support.sync.channels import (
    NOW,
    advance,
    channel,
    hear,
    message,
    message_id,
    named,
    only,
    peer,
    received,
    sync_message,
)

GAP, LOST = LAN.gap_after, LAN.lost_after


def test_a_message_waits_for_all_of_its_dependencies() -> None:
    alice = channel("alice")
    hear(alice, message("three", after=named("one", "two")))

    after_one = hear(alice, message("one"))
    after_two = hear(alice, message("two"))

    assert [one.message_id for one in only(Delivered, after_one)] == [message_id("one")]
    assert only(Delivered, after_two) == [
        Delivered(message_id("two"), after_gap=False),
        Delivered(message_id("three"), after_gap=False),
    ]


def test_a_chain_is_delivered_in_order_whatever_order_it_came_in() -> None:
    alice = channel("alice")
    chain = [message("0")]
    chain += [message(str(n), after=named(str(n - 1)), lamport=1000 + n) for n in range(1, 50)]

    effects = [effect for sent in reversed(chain) for effect in hear(alice, sent)]

    assert [one.message_id for one in only(Delivered, effects)] == [
        sent.message_id for sent in chain
    ]
    assert not alice.incoming.waiting
    assert not alice.incoming.missing


def test_a_missing_message_is_announced_once_with_who_named_it() -> None:
    alice = channel("alice")

    first = hear(alice, message("two", after=named("one")))
    second = hear(alice, message("three", after=named("one")))
    by_sync = hear(alice, sync_message("carol", named("one", "other")))

    assert only(Missing, first) == [Missing(message_id("one"), message_id("two"))]
    assert only(Missing, second) == []
    assert only(Missing, by_sync) == [Missing(message_id("other"), peer("carol"))]


def test_a_missing_message_that_comes_is_found() -> None:
    alice = channel("alice")
    hear(alice, sync_message("bob", named("one")))

    effects = hear(alice, message("one"))

    assert Found(message_id("one"), lost=False) in effects
    assert not alice.incoming.missing


def test_what_waits_here_is_no_news_to_who_waits_for_it() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=named("one")))

    effects = hear(alice, message("three", after=named("two")))

    assert effects == [Held(message_id("three"))]


def test_a_message_whose_dependencies_stay_away_is_delivered_after_a_gap() -> None:
    alice = channel("alice", peers=0)
    hear(alice, message("two", after=named("one")))

    before = advance(alice, NOW + GAP - 1)
    gap = [effect for _, effect in advance(alice, NOW + GAP)]
    meanwhile = advance(alice, NOW + LOST - 1)
    lost = [effect for _, effect in advance(alice, NOW + LOST)]

    assert before == []
    assert gap == [Delivered(message_id("two"), after_gap=True)]
    assert meanwhile == []
    assert lost == [Found(message_id("one"), lost=True)]
    assert not alice.incoming.waiting
    assert not alice.incoming.missing


def test_what_follows_a_message_after_a_gap_follows_no_gap_itself() -> None:
    alice = channel("alice", peers=0)
    hear(alice, message("two", after=named("one")))
    hear(alice, message("three", after=named("two"), lamport=1001), NOW + SECOND)

    effects = [effect for _, effect in advance(alice, NOW + GAP)]

    assert only(Delivered, effects) == [
        Delivered(message_id("two"), after_gap=True),
        Delivered(message_id("three"), after_gap=False),
    ]


def test_a_gap_is_filled_when_the_lost_message_comes_after_all() -> None:
    alice = channel("alice", peers=0)
    hear(alice, message("two", after=named("one"), lamport=1001))
    advance(alice, NOW + LOST)

    effects = hear(alice, message("one", lamport=1000), NOW + 2 * LOST)

    assert effects == [
        Delivered(message_id("one"), after_gap=False),
        Found(message_id("one"), lost=False),
    ]
    assert [id_ for _, id_ in alice.log.order] == [message_id("one"), message_id("two")]


def test_an_id_is_looked_for_as_long_as_somebody_waits_for_it() -> None:
    alice = channel("alice", peers=0)
    hear(alice, message("two", after=named("one")))
    hear(alice, message("three", after=named("one")), NOW + LOST - SECOND)
    advance(alice, NOW + LOST)

    assert message_id("one") in alice.incoming.missing
    effects = hear(alice, message("one"), NOW + LOST + SECOND)

    assert message_id("three") not in alice.incoming.waiting
    assert only(Delivered, effects) == [
        Delivered(message_id("one"), after_gap=False),
        Delivered(message_id("three"), after_gap=False),
    ]


def test_who_waits_for_a_waiting_message_is_freed_with_it() -> None:
    alice = channel("alice", peers=0)
    hear(alice, message("three", after=named("two"), lamport=1002))
    hear(alice, message("two", after=named("one"), lamport=1001), NOW + GAP - 2)
    hear(alice, message("four", after=named("two"), lamport=1003), NOW + GAP - 1)
    advance(alice, NOW + GAP)

    effects = hear(alice, message("one"), NOW + GAP + SECOND)

    assert [one.message_id for one in only(Delivered, effects)] == [
        message_id("one"),
        message_id("two"),
        message_id("four"),
    ]
    assert Found(message_id("two"), lost=True) not in effects
    assert not alice.incoming.missing


def test_a_hole_is_looked_for_and_nothing_waits_for_it() -> None:
    alice = channel("alice", peers=0)
    hear(alice, message("five"))

    effects = alice.handle(Seek(named("four"), message_id("five"), peer("bob")), NOW)
    later = [effect for _, effect in advance(alice, NOW + LOST)]

    assert effects == [Missing(message_id("four"), message_id("five"))]
    assert later == [Found(message_id("four"), lost=True)]


def test_an_author_with_too_many_waiting_gets_the_oldest_delivered_after_a_gap() -> None:
    alice = channel("alice")
    for number in range(WAITING_PER_SENDER_MAX):
        hear(alice, message(f"m{number}", after=named("absent"), lamport=1000 + number))
    hear(alice, message("honest", sender="carol", after=named("absent")))

    effects = hear(alice, message("one more", after=named("absent"), lamport=9999))

    assert effects == [Held(message_id("one more")), Delivered(message_id("m0"), after_gap=True)]
    assert message_id("honest") in alice.incoming.waiting
    waiters = alice.incoming.missing[message_id("absent")].waiters
    assert len(waiters) == WAITING_PER_SENDER_MAX + 1


def test_names_of_what_never_existed_fill_no_more_than_their_share() -> None:
    alice = channel("alice")
    for number in range(MISSING_PER_LINK_MAX // 16 + 10):
        bogus = named(*(f"never {number}/{index}" for index in range(16)))
        hear(alice, sync_message("mallory", bogus))

    full = len(alice.incoming.missing)
    effects = hear(alice, message("honest", sender="carol", after=named("other")))

    assert full == MISSING_PER_LINK_MAX
    assert Held(message_id("honest")) in effects
    assert Missing(message_id("other"), message_id("honest")) in effects


def test_all_names_together_fill_no_more_than_the_table() -> None:
    alice = channel("alice")
    for number in range(MISSING_MAX // 16 + 10):
        bogus = named(*(f"never {number}/{index}" for index in range(16)))
        hear(alice, sync_message(f"mallory {number % 9}", bogus))

    assert len(alice.incoming.missing) == MISSING_MAX


def test_a_full_table_has_room_for_who_named_least_and_who_named_most_makes_it() -> None:
    alice = channel("alice")
    invented = [message_id(f"never {number}") for number in range(MISSING_MAX)]
    for start in range(0, MISSING_MAX, 16):
        bogus = [HistoryEntry(one) for one in invented[start : start + 16]]
        hear(alice, sync_message(f"mallory {start % 5}", bogus))

    effects = hear(alice, message("honest", sender="carol", after=named("other")))

    [given_up] = only(Found, effects)
    assert given_up.lost
    assert given_up.message_id in invented
    assert Held(message_id("honest")) in effects
    assert Missing(message_id("other"), message_id("honest")) in effects
    assert len(alice.incoming.missing) == MISSING_MAX
    assert message_id("other") in alice.repairs.asking.requests
    assert hear(alice, message("other"))[0] == Delivered(message_id("other"), after_gap=False)


def test_who_waited_for_a_name_that_made_room_follows_a_gap() -> None:
    alice = channel("alice")
    for number in range(MISSING_MAX):
        bogus = message(f"m{number}", f"invented {number % 5}", after=named(f"never {number}"))
        alice.handle(replace(received(bogus), via=peer(f"link {number % 5}")), NOW)

    effects = hear(alice, message("honest", sender="carol", after=named("other")))

    [given_up] = only(Found, effects)
    [shown] = only(Delivered, effects)
    assert given_up.lost
    assert shown.after_gap
    assert Held(message_id("honest")) in effects


def test_whoever_has_its_share_makes_nobody_else_give_way() -> None:
    alice = channel("alice")
    for number in range(MISSING_MAX // 16):
        bogus = named(*(f"never {number}/{index}" for index in range(16)))
        hear(alice, sync_message(f"mallory {number % 8}", bogus))
    before = dict(alice.incoming.missing)

    effects = hear(alice, sync_message("mallory 0", named("one more")))

    assert effects == []
    assert alice.incoming.missing == before


def test_when_the_table_is_full_a_message_still_waits_for_what_was_looked_for_before() -> None:
    alice = channel("alice")
    hear(alice, sync_message("bob", named("wanted")))
    for number in range(MISSING_PER_LINK_MAX // 16 + 1):
        bogus = named(*(f"never {number}/{index}" for index in range(16)))
        hear(alice, sync_message("bob", bogus))

    held = hear(alice, message("two", after=named("wanted", "too much")))
    freed = hear(alice, message("wanted"))

    assert held == [Held(message_id("two"))]
    assert Delivered(message_id("two"), after_gap=True) in freed


def test_what_a_link_lost_in_numbers_pushes_nothing_out_that_others_lost() -> None:
    alice = channel("alice", peers=0)
    hear(alice, sync_message("carol", named("honest")))
    for number in range(MISSING_PER_LINK_MAX // 16):
        unknown = named(*(f"{number}/{index}" for index in range(16)))
        hear(alice, sync_message("mallory", unknown))
        hear(alice, sync_message("mallory's friend", named(f"friend {number}")), NOW)

    advance(alice, NOW + LOST)

    assert len(alice.incoming.lost) == LOST_MAX
    assert message_id("honest") in alice.incoming.lost


def test_a_flood_of_messages_that_wait_for_nothing_real_stays_bounded() -> None:
    flood = 20_000
    alice = channel("alice")
    buffer, asking = alice.incoming, alice.repairs.asking

    for number in range(flood):
        hear(alice, message(f"m{number}", after=named(f"never {number}"), lamport=number))
    hear(alice, message("honest", sender="carol", after=named("other")))

    kept = len(buffer.waiting) + len(buffer.missing)
    assert len(buffer.waiting) == WAITING_PER_SENDER_MAX + 1
    assert len(buffer.missing) == MISSING_PER_LINK_MAX + 1
    assert len(buffer._heap) <= 2 * kept + STALE_MAX
    assert len(asking.requests) == REQUESTS_PER_LINK_MAX + 1
    assert message_id("other") in asking.requests


def test_lost_ids_are_remembered_up_to_a_limit() -> None:
    alice = channel("alice", peers=0)
    for number in range(LOST_MAX // 16 + 5):
        unknown = named(*(f"{number}/{index}" for index in range(16)))
        hear(alice, sync_message(f"peer {number % 2}", unknown))

    advance(alice, NOW + LOST)

    assert len(alice.incoming.lost) == LOST_MAX
    assert not alice.incoming.missing


@pytest.mark.parametrize("count", [1, 3])
def test_deliveries_after_a_gap_come_in_the_order_of_the_log(count: int) -> None:
    alice = channel("alice", peers=0)
    for number in reversed(range(count)):
        hear(alice, message(f"m{number}", after=named(f"never {number}"), lamport=number))

    effects = [effect for _, effect in advance(alice, NOW + GAP)]

    assert [one.message_id for one in only(Delivered, effects)] == [
        message_id(f"m{number}") for number in range(count)
    ]


def test_a_lost_message_that_is_named_again_is_asked_for_again_without_news_or_waiting() -> None:
    alice = channel("alice", peers=0)
    hear(alice, sync_message("bob", named("one")))
    advance(alice, NOW + LOST)
    lost = dict(alice.incoming.lost)

    effects = hear(alice, message("two", after=named("one"), lamport=1001), NOW + LOST)
    asked = list(alice.repairs.asking.requests)
    again = [effect for _, effect in advance(alice, NOW + 3 * LOST)]

    assert list(lost) == [message_id("one")]
    assert effects == [Delivered(message_id("two"), after_gap=True)]
    assert asked == [message_id("one")]
    assert only(Found, again) == [], "given up again, and no news"
    assert not alice.repairs.asking.requests
    assert hear(alice, message("one"), NOW + 4 * LOST)[-1] == Found(message_id("one"), lost=False)


@pytest.mark.parametrize("beyond", [0, 1])
def test_so_many_messages_wait_whoever_wrote_them_and_no_more(beyond: int) -> None:
    buffer = Incoming()
    never = message_id("never")
    buffer.seek([never], "named by", peer("bob"), NOW)
    waiting = [
        Content(
            message_id(f"m{number}"), peer(f"author {number % 1000}"), number, named("never"), None
        )
        for number in range(WAITING_MAX + beyond)
    ]

    evicted = [buffer.hold(content, {never}, NOW) for content in waiting]

    assert len(buffer.waiting) == WAITING_MAX
    assert [one for one in evicted if one is not None] == waiting[:beyond]
    assert buffer.arrived(never) == waiting[beyond:]


def test_authors_that_one_link_invents_push_out_nothing_that_came_on_others() -> None:
    buffer = Incoming()
    never = message_id("never")
    buffer.seek([never], "named by", peer("bob"), NOW)

    def content(name: str, via: str) -> Content:
        history = named("never")
        return Content(message_id(name), peer(name), 1, history, None, via=peer(via))

    honest = content("honest", "carol")
    evicted = [buffer.hold(honest, {never}, NOW)]
    evicted += [
        buffer.hold(content(f"m{number}", f"mallory {number % 3}"), {never}, NOW)
        for number in range(WAITING_MAX + 500)
    ]

    given_way = [one for one in evicted if one is not None]
    assert len(given_way) == 501
    assert honest not in given_way
    assert len({one.via for one in given_way}) > 1, "by turns"
    assert honest.message_id in buffer.waiting


def test_what_is_lost_is_looked_for_again_when_somebody_new_is_there() -> None:
    alice = channel("alice", peers=0)
    hear(alice, sync_message("bob", named("one")))
    advance(alice, NOW + LOST)

    effects = alice.handle(Connected(1), NOW + 2 * LOST)

    assert effects == [], "it is no news"
    assert list(alice.repairs.asking.requests) == [message_id("one")]
    assert hear(alice, message("one"), NOW + 3 * LOST)[-1] == Found(message_id("one"), lost=False)


def test_the_person_has_what_is_lost_asked_for_again_at_once() -> None:
    alice = channel("alice")
    hear(alice, sync_message("bob", named("one", "two")))
    advance(alice, NOW + LOST)
    later = NOW + 2 * LOST

    effects = alice.handle(AskAgain((message_id("one"),)), later)
    [sent] = [
        one.message
        for _, one in advance(alice, later)
        if isinstance(one, Broadcast) and one.message.repair_request
    ]

    assert effects == [], "it is no news"
    assert [entry.message_id for entry in sent.repair_request] == [message_id("one")]


def test_what_a_message_lacks_is_asked_for_again_though_it_is_forgotten_that_it_was_lost() -> None:
    alice = channel("alice")
    after_gap = message("two", after=named("one"))
    hear(alice, after_gap)
    advance(alice, NOW + LOST)
    alice.incoming.lost.clear()  # as after 1,000 others, or another start
    later = NOW + 2 * LOST
    gap = Content(
        after_gap.message_id, peer("bob"), after_gap.lamport or 0, after_gap.causal_history, None
    )

    news = alice.handle(AskAgain((), (gap,)), later)
    [sent] = [
        one.message
        for _, one in advance(alice, later)
        if isinstance(one, Broadcast) and one.message.repair_request
    ]
    found = hear(alice, message("one"), later + SECOND)

    assert news == [Missing(message_id("one"), after_gap.message_id)]
    assert [entry.message_id for entry in sent.repair_request] == [message_id("one")]
    assert found[-1] == Found(message_id("one"), lost=False)


def test_a_message_that_lacks_nothing_has_nobody_asked() -> None:
    alice = channel("alice")
    one, two = message("one"), message("two", after=named("one"))
    hear(alice, one)
    hear(alice, two)
    whole = Content(two.message_id, peer("bob"), two.lamport or 0, two.causal_history, None)

    assert alice.handle(AskAgain((), (whole,)), NOW) == []
    assert not alice.repairs.asking


def test_a_computer_that_slept_gives_nothing_up_before_anybody_could_be_asked() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=named("one")))

    woken = alice.handle(Tick(), NOW + 100 * LOST)
    later = [effect for _, effect in advance(alice, NOW + 100 * LOST + GAP)]

    assert only(Found, woken) == []
    assert only(Delivered, woken) == []
    assert Delivered(message_id("two"), after_gap=True) in later


def test_a_message_that_fills_a_gap_is_no_tip() -> None:
    alice = channel("alice", peers=0)
    hear(alice, message("two", after=named("one"), lamport=1001))
    advance(alice, NOW + GAP)

    hear(alice, message("one", lamport=1000), NOW + GAP)

    assert list(alice.log.tips) == [message_id("two")]


def test_a_message_that_only_a_sync_message_named_is_a_tip() -> None:
    alice = channel("alice")
    hear(alice, sync_message("bob", named("one")))

    hear(alice, message("one"))

    assert list(alice.log.tips) == [message_id("one")]
