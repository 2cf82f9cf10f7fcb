"""The newest announcement counts, whatever the order of arrival; nothing else may be requested."""

from sync.machine import ChannelId
from sync.p2panda.announcements import Announcements, channel_of, next_counter, schema_id
from sync.p2panda.messages import Announce

ONE, TWO = ChannelId("4bd7ba79d4cbf16da21c07a16e41fddc"), ChannelId("0" * 32)
A, B = schema_id(TWO), schema_id(ONE)


def test_a_schema_id_is_that_of_its_channel() -> None:
    assert schema_id(ONE) == "chat_4bd7ba79d4cbf16da21c07a16e41fddc"
    assert channel_of(schema_id(ONE)) == ONE
    for other in ("chat_", "govern_" + ONE, schema_id(ONE) + "0", "chat_" + ONE.upper()):
        assert channel_of(other) is None


def test_the_newest_announcement_replaces_and_others_are_ignored() -> None:
    peer = Announcements()
    assert peer.receive(Announce(1, 5, (A, B)))

    assert not peer.receive(Announce(1, 5, ()))
    assert not peer.receive(Announce(1, 4, ()))
    assert peer.requestable == {A, B}
    assert peer.receive(Announce(1, 6, (A,)))
    assert peer.requestable == {A}
    assert peer.receive(Announce(1, 7, ()))
    assert peer.requestable == set()


def test_of_another_version_nothing_is_requested_and_it_is_kept() -> None:
    peer = Announcements()
    peer.receive(Announce(1, 5, (A,)))

    assert peer.receive(Announce(2, 6, (A, B)))

    assert peer.theirs == Announce(2, 6, (A, B))
    assert not peer.may_request([A])


def test_what_may_be_requested_is_a_rising_part_of_what_was_announced() -> None:
    peer = Announcements()
    assert not peer.may_request([A])
    peer.receive(Announce(1, 5, (A, B)))

    assert peer.may_request([A])
    assert peer.may_request([A, B])
    for other in ([], [B, A], [A, A], ["chat_x"], [A, "chat_x"]):
        assert not peer.may_request(other)


def test_we_announce_what_changed_and_answer_what_we_announced() -> None:
    peer = Announcements()
    assert not peer.answers([A])

    assert peer.announce([ONE, TWO], 7) == Announce(1, 7, (A, B))
    assert peer.announce([TWO, ONE], 8) is None
    assert peer.answers([B])
    assert peer.announce([TWO], 9) == Announce(1, 9, (A,))
    assert not peer.answers([B])
    assert peer.announce([], 10) == Announce(1, 10, ())
    assert peer.announce([], 11) is None


def test_the_counter_rises_though_the_clock_goes_back() -> None:
    assert next_counter(10, 100) == 100
    assert next_counter(100, 100) == 101
    assert next_counter(100, 3) == 101
