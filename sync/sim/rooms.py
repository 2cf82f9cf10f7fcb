"""The channels of a world: who is in each, its gate, and what is witnessed there."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from sync.entries.membership import Membership
from sync.group import values
from sync.machine import ChannelId
from sync.sds.parameters import Parameters
from sync.sim.gate import RememberingGate
from sync.sim.governance.founding import Founded
from sync.sim.governance.witness import GovernanceWitness
from sync.sim.invariants import Witness
from sync.sim.node import Node
from sync.sim.signatures import Signatures
from sync.sim.timeline import EPOCH

CHANNEL: Final = ChannelId(hashlib.sha256(b"simulated channel").hexdigest()[:32])
"""The first channel of every world: all are in it, as in the lobby of a network."""


def further_channel(number: int) -> ChannelId:
    """Return the id of further channel `number`, from 1 on."""
    return ChannelId(hashlib.sha256(f"simulated channel {number}".encode()).hexdigest()[:32])


class Room(Struct, frozen=True):
    """One channel."""

    channel: ChannelId
    membership: Membership
    members: frozenset[int]
    """The numbers of its nodes."""
    gate: RememberingGate
    witness: Witness


Rooms: TypeAlias = Mapping[ChannelId, Room]
"""By id, the first channel first."""


def shared(rooms: Rooms, one: int, other: int) -> list[ChannelId]:
    """Return the channels that two nodes have in common."""
    return [
        channel for channel, room in rooms.items() if one in room.members and other in room.members
    ]


def new_room(
    channel: ChannelId,
    members: frozenset[int],
    parameters: Parameters,
    hostile_from: int,
    signatures: Signatures,
    founded: Founded | None,
) -> Room:
    """Return a channel of a new world; it is governed if it is the one that was `founded`."""
    membership = Membership(
        channel,
        "sim",
        b"",
        open=True,
        profile=parameters.name,
        joined_ns=EPOCH,
        genesis=founded.genesis if founded and channel == founded.channel else None,
    )
    gate = RememberingGate.of(
        channel, signatures.verify, parameters.limits, governed=membership.governed
    )
    honest = sum(number < hostile_from for number in members)
    witness = Witness(honest, hostile_from, signatures)
    if membership.governed:
        assert founded is not None
        witness.governance = GovernanceWitness(founded.ops)
    return Room(channel, membership, members, gate, witness)


FeedChannel: TypeAlias = Callable[[Node, values.Input, ChannelId], None]
"""Gives a node an input of a channel, if it is up."""
