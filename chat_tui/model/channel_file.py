"""A channel as a file for people or programs: plain text, Markdown, or a JSON object a line.

One page is in memory at a time, however long the history is.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from chat_tui.model.conversation import BEGINNING
from chat_tui.model.new_file import NewFile
from chat_tui.model.row import shown_text
from chat_tui.text.me_actions import as_shown
from chat_tui.text.namesakes import Names
from chat_tui.text.plain_lines import laid, plain_name
from chat_tui.text.safe_text import clean_nick, clean_text
from chat_tui.text.times import day_of, time_of_day
from chat_tui.wording.acts import SIGN, sentence
from chat_tui.wording.json_events import message, to_json
from chat_tui.wording.reactions import left_out
from chat_tui.wording.replies import above
from sync.errors import LocalError
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.view import History, Line, OpShown, Unshown

PAGE: Final = 500
"""Messages read at a time: at most 8 MB of text, usually some 50 kB."""

DELETED: Final = "(deleted by its author)"
EDITED: Final = " (edited)"

HANGING: Final = " " * len("23:59 ")
"""Before every further line of a message; no first line begins with spaces."""

_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>#|~&])|^(\s*)([-+=]|\d+[.)])", re.MULTILINE)
"""Signs that Markdown would take for its own, anywhere or where a line begins."""

Answered: TypeAlias = Mapping[MessageId, Line | Unshown]
Shape: TypeAlias = Callable[[Line, str, Answered], str]
"""(message, its day if it is the first one of it, what it may answer) to text with newlines."""


async def write(history: History, channel: ChannelId, title: str, kind: str, path: Path) -> int:
    """Write all messages of a channel to a new file; returns how many there are.

    Args:
        history: what is read, a page at a time.
        channel: whose messages.
        title: what the channel is called here.
        kind: `txt`, `md` or `jsonl`.
        path: the file, which must not be there yet.

    Raises:
        LocalError: the file is there already or cannot be written; or there is no message.
    """
    names = Names()
    written, day = 0, ""
    try:
        if kind != "jsonl":  # which has the keys of all authors
            async for page in _pages(history, channel):
                for line in page:
                    names.hear(line.author, line.nick)
        shape = _shape(kind, title, names)
        file = await asyncio.to_thread(NewFile, path)
        with file:
            file.add(f"# {_escaped(title)}\n" if kind == "md" else "")
            async for page in _pages(history, channel):
                text: list[str] = []
                answered = await _answered(history, channel, page)
                for line in page:
                    before, day = day, day_of(line.created_ns)
                    text.append(shape(line, day if day != before else "", answered))
                await asyncio.to_thread(file.add, "".join(text))
                written += len(page)
            if not written:
                raise LocalError(f"Nothing to write: {title} has no messages yet.")
            await asyncio.to_thread(file.put)
    except OSError as error:
        raise LocalError(
            f"{path} cannot be written ({error.strerror}): name a file in another directory."
        ) from error
    return written


async def _pages(history: History, channel: ChannelId) -> AsyncIterator[list[Line]]:
    after = BEGINNING
    while True:
        page = list(await history.page_after(channel, after=after, limit=PAGE))
        if page:
            yield page
            after = page[-1].position
        if len(page) < PAGE:
            return


async def _answered(history: History, channel: ChannelId, page: Sequence[Line]) -> Answered:
    wanted = [line.reply_to for line in page if line.reply_to is not None]
    return await history.answered(channel, wanted) if wanted else {}


def _shape(kind: str, title: str, names: Names) -> Shape:
    """Return what makes text of a message; `names` knows everybody who wrote one."""

    def who(line: Line) -> str:
        return plain_name(line.nick, names.called(line.author, line.nick))

    def apart(peer: PeerId, nick: str) -> str:
        return plain_name(nick, names.called(peer, nick))

    def answers(line: Line, answered: Answered) -> str:
        if line.reply_to is None or line.deleted:
            return ""
        return above(answered.get(line.reply_to), apart)

    def as_text(line: Line, day: str, answered: Answered) -> str:
        head = f"\n{day}\n" if day else ""
        if line.act is not None:
            said = f"{time_of_day(line.created_ns)} {SIGN} {sentence(line, apart)}"
            return f"{head}{laid(said, HANGING)}\n"
        text = as_shown(who(line), _said(line))
        hanging = laid(f"{time_of_day(line.created_ns)} {who(line)}: {text}", HANGING)
        quote = f"{quote}\n" if (quote := answers(line, answered)) else ""
        return f"{head}{quote}{hanging}{_reactions(line)}\n"

    def as_markdown(line: Line, day: str, answered: Answered) -> str:
        head = f"\n## {_escaped(day)}\n\n" if day else ""
        if line.act is not None:
            when = time_of_day(line.created_ns)
            return f"{head}- *{when} {_escaped(sentence(line, apart))}*\n"
        author = f"**{_escaped(who(line))}** {time_of_day(line.created_ns)}"
        body = _escaped(as_shown(who(line), _said(line))).replace("\n", "  \n  ")
        if quote := answers(line, answered):
            author += f"  \n  *{_escaped(quote)}*"
        return f"{head}- {author}  \n  {body}{_escaped(_reactions(line))}\n"

    def as_json(line: Line, _day: str, _answered: Answered) -> str:
        if line.act is not None:
            return json.dumps(_act(line, title), ensure_ascii=False) + "\n"
        made = message(line, lambda _: title)
        del made["event"]
        made |= {"nick": clean_nick(line.nick), "text": _text(line)}
        for reaction in made["reactions"]:
            reaction["emoji"] = clean_nick(reaction["emoji"])
        return json.dumps(made, ensure_ascii=False) + "\n"

    return {"txt": as_text, "md": as_markdown, "jsonl": as_json}[kind]


def _act(line: Line, title: str) -> dict[str, object]:
    """Return an act of governance for a program; its words are safe to show."""
    made = to_json(OpShown(line), lambda _: title)
    assert made is not None
    del made["event"], made["again"]
    people = [{**one, "nick": clean_nick(one["nick"])} for one in made["people"]]
    reason, name = clean_text(made["reason"]), clean_text(made["name"])
    return {**made, "nick": clean_nick(line.nick), "people": people, "reason": reason, "name": name}


def _text(line: Line) -> str:
    return clean_text(line.text).rstrip()


def _said(line: Line) -> str:
    """Return the text of a message for people."""
    if line.hidden_by is not None:
        return f"({shown_text(line)})"
    if line.deleted:
        return DELETED
    return _text(line) + (EDITED if line.edited else "")


def _reactions(line: Line) -> str:
    shown = [f"{clean_nick(one.emoji)} {one.count}" for one in line.reactions]
    shown += left_out(line.more_kinds, line.more_reactors)
    return f" [{', '.join(shown)}]" if shown else ""


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it stands."""
    return _MARKDOWN.sub(
        lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}{_begun(found[3])}", text
    )


def _begun(sign: str) -> str:
    """Return a sign at the beginning of a line, so that no list begins with it."""
    return f"{sign[:-1]}\\{sign[-1]}"
