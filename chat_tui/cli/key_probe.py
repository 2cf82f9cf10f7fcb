"""`chat-tui keys`: what a key sends, what it is called, and whether it can be bound."""

import os
import select
import sys
import termios
import tty
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from textual._xterm_parser import XTermParser  # the one way to know what Textual makes of bytes
from textual.events import Key

from chat_tui.keys.listing import meanings
from chat_tui.keys.names import undeliverable
from chat_tui.keys.places import Place
from chat_tui.keys.table import USUAL, Chosen
from sync.errors import LocalError

LEAVING: Final = ("escape", "ctrl+c")
"""Pressed twice, either ends the probe: once it is shown as any other key."""

KITTY_ON: Final = "\x1b[>25u"
"""Asks for unambiguous keys, as Textual does when the chat runs (disambiguate, all keys, text)."""
KITTY_OFF: Final = "\x1b[<u"

TOGETHER_S: Final = 0.1
"""Within which the bytes of one key come; then a lone Esc is a key of its own."""


WRITING: Final = {
    "enter": "sends",
    "ctrl+j": "begins a new line",
    "tab": "completes; goes to the next field",
    "up": "what you sent before; one up in lists",
    "down": "what you sent after; one down in lists",
}
"""Keys that cannot be bound, because writing needs them."""

OF_CHAT: Final = frozenset(place for place in Place if place.is_of_chat)


class Probe:
    """Bytes in, sentences out; `ended` once Esc or Ctrl+C was pressed twice.

    `chosen` are the keys there are, by the ids of `chat_tui.keys.table`.
    """

    def __init__(self, chosen: Chosen = USUAL) -> None:
        self.ended = False
        self._chosen = chosen
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._last = ""

    def feed(self, sent: bytes) -> list[str]:
        """Return a line for every key in what the terminal sent at once, and one a place more."""
        parser = XTermParser()  # a new one, and its end: what came is all there is of a key
        events = [*parser.feed(self._decode(sent)), *parser.feed("")]
        keys = [event for event in events if isinstance(event, Key)]
        shown = _hex(sent)
        if not keys:
            return [f"{shown:<24} is not a key"]
        lines: list[str] = []
        for number, key in enumerate(keys):
            said, *elsewhere = verdicts(key, self._chosen)
            lines.append(f"{shown if not number else '':<24} {key.key:<26} {said}")
            lines += [f"{'':<24} {'':<26} {one}" for one in elsewhere]
            self.ended = self.ended or (key.key in LEAVING and key.key == self._last)
            self._last = key.key
        return lines


def verdicts(key: Key, chosen: Chosen) -> list[str]:
    """Return what the key does in the chat, or why none can be bound to it; then other places."""
    here = meanings(key.key, OF_CHAT, chosen)
    elsewhere = [
        f"{place.value}: {said}"
        for place in Place
        if place not in OF_CHAT
        for said in meanings(key.key, frozenset({place}), chosen)
    ]
    return [*(here or [_unbound(key)]), *elsewhere]


def _unbound(key: Key) -> str:
    """Return what a key does in the chat that no row of the table has."""
    if key.key in WRITING:
        return WRITING[key.key]
    if key.is_printable and not key.key.startswith(("alt+", "ctrl+")):
        return "is written"
    return undeliverable(key.key) or f"free: /set keys.help {key.key}"


def _hex(sent: bytes) -> str:
    return " ".join(f"{byte:02x}" for byte in sent)


@contextmanager
def _raw(descriptor: int) -> Iterator[None]:
    """Let every key through, as it does while the chat runs."""
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def run(write: Callable[[str], object], chosen: Chosen) -> None:
    """Show what keys send until one of `LEAVING` was pressed twice.

    Raises:
        LocalError: this is no terminal.
    """
    descriptor = sys.stdin.fileno() if sys.stdin.isatty() else -1
    if descriptor < 0:
        raise LocalError("Only a terminal sends keys: run this in one, or with --list.")
    probe = Probe(chosen)
    with _raw(descriptor):  # first, for what was typed before is lost
        write("Press keys; Esc or Ctrl+C twice ends it.\r\n\r\n")
        write(f"{'bytes':<24} {'called':<26} what it does\r\n")
        write(KITTY_ON)
        try:
            while not probe.ended:
                sent = _sent_together(descriptor)
                if not sent:
                    return
                for line in probe.feed(sent):
                    write(f"{line}\r\n")
        finally:
            write(KITTY_OFF)


def _sent_together(descriptor: int) -> bytes:
    """Return the bytes of one key; none at the end of input."""
    sent = os.read(descriptor, 1)
    while sent and select.select([descriptor], [], [], TOGETHER_S if sent == b"\x1b" else 0)[0]:
        more = os.read(descriptor, 1024)
        if not more:
            break
        sent += more
    return sent
