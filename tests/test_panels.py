"""What stands around the conversation, as text."""

from dataclasses import replace

from rich.cells import cell_len

from chat_tui import panels, reports
from chat_tui.marks import ASCII, UNICODE
from sync.machine import ChannelId
from sync.view import Level, Notice, PeerInfo, PeerState
from tests.conversations import LOBBY, peer
from tests.test_reports import CALM, absent, present, snapshot

BUILD = replace(CALM, channel=ChannelId("1" * 32), name="build", open=False)


def unread(channel: ChannelId) -> int:
    return {LOBBY: 0, BUILD.channel: 3}[channel]


def test_the_header_names_channel_company_and_agreement() -> None:
    assert panels.header(snapshot(present("bob")), CALM, UNICODE).plain == (
        "#lobby  1 other here · ● in sync"
    )
    assert panels.header(snapshot(), CALM, UNICODE).plain == "#lobby  nobody else here"
    assert panels.header(snapshot(), None, UNICODE).plain == "no channel"


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

    lines = panels.sidebar(busy, LOBBY, unread, UNICODE).plain.split("\n")

    assert lines[1].rstrip() == "> #lobby"
    assert lines[2].split() == ["#build", "3"]
    assert [line.split()[-1] for line in lines[5:]] == ["you", "ms", "comparing", "away"]
    assert lines[-1].startswith("○ erin")
    assert {cell_len(line) for line in lines[5:]} == {panels.SIDEBAR_WIDTH}


def test_the_sidebar_can_do_with_ascii() -> None:
    shown = panels.sidebar(snapshot(present("bob"), absent("erin")), LOBBY, unread, ASCII)

    assert shown.plain.isascii()


def test_everybody_met_stands_in_columns() -> None:
    names = snapshot(absent("erin"), present("bob", rtt=2_000_000))

    me, bob, erin, *hints = panels.people(names, UNICODE).plain.split("\n")

    assert me.startswith("● alice  ")
    assert me.endswith("  you")
    assert bob.startswith("● bob    ")
    assert bob.endswith("here · 192.168.1.31:46021 · 2.0 ms")
    assert erin.startswith("○ erin   ")
    assert erin.endswith("away for 4 min")
    assert any("/connect" in hint for hint in hints)


def test_the_keys_name_other_channels_with_unread_messages() -> None:
    two = replace(snapshot(), channels=(CALM, BUILD))

    assert panels.keys(two, LOBBY, unread).plain.endswith("#build 3")
    assert "#build" not in panels.keys(two, BUILD.channel, unread).plain


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

    shown = panels.sidebar(snapshot(named), LOBBY, unread, UNICODE)

    assert "[red]b[/]" in shown.plain


def test_the_debug_pane_wraps_rows_and_keeps_empty_sections_short() -> None:
    sections = [
        reports.Section("Held back", 0, (), "none"),
        reports.Section("Missing", 0, (), "none"),
        reports.Section("Peers", 1, ("bob " * 12,), "nobody yet"),
    ]

    lines = panels.debug_text(sections, 30).plain.split("\n")

    assert [line.split() for line in lines[:6]] == [
        ["PROTOCOL", "Esc", "closes"],
        [],
        ["Held", "back", "none"],
        ["Missing", "none"],
        [],
        ["Peers", "1"],
    ]
    assert lines[6].startswith(" bob")
    assert lines[7].startswith("   bob")
    assert max(map(len, lines)) <= 30
