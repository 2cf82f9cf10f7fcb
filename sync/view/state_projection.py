"""From a channel's registers to what the UI may know of them (`sync.view.state_infos`)."""

from typing import TYPE_CHECKING, Final

from sync.group.group import Group
from sync.machine import MessageId, PeerId
from sync.view.state_infos import NO_STATE, PinInfo, ProfileInfo, ReadInfo, StateInfo, TopicInfo

if TYPE_CHECKING:
    from sync.calimero.state.current import Current

PINS_SHOWN: Final = 100
"""Pins of a snapshot: what fits no screen is counted."""

PEOPLE_SHOWN: Final = 512
"""People of whom a snapshot tells appearance and read mark: as many as a channel's members."""


def state_info(group: Group) -> StateInfo:
    """Return what a channel knows besides its lines, now."""
    if not group.restored:
        return NO_STATE
    governing = group.governing
    governance = None if governing is None else governing.governance
    return info_of_state(group.current.now(group.stating.registers, governance))


def info_of_state(folded: "Current") -> StateInfo:
    """Return what the UI may know of what registers come to."""
    topic = None
    if folded.topic is not None:
        text, (author, entry) = folded.topic
        topic = TopicInfo(text, PeerId(author.hex()), entry.stamped)
    pins = [
        PinInfo(MessageId(name.hex()), PeerId(by.by.hex()), by.entry.stamped)
        for name, by in folded.pins[:PINS_SHOWN]
    ]
    profiles = [
        ProfileInfo(PeerId(key.hex()), one.nick, one.colour, one.status, at)
        for key, (one, at) in sorted(folded.profiles.items())[:PEOPLE_SHOWN]
    ]
    reads = [
        ReadInfo(PeerId(key.hex()), one.lamport, MessageId(one.message_id.hex()))
        for key, one in sorted(folded.reads.items())[:PEOPLE_SHOWN]
    ]
    return StateInfo(
        topic, tuple(pins), len(folded.pins), tuple(profiles), tuple(reads), restored=True
    )
