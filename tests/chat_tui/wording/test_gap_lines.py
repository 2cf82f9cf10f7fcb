"""Texts of the lines that stand in for missing messages."""

from msgspec.structs import replace

from chat_tui.keys.table import USUAL
from chat_tui.wording import sentences
from chat_tui.wording.gap_lines import GAP, Gaps, said_here
from sync.machine import MINUTE, SECOND, MessageId
from sync.view.view import ChannelInfo, RepairInfo, RequestInfo, Snapshot, WaitingInfo
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.snapshots_of_state import CALM, present, snapshot

ROW = MessageId("aa" * 32)
LOST = MessageId("bb" * 32)
HERE: Snapshot = replace(snapshot(present("bob")), now=NOON)


def asking(asked: int, seconds: int, missing: str = LOST) -> ChannelInfo:
    """Alice's channel, in which a message that ROW named is asked for in some seconds."""
    request = RequestInfo(
        MessageId(missing), ROW, peer("bob"), NOON + seconds * SECOND, asked, waiters=1
    )
    repair = RepairInfo(2, 1, SECOND, 6 * SECOND, (request,), 1)
    return replace(CALM, repair=repair, missing=(request.message_id,), missing_count=1)


def test_before_anybody_was_asked_it_says_when_that_will_be() -> None:
    assert Gaps().above(HERE, asking(0, 4)) == {
        ROW: "1 earlier message is missing, asking peers in 4 s"
    }


def test_then_how_often_and_when_again() -> None:
    said = Gaps().above(HERE, asking(2, 41))

    assert said == {ROW: "1 earlier message is missing, asked twice, again in 41 s"}


def test_once_given_up_it_says_how_often_it_was_asked_for_and_what_to_do() -> None:
    gaps = Gaps()
    gaps.above(HERE, asking(1, 4))
    gaps.above(replace(HERE, now=NOON + 5 * MINUTE), asking(3, 4))

    said = gaps.above(HERE, CALM)

    assert said == {ROW: "1 message could not be found (asked 3 times, 5 min); /repair tries again"}


def test_asked_for_again_it_counts_down_again() -> None:
    gaps = Gaps()
    gaps.above(HERE, asking(3, 4))
    gaps.above(HERE, CALM)

    again = asking(0, 0)
    request = replace(again.repair.requests[0], named_by=HERE.me, namer=HERE.me)  # type: ignore[union-attr]
    again = replace(again, repair=replace(again.repair, requests=(request,)))  # type: ignore[type-var]

    assert gaps.above(HERE, again) == {ROW: "1 earlier message is missing, asking peers now"}


def test_a_gap_that_no_request_names_is_not_given_up_while_something_is_asked_for() -> None:
    held_back = WaitingInfo(ROW, peer("bob"), (LOST,), NOON + 60 * SECOND)
    info = asking(2, 41)

    assert Gaps().elsewhere(HERE, info) == "an earlier message is missing; /repair tries again"
    lost = replace(info, waiting=(held_back,), waiting_count=1, lost=1)
    assert Gaps().elsewhere(HERE, lost) == GAP


def test_a_gap_of_an_earlier_run_is_not_said_to_have_been_sought() -> None:
    said = Gaps().elsewhere(HERE, CALM)

    assert said == "an earlier message is missing; /repair asks for it"
    assert said_here(said, USUAL) == "an earlier message is missing; a asks for it, h hides"


def test_with_nobody_here_it_does_not_promise_to_ask() -> None:
    alone = replace(snapshot(), now=NOON)

    assert Gaps().above(alone, asking(0, 4)) == {
        ROW: "1 earlier message is missing, and nobody is here to ask"
    }


def test_the_tail_says_what_is_missing_and_the_status_beside_it_what_waits() -> None:
    waiting = WaitingInfo(ROW, peer("bob"), (LOST,), NOON + 60 * SECOND)
    info = replace(asking(0, 4), waiting=(waiting,), waiting_count=3)

    assert Gaps().below(HERE, info) == "1 earlier message is missing, asking peers in 4 s"
    assert sentences.what_else_happens(HERE, info) == (
        "3 messages are held back for it, 1 min at most."
    )
    assert sentences.what_happens(HERE, info) == (
        "1 earlier message is missing, asking peers in 4 s; 3 held back, 1 min at most."
    )
    here = replace(info, missing=(), missing_count=0)
    assert Gaps().below(HERE, here) == "3 wait for earlier messages, which are here"
    assert Gaps().below(HERE, asking(0, 4)) == ""
    assert Gaps().below(HERE, None) == ""
