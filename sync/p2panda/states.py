"""States of a session of p2panda replication, and the steps between them (section 2).

The check that follows a session is that of all protocols (`sync.check`). A stream that is cut, and
what a peer must not send, end a session in every state.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final


class State(Enum):
    """States of a session; live mode is one of them."""

    REQUESTED = "requested"
    """Our SyncRequest is sent, and nothing of the peer has come."""
    OFFERED = "offered"
    """The peer opened the stream, and its SyncRequest has not come."""
    EXCHANGING = "exchanging"
    """Heights are compared, and what differs is sent."""
    SENDING = "sending"
    """All differences are known to us; what we owe is sent, then SyncDone."""
    WAITING = "waiting"
    """We have sent SyncDone; that of the peer has not come."""
    LIVE = "live"
    """All that is stored is passed on."""
    LEAVING = "leaving"
    """We have ended live mode; the answer of the peer has not come."""
    OVER = "over"


class Step(Enum):
    """Step that leads from a state of a session to the next."""

    ACCEPTED = "the request is one that we answer"
    ANSWERED = "the first message of the peer came"
    COMPARED = "all differences are known"
    SENT = "all that we owe is sent, then SyncDone"
    DONE = "SyncDone came, and one side does not stay"
    STAYED = "SyncDone came, and both stay"
    ENDED = "we end live mode"
    PEER_ENDED = "the peer ends live mode, or answers our end"
    OVERFLOWED = "too much is due that continues no log"
    EXPIRED = "nothing came in time"


TRANSITIONS: Final[Mapping[State, Mapping[Step, State]]] = {
    State.REQUESTED: {
        Step.ANSWERED: State.EXCHANGING,
        Step.COMPARED: State.SENDING,
        Step.OVERFLOWED: State.OVER,
        Step.EXPIRED: State.OVER,
    },
    State.OFFERED: {
        Step.ACCEPTED: State.EXCHANGING,
        Step.OVERFLOWED: State.OVER,
        Step.EXPIRED: State.OVER,
    },
    State.EXCHANGING: {
        Step.COMPARED: State.SENDING,
        Step.OVERFLOWED: State.OVER,
        Step.EXPIRED: State.OVER,
    },
    State.SENDING: {
        Step.SENT: State.WAITING,
        Step.OVERFLOWED: State.OVER,
        Step.EXPIRED: State.OVER,
    },
    State.WAITING: {
        Step.DONE: State.OVER,
        Step.STAYED: State.LIVE,
        Step.OVERFLOWED: State.OVER,
        Step.EXPIRED: State.OVER,
    },
    State.LIVE: {
        Step.ENDED: State.LEAVING,
        Step.PEER_ENDED: State.OVER,
        Step.OVERFLOWED: State.OVER,
    },
    State.LEAVING: {Step.PEER_ENDED: State.OVER, Step.EXPIRED: State.OVER},
    State.OVER: {},
}
