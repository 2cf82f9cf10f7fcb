"""The language of a search: words, and who wrote, where, when, with what."""

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from chat_tui.text.dates import day_after, moment
from chat_tui.text.namesakes import look_alike_key
from chat_tui.text.safe_text import clean_nick, clean_text
from chat_tui.wording import sentences
from sync.entries.identity import fingerprint
from sync.errors import LocalError
from sync.machine import ChannelId, PeerId
from sync.view.finding import Wanted
from sync.view.view import Snapshot

EVERYWHERE: Final = "all"
HERE: Final = "here"
ME: Final = "me"
LINK: Final = "link"

PART: Final = re.compile(
    r'(?P<key>[A-Za-z]+):(?:"(?P<quoted>[^"]*)"|(?P<value>[^\s"]+))|(?P<word>\S+)'
)
"""A filter, or a word; a value with spaces stands in double quotes."""

ADDRESSES: Final = frozenset({"http", "https"})
"""Beginnings of addresses, which are words to look for."""

FILTERS: Final = "from:NAME, in:#CHANNEL or in:all, before:DAY, since:DAY, on:DAY, has:link"
USAGE: Final = f"words, and {FILTERS}"

KEY_MIN: Final = 4
"""Characters of a fingerprint that name somebody."""


class Query(Struct, frozen=True):
    """A search as it was understood: the lines it wants, and the words that are to stand out."""

    wanted: Wanted

    @property
    def words(self) -> str:
        """The words that are to stand out."""
        return self.wanted.words

    @property
    def is_empty(self) -> bool:
        """True if nothing was asked for yet."""
        wanted = self.wanted
        bound = wanted.since is not None or wanted.before is not None
        return not (wanted.words or wanted.is_of_people or wanted.links or bound)


def understood(text: str, snapshot: Snapshot, channels: tuple[ChannelId, ...]) -> Query:
    """Return what a search means; `channels` are those it is of unless it says otherwise.

    Raises:
        LocalError: a filter, a name, a channel or a day is not known; says which are.
    """
    wanted = Wanted(channels)
    words: list[str] = []
    for part in PART.finditer(text):
        key = (part["key"] or "").casefold()
        if part["word"] is not None or key in ADDRESSES:
            words.append(part.group())
            continue
        value = part["value"] if part["quoted"] is None else part["quoted"]
        wanted = _filtered(wanted, key, value.strip(), snapshot)
    return Query(replace(wanted, words=" ".join(words)))


def everywhere(snapshot: Snapshot) -> tuple[ChannelId, ...]:
    """Return all channels of ours."""
    return tuple(info.channel for info in snapshot.channels)


def _filtered(wanted: Wanted, key: str, value: str, snapshot: Snapshot) -> Wanted:
    """Return what is wanted, but only so much of it as a filter leaves."""
    match key:
        case "from":
            authors, nicks = _people(value, snapshot)
            return replace(wanted, authors=wanted.authors | authors, nicks=wanted.nicks | nicks)
        case "in":
            return replace(wanted, channels=_channels(value, snapshot, wanted.channels))
        case "before" | "since":
            begin = _moment(key, value, snapshot)
            return (
                replace(wanted, before=begin) if key == "before" else replace(wanted, since=begin)
            )
        case "on":
            begin = _moment(key, value, snapshot)
            return replace(wanted, since=begin, before=day_after(begin))
        case "has" if value.casefold() == LINK:
            return replace(wanted, links=True)
        case "has":
            raise LocalError(f"has:{clean_text(value)} is not known. has:link finds addresses.")
        case _:
            raise LocalError(
                f"{clean_text(key)}: is not known in a search. There are {FILTERS}. "
                "Without the colon it is a word to look for."
            )


def _people(name: str, snapshot: Snapshot) -> tuple[frozenset[PeerId], frozenset[str]]:
    """Return the keys that go by a name, or begin so, and the names of their lines."""
    wanted = name.removeprefix("@")
    if wanted.casefold() == ME:
        return frozenset({snapshot.me}), frozenset({clean_nick(snapshot.nick)})
    everybody = [(snapshot.me, snapshot.nick), *((one.peer, one.nick) for one in snapshot.peers)]
    key = look_alike_key(wanted)
    named = frozenset(peer for peer, nick in everybody if nick and look_alike_key(nick) == key)
    if named:
        return named, frozenset({wanted})
    letters = wanted.upper()
    keyed = [
        (peer, nick)
        for peer, nick in everybody
        if len(wanted) >= KEY_MIN and fingerprint(peer).startswith(letters)
    ]
    if keyed:
        return frozenset(peer for peer, _ in keyed), frozenset()
    return frozenset(), frozenset({wanted})  # somebody never met, whose lines others brought


def _channels(value: str, snapshot: Snapshot, here: tuple[ChannelId, ...]) -> tuple[ChannelId, ...]:
    """Return the channels that a filter names.

    Raises:
        LocalError: none of ours has that name.
    """
    if value.casefold() == EVERYWHERE:
        return everywhere(snapshot)
    if value.casefold() == HERE:
        return here
    wanted = value.casefold()
    titles = {sentences.channel_title(info): info.channel for info in snapshot.channels}
    for title, channel in titles.items():
        if wanted in {title.casefold(), title[1:].casefold()}:
            return (channel,)
    # of two whose other ends have one name, which keys tell apart, all of that name
    named = {info.channel: f"@{clean_nick(info.name)}" for info in snapshot.channels if info.direct}
    alike = tuple(
        one for one, name in named.items() if wanted in {name.casefold(), name[1:].casefold()}
    )
    if alike:
        return alike
    there = ", ".join(f'in:"{title}"' if " " in title else f"in:{title}" for title in titles)
    raise LocalError(
        f"You are in no channel called {clean_text(value)}. There are in:all, {there}."
    )


def _moment(key: str, value: str, snapshot: Snapshot) -> int:
    begin = moment(value, snapshot.now)
    if begin is None:
        raise LocalError(
            f"{key}:{clean_text(value)} is no day. Write {key}:yesterday, {key}:friday, "
            f'{key}:21.11., {key}:2026-11-21, or {key}:"yesterday 14:30".'
        )
    return begin
