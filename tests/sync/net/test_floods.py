"""Notices about a peer that sends more than is read: when they are given, and their wording."""

from chat_tui.wording.presence import presence
from sync.machine import SECOND, Nanos
from sync.net.floods import AGAIN_AFTER, LASTING, MANY, Floods
from sync.view.view import Level, PeerInfo, PeerState, Snapshot
from tests.support.sync.channels import peer

NOW: Nanos = 1_763_700_000 * SECOND
SNAPSHOT = Snapshot(peer("alice"), "alice", NOW, None, "", "", (), ())
MALLORY, BOB = peer("mallory"), peer("bob")


def floods() -> Floods:
    return Floods({MALLORY: "mal\x1b[2Jlory"}.get)


def test_a_flood_that_lasts_is_told_once_with_who_how_much_and_what_to_do() -> None:
    seen = floods()

    at_once = seen.look({MALLORY: MANY, BOB: MANY - 1}, NOW)
    [told] = seen.look({MALLORY: 1900, BOB: MANY - 1}, NOW + LASTING)
    again = seen.look({MALLORY: 1900}, NOW + LASTING + SECOND)
    [later] = seen.look({MALLORY: 1900}, NOW + LASTING + AGAIN_AFTER)

    assert (at_once, again) == ([], [])
    assert told == later
    assert told.level is Level.INFO
    assert told.text.startswith("mal[2Jlory (")
    assert "1,900 of its messages wait" in told.text
    assert "/block " in told.text


def test_a_burst_that_is_read_in_time_is_not_worth_a_word() -> None:
    seen = floods()

    told = [
        notice
        for second in range(60)
        for notice in seen.look({MALLORY: 5000} if second % 2 else {}, NOW + second * SECOND)
    ]

    assert told == []


def test_who_has_no_name_yet_is_told_by_its_key() -> None:
    seen = floods()
    seen.look({BOB: MANY}, NOW)

    [told] = seen.look({BOB: MANY}, NOW + LASTING)

    assert "(" not in told.text.partition(" sends")[0]


def test_what_is_known_of_a_peer_says_how_much_of_it_waits() -> None:
    def words(waiting: int) -> str:
        info = PeerInfo(MALLORY, "mallory", PeerState.UP, "10.0.0.7:46021", waiting=waiting)
        return " · ".join(presence(SNAPSHOT, info))

    assert "1,900 of its messages wait" in words(1900)
    assert "wait" not in words(0)
