"""Phases of delta sync and of a snapshot, and what changes them."""

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Delta(Enum):
    """Phase of either end of delta sync."""

    LISTENING = "the peer's turn"
    SAYING = "our turn"
    WAITING = "waiting for other sessions"
    OVER = "over"


class DeltaStep(Enum):
    """Step that changes the phase of an end of delta sync."""

    ASKED = "the end of the peer's turn came"
    SAID = "the end of our turn is sent"
    PUT_OFF = "nothing is left to ask for but what other sessions bring"
    CAME = "it came, or they do not bring it"
    AGREED = "neither asks for more"
    EXPIRED = "nothing came in time"


DELTA: Final[Mapping[Delta, Mapping[DeltaStep, Delta]]] = {
    Delta.LISTENING: {
        DeltaStep.ASKED: Delta.SAYING,
        DeltaStep.AGREED: Delta.OVER,
        DeltaStep.EXPIRED: Delta.OVER,
    },
    Delta.SAYING: {
        DeltaStep.SAID: Delta.LISTENING,
        DeltaStep.PUT_OFF: Delta.WAITING,
        DeltaStep.EXPIRED: Delta.OVER,
    },
    Delta.WAITING: {DeltaStep.CAME: Delta.SAYING},
    Delta.OVER: {},
}


class Receiving(Enum):
    """Phase of whoever takes a snapshot."""

    BEGINNING = "beginning"
    STATE = "taking state"
    MESSAGES = "taking messages"
    CHECKING = "checking the last page"
    OVER = "over"


class ReceivingStep(Enum):
    """Step that changes the phase of whoever takes a snapshot."""

    ASKED = "asked for all, or for what is below what is kept"
    NOT_EMPTY = "something is here already"
    MESSAGES = "the first page of messages came"
    LAST = "the last page came"
    KEPT = "the last page is kept"
    EXPIRED = "nothing came in time"


RECEIVING: Final[Mapping[Receiving, Mapping[ReceivingStep, Receiving]]] = {
    Receiving.BEGINNING: {
        ReceivingStep.ASKED: Receiving.STATE,
        ReceivingStep.NOT_EMPTY: Receiving.OVER,
        ReceivingStep.EXPIRED: Receiving.OVER,
    },
    Receiving.STATE: {
        ReceivingStep.MESSAGES: Receiving.MESSAGES,
        ReceivingStep.EXPIRED: Receiving.OVER,
    },
    Receiving.MESSAGES: {
        ReceivingStep.LAST: Receiving.CHECKING,
        ReceivingStep.EXPIRED: Receiving.OVER,
    },
    Receiving.CHECKING: {ReceivingStep.KEPT: Receiving.OVER},
    Receiving.OVER: {},
}


class Sending(Enum):
    """Phase of the source of a snapshot."""

    UNASKED = "not asked yet"
    SENDING = "sending pages"
    SENT = "all is sent"
    OVER = "over"


class SendingStep(Enum):
    """Step that changes the phase of the source of a snapshot."""

    ASKED = "asked for all, or for what is below a place"
    ALL_SENT = "the last page is sent"
    DONE = "the receiver has it, or needs nothing more"
    EXPIRED = "nothing came in time"


SENDING: Final[Mapping[Sending, Mapping[SendingStep, Sending]]] = {
    Sending.UNASKED: {
        SendingStep.ASKED: Sending.SENDING,
        SendingStep.DONE: Sending.OVER,
        SendingStep.EXPIRED: Sending.OVER,
    },
    Sending.SENDING: {
        SendingStep.ALL_SENT: Sending.SENT,
        SendingStep.DONE: Sending.OVER,
        SendingStep.EXPIRED: Sending.OVER,
    },
    Sending.SENT: {SendingStep.DONE: Sending.OVER, SendingStep.EXPIRED: Sending.OVER},
    Sending.OVER: {},
}
