"""Presence texts: while nobody is here, and when somebody comes back."""

import pytest
from msgspec.structs import replace

from chat_tui.app.arrivals import BACK_WITHIN, LINKS_AGAIN, PATIENCE, Company
from sync.machine import SECOND, Nanos
from sync.view.view import ChannelInfo, SessionInfo, Snapshot
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.snapshots_of_state import (
    CALM,
    NETWORK,
    absent,
    present,
    session,
    snapshot,
    waiting,
)

pytestmark = pytest.mark.usefixtures("in_utc")

ALONE = replace(snapshot(), port=46021)
TOGETHER = replace(
    snapshot(present("carol")), channels=(replace(CALM, peers=(present("carol").peer,)),)
)
GONE = replace(ALONE, peers=(absent("carol"),))


def at(when: Nanos, before: Snapshot) -> Snapshot:
    return replace(before, now=NOON + when)


def see(company: Company, now: Snapshot) -> str:
    """Look at a snapshot and return its news, or else the sentence of the line."""
    return company.look(now, now.channels[0]) or company.sentence(now, now.channels[0])


def with_more(before: ChannelInfo, messages: int) -> ChannelInfo:
    return replace(before, messages=before.messages + messages)


def cut_off() -> Company:
    """Carol was here, and is gone a minute later."""
    company = Company()
    see(company, TOGETHER)
    see(company, at(60 * SECOND, GONE))
    return company


def compared(got: int = 0, have: int = 0) -> SessionInfo:
    """A session with carol from the 61st to the 62nd second, which brought all that it found."""
    return replace(
        session(7, "carol", need=got, got=got, have=have),
        channel=CALM.channel,
        began_at=NOON + 61 * SECOND,
        ended_at=NOON + 62 * SECOND,
    )


def test_a_link_that_is_back_at_once_was_no_cut() -> None:
    company = cut_off()
    first = see(company, at(60 * SECOND, GONE))
    soon = see(company, at(60 * SECOND + LINKS_AGAIN - 1, GONE))
    later = see(company, at(60 * SECOND + LINKS_AGAIN, GONE))

    assert (first, soon) == ("", "")
    assert later.startswith("Cut off since 12:01, or all have left.")


def test_at_first_people_are_looked_for_and_nobody_is_here_yet() -> None:
    assert see(Company(), ALONE) == f"{NETWORK.rstrip('.')} (nobody yet)."


def test_after_ten_seconds_it_says_what_to_do() -> None:
    company = Company()
    see(company, ALONE)
    soon = see(company, at(PATIENCE - 1, ALONE))
    hint_soon = company.hint(at(PATIENCE - 1, ALONE), CALM)
    later = see(company, at(PATIENCE, ALONE))

    assert soon.endswith("(nobody yet).")
    assert hint_soon == ()
    assert "Ask somebody to start it too" in later
    assert "/doctor" in later
    assert "F4" in later
    assert len(later) <= 78
    assert any("/connect host:port" in line for line in company.hint(at(PATIENCE, ALONE), CALM))


def test_an_empty_channel_sends_nobody_looking_for_people_while_some_are_on_the_network() -> None:
    company = Company()
    elsewhere = replace(ALONE, peers=(present("carol"),))
    for now in (elsewhere, at(2 * PATIENCE, elsewhere)):
        see(company, now)

    assert company.hint(at(2 * PATIENCE, elsewhere), CALM) == ()


def test_before_the_network_is_up_nothing_is_said_of_it() -> None:
    assert see(Company(), replace(ALONE, port=None)) == ""


def test_messages_that_wait_are_more_to_say_than_that() -> None:
    alone = replace(ALONE, channels=(waiting(3),))

    assert see(Company(), alone) == ""


def test_who_is_elsewhere_on_the_network_is_more_to_say_too() -> None:
    elsewhere = replace(ALONE, peers=(present("dave"),))

    assert see(Company(), elsewhere) == ""


def test_cut_off_since_when_and_what_waits() -> None:
    company = cut_off()
    waits = replace(GONE, channels=(waiting(2),))

    sentence = see(company, at(120 * SECOND, waits))

    assert sentence.startswith("Cut off since 12:01, or all have left.")
    assert sentence.endswith("You can keep writing. 2 messages wait.")
    assert see(company, at(121 * SECOND, GONE)).endswith("You can keep writing.")


def test_cut_off_without_a_network_says_what_to_do() -> None:
    company = cut_off()
    offline = replace(GONE, port=None, network="No network: connect to one.")

    sentence = see(company, at(120 * SECOND, offline))

    assert sentence == "Cut off since 12:01. No network: connect to one."


def test_back_with_whom_and_what_came_and_went_is_said_once() -> None:
    company = cut_off()
    back = at(61 * SECOND, TOGETHER)
    over = compared(got=12, have=4)
    running = replace(over, ended_at=None, got=3)
    info = with_more(back.channels[0], 12)

    while_it_runs = company.look(replace(back, sessions=(running,)), info)
    told = company.look(at(62 * SECOND, replace(back, sessions=(over,))), info)
    again = company.look(at(63 * SECOND, replace(back, sessions=(over,))), info)

    assert while_it_runs == ""
    assert told == "Back with carol: 12 received, 4 sent."
    assert again == ""


def test_the_same_messages_of_several_people_are_received_and_sent_once() -> None:
    company = cut_off()
    back = replace(at(61 * SECOND, TOGETHER), peers=(present("carol"), present("bob")))
    of_carol = compared(got=4, have=1)
    of_bob = replace(of_carol, peer=present("bob").peer)
    read_marks = replace(of_carol, got=2, need=2, have=0)
    sessions = (of_carol, of_bob, read_marks)

    told = company.look(
        at(62 * SECOND, replace(back, sessions=sessions)), with_more(back.channels[0], 4)
    )

    assert told == "Back with carol, bob: 4 received, 1 sent."


def test_read_marks_alone_are_no_messages_that_came() -> None:
    company = cut_off()
    back = at(61 * SECOND, TOGETHER)
    marks = compared(got=2, have=0)

    told = company.look(at(62 * SECOND, replace(back, sessions=(marks,))), back.channels[0])

    assert told == ""


@pytest.mark.parametrize("sessions", [(), (compared(got=2),)], ids=["no session", "marks alone"])
def test_who_holds_less_than_before_received_nothing(sessions: tuple[SessionInfo, ...]) -> None:
    company = cut_off()
    back = replace(at(61 * SECOND, TOGETHER), sessions=sessions)

    assert company.look(back, with_more(back.channels[0], -1)) == ""


def test_coming_back_that_brought_nothing_is_no_news_until_something_comes() -> None:
    company = cut_off()
    back = at(61 * SECOND, TOGETHER)
    equal = compared()
    late = replace(
        equal, peer=peer("bob"), got=2, began_at=NOON + 70 * SECOND, ended_at=NOON + 71 * SECOND
    )

    nothing = company.look(at(62 * SECOND, replace(back, sessions=(equal,))), back.channels[0])
    info = with_more(back.channels[0], 2)
    told = company.look(at(71 * SECOND, replace(back, sessions=(equal, late))), info)

    assert nothing == ""
    assert told.endswith(": 2 received, 0 sent.")


def test_sessions_of_before_are_no_news_and_late_ones_neither() -> None:
    company = cut_off()
    old = replace(session(7, "carol", got=12), channel=CALM.channel)
    back = replace(TOGETHER, sessions=(old,))

    first = company.look(at(61 * SECOND, back), back.channels[0])
    late = replace(old, began_at=NOON + 200 * SECOND, ended_at=NOON + 201 * SECOND)
    told = [
        company.look(at(61 * SECOND + BACK_WITHIN, back), back.channels[0]),
        company.look(at(202 * SECOND, replace(back, sessions=(late,))), back.channels[0]),
    ]

    assert first == ""
    assert told == ["", ""]


def test_who_was_there_from_the_first_is_not_back() -> None:
    company = Company()
    see(company, ALONE)
    met = at(SECOND, TOGETHER)
    first = replace(session(1, "carol", got=9), channel=CALM.channel, began_at=met.now)

    assert company.look(replace(met, sessions=(first,)), met.channels[0]) == ""


def test_in_a_channel_of_two_nobody_else_is_awaited() -> None:
    two = replace(CALM, open=False, name="bob", direct=present("bob").peer)
    company = Company()
    alone = replace(ALONE, channels=(two,))
    company.look(alone, two)
    later = at(2 * PATIENCE, alone)
    company.look(later, two)

    assert company.sentence(later, two) == ""
    assert company.hint(later, two) == ()
