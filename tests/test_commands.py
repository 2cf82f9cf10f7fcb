"""The table of /commands, addresses, and what a wrong command is answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui import commands
from chat_tui.commands import BY_NAME, DEFAULT_PORT, TABLE, parse_address
from sync.errors import LocalError


def test_every_command_of_the_issue_is_there() -> None:
    wanted = (
        "/help /join /create /channel /channels /invite /connect /who /peers /nick /resend "
        "/missing /buffers /status /whoami /quit"
    )

    assert set(wanted.split()) == set(BY_NAME)


def test_the_help_names_every_command_and_fits_a_narrow_screen() -> None:
    lines = commands.help_text().splitlines()

    assert [line.split()[0] for line in lines] == [command.names[0] for command in TABLE]
    assert max(map(len, lines)) <= 76


def test_an_unknown_command_is_answered_with_the_nearest_three() -> None:
    answer = commands.unknown("/jion")

    assert answer.startswith("There is no /jion. Did you mean /join, ")
    assert sum(name in answer for name in BY_NAME) >= commands.NEAREST


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.168.1.20:5000", ("192.168.1.20", 5000)),
        ("printer.local", ("printer.local", DEFAULT_PORT)),
        ("[fe80::1]:5000", ("fe80::1", 5000)),
        ("[fe80::1]", ("fe80::1", DEFAULT_PORT)),
        ("fe80::1", ("fe80::1", DEFAULT_PORT)),
    ],
)
def test_addresses_are_understood_with_and_without_a_port(
    text: str, address: tuple[str, int]
) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text", ["host:", ":5000", "host:0", "host:65536", "host:x", "a b:1", "[]"]
)
def test_what_is_no_address_is_answered_with_an_example(text: str) -> None:
    with pytest.raises(LocalError, match="Write host:port"):
        parse_address(text)


@given(st.text())
def test_any_text_is_an_address_or_a_sentence(text: str) -> None:
    try:
        host, port = parse_address(text)
    except LocalError:
        return
    assert host
    assert 0 < port <= commands.PORT_MAX
