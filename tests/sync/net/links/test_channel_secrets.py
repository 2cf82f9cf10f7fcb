"""Secrets of channels: which is the newest, which are shown, and that none is ever printed."""

from sync.calimero.governance.keys import EpochSecret
from sync.machine import ChannelId
from sync.net.links.channel_secrets import (
    EPOCHS_KNOWN_MAX,
    EPOCHS_SHOWN_MAX,
    ChannelSecrets,
)

CLUB = ChannelId("0d" * 16)


def epoch(number: int, name: int = 0) -> EpochSecret:
    op = bytes([number % 256, number // 256, name]).ljust(32, b"\x01")
    return EpochSecret(number, op, b"secret %d %d" % (number, name))


def of(*epochs: EpochSecret) -> ChannelSecrets:
    secrets = ChannelSecrets()
    for one in epochs:
        secrets.add_epoch(CLUB, one)
    return secrets


def test_the_newest_is_the_one_with_the_highest_number_until_ops_tell() -> None:
    secrets = of(epoch(1), epoch(3), epoch(2))

    assert secrets.newest(CLUB) == epoch(3)
    assert secrets.known(CLUB) == (epoch(3), epoch(2), epoch(1))


def test_an_epoch_that_does_not_count_is_known_and_never_the_newest() -> None:
    secrets = of(epoch(1), epoch(2), epoch(3))

    secrets.set_newest(CLUB, epoch(2).op)

    assert secrets.newest(CLUB) == epoch(2)
    assert secrets.known(CLUB) == (epoch(2), epoch(3), epoch(1))


def test_without_the_secret_of_the_newest_there_is_none() -> None:
    secrets = of(epoch(1), epoch(2))

    secrets.set_newest(CLUB, epoch(3).op)

    assert secrets.newest(CLUB) is None
    assert secrets.known(CLUB) == (epoch(2), epoch(1))


def test_the_newest_and_seven_before_it_are_shown_unasked() -> None:
    secrets = of(*map(epoch, range(20)))

    assert secrets.shown(CLUB) == tuple(map(epoch, range(19, 19 - EPOCHS_SHOWN_MAX, -1)))
    assert len(secrets.known(CLUB)) == 20


def test_epochs_have_a_bound_and_the_oldest_go() -> None:
    secrets = of(*map(epoch, range(EPOCHS_KNOWN_MAX + 3)))

    assert len(secrets.known(CLUB)) == EPOCHS_KNOWN_MAX
    assert secrets.known(CLUB)[-1] == epoch(3)


def test_a_codes_secret_gets_its_epoch_once_that_is_known() -> None:
    code = EpochSecret(0, bytes(32), b"of a code")
    secrets = of(code)

    assert secrets.add_epoch(CLUB, EpochSecret(4, epoch(4).op, b"of a code"))
    assert not secrets.add_epoch(CLUB, EpochSecret(4, epoch(4).op, b"of a code"))

    assert secrets.known(CLUB) == (EpochSecret(4, epoch(4).op, b"of a code"),)


def test_a_channel_that_was_left_has_none() -> None:
    secrets = of(epoch(1))
    secrets.set_newest(CLUB, epoch(1).op)
    assert secrets.is_governed(CLUB)

    secrets.drop(CLUB)

    assert CLUB not in secrets
    assert not secrets.is_governed(CLUB)
    assert (secrets.known(CLUB), secrets.newest(CLUB)) == ((), None)


def test_a_channel_that_nobody_governs_has_one() -> None:
    secrets = ChannelSecrets()
    secrets.set_plain(CLUB, b"plain")

    assert not secrets.is_governed(CLUB)
    assert [one.secret for one in secrets.shown(CLUB)] == [b"plain"]


def test_no_secret_is_printed() -> None:
    secrets = of(EpochSecret(1, bytes(32), b"agnes of the hills"))

    shown = f"{secrets!r} {secrets} {secrets.known(CLUB)!r} {secrets.newest(CLUB)}"

    assert "agnes" not in shown
    assert b"agnes".hex() not in shown
