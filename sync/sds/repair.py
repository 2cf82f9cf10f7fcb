"""SDS-R, who asks and who answers when: the formulas everybody works out alike.

Byte for byte those of `@waku/sds` (`tests/vectors/sds.json`): times in whole milliseconds, H(x) the
first 8 bytes of SHA-256 of the text, big-endian, two texts joined without a separator.
"""

import hashlib
import math
from typing import Final

from msgspec import Struct

from sync.machine import MILLISECOND, MessageId, Nanos, PeerId
from sync.sds.parameters import Parameters

GROUP_SIZE: Final = 128
"""Participants in one response group (SDS-R guide, "Global Configuration")."""

GAP_WINDOWS: Final = 5
LOST_WINDOWS: Final = 25
"""However large the group, a message waits for the second answer at least (asked within 3 T_max,
given within 4), and a missing one is asked for seven times at least."""


WINDOW_TRIPS: Final = 4
"""Trips within which requests and answers are spread at least, so that one silences the others."""


def digest(text: str) -> int:
    """Return H(text), 64 bits (SDS-R guide, "Hash Function")."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def response_groups(participants: int) -> int:
    """Return how many response groups `participants` people form."""
    return max(1, participants // GROUP_SIZE)


def is_in_response_group(
    participant: PeerId, sender: PeerId, message_id: MessageId, groups: int
) -> bool:
    """Return whether `participant` may answer for a message of `sender`.

    (SDS-R guide, "Determine Response Group Membership"; its sender always may.)
    """
    if groups <= 1 or participant == sender:
        return True
    return digest(participant + message_id) % groups == digest(sender + message_id) % groups


class Window(Struct, frozen=True):
    """Time window over which requests and answers are spread, by the size of the channel."""

    t_min: Nanos
    t_max: Nanos
    groups: int
    gap_after: Nanos
    lost_after: Nanos

    @classmethod
    def of(cls, parameters: Parameters, participants: int, trip: Nanos = 0) -> "Window":
        """Return the window of a channel in which `participants` were seen in the last hour.

        `trip` is the time there and back on every link, where that is long.
        """
        groups = response_groups(participants)
        grown = parameters.t_max_per_responder * participants // groups
        t_max = max(parameters.t_max, grown, WINDOW_TRIPS * trip)
        return cls(
            t_min=max(parameters.t_min, trip),
            t_max=t_max,
            groups=groups,
            gap_after=max(parameters.gap_after, GAP_WINDOWS * t_max),
            lost_after=max(parameters.lost_after, LOST_WINDOWS * t_max),
        )

    def request_delay(self, participant: PeerId, message_id: MessageId) -> Nanos:
        """Return T_req - now, from T_min up to T_max (SDS-R guide, "Calculate T_req")."""
        return self.request_delay_of(digest(participant + message_id))

    def request_delay_of(self, hashed: int) -> Nanos:
        """Return T_req - now where H(participant, message id), always the same, is `hashed`."""
        spread = (self.t_max - self.t_min) // MILLISECOND or 1
        return self.t_min + hashed % spread * MILLISECOND

    def response_delay(self, participant: PeerId, sender: PeerId, message_id: MessageId) -> Nanos:
        """Return T_resp - now, below T_max; 0 for the sender (guide, "Calculate T_resp")."""
        distance = digest(participant) ^ digest(sender)
        spread = max(1, self.t_max // MILLISECOND)
        return distance * digest(message_id) % spread * MILLISECOND

    def answer_delay(self, participant: PeerId, sender: PeerId, message_id: MessageId) -> Nanos:
        """Return when we answer: T_resp, and our own share of the step to the next T_resp there is.

        T_resp only takes multiples of gcd(H(message id), T_max): for one message in a hundred, up
        to a dozen of 200 participants would answer within one millisecond.
        """
        delay = self.response_delay(participant, sender, message_id)
        if participant == sender:
            return delay
        step = math.gcd(digest(message_id), max(1, self.t_max // MILLISECOND))
        return delay + digest(participant + message_id) % step * MILLISECOND
