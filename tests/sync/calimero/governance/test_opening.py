"""Opening of epochs: for us, under a later one, by a code's secret; never by a wrong one."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from msgspec.structs import replace

from sync.calimero.governance.acts import Drawn, new_epoch
from sync.calimero.governance.keys import EpochSecret
from sync.calimero.governance.opening import Reader, epochs_of, opened
from sync.calimero.governance.ops import Add, Epoch, Role, Rotate, SignedGroupOp
from tests.support.sync.governed import History, key, noise, person

SECRETS = [bytes([number]) * 32 for number in range(1, 6)]


class Rotated:
    """A channel of alice and bob whose secret alice changed several times."""

    def __init__(self, times: int) -> None:
        self.history = History("alice")
        self.history.act("alice", Add(key("bob"), noise("bob"), Role.MEMBER))
        self.known: dict[bytes, bytes] = {self.history.founded.id: SECRETS[0]}
        self.ops: list[SignedGroupOp] = []
        for secret in SECRETS[1 : times + 1]:
            drawn = Drawn(secret, X25519PrivateKey.from_private_bytes(secret))
            epoch = new_epoch(self.history.governance, key("alice"), drawn, self.known)
            self.ops.append(self.history.act("alice", Rotate(epoch)))
            self.known[self.ops[-1].id] = secret

    def opened(
        self, who: str, at: int, known: dict[bytes, bytes], *loose: bytes
    ) -> list[EpochSecret]:
        op = self.ops[at]
        reader = Reader(key(who), person(who).noise_key)
        return opened(self.history.governance, op.id, epoch_of(op), reader, known, loose)


def epoch_of(op: SignedGroupOp) -> Epoch:
    assert isinstance(op.op, Rotate)
    return op.op.epoch


def test_a_member_opens_what_is_wrapped_for_them_and_the_one_before() -> None:
    channel = Rotated(3)

    assert channel.opened("bob", 2, {}) == [
        EpochSecret(3, channel.ops[2].id, SECRETS[3]),
        EpochSecret(2, channel.ops[1].id, SECRETS[2]),
    ]
    assert channel.opened("bob", 0, {})[1] == EpochSecret(0, channel.history.founded.id, SECRETS[0])


def test_who_came_later_opens_by_the_secret_of_a_code_and_nothing_by_another() -> None:
    channel = Rotated(3)

    assert channel.opened("carol", 2, {}) == []
    assert channel.opened("carol", 2, {}, b"x" * 32) == []
    found = channel.opened("carol", 2, {}, b"x" * 32, SECRETS[3])
    assert [one.secret for one in found] == [SECRETS[3], SECRETS[2]]


def test_with_the_newest_secret_all_before_it_follow_one_after_the_other() -> None:
    channel = Rotated(4)
    known: dict[bytes, bytes] = {channel.ops[3].id: SECRETS[4]}

    for at in reversed(range(4)):
        for secret in channel.opened("carol", at, known):
            known[secret.op] = secret.secret

    assert known == channel.known
    assert epochs_of(channel.history.governance) == [op.id for op in reversed(channel.ops)]


def test_a_secret_under_which_nothing_older_opens_is_not_believed() -> None:
    channel = Rotated(1)
    op = channel.ops[0]
    whole = epoch_of(op)
    bob = Reader(key("bob"), person("bob").noise_key)

    for broken in (replace(whole, previous=()), replace(whole, previous=(bytes(48),))):
        assert opened(channel.history.governance, op.id, broken, bob, {}, ()) == []
    assert "key" not in repr(bob)


def test_what_its_signer_did_not_know_is_taken_for_no_secret() -> None:
    channel = Rotated(0)
    drawn = Drawn(SECRETS[1], X25519PrivateKey.from_private_bytes(SECRETS[1]))
    epoch = new_epoch(channel.history.governance, key("alice"), drawn, {})
    channel.ops.append(channel.history.act("alice", Rotate(epoch)))

    assert channel.opened("bob", 0, {}) == [EpochSecret(1, channel.ops[0].id, SECRETS[1])]
