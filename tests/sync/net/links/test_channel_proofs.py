"""Channel proofs: both ends find what they share, and a stranger finds nothing."""

from dataclasses import dataclass, field
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.calimero.governance.keys import EpochSecret
from sync.errors import RemoteError
from sync.machine import ChannelId
from sync.net.links.channel_proofs import (
    OLDER_SHOWN_MAX,
    PROOFS_MAX,
    Joined,
    Membership,
    Shared,
    prove,
)
from sync.net.links.channel_secrets import plain
from sync.net.links.noise import Role

HASH = bytes(range(32))
TEA, COFFEE, WATER = ChannelId("0a" * 16), ChannelId("0b" * 16), ChannelId("0c" * 16)


def secret_of(channel: ChannelId) -> bytes:
    return sha256(channel.encode()).digest()


def membership(role: Role, *channels: ChannelId, handshake_hash: bytes = HASH) -> Membership:
    return Membership(role, handshake_hash, {one: plain(secret_of(one)) for one in channels})


@dataclass
class Link:
    """Two ends whose proofs really travel, in order."""

    initiator: Membership
    responder: Membership
    sent: list[bytes] = field(default_factory=list)

    def up(self) -> None:
        self.carry(self.initiator, self.responder.opening())
        self.carry(self.responder, self.initiator.opening())

    def carry(self, receiver: Membership, macs: list[bytes]) -> None:
        self.sent += macs
        for mac in macs:
            shared = receiver.receive(mac)
            if shared and shared.answer:
                self.carry(self.other(receiver), [shared.answer])

    def join(self, end: Membership, channel: ChannelId) -> Joined:
        joined = end.join(channel, plain(secret_of(channel)))
        self.carry(self.other(end), list(joined.proofs))
        return joined

    def other(self, end: Membership) -> Membership:
        return self.responder if end is self.initiator else self.initiator


def link(ours: tuple[ChannelId, ...], theirs: tuple[ChannelId, ...]) -> Link:
    both = Link(membership(Role.INITIATOR, *ours), membership(Role.RESPONDER, *theirs))
    both.up()
    return both


def test_both_ends_find_exactly_what_they_share() -> None:
    both = link((TEA, COFFEE), (COFFEE, WATER))

    assert both.initiator.shared == {COFFEE}
    assert both.responder.shared == {COFFEE}


def test_the_responder_shows_nothing_of_its_own_accord() -> None:
    assert membership(Role.RESPONDER, TEA).opening() == []


def test_a_wrong_proof_proves_nothing_and_elicits_nothing() -> None:
    ours = membership(Role.RESPONDER, TEA)

    outcome = ours.receive(prove(secret_of(COFFEE), Role.INITIATOR, HASH))

    assert outcome is None
    assert ours.shared == frozenset()


def test_our_own_proof_sent_back_does_not_count() -> None:
    ours = membership(Role.INITIATOR, TEA)
    [mac] = ours.opening()

    assert ours.receive(mac) is None
    assert ours.shared == frozenset()


def test_a_proof_of_another_connection_does_not_count() -> None:
    [recorded] = membership(Role.INITIATOR, TEA, handshake_hash=bytes(32)).opening()
    ours = membership(Role.RESPONDER, TEA)

    assert ours.receive(recorded) is None


def test_a_right_proof_is_answered_once() -> None:
    ours = membership(Role.RESPONDER, TEA)
    theirs = prove(secret_of(TEA), Role.INITIATOR, HASH)

    first, second = ours.receive(theirs), ours.receive(theirs)

    assert first == Shared(TEA, prove(secret_of(TEA), Role.RESPONDER, HASH))
    assert second == Shared(TEA, None)


@pytest.mark.parametrize("first", ["initiator", "responder"])
def test_a_channel_joined_during_the_link_is_found_whoever_joins_first(first: str) -> None:
    both = link((TEA,), ())
    one, other = both.initiator, both.responder
    if first == "responder":
        one, other = other, one

    alone, together = both.join(one, COFFEE), both.join(other, COFFEE)

    assert not alone.shared
    assert together.shared
    assert one.shared == other.shared == {COFFEE}


def test_the_responder_may_join_what_the_initiator_proved_at_the_start() -> None:
    both = link((TEA,), ())

    joined = both.join(both.responder, TEA)

    assert joined.shared
    assert both.initiator.shared == {TEA}
    assert len(both.sent) == 2


def test_joining_at_both_ends_at_the_same_time_is_found_too() -> None:
    both = link((), ())
    ours = both.initiator.join(TEA, plain(secret_of(TEA)))
    theirs = both.responder.join(TEA, plain(secret_of(TEA)))

    both.carry(both.responder, list(ours.proofs))
    both.carry(both.initiator, list(theirs.proofs))

    assert both.initiator.shared == both.responder.shared == {TEA}
    assert len(both.sent) == 2


def test_a_channel_left_is_shared_no_more_until_it_is_joined_again() -> None:
    both = link((TEA,), (TEA,))

    both.responder.leave(TEA)
    left = both.responder.shared
    again = both.join(both.responder, TEA)

    assert left == frozenset()
    assert again.shared


def test_proofs_beyond_the_limit_are_refused() -> None:
    ours = membership(Role.RESPONDER, TEA)
    for number in range(PROOFS_MAX):
        ours.receive(number.to_bytes(32, "big"))

    with pytest.raises(RemoteError, match=str(PROOFS_MAX)):
        ours.receive(prove(secret_of(TEA), Role.INITIATOR, HASH))

    assert ours.shared == frozenset()


@given(st.binary(max_size=64))
def test_arbitrary_bytes_prove_nothing(mac: bytes) -> None:
    assert membership(Role.RESPONDER, TEA, COFFEE).receive(mac) is None


@pytest.mark.parametrize("role", list(Role))
def test_a_channel_of_two_is_shown_at_once_by_either_end(role: Role) -> None:
    ours = membership(role, TEA, COFFEE)

    opening = ours.opening([COFFEE])

    assert prove(secret_of(COFFEE), role, HASH) in opening
    assert (prove(secret_of(TEA), role, HASH) in opening) == (role is Role.INITIATOR)


def test_a_proof_of_a_channel_that_we_are_not_in_is_remembered() -> None:
    ours = membership(Role.RESPONDER, TEA)

    shared = ours.receive(prove(secret_of(COFFEE), Role.INITIATOR, HASH))

    assert shared is None
    assert ours.has_heard(secret_of(COFFEE))
    assert not ours.has_heard(secret_of(WATER))
    assert not membership(Role.INITIATOR).has_heard(secret_of(COFFEE))


def governed(number: int, epochs: int) -> dict[ChannelId, tuple[EpochSecret, ...]]:
    """Return so many governed channels, each with so many epochs, the newest first."""
    return {
        ChannelId(f"{channel:032x}"): tuple(
            EpochSecret(epoch, bytes([1]) * 32, b"%d of %d" % (epoch, channel))
            for epoch in range(epochs, 0, -1)
        )
        for channel in range(number)
    }


def test_no_more_proofs_are_shown_than_the_peer_takes() -> None:
    many = [ChannelId(f"{number:032x}") for number in range(PROOFS_MAX + 20)]
    both = Link(membership(Role.INITIATOR, *many), membership(Role.RESPONDER, *many))

    both.up()

    assert len(both.initiator.shared) == len(both.responder.shared) == PROOFS_MAX
    assert both.initiator.is_spent
    assert both.initiator.join(TEA, plain(secret_of(TEA))).proofs == ()


def test_proofs_of_channels_that_were_left_count_as_well() -> None:
    ours = membership(Role.INITIATOR)

    for number in range(PROOFS_MAX):
        assert not ours.is_spent
        channel = ChannelId(f"{number:032x}")
        ours.join(channel, plain(secret_of(channel)))
        ours.leave(channel)

    assert ours.is_spent


def test_of_many_governed_channels_the_newest_epochs_are_shown_and_there_is_room_left() -> None:
    many = governed(200, 20)
    ours = Membership(Role.INITIATOR, HASH, many)

    shown = ours.opening()

    assert len(shown) == OLDER_SHOWN_MAX < PROOFS_MAX
    newest = {prove(epochs[0].secret, Role.INITIATOR, HASH) for epochs in many.values()}
    assert newest <= set(shown)


def test_the_responder_proves_what_the_initiator_has_not_proved_of_governed_channels() -> None:
    known = governed(2, 3)
    first, second = known
    ours = Membership(Role.RESPONDER, HASH, known | {TEA: plain(secret_of(TEA))})
    assert ours.opening() == []
    ours.receive(prove(known[first][2].secret, Role.INITIATOR, HASH))

    shown = ours.after_opening()

    assert shown == [prove(one.secret, Role.RESPONDER, HASH) for one in known[second]]
    assert ours.after_opening() == []
