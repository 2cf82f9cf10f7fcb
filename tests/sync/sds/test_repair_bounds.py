"""SDS-R in one channel: bogus and circular names, too much at once, and fetching elsewhere."""

import pytest

from sync.machine import SECOND
from sync.sds.asking import REQUESTS_PER_LINK_MAX
from sync.sds.events import (
    Broadcast,
    Delivered,
    Found,
    Held,
    Missing,
    Retrieve,
    Send,
)
from sync.sds.parameters import LAN
from sync.sds.repair import Window
from sync.sds.repairs import IN_BULK
from tests.support.sync.channels import (
    NOW,
    advance,
    channel,
    hear,
    message,
    message_id,
    named,
    only,
    say,
    sync_message,
)
from tests.support.sync.repairs import ALICE, T_MAX, WINDOW, asked, entries, lacking, t_req


def test_a_message_that_names_itself_waits_for_nobody_and_asks_nobody() -> None:
    alice = channel("alice")

    effects = hear(alice, message("one", after=entries("one")))

    assert effects == [Delivered(message_id("one"), after_gap=False)]
    assert not alice.incoming.missing
    assert not alice.repairs.asking


def test_a_message_that_names_itself_and_is_sought_is_delivered_all_the_same() -> None:
    alice = lacking("one")

    effects = hear(alice, message("one", after=entries("one", "two")))
    freed = hear(alice, message("two"))

    assert effects[0] == Held(message_id("one"))
    assert only(Delivered, freed)[-1] == Delivered(message_id("one"), after_gap=False)
    assert not alice.repairs.asking


def test_a_message_that_names_one_thing_twice_waits_for_it_once() -> None:
    alice = channel("alice")

    effects = hear(alice, message("two", after=entries("one", "one")))
    freed = hear(alice, message("one"))

    assert effects == [Held(message_id("two")), Missing(message_id("one"), message_id("two"))]
    assert [one.message_id for one in only(Delivered, freed)] == [
        message_id("one"),
        message_id("two"),
    ]


def test_a_message_of_ours_that_we_do_not_have_is_asked_for_like_any_other() -> None:
    alice = channel("alice")

    hear(alice, sync_message("bob", entries("mine", sender="alice")))
    effects = hear(alice, message("mine", sender="alice"), NOW + T_MAX)

    assert only(Found, effects) == [Found(message_id("mine"), lost=False)]
    assert not alice.log.owed, "we owe ourselves nothing"
    assert not alice.repairs.asking


def test_messages_that_name_each_other_are_delivered_once_after_a_gap() -> None:
    alice = channel("alice")
    ring = ("a", "b", "c")
    for name, parent in zip(ring, ("b", "c", "a"), strict=True):
        hear(alice, message(name, after=entries(parent)))
    asking = len(alice.repairs.asking)

    effects = [one for _, one in advance(alice, NOW + WINDOW.gap_after)]

    delivered = only(Delivered, effects)
    assert asking == 0, "all of them are here"
    assert sorted(one.message_id for one in delivered) == sorted(message_id(one) for one in ring)
    assert delivered[0].after_gap
    assert not delivered[-1].after_gap
    assert not alice.incoming.waiting
    assert not alice.incoming.missing


def test_what_never_existed_is_asked_for_until_it_is_given_up() -> None:
    alice = lacking("bogus")

    effects = [one for _, one in advance(alice, NOW + WINDOW.lost_after)]
    later = asked(alice, NOW + 2 * WINDOW.lost_after)

    assert only(Found, effects) == [Found(message_id("bogus"), lost=True)]
    assert later == []
    assert not alice.repairs.asking


def test_more_than_the_buffer_holds_is_asked_for_in_turn() -> None:
    everything = [f"m{number}" for number in range(REQUESTS_PER_LINK_MAX + 50)]
    alice = lacking(*everything)
    at_first = len(alice.repairs.asking.requests)

    now, seen = NOW, set()
    while alice.repairs.asking and now < NOW + 600 * SECOND:
        now += SECOND // 4
        for _, ids in asked(alice, now):
            seen |= set(ids)
            for name in everything:
                if message_id(name) in ids:
                    hear(alice, message(name), now)

    assert at_first == REQUESTS_PER_LINK_MAX
    assert seen == {message_id(name) for name in everything}


def test_a_message_named_first_without_its_sender_is_asked_for_with_it_once_it_is_known() -> None:
    alice = channel("alice")
    hear(alice, message("two", after=named("one")))

    effects = hear(alice, sync_message("carol", entries("one")))

    [request] = alice.repairs.asking.requests.values()
    assert only(Missing, effects) == []
    assert request.entry == entries("one")[0]


def test_what_was_asked_for_in_vain_is_fetched_elsewhere_by_its_hint() -> None:
    alice = lacking("one")

    happened = [
        (at, one)
        for at, one in advance(alice, NOW + 3 * T_MAX)
        if isinstance(one, Retrieve) or (isinstance(one, Broadcast) and one.message.repair_request)
    ]

    kinds = [type(one) for _, one in happened]
    assert kinds == [Broadcast, Broadcast, Retrieve]
    assert happened[2] == (happened[1][0], Retrieve(entries("one")))


def test_what_a_content_message_asks_for_again_is_fetched_elsewhere_too() -> None:
    alice = lacking("one")
    say(alice, "first", t_req("one"))

    effects = alice.handle(Send("second"), t_req("one") + T_MAX + T_MAX)

    assert only(Retrieve, effects) == [Retrieve(entries("one"))]


@pytest.mark.parametrize("count", [IN_BULK - 1, IN_BULK])
def test_so_much_at_once_is_fetched_elsewhere_with_the_first_request(count: int) -> None:
    everything = [f"m{number}" for number in range(count)]
    alice = lacking(*everything)
    first = min(t_req(name) for name in everything)

    before = [one for _, one in advance(alice, first - 1)]
    with_the_first = [one for _, one in advance(alice, first)]

    assert only(Retrieve, before) == []
    fetched = [entry for one in only(Retrieve, with_the_first) for entry in one.wanted]
    assert sorted(fetched) == (sorted(entries(*everything)) if count >= IN_BULK else [])


def test_fetching_goes_with_asking_and_not_with_every_sync_message() -> None:
    alice = lacking(*(f"m{number}" for number in range(IN_BULK)))
    for number in range(60):
        hear(alice, message(f"line {number}", lamport=number))

    happened = [one for _, one in advance(alice, NOW + 3 * SECOND)]

    sent = [one.message for one in only(Broadcast, happened)]
    asking = [one for one in sent if one.repair_request]
    [fetched] = only(Retrieve, happened)
    assert 1 < len(asking) < len(sent), "once, however often is asked meanwhile"
    assert len(fetched.wanted) == IN_BULK


def test_times_grow_with_the_group() -> None:
    alice = channel("alice", peers=999)

    hear(alice, sync_message("bob", entries("one")))

    window = Window.of(LAN, 1000)
    [request] = alice.repairs.asking.requests.values()
    assert request.t_req == NOW + window.request_delay(ALICE, message_id("one"))
    assert alice.repairs.window(NOW) == window
