"""A channel's parameters: what all of its members agree on, in two profiles."""

from typing import Final

from msgspec import Struct

from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, Nanos
from sync.sds.message import HISTORY_MAX, LAN_LIMITS, REPAIR_MAX, WAKU_LIMITS, Limits
from sync.structures import bloom_parameters as bloom


class Parameters(Struct, frozen=True):
    """Parameters that all members of a channel agree on: filter size, limits and timing.

    Attributes:
        acknowledge_within: delay of the sync message that names what nobody has named yet.
        idle_within: delay of the next sync message when nothing is owed; it then doubles.
        idle_max: what the doubling leads to.
        possibly_factor: how much slower possibly acknowledged messages are sent again.
        possibly_max: between two of these at most: beside somebody who never names ours, they are
            sent ever more seldom.
        gap_after: how long a message waits for its dependencies before it is shown after a gap.
        lost_after: how long a missing message is asked for; longer than others wait for it.
        t_min: SDS-R, the least delay of a request.
        t_max: SDS-R, within which requests and answers are spread, in a small group.
        t_max_per_responder: what a large group adds to that for each who may answer.
        repair_size: entries in a repair request that we send (SDS-R: up to 3).
    """

    name: str
    bloom: bloom.BloomParameters
    limits: Limits
    acknowledge_within: tuple[Nanos, Nanos]
    idle_within: tuple[Nanos, Nanos]
    t_min: Nanos
    t_max: Nanos
    gap_after: Nanos
    lost_after: Nanos
    t_max_per_responder: Nanos = 0
    idle_max: Nanos = 60 * SECOND
    resend_after: Nanos = 5 * SECOND
    resend_max: int = 5
    possibly_factor: int = 4
    possibly_max: Nanos = 24 * HOUR
    history_size: int = 2
    repair_size: int = 3

    def __post_init__(self) -> None:
        assert 0 < self.t_min <= self.t_max
        assert 0 < self.gap_after <= self.lost_after
        assert 0 < self.repair_size <= REPAIR_MAX
        assert 0 < self.history_size <= HISTORY_MAX <= self.limits.history


LAN: Final = Parameters(
    name="lan",
    bloom=bloom.LAN,
    limits=LAN_LIMITS,
    acknowledge_within=(SECOND // 2, 3 * SECOND),
    idle_within=(1 * SECOND, 5 * SECOND),
    t_min=1 * SECOND,
    t_max=6 * SECOND,
    t_max_per_responder=300 * MILLISECOND,
    gap_after=2 * MINUTE,
    lost_after=10 * MINUTE,
)
WAKU: Final = Parameters(
    name="waku",
    bloom=bloom.WAKU,
    limits=WAKU_LIMITS,
    acknowledge_within=(0, 30 * SECOND),
    idle_within=(0, 30 * SECOND),
    t_min=30 * SECOND,
    t_max=120 * SECOND,
    gap_after=32 * MINUTE,  # 16 T_max: the fifth asking is within 15, its answer within 16
    lost_after=1 * HOUR,
)
PROFILES: Final = {parameters.name: parameters for parameters in (LAN, WAKU)}
