"""Pins and read marks as rows: under which own line somebody who has read stands."""

from msgspec.structs import replace

from chat_tui.model.channel_marks import READERS_NAMED, read_by, read_of_others, words
from chat_tui.model.row import Changed
from sync.view.state_infos import ReadInfo, StateInfo
from sync.view.view import ChannelInfo, Line
from tests.support.chat_tui.conversations import conversation, line, peer
from tests.support.chat_tui.snapshots_of_state import CALM, present, snapshot


def own(lamport: int) -> Line:
    return line(lamport, author="alice")


def marked(**lamports: int) -> ChannelInfo:
    reads = [
        ReadInfo(peer(name), lamport, line(lamport).message_id)
        for name, lamport in lamports.items()
    ]
    return replace(CALM, open=False, state=StateInfo(reads=tuple(reads)))


def test_everybody_stands_under_the_newest_own_line_that_they_have_read() -> None:
    held = conversation(own(1), line(2), own(3), line(4))
    info = marked(bob=4, carol=2)
    shown = snapshot(present("bob"), present("carol"), info=info)

    told = read_by(shown, info, held.rows)

    assert told == {
        own(3).message_id: "read by bob",
        own(1).message_id: "read by carol",
    }


def test_a_mark_before_all_own_lines_and_ones_own_stand_nowhere() -> None:
    held = conversation(line(1), own(2))
    info = marked(bob=1, alice=2)

    assert read_by(snapshot(present("bob"), info=info), info, held.rows) == {}


def test_many_readers_are_counted() -> None:
    names = [f"p{number}" for number in range(READERS_NAMED + 2)]

    assert words(names) == f"read by {', '.join(names[:READERS_NAMED])} and 2 more"


def test_only_rows_that_differ_are_painted_again() -> None:
    held = conversation(line(1), own(2), line(3))
    pinned, told = frozenset({line(1).message_id}), {own(2).message_id: "read by bob"}

    first, second = held.mark_state(pinned, told), held.mark_state(pinned, told)
    third = held.mark_state(frozenset(), told)

    assert first == [Changed(0), Changed(1)]
    assert second == []
    assert third == [Changed(0)]
    assert [row.pinned for row in held.rows] == [False, False, False]
    assert held.rows[1].read_by == "read by bob"


def test_what_was_read_is_told_of_lines_of_others_alone() -> None:
    held = conversation(line(1), own(2))
    held.look()
    unread = conversation(own(1))
    unread.look()

    assert read_of_others(held) == line(1).position
    assert read_of_others(unread) is None
