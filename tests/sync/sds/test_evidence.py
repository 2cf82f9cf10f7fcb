"""Evidence of who has a message."""

from collections.abc import Mapping
from itertools import permutations

import pytest

from sync.machine import MessageId, PeerId
from sync.sds.events import HeardCopy
from sync.sds.evidence import HINTS_MAX, HOLDERS_MAX, TOLD_MAX, Evidence, Holders
from sync.sds.message import HistoryEntry
from sync.sds.parameters import LAN
from sync.structures.bloom import RollingBloomFilter
from tests.support.sync.channels import (
    NOW,
    channel,
    hear,
    message,
    message_id,
    named,
    peer,
    say,
    sync_message,
)

ONE = message_id("one")


def wrote(holders: Holders, name: str, by: str = "bob") -> None:
    holders.told(peer(by), message_id(name), ())


def of(holders: Holders, message_id: MessageId = ONE) -> Mapping[PeerId, Evidence]:
    return dict(holders.newest(TOLD_MAX)).get(message_id, {})


def test_whoever_wrote_a_message_has_it() -> None:
    holders = Holders()

    wrote(holders, "one")

    assert of(holders) == {peer("bob"): Evidence.WROTE}


def test_whoever_names_a_message_has_it_in_whatever_order_that_was_said() -> None:
    holders = Holders()
    holders.told(peer("carol"), message_id("reply"), named("one"))
    wrote(holders, "one")
    holders.told(peer("dave"), None, named("one"))

    assert of(holders) == {
        peer("bob"): Evidence.WROTE,
        peer("carol"): Evidence.NAMED,
        peer("dave"): Evidence.NAMED,
    }


def test_nothing_is_known_of_a_message_that_is_not_here() -> None:
    holders = Holders()

    holders.add_evidence(ONE, peer("carol"), Evidence.SENT)
    holders.told(peer("dave"), None, named("one"))

    assert of(holders) == {}


@pytest.mark.parametrize("said", list(permutations(("filter", "sent", "named"))))
def test_the_strongest_evidence_counts_whichever_came_first(said: tuple[str, ...]) -> None:
    holders = Holders()
    wrote(holders, "one")
    seen = []

    for how in said:
        if how == "named":
            holders.told(peer("carol"), None, named("one"))
        else:
            evidence = Evidence.SENT if how == "sent" else Evidence.FILTER
            holders.add_evidence(ONE, peer("carol"), evidence)
        seen.append(of(holders)[peer("carol")])

    order = [Evidence.NAMED, Evidence.SENT, Evidence.FILTER]
    assert seen == sorted(seen, key=order.index, reverse=True), "it never weakens"
    assert seen[-1] is Evidence.NAMED


def test_an_author_who_names_its_own_message_still_wrote_it() -> None:
    holders = Holders()
    wrote(holders, "one")

    holders.told(peer("bob"), message_id("two"), named("one"))

    assert of(holders) == {peer("bob"): Evidence.WROTE}


@pytest.mark.parametrize("beyond", [0, 1])
def test_so_much_that_was_said_is_remembered_and_the_oldest_forgotten(beyond: int) -> None:
    holders = Holders()
    wrote(holders, "one")

    for number in range(TOLD_MAX - 1 + beyond):
        wrote(holders, f"m{number}")

    assert bool(of(holders)) is (beyond == 0)
    assert len(holders.newest(2 * TOLD_MAX)) == TOLD_MAX


@pytest.mark.parametrize("beyond", [0, 1])
def test_weaker_evidence_is_remembered_of_so_many_messages(beyond: int) -> None:
    holders = Holders()
    wrote(holders, "one")
    holders.add_evidence(ONE, peer("carol"), Evidence.SENT)

    for number in range(HINTS_MAX - 1 + beyond):
        holders.add_evidence(message_id(f"m{number}"), peer("carol"), Evidence.SENT)

    assert (peer("carol") in of(holders)) is (beyond == 0)
    assert len(holders._hints) == HINTS_MAX


def test_weaker_evidence_is_remembered_of_so_many_participants() -> None:
    holders = Holders()
    wrote(holders, "one")

    for number in range(HOLDERS_MAX + 1):
        holders.add_evidence(ONE, peer(f"peer {number}"), Evidence.FILTER)

    assert len(of(holders)) == 1 + HOLDERS_MAX


def test_the_newest_come_first() -> None:
    holders = Holders()
    for name in ("one", "two", "three"):
        wrote(holders, name)

    assert [id_ for id_, _ in holders.newest(2)] == [message_id("three"), message_id("two")]
    assert holders.newest(0) == []


def test_a_channel_notes_who_wrote_named_sent_or_may_hold_a_message() -> None:
    alice = channel("alice")
    mine = say(alice, "hello")
    hear(alice, message("one", sender="bob"))
    bloom = RollingBloomFilter(LAN.bloom)
    bloom.insert(mine.message_id)

    hear(alice, sync_message("carol", named("one"), bloom.to_bytes()))
    alice.handle(HeardCopy(ONE, peer("dave")), NOW)
    alice.handle(HeardCopy(ONE, None), NOW)

    assert of(alice.holders) == {
        peer("bob"): Evidence.WROTE,
        peer("carol"): Evidence.NAMED,
        peer("dave"): Evidence.SENT,
    }
    assert of(alice.holders, mine.message_id) == {
        peer("alice"): Evidence.WROTE,
        peer("carol"): Evidence.FILTER,
    }


def test_we_have_what_our_own_messages_name() -> None:
    alice = channel("alice")
    hear(alice, message("one", sender="bob"))

    say(alice, "hello")

    assert of(alice.holders)[peer("alice")] is Evidence.NAMED


def test_a_reply_that_waits_is_evidence_already() -> None:
    alice = channel("alice")
    mine = say(alice, "hello")
    reply = message("reply", after=(HistoryEntry(mine.message_id), *named("absent")))

    hear(alice, reply)

    assert of(alice.holders, mine.message_id)[peer("bob")] is Evidence.NAMED


def test_what_a_silent_channel_repeats_pushes_nothing_out() -> None:
    holders = Holders()
    holders.told(peer("bob"), ONE, ())

    for _ in range(2 * TOLD_MAX):
        holders.told(peer("carol"), None, named("one"))

    assert of(holders) == {peer("bob"): Evidence.WROTE, peer("carol"): Evidence.NAMED}
