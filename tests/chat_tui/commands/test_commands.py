"""The table of /commands, addresses, and what a wrong command is answered."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.commands import familiar_names, table
from chat_tui.commands.command import At
from chat_tui.commands.table import BY_NAME, TABLE, Commands
from chat_tui.text.addresses import DEFAULT_PORT, PORT_MAX, parse_address
from sync.errors import LocalError
from tests.support.chat_tui.chats import running


def test_every_command_of_the_issue_is_there() -> None:
    wanted = (
        "/help /join /create /channel /channels /invite /connect /who /peers /nick /resend "
        "/typing /edit /react /delete /missing /buffers /sync /status /whoami /quit "
        "/search /grep /mentions /goto /unread /info /copy /quote /open /repair /bare /clear "
        "/ticks /msg /me /away /leave /whois /verify /trust /block /unblock /doctor "
        "/set /theme /mouse /keys "
        "/now /graph /bloom /sessions /wire /trace /explain /demo /stats"
    )

    assert set(wanted.split()) <= set(BY_NAME)


def test_the_help_names_every_command_and_fits_a_narrow_screen() -> None:
    lines = table.help_text().splitlines()

    named = [line for line in lines if line.startswith("/")]
    assert [line.split()[0] for line in named] == [command.names[0] for command in TABLE]
    assert [line for line in lines if line.endswith(":")] == [
        f"{title.upper()}:" for title, _ in table.GROUPS
    ]
    assert max(map(len, lines)) <= 76


def test_an_unknown_command_is_answered_with_the_nearest_three() -> None:
    answer = table.unknown("/jion")

    assert answer.startswith("Unknown command /jion. Did you mean /join, ")
    assert "Did you mean /repair, " in table.unknown("/repairs"), "the same beginning is nearest"
    assert "Did you mean /mentions, " in table.unknown("/ment")
    assert sum(name in answer for name in BY_NAME) >= table.NEAREST


@pytest.mark.parametrize(("name", "ours"), familiar_names.OF_OTHERS.items())
def test_a_name_that_other_chats_have_for_a_command_leads_to_ours(name: str, ours: str) -> None:
    assert name not in BY_NAME
    assert ours in BY_NAME
    assert f"Did you mean {ours}" in table.unknown(name.upper())


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
    assert 0 < port <= PORT_MAX


# -- run by a real chat, on loopback -------------------------------------------------------------


@pytest.mark.net
async def test_text_is_written_and_a_slash_only_when_doubled(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        lobby = alice.first_channel
        assert lobby is not None
        run = Commands(alice).run

        results = [
            await run(text, At(lobby)) for text in ("hello", "//join", "/nosuch", " /quit now")
        ]
        written = [line.text for line in await alice.history.page(lobby, before=None, limit=9)]

    assert [result.ok for result in results] == [True, True, False, True]
    assert results[3].quit
    assert written == ["hello", "/join"]


@pytest.mark.net
async def test_channels_are_joined_founded_listed_and_switched_to(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        lobby = alice.first_channel
        run = Commands(alice).run

        joined = await run("/join #random", At(lobby))
        created = await run("/create build", At(lobby))
        listed = await run("/channels", At(lobby))
        back = await run("/channel LOBBY", At(created.channel))
        nowhere = await run("/channel #nowhere", At(lobby))

    assert joined.text == "You are in #random, open to everybody on this network."
    assert created.channel not in {None, lobby, joined.channel}
    assert [row.split(" ")[0] for row in listed.text.splitlines()] == [
        "#lobby",
        "#random",
        "#build",
    ]
    assert back.channel == lobby
    assert (nowhere.ok, nowhere.channel) == (False, None)
    assert "/join #nowhere joins" in nowhere.text


@pytest.mark.net
async def test_an_invite_is_shown_for_private_channels_only(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        run = Commands(alice).run
        created = await run("/create build", At(None))

        private = await run("/invite", At(created.channel))
        public = await run("/invite", At(alice.first_channel))

    assert private.text.splitlines()[-1].startswith("/join ")
    assert "is enough" in public.text


@pytest.mark.net
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("/join", "write /join #name"),
        ("/connect nowhere:x", "Write host:port"),
        ("/resend", "Nothing of yours waits"),
        ("/resend abc", "begins with abc waits"),
        ("/sync", "Nobody is here to sync with"),
        ("/help nosuch", "Did you mean"),
    ],
)
async def test_what_cannot_be_done_says_what_to_do(
    tmp_path: Path, line: str, sentence: str
) -> None:
    async with running(tmp_path, "alice") as alice:
        result = await Commands(alice).run(line, At(alice.first_channel))

    assert not result.ok
    assert sentence in result.text


@pytest.mark.net
async def test_without_a_channel_writing_says_how_to_get_one(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        result = await Commands(alice).run("hello", At(None))

    assert not result.ok
    assert "/join" in result.text


@pytest.mark.net
async def test_a_message_nobody_has_is_sent_again_by_its_id(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        lobby = alice.first_channel
        assert lobby is not None
        message_id = await alice.send_text(lobby, "anybody?")
        run = Commands(alice).run

        named = await run(f"/resend {message_id[:8]}", At(lobby))
        unnamed = await run("/resend", At(lobby))
        waiting = await run("/missing", At(lobby))

    assert (named.ok, unnamed.ok) == (True, True)
    assert f"  {message_id[:6]} waiting" in waiting.text
    assert waiting.action == "open_debug('Buffers', '')"


@pytest.mark.net
async def test_the_questions_about_oneself_and_others_are_answered(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        lobby = alice.first_channel
        run = Commands(alice).run

        renamed = await run("/nick Alice B", At(lobby))
        me = await run("/whoami", At(lobby))
        status = await run("/status", At(lobby))
        peers = await run("/PEERS", At(lobby))
        usage = await run("/help nick", At(lobby))

    assert renamed.ok
    assert me.text.startswith("You are Alice B, listening on 127.0.0.1")
    assert "#lobby (open to everybody on this network): 0 messages" in status.text
    assert peers.text.startswith("Nobody yet.")
    assert usage.text == "/nick name: take another name"
