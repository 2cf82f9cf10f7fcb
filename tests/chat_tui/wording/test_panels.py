"""Texts of the app frame: header, sidebar, status chip, key hints and debug pane."""

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from chat_tui.debug.section import Row, Section
from chat_tui.debug.styled_lines import section_lines
from chat_tui.keys.table import USUAL
from chat_tui.wording import panels
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs
from chat_tui.wording.panels import Unseen
from chat_tui.wording.sidebar import SIDEBAR_WIDTH, sidebar
from sync.machine import SECOND, ChannelId
from sync.sds.message import Delivery
from sync.view.view import Level, Notice, PeerInfo, PeerState
from tests.support.chat_tui.conversations import LOBBY, peer
from tests.support.chat_tui.scenes import utc
from tests.support.chat_tui.snapshots_of_state import CALM, absent, present, snapshot

BUILD = replace(CALM, channel=ChannelId("1" * 32), name="build", open=False)


def unread(channel: ChannelId) -> int:
    return {LOBBY: 0, BUILD.channel: 3}[channel]


def test_the_header_names_channel_company_and_agreement() -> None:
    assert panels.header(snapshot(present("bob")), CALM, UNICODE).plain == (
        "#lobby  1 other here · ● in sync"
    )
    assert panels.header(snapshot(), CALM, UNICODE).plain == "#lobby  nobody else here"
    assert panels.header(snapshot(), None, UNICODE).plain == "no channel"


def test_the_header_draws_what_was_lacking_behind_the_word() -> None:
    two = snapshot(present("bob"), info=CALM)

    assert panels.header(two, CALM, UNICODE, (0, 0, 8)).plain.endswith("● in sync ▁▁█")
    assert panels.header(two, CALM, UNICODE, (0, 1, 0)).plain.endswith("● in sync ▁▂▁")
    assert panels.header(two, CALM, ASCII, (0, 8)).plain.endswith("in sync _#")


def test_who_we_are_has_the_key_beside_the_name() -> None:
    name, key = panels.whoami(snapshot()).plain.split()

    assert name == "alice"
    assert len(key) == len("7F3A-91C2")


def test_the_input_says_who_reads_it() -> None:
    assert panels.addressee(CALM).plain == "to #lobby, open to everybody on this network"
    assert "private" in panels.addressee(BUILD).plain


def test_the_sidebar_lists_channels_and_peers_in_lines_of_its_width() -> None:
    long_name = PeerInfo(peer("dave"), "漢字" * 20, PeerState.UP, "1.2.3.4:1", syncing=True)
    busy = replace(
        snapshot(absent("erin"), present("bob", rtt=2_000_000), long_name), channels=(CALM, BUILD)
    )

    with utc():
        lines = sidebar(busy, LOBBY, Unseen(unread), UNICODE).plain.split("\n")

    assert lines[1].rstrip() == "> #lobby"
    assert lines[2].split() == ["#build", "3"]
    assert [line.split()[-1] for line in lines[5:]] == ["you", "?", "?", "?"]
    assert [line.split()[-2] for line in lines[6:]] == ["ms", "comparing", "11:56"]
    assert lines[-1].startswith("○ erin")
    assert {cell_len(line) for line in lines[5:]} == {SIDEBAR_WIDTH}


def test_the_sidebar_can_do_with_ascii() -> None:
    shown = sidebar(snapshot(present("bob"), absent("erin")), LOBBY, Unseen(unread), ASCII)

    assert shown.plain.isascii()


def test_the_keys_name_other_channels_with_unread_messages() -> None:
    two = replace(snapshot(), channels=(CALM, BUILD))

    assert panels.keys(two, LOBBY, Unseen(unread), USUAL).plain.endswith("#build 3")
    assert "#build" not in panels.keys(two, BUILD.channel, Unseen(unread), USUAL).plain


def test_the_chip_counts_below_and_above() -> None:
    assert panels.chip(12, 0, UNICODE).plain == " ↓ 12 new · End jumps "
    assert panels.chip(0, 0, UNICODE).plain == " End: newest "
    assert panels.chip(1, 3, UNICODE).plain.startswith(" ↑ 3 earlier messages arrived · ")


def test_trouble_is_said_instead_of_what_happens() -> None:
    trouble = Notice("The disk is full.\x1b[2J", Level.ERROR)

    assert panels.status("All is well.", None).plain == "All is well."
    assert panels.status("All is well.", trouble).plain == "The disk is full."


def test_markup_in_names_is_just_text() -> None:
    named = PeerInfo(peer("bob"), "[red]b[/]", PeerState.UP, "1.2.3.4:1")

    shown = sidebar(snapshot(named), LOBBY, Unseen(unread), UNICODE)

    assert "[red]b[/]" in shown.plain


def test_the_header_says_what_is_missing_and_what_is_lost() -> None:
    info = replace(CALM, missing_count=2, lost=1)

    assert panels.header(snapshot(present("bob")), info, UNICODE).plain == (
        "#lobby  1 other here · ◐ 2 missing, 1 lost"
    )


def lines_of(section: Section, width: int = 30, glyphs: Glyphs = UNICODE) -> list[str]:
    """The lines of one section."""
    lines = [line.content for line in section_lines([section], width, glyphs)]
    assert max(line.cell_length for line in lines) < width
    return [line.plain.rstrip() for line in lines]


def test_the_debug_pane_wraps_rows_and_says_what_is_not_there() -> None:
    sections = [
        Section("Held back", 0, (), "none"),
        Section("Peers", 1, (Row("bob " * 12),), "nobody yet", note="all of them"),
    ]

    lines = [line.content.plain for line in section_lines(sections, 30, UNICODE)]

    assert [line.split() for line in lines[:5]] == [
        ["Held", "back"],
        ["none"],
        [],
        ["Peers", "1"],
        ["all", "of", "them"],
    ]
    assert lines[5].startswith(" bob")
    assert lines[6].startswith("   bob")
    assert max(map(len, lines)) <= 30


def test_a_row_has_its_message_its_sign_and_its_time_at_fixed_places() -> None:
    def row(mark: Delivery | None, seconds: int) -> Row:
        return Row("sent", "e07a11", mark=mark, when="again in", left=seconds * SECOND)

    rows = (row(Delivery.UNACKNOWLEDGED, 8), row(Delivery.FAILED, 12), row(None, 119))

    assert lines_of(Section("Unacknowledged", 3, rows, "none"), 40)[1:] == [
        " e07a11 ○ again in 8 s   · sent",
        " e07a11 ✗ again in 12 s  · sent",
        " e07a11   again in 1 min · sent",
    ]


def test_a_bar_stands_before_the_time_in_either_set_of_signs() -> None:
    row = Row("named by bob", "51b07d", share=0.5, when="asks in", left=3 * SECOND)
    section = Section("To request", 1, (row,), "none")

    assert lines_of(section, 46)[1] == " 51b07d ▰▰▰▱▱ asks in 3 s   · named by bob"
    assert lines_of(section, 46, ASCII)[1] == " 51b07d ###.. asks in 3 s   · named by bob"


MANY = tuple(
    replace(CALM, channel=ChannelId(f"{number:032d}"), name=f"team-{number:03d}")
    for number in range(300)
)
OPEN = MANY[100].channel
NEWS = {MANY[2].channel: 2, MANY[99].channel: 1, MANY[250].channel: 4, MANY[299].channel: 3}
ADDRESSED = {MANY[250].channel: 1}
UNSEEN = Unseen(lambda channel: NEWS.get(channel, 0), lambda channel: ADDRESSED.get(channel, 0))


def side_lines(shown: ChannelId, room: int, people: int = 1) -> list[str]:
    here = replace(snapshot(*[present(f"p{n}") for n in range(people)]), channels=MANY)
    lines = sidebar(here, shown, UNSEEN, UNICODE, room=room).plain.split("\n")
    return [" ".join(line.split()) for line in lines]


def test_of_hundreds_of_channels_those_around_the_open_one_are_listed_others_counted() -> None:
    lines = side_lines(OPEN, 20)

    assert len(lines) == 20
    assert lines[0] == "CHANNELS"
    assert lines[1] == "↑ 94 more 2"
    assert "> #team-100" in lines
    assert "#team-099 1" in lines
    assert lines[-5] == "↓ 193 more 7 @1"
    assert lines[-4:-2] == ["", "PEERS"]
    listed = [line for line in lines if "#team" in line]
    assert len(listed) + 94 + 193 == len(MANY)


@pytest.mark.parametrize("room", [8, 12, 13, 36, 86])
@pytest.mark.parametrize("people", [0, 3, 200])
def test_the_open_channel_has_a_line_whatever_room_there_is(room: int, people: int) -> None:
    for at in (0, 1, 2, 3, 150, 296, 297, 298, 299):
        lines = side_lines(MANY[at].channel, room, people)

        assert len(lines) == room
        assert any(line.startswith(f"> #team-{at:03d}") for line in lines)
        listed = sum("#team" in line for line in lines)
        told = [int(line.split()[1]) for line in lines if line[0:1] in {"↑", "↓"}]
        assert listed + sum(told) == len(MANY)


def test_of_hundreds_of_people_as_many_are_listed_as_have_a_line() -> None:
    lines = side_lines(OPEN, 20, people=200)

    assert sum("#team" in line for line in lines) == 7
    assert lines[10:13] == ["", "PEERS", "● alice you"]
    assert lines[-1] == "194 more, F3"


def test_the_keys_name_whole_channels_and_count_the_others() -> None:
    busy = replace(snapshot(), channels=MANY)

    def news(width: int) -> str:
        line = panels.keys(busy, OPEN, UNSEEN, USUAL, width).plain
        assert cell_len(line) <= width
        return line.partition("Next channel  ")[2]

    assert news(300) == " #team-002 2 #team-099 1 #team-250 4 @1 #team-299 3"
    assert news(80) == " #team-002 2 #team-099 1 and 2 more"
    assert news(68) == " #team-002 2 and 3 more"
    assert news(58) == " 4 channels"
