"""Relays: through whom authors without a link are heard, and when that counts."""

from sync.group.relays import RELAYED_WITHIN, SETTLED_AFTER, TOLD_EVERY, Relays
from sync.machine import MINUTE, SECOND, Nanos, PeerId

AUTHOR, OTHER, BRIDGE = PeerId("aa" * 32), PeerId("bb" * 32), PeerId("cc" * 32)
NOW: Nanos = 1_750_000_000 * SECOND


def test_a_peer_is_told_of_at_once_and_then_once_a_minute() -> None:
    relays = Relays()

    assert relays.heard(AUTHOR, BRIDGE, 0, NOW)
    assert not relays.heard(OTHER, BRIDGE, 0, NOW + TOLD_EVERY - 1)
    assert relays.heard(OTHER, BRIDGE, 0, NOW + TOLD_EVERY)
    assert relays.needed_until(BRIDGE) == NOW + TOLD_EVERY + RELAYED_WITHIN


def test_what_is_old_says_nothing() -> None:
    relays = Relays()

    assert not relays.heard(AUTHOR, BRIDGE, RELAYED_WITHIN + 1, NOW)
    assert relays.through(AUTHOR) is None


def test_while_links_come_nobody_is_told_and_then_of_those_still_without_one() -> None:
    relays = Relays()
    relays.linked(BRIDGE, NOW)
    early = [relays.heard(one, BRIDGE, 0, NOW + SECOND) for one in (AUTHOR, OTHER)]
    relays.linked(OTHER, NOW + 2 * SECOND)  # others that come put it off no further
    assert relays.deadline() == NOW + SETTLED_AFTER

    assert early == [False, False]
    assert relays.settled(NOW + SETTLED_AFTER - 1) == []
    assert relays.settled(NOW + SETTLED_AFTER) == [BRIDGE]
    assert relays.through(OTHER) is None
    assert relays.settled(NOW + MINUTE) == []


def test_where_all_authors_got_a_link_meanwhile_nobody_is_needed() -> None:
    relays = Relays()
    relays.linked(BRIDGE, NOW)
    relays.heard(AUTHOR, BRIDGE, 0, NOW + SECOND)
    relays.linked(AUTHOR, NOW + SECOND)

    assert relays.settled(NOW + SETTLED_AFTER) == []
