"""Inputs of the manager, from effects of a channel's machines."""

from collections.abc import Sized
from typing import Final, TypeAlias, assert_never, get_args

from sync.group import values
from sync.machine import ChannelId
from sync.manager import values as managing

ForTheManager: TypeAlias = (
    values.Lacking
    | values.SessionEnded
    | values.Sought
    | values.Relayed
    | values.LiveBegan
    | values.Observed
    | values.StateDiffers
)
"""Effects that the manager hears of."""

FOR_THE_MANAGER: Final = frozenset(get_args(ForTheManager))


def manager_input(channel: ChannelId, effect: ForTheManager, logs: Sized) -> managing.Input:
    """Return what the manager is told of an effect; `logs` are the author logs of the channel."""
    match effect:
        case values.Lacking():
            return managing.LackingNow(channel, effect.count, effect.peers)
        case values.SessionEnded():
            return _ended(channel, effect, len(logs))
        case values.Sought():
            return managing.Sought(channel, effect.peers, effect.why, effect.once)
        case values.Relayed():
            return managing.Relayed(channel, effect.peer, effect.for_it)
        case values.LiveBegan():
            return managing.WentLive(channel, effect.peer)
        case values.Observed():
            return managing.Observed(channel, effect.peer)
        case values.StateDiffers():
            return managing.StateDiffers(channel, effect.peer)
        case _:
            assert_never(effect)


def _ended(channel: ChannelId, ended: values.SessionEnded, logs: int) -> managing.Ended:
    return managing.Ended(
        channel,
        ended.peer,
        ended.outcome,
        ended.got - ended.copies,
        ended.plane,
        ended.mode,
        ended.protocol,
        ended.whole,
        logs,
        ended.then,
        ended.then_why,
        ended.then_estimate,
        ended.rounds > 0,
    )
