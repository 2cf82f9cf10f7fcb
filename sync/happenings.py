"""What happened to the last messages, noted as it is let out, to be told when somebody looks.

Rules:
1. A note is a few small values: never a message, so thousands of them are a megabyte.
2. Nothing is put into words here, and nothing is looked up but what is gone soon (T_req).
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sync.group import values
from sync.group.group import Group
from sync.infos import HoldersInfo
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.message_infos import Happening, MessageStory, Noticed, What
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery

KEPT_MAX: Final = 4096
"""Notes kept: an hour of a lively chat, and no more than a megabyte."""

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
    }
)
"""Effects that mean something to a message; most are others, and go by with one look."""

More: TypeAlias = bool | Delivery | tuple[str] | tuple[str, PeerId, Nanos, Nanos, Nanos] | None
"""What is to say beside the kind: after a gap, the new mark, or the fields of `Noticed`."""


class Happenings:
    """See the module docstring. `groups` gives the channels of now, `began` is when this did."""

    def __init__(self, groups: Callable[[], Mapping[ChannelId, Group]], began: Nanos) -> None:
        self._groups = groups
        self._began = began
        self._notes: deque[tuple[Nanos, ChannelId, MessageId, What, More]] = deque(maxlen=KEPT_MAX)

    def note(self, at: Nanos, channel: ChannelId, effect: values.Effect) -> None:
        """Take note of an effect, if it means something to a message."""
        if type(effect) not in TOLD:
            return
        more: More = None
        match effect:
            case values.Deliver(message_id):
                what, more = What.DELIVERED, effect.after_gap
            case values.DeliveryChanged(message_id, delivery):
                what, more = What.MARKED, delivery
            case values.Written(_, message_id):
                what = What.WRITTEN
            case values.Previewed(message_id):
                what = What.PREVIEWED
            case values.BroadcastStored(message_id, bloom_filter):
                what = What.ANSWERED if bloom_filter is None else What.RESENT
            case values.Found(message_id, lost):
                what = What.LOST if lost else What.FOUND
            case values.Missing(message_id, named_by):
                what, more = What.MISSING, self._noticed(channel, message_id, named_by)
            case values.Withdrawn(message_ids):
                what = What.WITHDRAWN
                self._notes.extend([(at, channel, one, what, None) for one in message_ids])
                return
            case _:
                return
        self._notes.append((at, channel, message_id, what, more))

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
        group = self._groups().get(channel)
        if group is None:
            return MessageStory(since, happenings)
        held, named = group.sds.holders.of(message_id)
        holders = HoldersInfo(
            message_id, own=held.get(group.sds.me) is Evidence.WROTE, holders=tuple(held.items())
        )
        return MessageStory(since, happenings, holders if held else None, tuple(named))

    def _noticed(
        self, channel: ChannelId, message_id: MessageId, named_by: str
    ) -> tuple[str] | tuple[str, PeerId, Nanos, Nanos, Nanos]:
        """Return the fields of `Noticed`."""
        group = self._groups().get(channel)
        if group is None:
            return (named_by,)
        repairs = group.sds.repairs
        request = repairs.asking.requests.get(message_id)
        if request is None:
            return (named_by,)
        _, window = repairs.counted
        return (named_by, request.namer, request.t_req, window.t_min, window.t_max)


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
