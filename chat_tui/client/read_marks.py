"""Read marks: which to send and when, and who sees them. Pure: the time is an argument.

Rules:
1. A mark is sent once it is ahead of the last one, at most one in `EVERY` for a channel.
2. The first time one would be sent the person is told instead, and has `FIRST_AFTER` to say no.
3. Who hides theirs sees none.
4. Of somebody blocked nothing is seen: no mark, and no words of a topic or status.
"""

from collections.abc import Set
from enum import Enum
from typing import Final

from msgspec.structs import replace

from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import READ_MARKS
from sync.machine import MINUTE, SECOND, ChannelId, Nanos, PeerId
from sync.view.causal_walk import BLOCKED
from sync.view.state_infos import StateInfo
from sync.view.view import ChannelInfo, Position, Snapshot

EVERY: Final[Nanos] = 5 * SECOND
FIRST_AFTER: Final[Nanos] = 10 * SECOND
"""Time to read the notice, and to switch marks off before any was sent."""

REFUSED_FOR: Final[Nanos] = MINUTE
"""Time after which it is tried again where one was refused."""

NOTICE: Final = (
    "The others here are about to see up to where you have read, and you see it of them. "
    "/set read_marks off hides both."
)


class Step(Enum):
    """Next step about a mark."""

    WAIT = "wait"
    SAY = "say"
    """Tell the person that marks are sent, and how to switch them off."""
    SEND = "send"


class ReadMarks:
    """See the module docstring; `noticed`: the person was told in an earlier run."""

    def __init__(self, *, noticed: bool) -> None:
        self.noticed = noticed
        self._first_at: Nanos = 0
        self._next_at: dict[ChannelId, Nanos] = {}
        self._told: dict[ChannelId, Position] = {}

    def look(self, channel: ChannelId, read_to: Position, now: Nanos) -> Step:
        """Decide on what the person has read, who looks at it now; `SEND` counts as sent."""
        told = self._told.get(channel)
        if told is not None and read_to <= told:
            return Step.WAIT
        if not self.noticed:
            self.noticed = True
            self._first_at = now + FIRST_AFTER
            return Step.SAY
        if now < max(self._first_at, self._next_at.get(channel, 0)):
            return Step.WAIT
        self._next_at[channel] = now + EVERY
        self._told[channel] = read_to
        return Step.SEND

    def know(self, channel: ChannelId, position: Position) -> None:
        """Note a mark of ours that stands, of an earlier run."""
        self._told.setdefault(channel, position)

    def refuse(self, channel: ChannelId, now: Nanos) -> None:
        """Note that one could not be sent."""
        self._told.pop(channel, None)
        self._next_at[channel] = now + REFUSED_FOR

    def forget(self, channel: ChannelId) -> None:
        """Note that ours was taken back."""
        self._told.pop(channel, None)


def are_on(settings: Preferences, info: ChannelInfo) -> bool:
    """Return whether we tell up to where we have read in a channel, and see it of others."""
    wanted = settings[READ_MARKS]
    return wanted == "on" or (wanted == "auto" and not info.open)


def dressed(snapshot: Snapshot, settings: Preferences, blocked: Set[PeerId]) -> Snapshot:
    """Return a snapshot without what `dressed_channel` leaves out."""
    channels = [dressed_channel(info, settings, blocked) for info in snapshot.channels]
    return replace(snapshot, channels=tuple(channels))


def dressed_channel(info: ChannelInfo, settings: Preferences, blocked: Set[PeerId]) -> ChannelInfo:
    """Return a channel of a snapshot without its marks, if we tell none of ours there.

    Of the people in `blocked` it has neither marks nor words: their names stand where they act.
    """
    state = info.state
    if state.reads and not are_on(settings, info):
        state = replace(state, reads=())
    if blocked:
        state = _without(state, blocked)
    return info if state is info.state else replace(info, state=state)


def _without(state: StateInfo, blocked: Set[PeerId]) -> StateInfo:
    """Return a state without the words and the marks of these people."""
    topic = state.topic
    if topic is not None and topic.by in blocked:
        topic = replace(topic, text=BLOCKED)
    profiles = [replace(one, status="") if one.peer in blocked else one for one in state.profiles]
    reads = [one for one in state.reads if one.peer not in blocked]
    return replace(state, topic=topic, profiles=tuple(profiles), reads=tuple(reads))
