"""Messages and sentences as lines of text without boxes: what line mode, `tail` and files print.

Rules:
1. Nothing anybody writes stands at the left edge: every further line of it begins with `MARK`.
2. A name with a sign of ours in it stands in quotation marks, which no name can hold.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chat_tui.text.me_actions import as_shown
from chat_tui.text.namesakes import called, shared_by
from chat_tui.text.safe_text import clean_nick, clean_text, wrap
from chat_tui.text.times import count, time_of_day
from sync.entries.identity import short_fingerprint
from sync.errors import LocalError
from sync.machine import PeerId

HERE: Final = "up"
"""State of a peer with a link, as JSON has it."""

MARK: Final = "    | "
"""Before every further line of a message. No first line begins with spaces."""

REPLY: Final = "↪"
"""Before what a reply answers, at the left edge."""

INDENT: Final = "  "
"""Before every further line of what the program says."""

CODE: Final = r"/join chat1-[a-z2-7]+"
"""A line to pass on, which must be copied whole; in it nobody can say anything else."""

INDENT_MAX: Final = 8
"""Spaces at the beginning of such a line that what is broken off has as well."""

WIDTH_MIN: Final = 20
"""Cells of a terminal below which lines are left to it."""

_SIGNS: Final = r'[:()*"\[\]|]'
"""Signs that our own lines are made of."""

_COLONS: Final = str.maketrans(dict.fromkeys("\u02d0\u0589\u05c3\u1804\u205a\u2236\ua789", ":"))
_QUOTES: Final = str.maketrans(dict.fromkeys('"\u201c\u201d\u201e\u201f\u2033\u3003\uff02', "'"))


def plain_name(nick: str, called: str) -> str:
    """Return `called`, which is `nick` with or without its key, such that it ends where it ends."""
    name = clean_nick(nick)
    if not re.search(_SIGNS, unicodedata.normalize("NFKC", name).translate(_COLONS)):
        return called
    return f'"{name.translate(_QUOTES)}"{called.removeprefix(name)}'


def said(head: str, name: str, text: str, width: int | None = None) -> str:
    """Return a message as lines: `head` (time and place), then who said what.

    Args:
        head: stands at the left edge, without a space behind it.
        name: as `plain_name` returns it.
        text: clean, in one line or more.
        width: cells of a terminal, which would break lines wherever the author wants; None
            where no line is broken.
    """
    shown = as_shown(name, text)
    words = shown if shown != text else f"{name}: {text}"
    return laid(f"{head} {words}".lstrip(), MARK, width)


def tailed(message: Mapping[str, Any], width: int | None) -> str:
    """Return a message as `tail` has it from an open chat, of this version or an older one."""
    nick, author = str(message["nick"]), PeerId(str(message["author"]))
    called = message.get("called") or f"{clean_nick(nick)} {short_fingerprint(author)}"
    text = clean_text(str(message["text"]))
    name = plain_name(nick, str(called))
    lines = said(time_of_day(int(message["created_ns"])), name, text, width)
    quote = " ".join(clean_text(str(message.get("quote") or "")).split())
    return f"{laid(f'{REPLY} {quote}', MARK, width)}\n{lines}" if quote else lines


def tailed_act(act: Mapping[str, Any], width: int | None) -> str:
    """Return an act of governance as `tail` has it from an open chat."""
    words = " ".join(clean_text(str(act["text"])).split())
    return laid(f"* {time_of_day(int(act['created_ns']))} {words}.", INDENT, width)


def of_channel(status: Mapping[str, Any], named: str | None) -> Mapping[str, Any]:
    """Return what `status` has, of its channels only the one that is named, if one is.

    Raises:
        LocalError: none goes by that name.
    """
    if named is None:
        return status
    wanted = named if named.startswith(("#", "@")) else f"#{named}"
    channels = [one for one in status["channels"] if one["channel"] == wanted]
    if not channels:
        raise LocalError(f"You are not in {wanted}: status without --channel lists yours.")
    return {**status, "channels": channels}


def status_lines(status: Mapping[str, Any]) -> list[str]:
    """Return what `status` has of a chat, open or not, as lines."""
    running = f"{clean_nick(str(status['nick']))}: {status['network']}"
    lines = [running if status["running"] else "Not running."]
    if status["running"]:
        lines.append(_who_is_here(status.get("peers", ())))
    for one in status["channels"]:
        counts = (
            (one["outgoing_count"], "not acknowledged"),
            (one.get("waiting_count", 0), "waiting for earlier ones"),
            (one["missing_count"], "missing"),
            (one["lost"], "lost"),
        )
        words = [count(one["messages"], "message"), *(f"{n:,} {what}" for n, what in counts if n)]
        lines.append(f"{one['channel']}: {', '.join(words)}")
    return [" ".join(clean_text(line).split()) for line in lines]


def _who_is_here(peers: Sequence[Mapping[str, Any]]) -> str:
    """Return who is here, who of them is away, and whether anything of theirs waits."""
    here = [one for one in peers if one["state"] == HERE]
    if not here:
        return "Nobody else is here."
    words = []
    known = [(PeerId(str(one["peer"])), str(one["nick"])) for one in peers]
    shared = shared_by(known)
    for one in sorted(here, key=lambda one: str(one["nick"]).casefold()):
        nick = str(one["nick"])
        name = plain_name(nick, called(PeerId(str(one["peer"])), nick, shared))
        notes = ["away"] if one.get("away") else []
        notes += [f"{one['waiting']} to be read"] if one.get("waiting") else []
        words.append(f"{name} ({', '.join(notes)})" if notes else name)
    return f"Here: {', '.join(words)}."


def laid(text: str, mark: str, width: int | None = None) -> str:
    """Return `text` with `mark` before its further lines, none of them broader than `width`.

    The broken-off part begins with `MARK`, further in than its line, so that no long text looks
    like another line of a list. Where the program speaks, a code stays in one line, which the
    terminal breaks and copies as one.
    """
    first, *others = text.split("\n")
    if width is None or width < WIDTH_MIN:
        return "\n".join([first, *(mark + other for other in others)])
    lines = _broken("", first, width)
    for other in others:
        lines += _broken(mark, other, width)
    return "\n".join(lines)


def _broken(mark: str, line: str, width: int) -> list[str]:
    if mark == INDENT and re.fullmatch(CODE, line):
        return [mark + line]
    indent = min(len(line) - len(line.lstrip(" ")), INDENT_MAX)
    hanging = MARK if mark == MARK else mark + " " * indent + MARK
    first, *others = wrap(line, width - len(hanging), most=None)
    return [mark + first, *(hanging + other for other in others)]
