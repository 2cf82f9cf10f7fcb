"""Commands about replies: answer a message, go to what it answers and back, list its answers."""

from typing import Final

from chat_tui.client.chat import Chat, channel_info
from chat_tui.client.message_names import line_named
from chat_tui.commands.command import At, Command, Result
from chat_tui.commands.editing import id_and_rest
from chat_tui.commands.reading import around, line_meant
from chat_tui.keys.table import with_keys
from chat_tui.model.command_findings import Goal, Listed, View, as_text
from chat_tui.text.times import count
from chat_tui.wording import sentences
from chat_tui.wording.replies import WHY, quote
from chat_tui.wording.sentences import ID_DRAFTED
from sync.errors import LocalError
from sync.machine import PeerId
from sync.view.view import Answers, Line

ANSWERS_MAX: Final = 1_000
"""Replies listed: nobody reads more, and 10,000 to one message must not stop who asks."""

WHICH: Final = (
    "Say what you answer: select a message ({select}), or write /reply ID TEXT; the beginning of an"
    " id is enough."
)
NO_REPLY: Final = "That message answers no other one."
NO_ANSWERS: Final = "Nothing that is here answers that message."
ALL_PRINTED: Final = "Line mode goes nowhere: all that was printed stands above."


async def reply(chat: Chat, rest: str, at: At) -> Result:
    """Answer a message; without a text, let it be written."""
    channel = channel_info(chat, at.channel).channel
    named, text = await id_and_rest(chat, channel, rest)
    target = named or (None if at.on_gap else at.selected)
    if target is None:
        raise LocalError(with_keys(WHICH, chat.settings.keys()))
    if not text:
        line = await line_named(chat, channel, target)
        begun = f"/reply {target[:ID_DRAFTED]} "
        return Result(text=f'{begun}and a text answers "{_quote(chat, line)}".', draft=begun)
    await chat.send_text(channel, text, target)
    return Result(wrote=True)


async def thread(chat: Chat, rest: str, at: At) -> Result:
    """List what answers a message, and what answers that."""
    line = await line_meant(chat, rest, at)
    answers = await chat.history.answers(line.channel, line.message_id, limit=ANSWERS_MAX)
    if not answers.lines:
        raise LocalError(NO_ANSWERS)
    verb = "answers" if len(answers.lines) == 1 else "answer"
    title = f"{count(len(answers.lines), 'message')} {verb} {_quote(chat, line)}"
    note = f"There are more: these are {ANSWERS_MAX:,}." if answers.more else ""
    return _listed(chat, title, line, answers, note)


async def replied(chat: Chat, rest: str, at: At) -> Result:
    """Go to what a message answers."""
    line = await line_meant(chat, rest, at)
    if line.reply_to is None:
        raise LocalError(NO_REPLY)
    found = await chat.history.answered(line.channel, [line.reply_to])
    target = found[line.reply_to]
    if not isinstance(target, Line):
        raise LocalError(f"It answers {WHY[target]}.")
    goal = Goal(target.position, target.message_id, (line.position, line.message_id))
    return Result(text=await around(chat, line.channel, goal), found=goal)


async def back(_chat: Chat, _rest: str, _at: At) -> Result:
    """Come back from what a message answers."""
    return Result(text=ALL_PRINTED, found=View("back"))


def _listed(chat: Chat, title: str, line: Line, answers: Answers, note: str) -> Result:
    lines = (line, *(one for one, _ in answers.lines))
    depths = (0, *(depth for _, depth in answers.lines))
    listed = Listed(title, lines, note, depths)
    words = as_text(lines, chat.snapshot().shared_names, depths=depths)
    text = "\n".join(part for part in (f"{title}:", words, note) if part)
    return Result(text=text, found=listed)


def _quote(chat: Chat, line: Line) -> str:
    snapshot = chat.snapshot()

    def called(peer: PeerId, nick: str) -> str:
        return sentences.called(snapshot, peer, nick)

    return quote(line, called)


ROWS: Final = (
    Command(("/reply",), "[id] text", "answer the selected message, or this one", reply),
    Command(("/thread",), "[id]", "list what answers a message", thread),
    Command(("/replied",), "[id]", "go to what a message answers", replied),
    Command(("/back",), "", "come back from there", back),
)
