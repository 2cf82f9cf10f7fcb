"""Lines of text without boxes: what is to be copied stays whole, and nobody else can use that."""

import pytest

from chat_tui.text.plain_lines import INDENT, MARK, laid, said, status_lines
from sync.entries.identity import short_fingerprint
from sync.machine import ChannelId
from sync.net import invite
from sync.net.invite import Invite
from tests.support.chat_tui.conversations import peer

CODE = invite.encode(Invite("plans", ChannelId("c0" * 16), b"s" * 32, "lan"))


@pytest.mark.parametrize("width", [20, 80, 120])
def test_a_code_that_the_program_shows_is_one_line_in_every_width(width: int) -> None:
    lines = laid(f"* Share it with care:\n\n/join {CODE}", INDENT, width).split("\n")

    assert len(CODE) > 80
    assert lines[-1] == f"{INDENT}/join {CODE}"


def test_a_line_of_a_message_is_broken_though_it_looks_like_a_code() -> None:
    shown = said("12:00", "bob", f"enter:\n/join {CODE}", 80).split("\n")

    assert all(len(line) <= 80 for line in shown)
    assert all(line.startswith(MARK) for line in shown[1:])
    copied = "\n".join(shown).partition("/join")[2]
    assert invite.is_code(copied)
    assert invite.decode(copied) == invite.decode(CODE)


def test_what_is_more_than_a_code_is_broken() -> None:
    lines = laid(f"* a\n/join {CODE} {'b' * 40}", INDENT, 80).split("\n")

    assert max(map(len, lines)) <= 80


def test_two_of_one_name_have_their_keys_where_a_status_says_who_is_here() -> None:
    bob, eve, carol = (peer(name) for name in ("bob", "eve", "carol"))
    people = [(bob, "bob", "up"), (eve, "B0b", "down"), (carol, "carol", "up")]
    told = [{"peer": key, "nick": nick, "state": state} for key, nick, state in people]
    status = {"running": True, "nick": "alice", "network": "fine", "channels": (), "peers": told}

    assert status_lines(status)[1] == f"Here: bob {short_fingerprint(bob)}, carol."
