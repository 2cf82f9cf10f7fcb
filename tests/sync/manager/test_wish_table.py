"""Wishes of hundreds of channels: found by who has a place, as by looking at each of them."""

import random
from collections import Counter

from sync.machine import SECOND, ChannelId
from sync.manager.registry import WAKU_ONLY
from sync.manager.schedule import Manager
from sync.manager.slots import Slots
from sync.manager.values import Ended, Joined, Left, Observed
from sync.manager.wish_table import Wishes
from sync.manager.wishes import NEW_LINK, Wish
from sync.sessions.values import Outcome, Plane, SessionKey
from tests.support.sync.alone.managers import ME, NOW, PEERS
from tests.support.sync.costs import calls_of

CHANNELS = [ChannelId(f"{number:032x}") for number in range(300)]


def test_the_table_is_that_of_looking_at_each_wish() -> None:
    draw = random.Random(5)
    table, plain = Wishes(), dict[SessionKey, Wish]()
    keys = [
        SessionKey(one, peer, plane)
        for one in CHANNELS[:4]
        for peer in PEERS[:5]
        for plane in Plane
    ]
    for _ in range(3_000):
        key = draw.choice(keys)
        if draw.random() < 0.6:
            table[key] = plain[key] = Wish(draw.randrange(9), NEW_LINK)
        else:
            assert table.pop(key, None) == plain.pop(key, None)
        held: Counter[str] = Counter(draw.sample(PEERS[:5], draw.randrange(5)))

        assert dict(table) == plain
        assert len(table) == len(plain)
        of_others = table.of_others(held)
        assert len(of_others) == len(set(of_others))
        assert set(of_others) == {one for one in plain if not held[one.peer]}


def test_a_peer_that_is_gone_leaves_no_wish_and_no_session() -> None:
    slots = Slots()
    for channel in CHANNELS[:2]:
        for peer in PEERS[:2]:
            slots.linked[channel, peer] = ""
            for plane in Plane:
                slots.wish(channel, peer, Wish(NOW, NEW_LINK), plane)
                slots.running[SessionKey(channel, peer, plane)] = Wish(NOW, NEW_LINK)

    slots.left(CHANNELS[0], PEERS[0])

    for table in (slots.wishes, slots.running):
        assert {key[:2] for key in table} == {
            (CHANNELS[0], PEERS[1]),
            (CHANNELS[1], PEERS[0]),
            (CHANNELS[1], PEERS[1]),
        }


def beside_one_peer(channels: int) -> Manager:
    """Somebody who is in so many channels with one peer, of which one is compared now."""
    made = Manager(ME, random.Random(0), WAKU_ONLY)
    for channel in CHANNELS[:channels]:
        made.handle(Joined(channel, PEERS[0]), NOW)
    assert made.running == 1
    return made


def test_what_happens_in_one_of_many_channels_costs_the_same_while_they_wait_for_a_place() -> None:
    def happens(made: Manager) -> None:
        made.handle(Observed(CHANNELS[0], PEERS[0]), NOW + SECOND)
        made.deadline()

    few, many = beside_one_peer(2), beside_one_peer(len(CHANNELS))

    assert calls_of(lambda: happens(many)) <= calls_of(lambda: happens(few))


def test_channels_with_one_peer_are_compared_one_after_the_other() -> None:
    made, now = beside_one_peer(20), NOW
    compared = [CHANNELS[0]]
    while len(compared) < 20:
        now += SECOND
        [start] = made.handle(Ended(compared[-1], PEERS[0], Outcome.CONVERGED), now)
        compared.append(start.channel)

    assert compared == CHANNELS[:20]
    for channel in CHANNELS[:20]:
        made.handle(Left(channel, PEERS[0]), now)
    assert made.sizes()["sessions wished for"] == made.running == 0
