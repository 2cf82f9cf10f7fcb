"""Keys as a terminal sends them in one burst: all there before the first has done anything."""

from typing import Any

from textual._xterm_parser import XTermParser  # what Textual makes of bytes
from textual.app import App

F2, F3, F4, F6 = "\x1bOQ", "\x1bOR", "\x1bOS", "\x1b[17~"
CTRL_F, CTRL_P, CTRL_T = "\x06", "\x10", "\x14"
BACKSPACE, WINDOW_LEFT = "\x7f", "\x1b[O"
LEFT, ALT_K, ESC, ENTER, TAB = "\x1b[D", "\x1bk", "\x1b", "\r", "\t"


def click(x: int, y: int) -> str:
    """Return what a terminal sends for a click into a cell, counted from 0."""
    return f"\x1b[<0;{x + 1};{y + 1}M\x1b[<0;{x + 1};{y + 1}m"


def burst(app: App[Any], *sent: str) -> None:
    """Let the terminal send all of it at once; each of `sent` is what a press or a click sends."""
    for one in sent:
        parser = XTermParser()
        for event in (*parser.feed(one), *parser.feed("")):
            event.set_sender(app)
            app.post_message(event)
