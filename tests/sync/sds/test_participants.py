"""Participants: the authors heard within the hour, and the connected peers."""

from sync.machine import HOUR, MINUTE
from sync.sds.participants import PARTICIPANTS_MAX, Participants
from tests.support.sync.channels import NOW, channel, hear, message, peer, received, sync_message


def test_a_lone_participant_counts_itself() -> None:
    assert Participants(peer("alice")).count(NOW, connected=0) == 1


def test_our_own_messages_do_not_make_us_two() -> None:
    participants = Participants(peer("alice"))

    participants.saw(peer("alice"), NOW)

    assert participants.count(NOW, connected=0) == 1


def test_who_speaks_twice_is_one() -> None:
    participants = Participants(peer("alice"))

    for minute in range(3):
        participants.saw(peer("bob"), NOW + minute * MINUTE)

    assert participants.count(NOW, connected=0) == 2


def test_the_connected_are_there_though_they_say_nothing() -> None:
    participants = Participants(peer("alice"))
    participants.saw(peer("bob"), NOW)

    assert participants.count(NOW, connected=5) == 6
    assert participants.count(NOW, connected=0) == 2


def test_who_is_silent_for_an_hour_takes_part_no_more() -> None:
    participants = Participants(peer("alice"))
    participants.saw(peer("bob"), NOW)
    participants.saw(peer("carol"), NOW)
    participants.saw(peer("bob"), NOW + 30 * MINUTE)

    counts = [participants.count(NOW + at, connected=0) for at in (HOUR - 1, HOUR, 2 * HOUR)]

    assert counts == [3, 2, 1]


def test_so_many_participants_are_remembered_and_no_more() -> None:
    participants = Participants(peer("alice"))
    for number in range(PARTICIPANTS_MAX):
        participants.saw(peer(f"peer {number}"), NOW)
    full = participants.count(NOW, connected=0)

    participants.saw(peer("one more"), NOW)

    assert full == PARTICIPANTS_MAX + 1
    assert participants.count(NOW, connected=0) == PARTICIPANTS_MAX + 1


def test_whoever_speaks_on_a_link_of_its_own_is_noticed() -> None:
    alice = channel("alice", peers=0)

    hear(alice, message("one", sender="bob"))
    hear(alice, sync_message("carol"))

    assert alice.repairs.participants.count(NOW, connected=0) == 3


def test_the_authors_of_an_old_history_are_not_here_today() -> None:
    alice = channel("alice")

    for number in range(300):
        handed_on = message(f"m{number}", sender=f"author {number}")
        alice.handle(received(handed_on, from_author=False), NOW)

    assert alice.repairs.participants.count(NOW, connected=1) == 2
    assert alice.repairs.window(NOW).groups == 1
