"""Secrets that members hand over: believed once their op shows that they are right."""

from sync.calimero.governance.keys import EpochName, EpochSecret, begin_epoch
from sync.calimero.governance.ops import Rotate
from sync.entries.identity import Identity
from sync.machine import ChannelId
from sync.net.clock import draw_key
from sync.net.governance.handed_over import KEPT_MAX, KEPT_OF_A_PEER_MAX, HandedOver
from tests.support.sync.entries import identity
from tests.support.sync.governed import History, key

FIRST, SECOND = b"1" * 32, b"2" * 32
BOB = identity("bob").peer_id


class Rotated:
    """A channel whose founder has changed the secret once, and what is made of secrets for it."""

    def __init__(self) -> None:
        self.history = History("alice", signing=True)
        self.channel = ChannelId(self.history.governance.group.hex())
        name = EpochName(self.history.governance.group, key("alice"), 1)
        epoch = begin_epoch(name, SECOND, draw_key(), (), [FIRST])
        self.op = self.history.act("alice", Rotate(epoch))
        self.believed: list[EpochSecret] = []
        self.refused: list[str] = []
        self.handed = HandedOver(
            lambda _channel, epoch: self.believed.append(epoch),
            lambda who, _reason: self.refused.append(who),
        )

    def given(self, secret: bytes, number: int = 1) -> EpochSecret:
        """Return what Bob hands over, once it is kept."""
        epoch = EpochSecret(number, self.op.id, secret)
        self.handed.keep(BOB, self.channel, epoch)
        return epoch


def test_a_secret_that_opens_what_its_epoch_wraps_is_believed() -> None:
    rotated = Rotated()
    epoch = rotated.given(SECOND)

    assert rotated.handed.awaited(rotated.channel, [rotated.op.id]) == [rotated.op.id]
    rotated.handed.check(rotated.channel, rotated.op.content)

    assert rotated.believed == [epoch]
    assert not rotated.refused
    assert not rotated.handed.awaited(rotated.channel, [rotated.op.id])


def test_another_secret_and_another_number_are_refused() -> None:
    for secret, number in ((FIRST, 1), (SECOND, 2)):
        rotated = Rotated()
        rotated.given(secret, number)

        rotated.handed.check(rotated.channel, rotated.op.content)

        assert not rotated.believed
        assert rotated.refused == [BOB]


def test_a_secret_for_an_op_that_begins_no_epoch_is_refused() -> None:
    rotated = Rotated()
    founded = rotated.history.founded
    rotated.handed.keep(BOB, rotated.channel, EpochSecret(1, founded.id, FIRST))

    rotated.handed.check(rotated.channel, founded.content)

    assert rotated.refused == [BOB]


def test_a_wrong_one_by_somebody_else_keeps_the_right_one_from_nobody() -> None:
    rotated = Rotated()
    mallory = identity("mallory").peer_id
    rotated.handed.keep(mallory, rotated.channel, EpochSecret(1, rotated.op.id, FIRST))
    epoch = rotated.given(SECOND)

    rotated.handed.check(rotated.channel, rotated.op.content)

    assert rotated.believed == [epoch]
    assert rotated.refused == [mallory]


def test_few_are_kept_of_a_peer_and_of_all() -> None:
    rotated = Rotated()
    peers = [Identity.from_seed(bytes([n]) * 32, bytes([n]) * 32).peer_id for n in range(1, 12)]
    for peer in peers:
        for number in range(1, 20):
            epoch = EpochSecret(number, bytes([number]) * 32, SECOND)
            rotated.handed.keep(peer, rotated.channel, epoch)
            of_peer = [at for at in rotated.handed._kept if at[2] == peer]
            assert len(of_peer) <= KEPT_OF_A_PEER_MAX
    assert len(rotated.handed._kept) == KEPT_MAX
    assert "2222" not in repr(rotated.handed)
