"""Acts before they are signed: secrets for who stays, seals of a removal, and who goes first."""

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from sync.calimero.governance import limits
from sync.calimero.governance.acts import Drawn, batches, founding, new_epoch
from sync.calimero.governance.keys import UNKNOWN_SECRET, EpochName, open_epoch, open_older
from sync.calimero.governance.ops import Add, Genesis, Owner, Remove, Role, Rotate, Seal
from sync.calimero.governance.signing import group_of, sign
from tests.support.sync.governed import History, key, noise, person

FIRST, SECOND, THIRD = b"1" * 32, b"2" * 32, b"3" * 32


def drawn(secret: bytes) -> Drawn:
    return Drawn(secret, X25519PrivateKey.from_private_bytes(secret[::-1]))


def full(*names: str) -> History:
    """Return a channel of alice, who owns it, and of others."""
    history = History("alice")
    for name in names:
        history.act("alice", Add(key(name), noise(name), Role.MEMBER))
    return history


def test_a_founding_is_the_owner_s_and_names_what_it_goes_on_after() -> None:
    owner = Owner(key("alice"), noise("alice"))
    group = group_of(History("alice").founded)
    op = sign(founding("team", "lan", b"s" * 16, owner, 7, group), person("alice").sign)

    assert op.op == Genesis("team", "lan", b"s" * 16, (owner,), group)
    assert op.signed.signer == owner.key


def test_who_stays_opens_the_new_secret_and_who_goes_does_not() -> None:
    history = full("bob", "mallory")
    governance, without = history.governance, frozenset({key("mallory")})
    epoch = new_epoch(
        governance, key("alice"), drawn(SECOND), {governance.heads[0]: FIRST}, without
    )
    name = EpochName(governance.group, key("alice"), 1)

    opened = {
        one: open_epoch(name, epoch, key(one), person(one).noise_key)
        for one in ("alice", "bob", "mallory")
    }
    assert opened == {"alice": SECOND, "bob": SECOND, "mallory": None}
    assert "2222" not in repr(drawn(SECOND))


def test_an_older_secret_that_its_signer_does_not_know_keeps_its_place() -> None:
    history = full("bob")
    governance, genesis = history.governance, history.founded.id
    known: dict[bytes, bytes] = {genesis: FIRST}
    name = EpochName(governance.group, key("alice"), 1)
    told = new_epoch(governance, key("alice"), drawn(SECOND), known)
    untold = new_epoch(governance, key("alice"), drawn(SECOND), {})

    assert open_older(name, told, SECOND) == (FIRST,)
    assert open_older(name, untold, SECOND) == (UNKNOWN_SECRET,)


def test_what_an_epoch_wraps_is_taken_in_by_everybody() -> None:
    history = full("bob", "carol")
    known: dict[bytes, bytes] = {history.founded.id: FIRST}
    epoch = new_epoch(history.governance, key("alice"), drawn(SECOND), known)
    rotated = history.act("alice", Rotate(epoch))
    known[rotated.id] = SECOND
    removed = (key("carol"),)
    epoch = new_epoch(history.governance, key("alice"), drawn(THIRD), known, frozenset(removed))
    history.act("alice", Remove(removed, epoch, "spam"))

    assert epoch.number == 2
    assert history.governance.now.role(key("carol")) is Role.NONE


def test_admins_go_first_and_no_removal_seals_more_logs_than_it_may() -> None:
    history = full("bob", "carol", "dave")
    history.act("alice", Add(key("mallory"), noise("mallory"), Role.ADMIN))
    logs = {"bob": 40, "carol": 30, "dave": 100, "mallory": 1}
    seals = {
        key(name): [Seal(key(name), log, 1, bytes(32)) for log in range(count)]
        for name, count in logs.items()
    }

    parts = list(batches(history.governance, map(key, logs), seals))

    assert sorted(one for keys, _ in parts for one in keys) == sorted(map(key, logs))
    assert key("mallory") in parts[0][0]
    for keys, sealed in parts:
        assert len(sealed) <= limits.SEALS_MAX
        assert list(keys) == sorted(keys)
        assert [(seal.author, seal.log) for seal in sealed] == sorted(
            (seal.author, seal.log) for seal in sealed
        )
    of_dave = [seal.log for _, sealed in parts for seal in sealed if seal.author == key("dave")]
    assert of_dave == list(range(limits.SEALS_MAX))  # the first given: those written to last


def test_somebody_of_whom_nothing_is_stored_is_removed_all_the_same() -> None:
    history = full("bob")

    assert list(batches(history.governance, [key("bob")], {})) == [((key("bob"),), ())]
