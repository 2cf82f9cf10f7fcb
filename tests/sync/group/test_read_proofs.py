"""Read marks of others prove that they have the line of ours that they name."""

from collections.abc import Sequence

from sync.calimero.state.contents import Read, StateKind
from sync.group import values
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from tests.support.sync.groups import NOW, Member, only


def met() -> tuple[Member, Member]:
    """Two who have heard a line of each other; she has written two more, and he has both."""
    alice, bob = Member("alice"), Member("bob")
    alice.join(bob.peer_id)
    bob.join(alice.peer_id)
    alice.hear(bob.write("hello"))
    for text in ("one", "two"):
        bob.hear(alice.write(text))
    return alice, bob


def mark(reader: Member, number: int) -> tuple[bytes, ...]:
    """The signed mark of somebody who has read up to a line of the channel."""
    lamport, message_id = reader.disk.log()[number]
    read = Read(lamport, bytes.fromhex(message_id))
    told = only(values.TellState, reader.tell(values.SetState(1, StateKind.READ, read)))
    return told[0].contents


def received(effects: Sequence[values.Effect]) -> list[str]:
    changed = only(values.DeliveryChanged, effects)
    return [one.message_id for one in changed if one.delivery is Delivery.ACKNOWLEDGED]


def test_a_line_that_somebody_says_to_have_read_was_received() -> None:
    alice, bob = met()
    first, newest = list(alice.group.sds.outgoing.pending)

    effects = alice.tell(values.StateArrived(bob.peer_id, mark(bob, -1)), NOW)

    assert received(effects) == [newest]
    assert list(alice.group.sds.outgoing.pending) == [first]  # it may be one he gave up
    assert alice.group.sds.holders.of(newest)[0][bob.peer_id] is Evidence.PROVED


def test_a_mark_of_a_line_of_somebody_else_settles_none_of_ours() -> None:
    alice, bob = met()
    waits = list(alice.group.sds.outgoing.pending)

    effects = alice.tell(values.StateArrived(bob.peer_id, mark(bob, 0)), NOW)

    assert received(effects) == []
    assert list(alice.group.sds.outgoing.pending) == waits
