"""Commands that open the debug pane, and say the same in words where there is no screen."""

from pathlib import Path
from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.commands.command import At, Command, Result
from chat_tui.debug import causal_text, now_details, state_sections
from chat_tui.debug.departure_rows import left_section
from chat_tui.debug.frame_text import frame_detail
from chat_tui.debug.group_sections import UNGOVERNED, catch_ups, group_sections
from chat_tui.debug.now_sections import now_sections
from chat_tui.debug.section import Row, Section, detail_in_words, in_words
from chat_tui.debug.sync_cards import session_cards
from chat_tui.debug.tab_table import Tab, terms_text
from chat_tui.debug.wording import choose, file_named, probe_text
from chat_tui.text.times import count
from chat_tui.wording.sentences import find, short_id
from sync.errors import LocalError
from sync.machine import MessageId
from sync.view.view import ChannelInfo, Snapshot

ID_DIGITS: Final = 64

FRAMES_SAID: Final = 40
"""Frames that line mode says at once: a screen of them, the newest."""


async def now(chat: Chat, rest: str, at: At) -> Result:
    """Show the last minute: frames, acknowledgements, repairs, sessions, links, the filter."""
    del rest
    snapshot, info = chat.snapshot(), find(chat.snapshot(), at.channel)
    collected = now_details.collect(chat.inspection, snapshot, info)
    sections = now_sections(snapshot, info, collected)
    return Result(text=_said(sections), action=_opening(Tab.NOW))


async def buffers(chat: Chat, rest: str, at: At) -> Result:
    """Show what waits for what; with an id, why."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    if not rest:
        left = left_section(snapshot, chat.inspection.departures(info.channel))
        text = f"{state_sections.as_text(snapshot, info)}\n{_said([left])}"
        return Result(text=text, action=_opening(Tab.BUFFERS))
    sections = state_sections.buffers(snapshot, info)
    return Result(text=_opened(sections, rest.casefold(), "waits here, or for that"))


async def graph(chat: Chat, rest: str, at: At) -> Result:
    """Show the causal graph around a message: the one named, selected, or else the newest."""
    info = channel_info(chat, at.channel)
    centre = at.selected
    if rest:
        centre = await _message(chat, info, rest.casefold())
    read = await causal_text.read(chat.history, info.channel, centre, causal_text.DEPTH)
    if not read.nodes:
        raise LocalError("Nothing to draw: this channel has no messages yet.")
    text = causal_text.as_text(chat.snapshot(), info, read)
    return Result(text=text, action=_opening(Tab.CAUSAL, centre or ""))


async def bloom(chat: Chat, rest: str, at: At) -> Result:
    """Show the Bloom filter; with an id, tests that id."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    if not rest:
        sections = state_sections.knowledge(snapshot, info)
        return Result(text=_said(sections, details=True), action=_opening(Tab.BLOOM))
    found = await chat.history.named(info.channel, rest.casefold(), limit=1)
    tested = found[0].message_id if found else rest
    probe = chat.inspection.probe(info.channel, tested)
    if probe is None:
        raise LocalError("The filter of this channel is not available now.")
    text = f"{short_id(MessageId(tested))}: {probe_text(probe)}"
    return Result(text=text, action=_opening(Tab.BLOOM, tested))


async def sessions(chat: Chat, rest: str, at: At) -> Result:
    """Show the reconciliations; with a number, the ranges of that one."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    cards = session_cards(snapshot, info)
    if info.governance is not None:
        cards.append(catch_ups(snapshot, info.governance))
    if not rest:
        return Result(text=_said(cards), action=_opening(Tab.SYNC))
    chosen = [one for one in cards if one.title.startswith(f"Session {rest} ")]
    if not chosen:
        raise LocalError(f"There is no session {rest} here; /sessions lists them.")
    opened = [detail_in_words(row.opens()) for row in chosen[0].rows if row.opens is not None]
    return Result(text="\n".join([chosen[0].title, *dict.fromkeys(opened)]))


async def wire(chat: Chat, rest: str, at: At) -> Result:
    """Show frames that have all of some words; or record all to a file."""
    word, _, name = rest.partition(" ")
    match word.casefold():
        case "record":
            if not name:
                raise LocalError("Name a file: /wire record FILE.")
            path = file_named(name)
            before = chat.inspection.recorded
            frames = chat.inspection.record(path)
            ended = "" if before is None else f"{_recorded(frames, before)} "
            return Result(text=f"{ended}Recording frames to {path}. /wire stop ends it.")
        case "stop" if not name:
            return _stop(chat)
        case "open" if name.isdecimal():
            return Result(text=_frame(chat, int(name)))
        case _:
            pass
    chosen = choose(chat.snapshot(), chat.inspection.frames(), rest)[:FRAMES_SAID]
    lines = [f"{frame.number} {line.text}" for frame, line in reversed(chosen)]
    return Result(text="\n".join(lines) or "No such frame.", action=_opening(Tab.WIRE, rest))


async def trace(chat: Chat, rest: str, at: At) -> Result:
    """Show the last steps, or write all of them to a file from now on."""
    del at
    word, _, name = rest.partition(" ")
    before = chat.inspection.traced
    ended = f"The trace to {before} has ended." if before else ""
    if word.casefold() == "on":
        if not name:
            raise LocalError("Name a file: /trace on FILE.")
        path = file_named(name)
        chat.inspection.trace(path)
        begun = f"Recording every step to {path}, with everything that is written here."
        return Result(text=f"{ended} {begun}".lstrip())
    if rest.casefold() == "off":
        chat.inspection.trace(None)
        return Result(text=ended or "There was none.")
    as_names = word.casefold() == "names"
    words = name if as_names else rest
    section = state_sections.steps(chat.snapshot(), words.casefold().split(), as_names=as_names)
    return Result(text=_said([section]), action=_opening(Tab.TRACE, words))


async def group(chat: Chat, rest: str, at: At) -> Result:
    """Show how the governance of the channel stands; with an id, an op or a head of it."""
    snapshot, info = chat.snapshot(), channel_info(chat, at.channel)
    if info.governance is None:
        raise LocalError(f"There is nothing to show: {UNGOVERNED}.")
    sections = group_sections(snapshot, info.governance)
    if rest:
        return Result(text=_opened(sections, rest.casefold(), "is shown here", "/group"))
    return Result(text=_said(sections), action=_opening(Tab.GROUP))


async def explain(chat: Chat, rest: str, at: At) -> Result:
    """Explain a term, a tab, or the row about an id."""
    text = terms_text(rest)
    info = find(chat.snapshot(), at.channel)
    if not text and info is not None:
        text = _opened(_all(chat.snapshot(), info), rest.casefold(), "is explained here")
    return Result(text=text or f"No explanation for {rest}; /explain lists all terms.")


def _all(snapshot: Snapshot, info: ChannelInfo) -> list[Section]:
    return [*state_sections.buffers(snapshot, info), *state_sections.knowledge(snapshot, info)]


def _opened(sections: list[Section], prefix: str, what: str, lists: str = "/buffers") -> str:
    """Return what the rows about an id open to.

    Raises:
        LocalError: there is none.
    """
    opened = [
        detail_in_words(row.opens())
        for section in sections
        for row in section.rows
        if row.subject and row.opens is not None and _about(row, prefix)
    ]
    if not opened:
        raise LocalError(f"Nothing that begins with {prefix} {what}; {lists} lists what does.")
    return "\n".join(dict.fromkeys(opened))


def _about(row: Row, prefix: str) -> bool:
    return row.subject.startswith(prefix) or prefix.startswith(row.subject)


def _said(sections: list[Section], *, details: bool = False) -> str:
    lines: list[str] = []
    for section in sections:
        lines.append(f"{section.title}: {'' if section.rows else section.none}".rstrip())
        lines += [f"  {in_words(row)}" for row in section.rows]
        first = section.rows[0].opens if details and section.rows else None
        if first is not None and not section.rows[0].subject:
            lines += [f"  {fact}" for fact in first().facts]
    return "\n".join(lines)


async def _message(chat: Chat, info: ChannelInfo, prefix: str) -> MessageId:
    """Return the one message meant: here, waiting or missing.

    Raises:
        LocalError: there is none, or the prefix fits several.
    """
    if len(prefix) == ID_DIGITS:
        return MessageId(prefix)
    here = await chat.history.named(info.channel, prefix, limit=2)
    ids = {one.message_id for one in here}
    ids |= {one.message_id for one in info.waiting} | {*info.missing, *info.lost_ids}
    fitting = sorted(one for one in ids if one.startswith(prefix))
    if len(fitting) != 1:
        what = f"{len(fitting)} messages begin" if fitting else "No message begins"
        raise LocalError(f"{what} with {prefix}; write the beginning of one id.")
    return fitting[0]


def _frame(chat: Chat, number: int) -> str:
    frames = [one for one in chat.inspection.frames() if one.number == number]
    if not frames:
        raise LocalError(f"Frame {number} is no longer kept; /wire lists the frames that are.")
    return detail_in_words(frame_detail(chat.snapshot(), frames[0]))


def _stop(chat: Chat) -> Result:
    path = chat.inspection.recorded
    if path is None:
        raise LocalError("Not recording. /wire record FILE starts a recording.")
    return Result(text=_recorded(chat.inspection.stop_recording(), path))


def _recorded(frames: int, path: Path) -> str:
    return f"{count(frames, 'frame')} recorded to {path}."


def _opening(tab: Tab, about: str = "") -> str:
    """Return the action that shows the same on a screen."""
    return f"open_debug({tab.value!r}, {about!r})"


ROWS: Final = (
    Command(("/now",), "", "the last minute: frames, repairs, sessions, links", now),
    Command(
        ("/buffers", "/missing"), "[id]", "buffers: what waits for what, and until when", buffers
    ),
    Command(("/graph",), "[id]", "causal graph: what came before and after", graph),
    Command(("/bloom",), "[id]", "the Bloom filter; with an id, tests that id", bloom),
    Command(("/sessions",), "[number]", "sync sessions and their ranges", sessions),
    Command(("/wire",), "[words]", "frames; also open N, record FILE, stop", wire),
    Command(("/trace",), "[words]", "steps of the engine; also: names, on FILE, off", trace),
    Command(("/group",), "[id]", "governance: ops, secrets by number, levels of links", group),
    Command(("/explain",), "[term or id]", "explains the terms of the protocol", explain),
)
