"""`chat-tui keys`: bytes in, sentences out."""

import pytest

from chat_tui.cli.key_probe import Probe
from chat_tui.keys.listing import key_list
from chat_tui.keys.table import KEYS, USUAL

F1, F12 = b"\x1bOP", b"\x1b[24~"


@pytest.mark.parametrize(
    ("sent", "name", "says"),
    [
        (b"\x1bOP", "f1", "keys.help: Help"),
        (b"\x1bh", "alt+h", "keys.help: Help"),
        (b"\x1b[5~", "pageup", "keys.read_up: Read further up"),
        (b"s", "s", "is written"),
        (b"\r", "enter", "sends"),
        (b"\x1b1", "inverted_exclamation_mark", "is written"),
        (b"\x1b\r", "enter", "sends"),
        (b"\n", "ctrl+j", "begins a new line"),
        (b"\x1b[13;2u", "shift+enter", "Many terminals send the same"),
        ("é".encode(), "é", "is written"),
        (b"\x1br", "alt+r", "free: /set keys.help alt+r"),
        (b"\x17", "ctrl+w", "edits what is being written"),
        (b"\x1b[<0;1;2M", "", "is not a key"),
        (b"\xff", "", ""),
    ],
)
def test_a_key_is_shown_with_its_bytes_its_name_and_what_it_does(
    sent: bytes, name: str, says: str
) -> None:
    line = Probe().feed(sent)[0]

    assert line.startswith(" ".join(f"{byte:02x}" for byte in sent))
    assert name in line
    assert says in line


def test_several_keys_at_once_are_a_line_each() -> None:
    first, second, *_ = Probe().feed(b"%b")

    assert first.startswith("25 62")
    assert second.split()[0] == "b"


def test_what_a_key_does_elsewhere_is_a_line_each() -> None:
    lines = [line.strip() for line in Probe().feed(b"r")]

    assert lines[1:] == [
        "with a message selected: keys.reading_reply: Message: answer it",
        "in the protocol's pane: keys.pane_record: Protocol: record the frames",
        "in the list of peers: keys.peers_reconcile: Peers: compare histories now",
        "in the list of members: keys.members_role: Members: give one a role",
        "in the demo: keys.demo_again: Demo: this scenario again",
    ]


def test_a_key_that_was_changed_says_so_and_so_does_the_one_it_was() -> None:
    probe = Probe({**USUAL, "help": ("f12",), "reading_copy": ("c",)})
    said = {key: " ".join(" ".join(probe.feed(key)).split()) for key in (F1, F12, b"c", b"y")}

    assert said[F12].endswith("f12 keys.help: Help (changed, usually F1 or Alt+H)")
    assert said[F1].endswith("f1 usually keys.help: Help, which is F12 now (changed)")
    assert "keys.reading_copy: Message: copy it (changed, usually y)" in said[b"c"]
    assert "usually keys.reading_copy: Message: copy it, which is c now (changed)" in said[b"y"]


def test_the_list_marks_what_was_changed_and_nothing_else() -> None:
    changed = [line for line in key_list({**USUAL, "demo_cut": ("C",)}).splitlines() if "(" in line]

    assert [" ".join(line.split()) for line in changed] == [
        "C cut a link, or mend it keys.demo_cut (changed, usually x)"
    ]
    assert all(f"keys.{row.id}" in key_list(USUAL) for row in KEYS)


@pytest.mark.parametrize("key", [b"\x1b", b"\x03"])
def test_leaving_takes_the_same_key_twice_in_a_row(key: bytes) -> None:
    probe = Probe()
    ended = []
    for sent in (key, b"a", key, key):
        probe.feed(sent)
        ended.append(probe.ended)

    assert ended == [False, False, False, True]
