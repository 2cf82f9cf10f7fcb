"""`chat-tui keys`: bytes in, sentences out."""

import pytest

from chat_tui.key_probe import Probe


@pytest.mark.parametrize(
    ("sent", "name", "says"),
    [
        (b"\x1bOP", "f1", "keys.help: Help"),
        (b"\x1bh", "alt+h", "keys.help: Help"),
        (b"\x1b[5~", "pageup", "Read further up; in the protocol's pane keys.pane_page_up"),
        (b"s", "s", "is written; in the protocol's pane keys.pane_sort: Protocol: sort"),
        (b"\r", "enter", "sends; in the protocol's pane keys.pane_open"),
        (b"\x1b1", "inverted_exclamation_mark", "is written"),
        (b"\x1b\r", "enter", "sends"),
        (b"\n", "ctrl+j", "begins a new line"),
        (b"\x1b[13;2u", "shift+enter", "Many terminals send the same"),
        ("é".encode(), "é", "is written"),
        (b"\x1br", "alt+r", "free: /set keys.help alt+r"),
        (b"\x17", "ctrl+w", "edits what is being written"),
        (b"\x1b[<0;1;2M", "", "is no key"),
        (b"\xff", "", ""),
    ],
)
def test_a_key_is_shown_with_its_bytes_its_name_and_what_it_does(
    sent: bytes, name: str, says: str
) -> None:
    [line] = Probe().feed(sent)

    assert line.startswith(" ".join(f"{byte:02x}" for byte in sent))
    assert name in line
    assert says in line


def test_several_keys_at_once_are_a_line_each() -> None:
    first, second = Probe().feed(b"ab")

    assert first.startswith("61 62")
    assert second.split()[0] == "b"


@pytest.mark.parametrize("key", [b"\x1b", b"\x03"])
def test_leaving_takes_the_same_key_twice_in_a_row(key: bytes) -> None:
    probe = Probe()
    ended = []
    for sent in (key, b"a", key, key):
        probe.feed(sent)
        ended.append(probe.ended)

    assert ended == [False, False, False, True]
