"""Texts about clocks: the question and its answers, notices, and waiting messages."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.wording import clocks, sentences
from chat_tui.wording.clocks import ClockNews
from sync.entries.identity import short_fingerprint
from sync.machine import HOUR, MINUTE, SECOND, ChannelId, Nanos
from sync.view.view import (
    AheadShown,
    ClockAnswer,
    ClockInfo,
    ClockQuestion,
    ClockShown,
    ClockVoter,
    MessageShown,
    PeerState,
    PreviewShown,
    Snapshot,
    Trust,
)
from tests.support.chat_tui.chats import line_mode
from tests.support.chat_tui.conversations import LOBBY, NOON, line, peer
from tests.support.chat_tui.snapshots_of_state import CALM, HERE, absent, ident, present, snapshot

DAY: Nanos = 24 * HOUR


def voter(name: str, ahead: Nanos, *, standing: bool = True) -> ClockVoter:
    return ClockVoter(peer(name), name, ahead, standing)


def question(*voters: ClockVoter, sets_aside: int = 0) -> ClockQuestion:
    ahead = sorted(one.ahead_ns for one in voters)[len(voters) // 2]
    standing = all(one.standing for one in voters)
    return ClockQuestion(voters, ahead, sets_aside, standing, (LOBBY,))


def asking(asked: ClockQuestion | None, answer: ClockAnswer = ClockAnswer.NONE) -> ClockInfo:
    return ClockInfo(question=asked, answer=answer)


def offset(name: str, ahead: Nanos) -> Snapshot:
    """Alice's snapshot, with somebody whose clock is so far ahead."""
    info = replace(CALM, peers=(peer(name),))
    return snapshot(replace(present(name), clock_offset_ns=ahead), info=info)


@pytest.mark.parametrize(
    ("distance", "said"),
    [
        (5 * MINUTE + SECOND, "5 minutes"),
        (-119 * MINUTE, "119 minutes"),
        (25 * HOUR, "25 hours"),
        (-3 * DAY, "3 days"),
        (56 * 365 * DAY, "56 years"),
    ],
)
def test_how_far_clocks_differ_is_said_in_words(distance: Nanos, said: str) -> None:
    assert clocks.length(distance) == said


def test_the_question_says_who_says_what_and_what_following_sets_aside() -> None:
    asked = question(voter("bob", -DAY), voter("carol", -DAY - MINUTE), sets_aside=3)
    verified = replace(present("bob"), trust=Trust.VERIFIED)
    shown = replace(snapshot(verified, present("carol")), clock=asking(asked))

    assert clocks.band(shown) == [
        "CLOCK: bob (verified) and carol (known) say your clock is 24 hours ahead.",
        "Alt+T follows them (3 messages here are set aside) · Alt+M stays · /clock says more",
    ]
    assert clocks.in_words(shown, asked) == [
        "bob (verified) and carol (known) say your clock is 24 hours ahead.",
        "/clock follow: what you write bears their time; 3 messages here are set aside until then.",
        "/clock stay: what you write waits with them, until their clocks get there.",
    ]


def test_the_question_names_the_channels_it_is_asked_of_unless_it_is_all() -> None:
    asked = question(voter("bob", -DAY))
    lobby = replace(CALM, channel=LOBBY)
    others = [
        replace(CALM, channel=ChannelId(sign * 32), name=name)
        for sign, name in (("a", "plans"), ("b", "garden"))
    ]
    alone = replace(snapshot(present("bob")), clock=asking(asked), channels=(lobby,))
    one = replace(alone, channels=(lobby, *others))
    both = replace(asked, channels=(LOBBY, others[0].channel))

    def follows(shown: Snapshot) -> str:
        return clocks.band(shown, where=sentences.where_asked(shown))[1].partition(" · ")[0]

    assert follows(alone) == "Alt+T follows it"
    assert follows(one) == "Alt+T follows it in #lobby"
    assert follows(replace(one, clock=asking(both))) == "Alt+T follows it in #lobby and #plans"


def test_the_question_counts_those_who_show_our_time() -> None:
    """In a channel of two one voter is enough, whatever all others say."""
    asked = question(voter("eve", 40 * MINUTE, standing=False))
    eve = replace(present("eve"), clock_offset_ns=40 * MINUTE)
    agreeing = [replace(present(name), clock_offset_ns=SECOND) for name in ("bob", "carol")]
    unknown, gone = present("dave"), replace(absent("erin"), clock_offset_ns=0)
    one, two = (snapshot(eve, *agreeing[:number], unknown, gone) for number in (1, 2))
    says = "eve (new here) says your clock is 40 minutes behind"

    assert clocks.asked(snapshot(eve, unknown, gone), asked) == f"{says}."
    assert clocks.asked(one, asked) == f"{says}; 1 other here shows your time."
    assert clocks.asked(two, asked) == f"{says}; 2 others here show your time."


def test_one_stranger_is_called_so_and_other_keys_are_named() -> None:
    asked = question(voter("eve", 365 * DAY, standing=False))
    shown = replace(snapshot(present("eve")), clock=asking(asked))
    chosen = {"clock_follow": ("f12",), "clock_stay": ("alt+r",)}

    assert clocks.band(shown, chosen) == [
        "CLOCK: eve (new here) says your clock is 365 days behind.",
        "F12 follows it · Alt+R stays · /clock says more",
    ]


def test_a_voter_who_is_met_anew_has_the_name_of_before_or_the_key() -> None:
    asked = question(ClockVoter(peer("bob"), "", DAY, standing=False))

    assert clocks.asked(snapshot(absent("bob")), asked).startswith("bob (new here) says")
    assert clocks.asked(snapshot(), asked).startswith(f"{short_fingerprint(peer('bob'))} (new")


def test_names_that_look_alike_have_their_keys_and_none_can_claim_to_be_verified() -> None:
    liar = ClockVoter(peer("eve"), "bob (verified)", DAY, standing=False)
    shown = replace(snapshot(), shared_names=frozenset({"bob"}))

    said = clocks.asked(shown, question(voter("bob", DAY), liar))

    assert f"bob {short_fingerprint(peer('bob'))} (known)" in said
    assert '"bob (verified)" (new here)' in said


def test_many_are_counted() -> None:
    voters = [voter(name, DAY) for name in ("bob", "carol", "dave", "erin", "frank")]

    said = clocks.asked(snapshot(), question(*voters))

    assert said.startswith("bob (known), carol (known), dave (known) and 2 others say")


def test_line_mode_is_asked_once_and_told_how_it_ended() -> None:
    news = ClockNews(ClockInfo(), sees_question=False)
    bob, carol = voter("bob", -DAY), voter("carol", -DAY)
    here = offset("bob", -DAY)

    asked = news.said_of(ClockShown(asking(question(bob))), here)
    again = news.said_of(ClockShown(asking(question(bob, sets_aside=2))), here)
    more = news.said_of(ClockShown(asking(question(bob, carol))), here)
    settled = news.said_of(ClockShown(replace(asking(None), followed_by=(bob.peer,))), here)

    assert len(asked) == 3
    assert again == []
    assert len(more) == 3
    assert settled == ["bob follows your clock now: nothing is left to do."]


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (offset("bob", SECOND), "Your clock and bob agree now"),
        (snapshot(), "Nothing is asked about the clock while bob is not here."),
        (offset("bob", -DAY), "bob's clock still differs, but others here show your time"),
    ],
)
def test_why_a_question_has_settled_itself_is_said(now: Snapshot, said: str) -> None:
    news = ClockNews(asking(question(voter("bob", -DAY))), sees_question=True)

    [sentence] = news.said_of(ClockShown(asking(None)), now)

    assert sentence.startswith(said)


def test_what_the_person_answered_is_said_by_the_answer_alone() -> None:
    asked = question(voter("bob", -DAY), sets_aside=1)
    news = ClockNews(asking(asked), sees_question=True)

    assert news.said_of(ClockShown(asking(None, ClockAnswer.FOLLOW)), snapshot()) == []
    assert clocks.answered(snapshot(), asked, follow=True) == (
        "You follow bob: what you write bears their time. 1 message here is set aside. "
        "It holds until your clock is set, or the difference changes by 5 minutes."
    )
    assert clocks.answered(snapshot(), asked, follow=False).startswith("You stay")


def test_who_follows_by_a_setting_is_told_in_one_sentence() -> None:
    news = ClockNews(ClockInfo(), sees_question=True)

    said = news.said_of(ClockShown(asking(None, ClockAnswer.FOLLOW)), snapshot())

    assert said == [
        "Your messages now carry the others' time instead of your clock's. /clock says more."
    ]


def test_one_notice_tells_of_a_clock_that_is_ahead() -> None:
    event = AheadShown(LOBBY, peer("bob"), "bob", DAY)

    [said] = ClockNews(ClockInfo(), sees_question=True).said_of(event, snapshot())

    assert said.startswith("The clock of bob is 24 hours ahead")


# --- What stands ---------------------------------------------------------------------------------


def test_the_line_above_the_input_does_not_call_received_what_waits() -> None:
    waiting = replace(CALM, parked=1, parked_own=(ident("a"),))
    here = replace(present("bob"), clock_offset_ns=-DAY)
    open_question = asking(question(voter("bob", -DAY)))
    asked = replace(snapshot(here, info=waiting), clock=open_question)
    aside = snapshot(here, info=waiting)
    stays = replace(snapshot(here), clock=asking(None, ClockAnswer.STAY))

    assert sentences.what_happens(asked, waiting) == (
        "1 message of yours waits for your answer about the clock; /clock says more."
    )
    assert sentences.what_happens(aside, waiting) == (
        "1 message of yours waits for its time; /resend writes it anew."
    )
    alone = replace(waiting, unsent=1)
    assert sentences.what_happens(snapshot(here, info=alone), alone) == (
        "1 message of yours waits for somebody who shows the time: your clock was doubted."
    )
    assert sentences.what_happens(stays, CALM).startswith("bob may see what you write only in 24")
    assert sentences.what_happens(snapshot(here), CALM) == "Everything you sent was received."


def test_status_and_peers_say_what_is_wrong_with_a_clock() -> None:
    right = snapshot(replace(present("bob"), clock_offset_ns=2 * SECOND))
    flat = replace(right, clock=ClockInfo(is_clock=False, moved_ns=56 * 365 * DAY))
    far = replace(present("bob"), clock_offset_ns=25 * HOUR)

    assert "clock" not in sentences.status(right, CALM)
    assert "cannot be right" in sentences.status(flat, CALM)
    assert "stamped 56 years ahead of it" in sentences.status(flat, CALM)
    assert "clock 2000 ms off" in sentences.who(right)
    assert "clock 25 hours ahead" in sentences.who(snapshot(far))
    assert clocks.short_offset(-25 * HOUR) == "-1 d"
    assert clocks.short_offset(2 * SECOND) == "+2.0 s"


def test_the_report_lists_all_that_waits() -> None:
    bob = replace(line(1, "see you", seconds=24 * 3600), lamport=0, parked=True)
    mine = replace(line(2, "mine", author="alice", seconds=24 * 3600), lamport=0, parked=True)
    asked = question(voter("bob", DAY))
    shown = replace(snapshot(present("bob")), clock=asking(asked))

    said = clocks.report(shown, [bob, mine]).split("\n")

    assert said[0] == "Nothing is known to keep this computer's clock right (NTP)."
    assert said[1:4] == clocks.in_words(shown, asked)
    assert said[5] == "Set aside here until its time: 2 messages."
    assert said[6].endswith("bob: see you")
    assert said[7].endswith(f"you: mine (/resend {mine.message_id[:8]})")


def test_the_report_compares_with_who_is_here() -> None:
    away = replace(present("carol"), state=PeerState.DOWN, clock_offset_ns=DAY)
    far = replace(present("bob"), clock_offset_ns=-DAY)

    assert "The clock of bob is 24 hours behind it." in clocks.report(snapshot(far, away), [])
    assert "by more than 5 minutes" in clocks.report(offset("bob", SECOND), [])
    assert "Nobody is here" in clocks.report(snapshot(away, info=HERE), [])


def test_the_details_say_why_a_line_waits_and_until_when() -> None:
    bob = replace(line(0, seconds=24 * 3600), parked=True)
    mine = replace(line(0, author="alice", seconds=24 * 3600), parked=True)

    said = clocks.why_parked(bob, NOON)

    assert said.startswith("It bears a time that is 24 hours ahead of this computer's")
    assert "Saturday, 22 November 2025" in said
    assert "/resend" in clocks.why_parked(mine, NOON)
    assert "/clock" in clocks.why_parked(replace(mine, waits=True), NOON)


# --- Line mode -----------------------------------------------------------------------------------


async def test_line_mode_prints_what_waits_once_and_asks_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parked = replace(line(1, "see you"), parked=True)
    mine = replace(line(2, "is my clock right?", author="alice"), parked=True, waits=True)
    async with line_mode(tmp_path) as (_, face):
        for event in (
            AheadShown(LOBBY, peer("bob"), "bob", DAY),
            PreviewShown(parked),
            PreviewShown(mine),
            ClockShown(asking(question(voter("bob", DAY)))),
            MessageShown(replace(parked, parked=False)),
        ):
            face.event(event)
    said = capsys.readouterr().out.split("\n")

    assert said[0].startswith("* The clock of bob is 24 hours ahead")
    assert said[1].endswith("(waits for its time) bob: see you")
    assert "(waits for your answer) alice" in said[2]
    assert said[3] == "* bob (known) says your clock is 24 hours behind."
    assert said[4] == "* /clock follow: what you write bears their time."
    assert said[5].startswith("* /clock stay: what they write stands here dim")
    assert said[6:] == [""]
