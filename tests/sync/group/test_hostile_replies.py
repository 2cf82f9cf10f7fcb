"""Replies of somebody hostile, through the one way in: none is refused, and none holds the rest up.

Two messages never answer each other: `tests/storage/sqlite/test_replies.py` has the disk that was
tampered with so that they do.
"""

import pytest

from sync.entries.replies import answered_by
from sync.group import values
from sync.machine import HOUR, ChannelId
from tests.support.sync.changed import nowhere, replied
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, NOW_MS, Member, only

OTHER = ChannelId("dd" * 16)
MANY = 10_000
NOT_SENT = {
    "a message that nobody wrote": lambda: Author("ghost").write("never sent", lamport=NOW_MS),
    "a message of another channel": lambda: Author("ann", OTHER).write("there", lamport=NOW_MS),
}


@pytest.mark.parametrize("target", NOT_SENT)
def test_a_reply_to_what_never_comes_is_shown_behind_a_gap_and_asked_for_no_more(
    target: str,
) -> None:
    alice, eve, bob = Member("alice"), Author("eve"), Author("bob")
    alice.join(eve.peer_id, bob.peer_id)
    absent = NOT_SENT[target]()
    reply = replied(eve, "across", absent)
    after = bob.write("as always", lamport=NOW_MS)

    effects = alice.hear(reply) + alice.hear(after)
    shown_at_once = alice.shown()
    alice.advance(NOW + 3 * HOUR)

    assert not only(values.Refused, effects)
    assert shown_at_once == [after.entry.message_id], "others do not wait for it"
    assert reply.entry.message_id in alice.shown()
    assert alice.disk.rows[reply.entry.message_id].after_gap
    assert answered_by(reply.entry) == absent.entry.message_id
    assert absent.entry.message_id not in alice.disk.rows


def test_a_reply_that_names_nobody_s_id_in_its_body_alone_is_a_text_at_once() -> None:
    alice, eve, ann = Member("alice"), Author("eve"), Author("ann")
    target = ann.write("tea?", lamport=NOW_MS)
    forged = replied(eve, "forged", target, to=nowhere())

    for one in (target, forged):
        assert not only(values.Refused, alice.hear(one))

    assert alice.shown() == [target.entry.message_id, forged.entry.message_id]
    assert answered_by(forged.entry) is None


@pytest.mark.slow
def test_ten_thousand_replies_to_one_are_taken_in_like_other_texts() -> None:
    alice, ann, eve = Member("alice"), Author("ann"), Author("eve")
    alice.join(ann.peer_id, eve.peer_id)
    target = ann.write("tea?", lamport=NOW_MS)
    alice.hear(target)

    refused = [
        effect
        for number in range(MANY)
        for effect in alice.hear(replied(eve, f"answer {number}", target))
        if isinstance(effect, values.Refused)
    ]
    alice.hear(last := ann.write("still here", lamport=NOW_MS + MANY + 9))

    assert not refused
    assert len(alice.shown()) == MANY + 2
    assert alice.shown()[-1] == last.entry.message_id
    assert alice.group.channel == CHANNEL
