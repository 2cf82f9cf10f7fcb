"""Inputs that wait long: of each kind the newest of a channel and peer, and all of the rest."""

from sync.group import values
from sync.machine import ChannelId, PeerId
from sync.runner.batch import BATCH_MAX
from sync.runner.input_queue import Addressed
from sync.runner.newest import Newest
from tests.support.sync.alone.turned import Driver
from tests.support.sync.entries import CHANNEL
from tests.support.sync.entries import Author as Writer

HERE, ELSEWHERE = ChannelId("0c" * 16), ChannelId("0d" * 16)
EVE, FRIEND = PeerId("bb" * 32), PeerId("cc" * 32)


def kept_of(*told: values.Input) -> list[values.Input]:
    """Return what is left of inputs of one channel."""
    newest = Newest()
    for event in told:
        newest.keep(Addressed(HERE, event))
    return [one.event for one in newest.take_all()]


def test_the_newest_of_a_kind_waits_where_an_older_one_did() -> None:
    first, second, third = (values.LogsAnnounced(EVE, bytes([number])) for number in range(3))
    joined, again = values.PeerJoined(EVE), values.PeerJoined(EVE, accepts=False)
    announced = values.PeerAnnounced(EVE, frozenset())

    assert kept_of(joined, first, second, announced, again, third) == [again, third, announced]


def test_other_peers_and_channels_have_their_own() -> None:
    newest = Newest()
    told = [
        Addressed(HERE, values.LogsAnnounced(EVE, b"")),
        Addressed(ELSEWHERE, values.LogsAnnounced(EVE, b"")),
        Addressed(HERE, values.LogsAnnounced(FRIEND, b"")),
    ]
    for one in told:
        newest.keep(one)

    assert newest
    assert newest.take_all() == told
    assert not newest


def test_with_its_link_goes_what_a_peer_told_on_it() -> None:
    joined, gone = values.PeerJoined(EVE), values.PeerGone(EVE)
    governs = values.GovernanceLinked(EVE, here=True)
    announced = values.PeerAnnounced(EVE, frozenset())
    logs, clock = values.LogsAnnounced(EVE, b""), values.MemberClock(EVE, 0, "", standing=False)

    assert kept_of(joined, announced, governs, logs, clock, gone) == [governs, gone]
    assert kept_of(joined, logs, gone, joined, logs) == [gone, joined, logs]
    assert kept_of(gone, joined, gone) == [gone]


def test_all_the_rest_waits() -> None:
    said = values.Arrived(EVE, b"the same")
    told: list[values.Input] = [said, values.Write(1, 1, b""), said]

    assert kept_of(*told) == told


def test_machines_made_anew_are_told_the_newest_alone() -> None:
    alice, eve = Driver(), Writer("eve").peer_id
    alice.write(1)
    for _ in range(BATCH_MAX):
        alice.runner.queue_input(CHANNEL, values.Typing("alice"))
    for number in range(10):
        alice.runner.queue_input(CHANNEL, values.LogsAnnounced(eve, bytes([number])))
    alice.disk.full = True

    alice.turn()
    alice.disk.full = False
    told = [one.event for one in alice.turn().inputs]

    assert told[-1:] == [values.LogsAnnounced(eve, bytes([9]))]
    assert sum(isinstance(one, values.LogsAnnounced) for one in told) == 1
