"""Notes of what happened to recent messages, taken at release and read on demand.

Rules:
1. A note is a few small values: never a message, so thousands of them are a megabyte.
2. Notes hold values, not sentences; only values that are soon gone (T_req) are looked up at once.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from sync.group import values
from sync.group.group import Group
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from sync.view.departures import DepartureInfo, Left, departures
from sync.view.infos import HoldersInfo
from sync.view.message_infos import Happening, MessageStory, More, Note, Noticed, What

KEPT_MAX: Final = 4096
"""Notes kept: an hour of a lively chat, and no more than a megabyte."""

SENDERS_TOLD: Final = 10
"""Messages that came of which it is looked up who sent them: as many as a section shows."""

SENDERS: Final = (Evidence.SENT, Evidence.WROTE)
"""Evidence that a message came from somebody: its author sends it too, and that says more."""

TOLD: Final[frozenset[type]] = frozenset(
    {
        values.Written,
        values.Deliver,
        values.Previewed,
        values.DeliveryChanged,
        values.BroadcastStored,
        values.Found,
        values.Missing,
        values.Withdrawn,
        values.Discarded,
        values.PushedOut,
    }
)
"""Effects that mean something to a message; most are others, and go by with one look."""


TAKEN_BACK: Final = {
    values.Withdrawn: What.WITHDRAWN,
    values.Discarded: What.DISCARDED,
    values.PushedOut: What.PUSHED_OUT,
}
"""Effects that take messages off the screen."""

ALONE: Final = frozenset({What.WRITTEN, What.MISSING, What.DELIVERED})
"""Notes of a message that was written here, came by itself, or is missing."""


class Happenings:
    """See the module docstring. `groups` gives the channels of now, `began` is when this did."""

    def __init__(self, groups: Callable[[], Mapping[ChannelId, Group]], began: Nanos) -> None:
        self._groups = groups
        self._began = began
        self._notes: deque[Note] = deque(maxlen=KEPT_MAX)
        self._copied: dict[ChannelId, Happening] = {}
        """Snapshots that channels began with: one note for all that they brought."""

    def note_effect(self, at: Nanos, channel: ChannelId, effect: values.Effect) -> None:
        """Take note of an effect, if it means something to a message."""
        if type(effect) is values.SnapshotCame:
            self._copied[channel] = Happening(at, What.COPIED, by=effect.peer)
            return
        if type(effect) not in TOLD:
            return
        note: Note
        if isinstance(effect, values.Deliver):
            note = (at, channel, effect.message_id, What.DELIVERED, effect.after_gap)
        elif isinstance(effect, values.DeliveryChanged):
            note = (at, channel, effect.message_id, What.MARKED, effect.delivery)
        elif isinstance(effect, values.Found):
            note = (at, channel, effect.message_id, What.LOST if effect.lost else What.FOUND, None)
        elif isinstance(effect, values.Missing):
            more = self._noticed(channel, effect)
            note = (at, channel, effect.message_id, What.MISSING, more)
        elif isinstance(effect, values.BroadcastStored):
            what = What.ANSWERED if effect.bloom_filter is None else What.RESENT
            note = (at, channel, effect.message_id, what, None)
        elif isinstance(effect, values.Written):
            note = (at, channel, effect.message_id, What.WRITTEN, None)
        elif isinstance(effect, values.Previewed):
            note = (at, channel, effect.message_id, What.PREVIEWED, None)
        else:
            assert isinstance(effect, values.Withdrawn | values.Discarded | values.PushedOut)
            what = TAKEN_BACK[type(effect)]
            self._notes.extend([(at, channel, one, what, None) for one in effect.message_ids])
            return
        self._notes.append(note)

    def story(self, channel: ChannelId, message_id: MessageId) -> MessageStory:
        """Return what is remembered of a message."""
        notes = self._notes
        since = notes[0][0] if len(notes) == KEPT_MAX else self._began
        happenings = tuple(
            [
                _happening(at, what, more)
                for at, of, about, what, more in notes
                if about == message_id and of == channel
            ]
        )
        copied = self._copied.get(channel)
        if copied is not None and since <= copied.at and not came_alone(happenings):
            happenings = (*happenings, copied)
        group = self._groups().get(channel)
        if group is None:
            return MessageStory(since, happenings)
        held, named = group.sds.holders.of(message_id)
        holders = HoldersInfo(
            message_id, own=held.get(group.sds.me) is Evidence.WROTE, holders=tuple(held.items())
        )
        return MessageStory(since, happenings, holders if held else None, tuple(named))

    def departures(self, channel: ChannelId) -> list[DepartureInfo]:
        """Return what left the buffers of a channel, newest first; of the first, who sent it."""
        left = departures(self._notes, channel)
        group = self._groups().get(channel)
        if group is None:
            return left
        others = [
            DepartureInfo(one.message_id, Left.FORESTALLED, one.at, by=one.by)
            for one in group.sds.repairs.answering.forestalled
        ]
        left = sorted([*reversed(others), *left], key=lambda one: one.at, reverse=True)
        found = [at for at, one in enumerate(left) if one.how is Left.FOUND][:SENDERS_TOLD]
        for at in found:
            held, _ = group.sds.holders.of(left[at].message_id)
            sent = [who for kind in SENDERS for who, how in held.items() if how is kind]
            left[at] = replace(left[at], by=next(iter(sent), None))
        return left

    def _noticed(
        self, channel: ChannelId, effect: values.Missing
    ) -> tuple[str] | tuple[str, PeerId, Nanos, Nanos, Nanos]:
        """Return the fields of `Noticed`."""
        group = self._groups().get(channel)
        if group is None:
            return (effect.named_by,)
        repairs = group.sds.repairs
        request = repairs.asking.requests.get(effect.message_id)
        if request is None:
            return (effect.named_by,)
        _, window = repairs.counted
        return (effect.named_by, request.namer, request.t_req, window.t_min, window.t_max)


def came_alone(happenings: Iterable[Happening]) -> bool:
    """Return whether a message came by itself.

    All others of a channel that began with a snapshot were in that, as long as all notes since are
    kept.
    """
    return any(one.what in ALONE for one in happenings)


def _happening(at: Nanos, what: What, more: More) -> Happening:
    match more:
        case bool():
            return Happening(at, what, after_gap=more)
        case Delivery():
            return Happening(at, what, delivery=more)
        case tuple():
            return Happening(at, what, noticed=Noticed(*more))
        case _:
            return Happening(at, what)
