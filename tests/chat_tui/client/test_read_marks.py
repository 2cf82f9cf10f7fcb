"""Read marks without a clock: when one is sent, what is said before, and who sees them."""

from msgspec.structs import replace

from chat_tui.client.read_marks import (
    EVERY,
    FIRST_AFTER,
    REFUSED_FOR,
    ReadMarks,
    Step,
    are_on,
    dressed,
)
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import READ_MARKS
from sync.machine import SECOND, ChannelId, MessageId
from sync.view.state_infos import ProfileInfo, ReadInfo, StateInfo, TopicInfo
from tests.support.chat_tui.conversations import LOBBY, peer
from tests.support.chat_tui.snapshots_of_state import CALM, snapshot

TEA = ChannelId("7e" * 16)


def at(lamport: int) -> tuple[int, MessageId]:
    return (lamport, MessageId("ab" * 32))


def test_the_first_time_the_person_is_told_and_has_time_to_say_no() -> None:
    marks = ReadMarks(noticed=False)

    assert marks.look(LOBBY, at(1), 0) is Step.SAY
    assert marks.look(LOBBY, at(1), FIRST_AFTER - 1) is Step.WAIT
    assert marks.look(TEA, at(1), FIRST_AFTER - 1) is Step.WAIT
    assert marks.look(LOBBY, at(1), FIRST_AFTER) is Step.SEND
    assert marks.noticed


def test_a_channel_has_one_mark_in_five_seconds_at_most() -> None:
    marks = ReadMarks(noticed=True)
    steps = [marks.look(LOBBY, at(second), second * SECOND) for second in range(21)]
    other = marks.look(TEA, at(1), 20 * SECOND)

    sent = [second for second, step in enumerate(steps) if step is Step.SEND]
    assert sent == [0, 5, 10, 15, 20]
    assert EVERY == 5 * SECOND
    assert other is Step.SEND


def test_nothing_is_sent_twice_or_back() -> None:
    marks = ReadMarks(noticed=True)
    marks.know(LOBBY, at(7))

    assert marks.look(LOBBY, at(7), 0) is Step.WAIT
    assert marks.look(LOBBY, at(3), 0) is Step.WAIT
    assert marks.look(LOBBY, at(8), 0) is Step.SEND


def test_what_was_refused_is_tried_again_a_minute_later() -> None:
    marks = ReadMarks(noticed=True)
    assert marks.look(LOBBY, at(1), 0) is Step.SEND
    marks.refuse(LOBBY, 0)

    assert marks.look(LOBBY, at(1), REFUSED_FOR - 1) is Step.WAIT
    assert marks.look(LOBBY, at(1), REFUSED_FOR) is Step.SEND


def test_they_are_on_in_private_channels_and_off_in_open_ones_until_the_person_says() -> None:
    settings = Preferences()
    private, anybody = replace(CALM, open=False), replace(CALM, open=True)

    assert (are_on(settings, private), are_on(settings, anybody)) == (True, False)
    settings.change(READ_MARKS, "on")
    assert (are_on(settings, private), are_on(settings, anybody)) == (True, True)
    settings.change(READ_MARKS, "off")
    assert (are_on(settings, private), are_on(settings, anybody)) == (False, False)


def test_who_hides_theirs_sees_none() -> None:
    settings = Preferences()
    read = StateInfo(reads=(ReadInfo(peer("bob"), 3, MessageId("cd" * 32)),))
    shown = snapshot(info=replace(CALM, open=False, state=read))
    before = dressed(shown, settings, set()).channels[0].state.reads
    settings.change(READ_MARKS, "off")
    after = dressed(shown, settings, set()).channels[0].state.reads

    assert before == read.reads
    assert after == ()


def test_of_the_blocked_neither_words_nor_marks_are_shown() -> None:
    eve, bob = peer("eve"), peer("bob")
    said = StateInfo(
        topic=TopicInfo("buy now", eve, 1),
        profiles=(ProfileInfo(bob, "bob", "", "busy", 1), ProfileInfo(eve, "eve", "", "buy", 1)),
        reads=tuple(ReadInfo(one, 3, MessageId("cd" * 32)) for one in (bob, eve)),
    )
    shown = snapshot(info=replace(CALM, open=False, state=said))

    state = dressed(shown, Preferences(), {eve}).channels[0].state

    assert state.topic is not None
    assert (state.topic.text, state.topic.by) == ("(of somebody you have blocked)", eve)
    assert [one.status for one in state.profiles] == ["busy", ""]
    assert [one.peer for one in state.reads] == [bob]
    assert dressed(shown, Preferences(), {peer("carol")}).channels[0].state == said
