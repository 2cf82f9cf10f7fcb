"""Commands that find messages: by words, by a regular expression, by one's own name."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from chat_tui.client.chat import Chat, channel_info
from chat_tui.commands.command import At, Command, Result, required
from chat_tui.model.command_findings import Hits, Listed, as_text
from chat_tui.model.grep import matching
from chat_tui.model.search_query import FILTERS, HERE, Query, everywhere, understood
from chat_tui.text.safe_text import clean_nick, clean_text
from chat_tui.text.times import count
from chat_tui.text.word_match import is_mentioned
from chat_tui.wording import sentences
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.view.finding import Wanted
from sync.view.view import Line

HITS_MAX: Final = 1_000
"""Hits of a search that are stepped through; more says more exact words are needed."""

MENTIONS_MAX: Final = 200
"""Mentions listed."""


async def search(chat: Chat, rest: str, at: At) -> Result:
    """Find messages by the words they have, by who wrote them, where and when."""
    text = required(rest.strip(), "/search and words, as in /search projector room from:bob")
    channel = channel_info(chat, at.channel).channel
    query = understood(text, chat.snapshot(), (channel,))
    hits = await counted(chat, query, await found(chat, query, text, HITS_MAX))
    lines = hits.lines
    titles = titles_of(chat, lines, channel)
    listed = as_text(lines, chat.snapshot().shared_names, titles)
    return Result(text=f"{how_many(hits)}:\n{listed}", found=hits)


async def found(chat: Chat, query: Query, text: str, limit: int) -> Hits:
    """Return the newest lines that a search finds, at most `limit`.

    Raises:
        LocalError: there is none, or nothing was asked for.
    """
    if query.is_empty:
        raise LocalError(f"Write words to look for; a search also knows {FILTERS}.")
    lines = await chat.history.find(query.wanted, limit=limit + 1)
    if not lines:
        raise LocalError(_nothing(query, text))
    more = len(lines) > limit
    newest = tuple(lines[:limit])[::-1]
    return Hits(query.words, newest, more, None, len(newest) - 1)


async def counted(chat: Chat, query: Query, hits: Hits) -> Hits:
    """Return hits with how many there are in all, where that can be said."""
    return replace(hits, total=await chat.history.fitting(query.wanted)) if hits.more else hits


def how_many(hits: Hits) -> str:
    """Return how many hits there are, and how many of them are here."""
    if not hits.more:
        return count(len(hits.lines), "hit")
    of = "; there are more" if hits.total is None else f" of {hits.total:,}"
    return f"The newest {len(hits.lines):,}{of}"


def titles_of(
    chat: Chat, lines: Sequence[Line], here: ChannelId | None = None
) -> dict[ChannelId, str]:
    """Return the titles of the channels of lines; none if that is `here`, or the only one."""
    channels = chat.snapshot().channels
    if len(channels) == 1 or all(line.channel == here for line in lines):
        return {}
    return {info.channel: sentences.channel_title(info) for info in channels}


def _nothing(query: Query, text: str) -> str:
    wanted = query.wanted
    said = clean_text(text)
    where = "No message here" if len(wanted.channels) == 1 else "No message in your channels"
    if wanted.nicks and not wanted.authors:
        return f"{where} fits {said!r}: nobody called {', '.join(sorted(wanted.nicks))} is known."
    if said != query.words:
        return f"{where} fits {said!r}."
    elsewhere = " in:all looks in all channels." if len(wanted.channels) == 1 else ""
    return f"{where} has words that begin with {said!r}. /grep finds parts of words too.{elsewhere}"


def _scope(chat: Chat, rest: str, at: At) -> tuple[tuple[ChannelId, ...], str]:
    """Return the channels that are meant, all or this one, and what stands behind `here`."""
    word, _, behind = rest.partition(" ")
    if word == HERE:
        return (channel_info(chat, at.channel).channel,), behind.strip()
    channel_info(chat, at.channel)
    return everywhere(chat.snapshot()), rest


async def grep(chat: Chat, rest: str, at: At) -> Result:
    """Find messages by a regular expression, in all channels or in this one."""
    channels, pattern = _scope(chat, rest, at)
    pattern = required(pattern, "/grep and a pattern, as in /grep pro[jt]ector")
    matches = await matching(chat.history, channels, pattern)
    if not matches.lines:
        raise LocalError(matches.said_of_none)
    verb = "matches" if len(matches.lines) == 1 else "match"
    found = count(len(matches.lines), "message")
    title = f"{found} of {matches.read:,} {verb} {clean_text(pattern)}"
    return _listed(chat, title, matches.lines[::-1], matches.cut, at)


async def mentions(chat: Chat, rest: str, at: At) -> Result:
    """List the messages of others that name us, in all channels or in this one."""
    channels, behind = _scope(chat, rest, at)
    if behind:
        raise LocalError("Write /mentions for all channels, or /mentions here.")
    nick = clean_nick(chat.snapshot().nick)
    lines = await chat.history.find(Wanted(channels, naming=nick), limit=HITS_MAX)
    named = [line for line in lines if is_mentioned(nick, clean_text(line.text))]
    if not named:
        raise LocalError(f"Nobody has mentioned {nick}{' here' if rest else ''}.")
    note = f"These are the newest {MENTIONS_MAX}." if len(named) > MENTIONS_MAX else ""
    shown = named[:MENTIONS_MAX][::-1]
    verb = "names" if len(shown) == 1 else "name"
    return _listed(chat, f"{count(len(shown), 'message')} {verb} {nick}", shown, note, at)


def _listed(chat: Chat, title: str, lines: list[Line], note: str, at: At) -> Result:
    titles = titles_of(chat, lines, at.channel)
    listed = as_text(lines, chat.snapshot().shared_names, titles)
    text = "\n".join(part for part in (f"{title}:", listed, note) if part)
    return Result(text=text, found=Listed(title, tuple(lines), note, titles=titles))


ROWS: Final = (
    Command(("/search",), "words", "find words; from: in: before: has:link", search),
    Command(("/grep",), "[here] pattern", "find by regular expression", grep),
    Command(("/mentions",), "[here]", "list messages that mention you", mentions),
)
