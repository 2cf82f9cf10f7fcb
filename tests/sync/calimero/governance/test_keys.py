"""Secrets open for those they are wrapped for, and for nobody else."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from msgspec.structs import replace

from sync.calimero.governance.keys import (
    EpochName,
    Staying,
    begin_epoch,
    open_epoch,
    open_older,
)
from sync.calimero.governance.ops import Epoch, GroupId, Rotate, Wrap, Wraps
from sync.calimero.governance.wire import check, decode
from tests.support.sync.governed import History, key, noise, person

NAME = EpochName(GroupId(b"g" * 16), key("alice"), 3)
SECRET = b"n" * 32
OLDER = (b"1" * 32, b"2" * 32)
EPHEMERAL = X25519PrivateKey.from_private_bytes(b"e" * 32)
PEOPLE = ("alice", "bob", "carol")


def begun(*names: str, older: tuple[bytes, ...] = OLDER) -> Epoch:
    staying = [Staying(key(name), noise(name)) for name in names]
    return begin_epoch(NAME, SECRET, EPHEMERAL, staying, older)


def opened(name: str, epoch: Epoch, bound: EpochName = NAME) -> bytes | None:
    return open_epoch(bound, epoch, key(name), person(name).noise_key)


def test_each_who_stays_opens_it_and_what_was_before() -> None:
    epoch = begun(*PEOPLE)

    assert [opened(name, epoch) for name in PEOPLE] == [SECRET] * 3
    assert open_older(NAME, epoch, SECRET) == OLDER
    assert opened("mallory", epoch) is None
    assert open_older(NAME, epoch, OLDER[0]) == (None, None)


def test_it_is_bound_to_channel_signer_and_number() -> None:
    epoch = begun(*PEOPLE)
    others = [
        NAME._replace(group=GroupId(b"h" * 16)),
        NAME._replace(signer=key("bob")),
        NAME._replace(number=4),
    ]

    assert [opened("bob", epoch, other) for other in others] == [None] * 3
    assert [open_older(other, epoch, SECRET) for other in others] == [(None, None)] * 3


def test_somebody_elses_wrap_does_not_open() -> None:
    epoch = begun(*PEOPLE)
    wraps = {wrap.tag: wrap.secret for wrap in epoch.wrapped}
    mine, other = key("bob")[:8], key("carol")[:8]
    swapped = replace(epoch, wrapped=Wraps.of([Wrap(mine, wraps[other])]))
    turned = replace(epoch, previous=epoch.previous[::-1])

    assert opened("bob", swapped) is None
    assert open_older(NAME, turned, SECRET) == (None, None)


def test_equal_secrets_have_different_bytes() -> None:
    """No key is used twice, under one secret or for one member."""
    epoch = begun(*PEOPLE, older=(SECRET, SECRET))
    sealed = [*epoch.previous, *[wrap.secret for wrap in epoch.wrapped]]
    streams = {one[:32] for one in sealed}

    assert len(streams) == len(sealed) == 5


def test_it_is_in_form_and_holds_no_secret_in_the_clear() -> None:
    history = History("alice", signing=True)
    epoch = replace(begun(*PEOPLE), number=1)
    made = history.act("alice", Rotate(epoch))

    check(made.signed)
    assert decode(made.content).op == Rotate(epoch)
    assert all(secret not in made.content for secret in (SECRET, *OLDER))
    assert all(secret not in repr(made).encode() for secret in (SECRET, *OLDER))


@pytest.mark.parametrize("bad", [bytes(32), b"\1" + bytes(31)])
def test_a_noise_key_of_no_use_harms_nobody_else(bad: bytes) -> None:
    staying = [Staying(key("alice"), noise("alice")), Staying(key("mallory"), bad)]
    epoch = begin_epoch(NAME, SECRET, EPHEMERAL, staying, ())

    assert opened("alice", epoch) == SECRET
    assert len(epoch.wrapped) == len(staying)  # a wrap that is missing asks for a rotation
    assert opened("alice", replace(epoch, ephemeral=bad)) is None
