"""Results of a turn: what is to be committed, and what is let out only then."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from sync.errors import LocalError, RemoteError
from sync.group import values
from sync.machine import ChannelId, MessageId
from sync.manager import announcing
from sync.runner.input_queue import Addressed
from sync.runner.weights import BYTES_OF_TURN

BATCH_MAX = 512
"""Inputs handled before a commit; at 0.3 ms each the screen would wait 150 ms."""

TELLING: Final = (values.Deliver, values.Previewed)
"""Effects that show a message, as it looks."""


class Release(Struct, frozen=True):
    """An effect that may happen now, and the channel it is of."""

    channel: ChannelId
    effect: values.Effect


class Failure(Struct, frozen=True):
    """An input that changed nothing, and why."""

    channel: ChannelId
    event: values.Input
    error: LocalError | RemoteError


@dataclass(slots=True)
class Batch:
    """Result of one turn: commit `records`, then carry out `releases` and send `announcements`.

    With `begin_anew`, or after `swaps`, a channel must then be made anew from the disk, before the
    next turn.
    """

    inputs: list[Addressed] = field(default_factory=list)
    records: list[values.Record] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    announcements: list[announcing.Told] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    begin_anew: bool = False
    swaps: list[ChannelId] = field(default_factory=list)
    """Channels whose staged snapshots are to become their history, before the next turn."""
    held: int = 0
    """Bytes of its inputs, as `sync.runner.weights` counts them."""

    @property
    def is_open(self) -> bool:
        """True if another turn may add to it."""
        whole = len(self.inputs) >= BATCH_MAX or self.held >= BYTES_OF_TURN
        return not (whole or self.begin_anew or self.swaps)


def tell_looks(batch: Batch, altered: Sequence[values.Altered]) -> None:
    """Have a committed batch also tell which messages look different now, as the disk found.

    Messages it delivers anyway are told once, as they look now: deleted ones are never shown
    before.
    """
    looks = {one.message_id: one.look for one in altered}
    told: set[MessageId] = set()
    for at, release in enumerate(batch.releases if looks else ()):
        effect = release.effect
        if isinstance(effect, TELLING) and effect.message_id in looks:
            look = looks[effect.message_id]
            batch.releases[at] = Release(release.channel, replace(effect, look=look))
            told.add(effect.message_id)
    batch.releases += [Release(one.channel, one) for one in altered if one.message_id not in told]
