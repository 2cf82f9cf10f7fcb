"""`sync.view.view.Inspection` of a node, live or simulated: its frames, its filter, its trace."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from sync.errors import LocalError
from sync.group.group import Group
from sync.machine import ChannelId, MessageId, Nanos
from sync.view.departures import DepartureInfo, Left, times_asked
from sync.view.frame_tap import Tap
from sync.view.happenings import SENDERS_TOLD, Happenings
from sync.view.message_infos import MessageStory
from sync.view.rates import RatesInfo
from sync.view.view import FrameInfo, ProbeInfo


class TraceFile(Protocol):
    """A trace that can be written to a file."""

    path: Path | None

    def begin(self, path: Path) -> None:
        """Write every step from now on to `path`; raises `LocalError`."""

    def close(self) -> None:
        """Write everything and close the file."""


class Inspector:
    """See `Inspection`. `groups` gives the channels of now; `trace` is None without."""

    def __init__(
        self,
        groups: Callable[[], Mapping[ChannelId, Group]],
        tap: Tap,
        happenings: Happenings,
        trace: TraceFile | None = None,
    ) -> None:
        self._groups = groups
        self._happenings = happenings
        self._tap = tap
        self._trace = trace

    def frames(self) -> Sequence[FrameInfo]:
        """See `sync.view.view.Inspection`."""
        return self._tap.frames()

    def rates(self, now: Nanos) -> RatesInfo:
        """See `sync.view.view.Inspection`."""
        return self._tap.rates(now)

    def departures(self, channel: ChannelId) -> Sequence[DepartureInfo]:
        """See `sync.view.view.Inspection`."""
        left = self._happenings.departures(channel)
        found = [at for at, one in enumerate(left) if one.how is Left.FOUND][:SENDERS_TOLD]
        asked = times_asked(self._tap.frames(), {left[at].message_id for at in found})
        for at in found:
            left[at] = replace(left[at], asked=asked[left[at].message_id])
        return left

    def filter_cells(self, channel: ChannelId, count: int) -> tuple[float, ...]:
        """See `sync.view.view.Inspection`."""
        group = self._groups().get(channel)
        return () if group is None else group.sds.filter.cells(count)

    def probe(self, channel: ChannelId, message_id: str) -> ProbeInfo | None:
        """See `sync.view.view.Inspection`."""
        group = self._groups().get(channel)
        if group is None:
            return None
        sds = group.sds
        held = MessageId(message_id) in sds.log.order
        return ProbeInfo(message_id, sds.filter.bits_of(message_id), held)

    def story(self, channel: ChannelId, message_id: MessageId) -> MessageStory:
        """See `sync.view.view.Inspection`."""
        return self._happenings.story(channel, message_id)

    @property
    def recorded(self) -> Path | None:
        """See `sync.view.view.Inspection`."""
        return self._tap.recorded

    def record(self, path: Path) -> int:
        """See `sync.view.view.Inspection`."""
        return self._tap.record(path)

    def stop_recording(self) -> int:
        """See `sync.view.view.Inspection`."""
        return self._tap.stop()

    @property
    def traced(self) -> Path | None:
        """See `sync.view.view.Inspection`."""
        return None if self._trace is None else self._trace.path

    def trace(self, path: Path | None) -> None:
        """See `sync.view.view.Inspection`."""
        if self._trace is None:
            raise LocalError("This is a simulation: its steps follow from its seed, not a file.")
        if path is None:
            self._trace.close()
        else:
            self._trace.begin(path)
