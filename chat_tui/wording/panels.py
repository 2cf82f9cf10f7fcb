"""Styled texts of the panels around the conversation: pure functions of a snapshot.

Names in it are peers' text, so nothing here is ever parsed as markup.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from textual.content import Content

from chat_tui.keys.names import name_of
from chat_tui.keys.table import BY_ID, USUAL, Chosen, with_keys
from chat_tui.text.safe_text import clean_nick, clean_text, clip_cells
from chat_tui.text.times import count
from chat_tui.wording import channel_state, presence, sentences
from chat_tui.wording.clicks import channel_click, clickable, key_click
from chat_tui.wording.glyphs import Glyphs, sparkline
from sync.entries.identity import short_fingerprint
from sync.machine import ChannelId
from sync.view.view import ChannelInfo, Level, Notice, PeerInfo, PeerState, Snapshot, Trust

DIM: Final = "$foreground 75%"
TITLE: Final = "bold $secondary"
GOOD: Final = "$success"
BUSY: Final = "$warning"
BAD: Final = "$error"
UNSEEN: Final = "bold $warning"

TRUST_STYLES: Final = {
    Trust.VERIFIED: GOOD,
    Trust.FIRST_SEEN: DIM,
    Trust.BLOCKED: BAD,
    Trust.CHANGED: f"bold {BAD}",
}

LACKING_MUCH: Final = 8.0
"""Messages lacking that have the highest sign at least: a single one is a low step."""

BEFORE_TOPIC: Final = " · "

TOPIC_CELLS_MIN: Final = 12
"""Cells below which a topic says nothing; /topic shows all of it."""

OPEN_NOW: Final = "app.open_debug('Now')"
"""The click on how well everybody agrees."""

KEYS: Final = ("help", "debug", "peers", "demo", "search", "palette", "quit")
"""The ids of the keys in the last line (`chat_tui.keys.table`)."""
GIVING_WAY: Final = ("demo", "search", "palette", "peers", "debug")
"""Those that are left out where there is no room, this one first; they stay in the help."""
ANY_WIDTH: Final = 1_000
NEXT_CHANNEL: Final = ("next_active", "Next channel")


class Unseen(NamedTuple):
    """Counts of a channel's messages that nobody here has seen, and of those for the reader."""

    unread: Callable[[ChannelId], int]
    mentioned: Callable[[ChannelId], int] = lambda _: 0

    def counted(self, *channels: ChannelId) -> str:
        """Return how many they are in some channels, see `counted`; nothing if there are none."""
        new = sum(self.unread(one) for one in channels)
        return counted(new, sum(self.mentioned(one) for one in channels)) if new else ""


def header(
    snapshot: Snapshot, info: ChannelInfo | None, glyphs: Glyphs, lacked: Sequence[float] = ()
) -> Content:
    """Return the left part of the first line: the channel, who is here, whether all agree.

    `lacked`: what was lacking over the last minute, drawn behind the word.
    """
    if info is None:
        return Content.styled("no channel", "bold")
    parts: list[Content | str | tuple[str, str]] = [
        key_click(Content.styled(sentences.channel_title(info), "bold"), "switch"),
        "  ",
        key_click(Content(sentences.others_here(snapshot, info)), "peers"),
    ]
    other = presence.other_end(snapshot, info)
    if other is not None:
        parts += [" · ", trust(other.trust, glyphs)]
    state = sentences.agreement(snapshot, info)
    line = sparkline(lacked, len(lacked), glyphs, peak=LACKING_MUCH)
    course = f" {line}" if line else ""
    if state == sentences.IN_SYNC:
        parts += [
            " · ",
            clickable(Content.styled(f"{glyphs.here} {state}{course}", GOOD), OPEN_NOW),
        ]
    elif state:
        parts += [
            " · ",
            clickable(Content.styled(f"{glyphs.busy} {state}{course}", BUSY), OPEN_NOW),
        ]
    return Content.assemble(*parts)


def fits(info: ChannelInfo | None, room: int) -> bool:
    """Return whether so many cells are enough for the topic, if there is one."""
    least = TOPIC_CELLS_MIN if info is not None and channel_state.topic_of(info) else 0
    return room >= least


def topic(info: ChannelInfo | None, room: int) -> Content:
    """Return the topic in so many cells, behind a dot; nothing if there is none, or no room."""
    text = "" if info is None else channel_state.topic_of(info)
    if not text or room < TOPIC_CELLS_MIN:
        return Content("")
    shown = Content.styled(f"{BEFORE_TOPIC}{clip_cells(text, room - len(BEFORE_TOPIC))}", DIM)
    return clickable(shown, "app.submit('/topic')")


def trust(what: Trust, glyphs: Glyphs) -> Content:
    """Return what is thought of a key, as sign and word."""
    return Content.styled(f"{glyphs.trust[what]} {what.value}", TRUST_STYLES[what])


def addressee(info: ChannelInfo | None, *, barred: bool = False) -> Content:
    """Return who reads what is written here: the title of the input; `barred`: nobody does."""
    if info is None:
        return Content("no channel")
    if barred:
        title = sentences.channel_title(info)
        return Content.styled(f"{title}: you cannot write here", BUSY)
    return Content(f"to {sentences.channel_title(info)}, {sentences.openness(info)}")


def whoami(snapshot: Snapshot) -> Content:
    """Return the right part of the first line: our name and key."""
    shown = Content.assemble(
        (clean_nick(snapshot.nick), "bold"), " ", (short_fingerprint(snapshot.me), DIM)
    )
    return clickable(shown, "app.submit('/whoami')")


def name(snapshot: Snapshot) -> Content:
    """Return our name alone, for where there is no room for the key."""
    return Content.styled(clean_nick(snapshot.nick), "bold")


def status(
    sentence: str, said: Notice | None, *, barred: bool = False, kept: bool = False
) -> Content:
    """Return what happens and what comes next; a notice comes before it.

    Args:
        sentence: what happens.
        said: the notice, if there is one.
        barred: whether the sentence says why nothing can be written.
        kept: whether the sentence stays in sight, above the notice.
    """
    if said is None:
        return Content.styled(sentence, BUSY if barred else DIM)
    style = "bold $error" if said.level is Level.ERROR else GOOD
    notice = Content.styled(clean_text(said.text), style)
    return Content("\n").join([status(sentence, None, barred=barred), notice]) if kept else notice


def chip(below: int, above: int, glyphs: Glyphs, chosen: Chosen = USUAL) -> Content:
    """Return how many unseen messages there are, for somebody who reads further up."""
    words: list[str] = []
    if above:
        key = with_keys("{unread}", chosen)
        words.append(f"{glyphs.above} {count(above, 'earlier message')} arrived · {key}")
    words.append(f"{glyphs.below} {below:,} new · End jumps" if below else "End: newest")
    return Content.styled(f" {' · '.join(words)} ", "bold $accent")


def keys(
    snapshot: Snapshot,
    shown: ChannelId | None,
    unseen: Unseen,
    chosen: Chosen,
    width: int = ANY_WIDTH,
) -> Content:
    """Return the last line: the keys there really are, and channels with unread messages.

    Of the usual keys, as many as `width` has room for beside the channels; of these, whole ones.
    """
    waiting = [
        info for info in snapshot.channels if info.channel != shown and unseen.unread(info.channel)
    ]
    news = _news(waiting, unseen, width)
    labels = {id_: BY_ID[id_].label for id_ in KEYS} | dict([NEXT_CHANNEL] if waiting else [])
    named = {
        id_: key_click(
            Content.assemble((name_of(chosen[id_][0]), "bold $accent"), f" {label}  "), id_
        )
        for id_, label in labels.items()
    }
    for id_ in GIVING_WAY:
        used = sum(part.cell_length for part in (*named.values(), *news))
        if used - (0 if waiting else len("  ")) <= width:
            break
        del named[id_]
    room = width - sum(part.cell_length for part in named.values())
    return Content("").join([*named.values(), *_news(waiting, unseen, room)])


def _news(waiting: Sequence[ChannelInfo], unseen: Unseen, room: int) -> list[Content]:
    """Return channels with unread messages, and how many others have some, in so many cells."""
    parts: list[Content] = []
    for info in waiting:
        if sum(part.cell_length for part in parts) > room:
            break
        text = f" {sentences.channel_title(info)} {unseen.counted(info.channel)}"
        parts.append(channel_click(Content.styled(text, UNSEEN), info.channel))
    while parts and sum(part.cell_length for part in (*parts, *_others(waiting, parts))) > room:
        del parts[-1]
    return [*parts, *_others(waiting, parts)]


def _others(waiting: Sequence[ChannelInfo], named: Sequence[Content]) -> list[Content]:
    """Return how many channels are not among those that are named."""
    others = len(waiting) - len(named)
    if not others:
        return []
    text = f" and {others:,} more" if named else f" {count(others, 'channel')}"
    return [key_click(Content.styled(text, UNSEEN), "switch")]


def counted(new: int, mentions: int) -> str:
    """Return how many messages wait, and of those how many are addressed to the reader."""
    if not mentions:
        return f"{new:,}"
    return f"@{mentions:,}" if mentions == new else f"{new:,} @{mentions:,}"


def here_first(snapshot: Snapshot) -> list[PeerInfo]:
    """Return everybody, who is here first."""
    return sorted(snapshot.peers, key=lambda peer: peer.state is not PeerState.UP)


def sign(peer: PeerInfo, glyphs: Glyphs) -> Content:
    """Return the sign of whether somebody is here."""
    if peer.state is PeerState.DOWN:
        return Content.styled(glyphs.gone, DIM)
    if peer.syncing:
        return Content.styled(glyphs.busy, BUSY)
    return Content.styled(glyphs.here, GOOD)
