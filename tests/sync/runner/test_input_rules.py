"""Each type of inputs has a rule by which what peers cause is bounded, also on a refusing disk."""

from typing import Final, get_args

import pytest
from msgspec.structs import fields

from sync.errors import LocalError
from sync.group import values
from sync.machine import ChannelId, PeerId
from sync.runner.input_queue import CROWDED_BY_ONE, FAIR_FROM, QUEUE_MAX, Addressed, InputQueue
from sync.runner.input_rules import RULES, Content, Ill, Kind, Line
from sync.runner.weights import INPUT_BYTES
from tests.support.sync.alone.inputs import SESSION, caused_by
from tests.support.sync.groups import NOW

HERE, ELSEWHERE = ChannelId("0c" * 16), ChannelId("0d" * 16)
EVE, FRIEND = PeerId("bb" * 32), PeerId("cc" * 32)

OUR_OWN: Final = {
    values.StartSession: "our manager begins it",
    values.SessionOpened: "answers an opening of ours",
    values.EntriesLoaded: "answers a session of ours",
    values.PageChecked: "answers a session of ours",
    values.Continue: "a session of ours goes on, one at a time",
    values.HistoryExpected: "our manager says so",
    values.OpsLoaded: "answers a request of our machines",
    values.HeldLoaded: "answers a request of our machines",
}
"""Inputs that name a peer or a session, and that no peer sends: each with the reason."""

WITHOUT_SHARE: Final[set[Kind]] = {
    values.PeerJoined,
    values.PeerAnnounced,
    values.PeerGone,
    values.MemberClock,
    values.TransferEnded,
    values.SessionOffered,
    values.SessionClosed,
    values.OpsUnanswered,
}
"""Inputs of peers that are not weighed; the reason of each stands in its rule."""

INPUTS: Final = get_args(values.Input)
FROM_PEERS: Final = [kind for kind in INPUTS if kind not in RULES or RULES[kind].from_peer]
TOLD_ONCE: Final = {*WITHOUT_SHARE, values.GovernanceLinked} - {values.SessionOffered}
SHARING: Final = [kind for kind in FROM_PEERS if kind not in WITHOUT_SHARE]


def names(kind: Kind) -> set[str]:
    return {one.name for one in fields(kind)}


def test_each_input_has_a_rule_and_nothing_else_has() -> None:
    assert set(RULES) == set(INPUTS)


@pytest.mark.parametrize("kind", INPUTS)
def test_whatever_names_a_peer_or_a_session_is_of_a_peer_or_says_why_not(kind: Kind) -> None:
    names_somebody = bool(names(kind) & {"peer", "session"})
    assert RULES[kind].from_peer == (names_somebody and kind not in OUR_OWN)


@pytest.mark.parametrize("kind", FROM_PEERS)
def test_what_peers_cause_has_a_weight_and_a_turn_or_a_bound_of_its_own(kind: Kind) -> None:
    rule = RULES[kind]
    assert rule.shares != bool(rule.bounded)
    assert rule.shares == (kind not in WITHOUT_SHARE)
    assert rule.line is not None or not rule.shares
    assert rule.content is Content.NONE or rule.shares


@pytest.mark.parametrize("kind", FROM_PEERS)
def test_what_peers_cause_does_not_pile_up_while_the_disk_refuses(kind: Kind) -> None:
    rule = RULES[kind]
    assert rule.ill is not Ill.WAITS
    if rule.ill is Ill.LET_GO:
        assert not rule.survives or kind is values.Arrived, "it is not kept at all"
    else:
        assert rule.survives, "the machines are made anew afterwards"
        assert "peer" in names(kind)


@pytest.mark.parametrize("kind", SHARING)
def test_all_bytes_of_what_peers_say_are_weighed(kind: Kind) -> None:
    queue, event = InputQueue(), caused_by(EVE, kind)
    size = {Content.NONE: 0, Content.PAYLOAD: 100, Content.CONTENTS: 100}[RULES[kind].content]
    assert (RULES[kind].content is Content.PAYLOAD) == ("payload" in names(kind))
    assert (RULES[kind].content is Content.CONTENTS) == ("contents" in names(kind))

    queue.add(HERE, event, NOW)

    assert queue.bytes_waiting == INPUT_BYTES + size
    assert queue.take() == (Addressed(HERE, event), INPUT_BYTES + size)
    assert queue.bytes_waiting == 0


@pytest.mark.parametrize("kind", SHARING)
def test_of_a_flood_of_a_peer_no_more_is_read_than_its_share(kind: Kind) -> None:
    queue = InputQueue()
    queue.add(HERE, values.SessionOffered(SESSION, EVE, "a protocol"), NOW)

    for _ in range(2 * CROWDED_BY_ONE + FAIR_FROM):
        if is_held(queue, kind):
            break
        queue.add(HERE, caused_by(EVE, kind), NOW)

    assert is_held(queue, kind)
    assert not queue.is_crowded_by(FRIEND)


def is_held(queue: InputQueue, kind: Kind) -> bool:
    """Return whether nothing more of Eve is read where such inputs come from."""
    if RULES[kind].line is Line.SESSIONS:
        return queue.is_crowded_by_session(SESSION)
    return queue.is_crowded_by(EVE, transfers=RULES[kind].line is Line.TRANSFERS)


@pytest.mark.parametrize("kind", SHARING)
def test_a_flood_without_end_does_not_silence_a_friend_elsewhere(kind: Kind) -> None:
    queue = InputQueue()
    for _ in range(FAIR_FROM):
        queue.add(HERE, caused_by(EVE, kind), NOW)
    for _ in range(CROWDED_BY_ONE):
        queue.add(ELSEWHERE, values.Arrived(FRIEND, b"frame"), NOW)

    taken = []
    for _ in range(4 * CROWDED_BY_ONE):
        queue.add(HERE, caused_by(EVE, kind), NOW)  # as fast as it is handled
        taken.append(queue.take()[0].channel)

    assert taken.count(ELSEWHERE) == CROWDED_BY_ONE


def full() -> InputQueue:
    """A queue that refuses what the person wants, and what peers say."""
    queue = InputQueue()
    for number in range(QUEUE_MAX):
        queue.add(HERE, values.Write(number, 1, b"a line"), NOW)
    for refused in (values.Write(QUEUE_MAX, 1, b"one more"), values.Arrived(EVE, b"a frame")):
        with pytest.raises(LocalError):
            queue.add(HERE, refused, NOW)
    return queue


def test_a_full_queue_takes_what_is_told_once() -> None:
    queue = full()
    told = [caused_by(EVE, kind) for kind in INPUTS if kind in TOLD_ONCE]
    ours: list[values.Input] = [
        values.OwnClock(0),
        values.Damaged(()),
        values.AuthorsLoaded(EVE, ()),
    ]

    for event in (*told, *ours):
        queue.add(HERE, event, NOW)

    assert len(queue) == QUEUE_MAX + len(told) + len(ours)


def test_only_what_somebody_hears_of_or_says_again_is_refused() -> None:
    refused = {kind for kind, rule in RULES.items() if rule.refusable}
    of_peers = {kind for kind in refused if RULES[kind].from_peer}
    assert of_peers == {*SHARING, values.SessionOffered} - {values.GovernanceLinked}
    assert refused - of_peers == {
        values.Write,
        values.Act,
        values.SetState,
        values.SendAgain,
        values.AskAgain,
        values.ClockAnswered,
        values.Typing,
    }
