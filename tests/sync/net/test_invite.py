"""Invite codes: they survive copying, and say so when they did not."""

import base64
import hashlib
import string
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proto import link_pb2
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.net import invite
from sync.net.invite import Entry, Invite, channel_name, decode, encode, is_guessable, open_channel
from sync.sds.parameters import PROFILES

NAMES = st.text(string.ascii_lowercase + string.digits + "-_.", min_size=1, max_size=32)
INVITES = st.builds(
    Invite,
    name=NAMES,
    channel=st.binary(min_size=16, max_size=16).map(lambda id_: ChannelId(id_.hex())),
    secret=st.binary(min_size=16, max_size=32),
    profile=st.sampled_from(sorted(PROFILES)),
)
GOVERNED = st.builds(
    lambda name, genesis, secret, seed: Invite(
        name, ChannelId(genesis[:16].hex()), secret, "lan", Entry(genesis, seed)
    ),
    NAMES,
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
)
TEAM = Invite("team", ChannelId("e0" * 16), b"s" * 32, "lan", Entry(b"\xe0" * 32, b"t" * 16))
FROZEN = {
    "1": (
        "chat1-baarea3umvqruegaydambqgaydambqgaydambqgaeiihg43tonzxg43tonzxg43tonzxgkqdnrqw4s45wpua"
    ),
    "2": (
        "chat1-babbebdumvqw2iraonzxg43tonzxg43tonzxg43tonzxg43tonzxg43tonzxg43tonzsua3mmf"
        "xdeiha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4dqobyha4a5ba5duor2hi5duor2hi5duor"
        "2hi5eufwqts"
    ),
}
"""Codes as they were first given out: they are read for ever."""

TEA = Invite("tea", ChannelId("c0" * 16), b"s" * 16, "lan")


def code_of(**fields: object) -> str:
    """A code with a right checksum for what `encode` would never make."""
    wire = {"version": 1, "name": "tea", "channel_id": b"c" * 16, "secret": b"s" * 16}
    payload = link_pb2.Invite(**{**wire, "profile": "lan", **fields}).SerializeToString()  # type: ignore[arg-type]
    checksum = hashlib.sha256(b"chat-tui invite\0" + payload).digest()[: invite.CHECKSUM_SIZE]
    return invite.PREFIX + base64.b32encode(payload + checksum).decode().rstrip("=").lower()


@given(INVITES | GOVERNED)
def test_a_code_says_what_was_put_into_it(invited: Invite) -> None:
    assert decode(encode(invited)) == invited


@given(INVITES | GOVERNED, st.data())
def test_a_code_may_be_copied_with_spaces_line_breaks_and_capitals(
    invited: Invite, data: st.DataObject
) -> None:
    code = encode(invited)
    cut = data.draw(st.integers(0, len(code)))

    assert decode(f"  {code[:cut]} \n {code[cut:].upper()}\t") == invited


@pytest.mark.parametrize("mark", ["\n    | ", "\n      | ", "\r\n> ", " \u2502\n\u2502 ", "\u2503"])
@given(INVITES | GOVERNED, st.data())
def test_a_code_may_be_copied_in_lines_with_marks_before_them(
    mark: str, invited: Invite, data: st.DataObject
) -> None:
    code = encode(invited)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(code)), max_size=3)))
    parts = [code[a:b] for a, b in zip([0, *cuts], [*cuts, len(code)], strict=True)]

    assert decode(mark.join(parts)) == invited


@pytest.mark.parametrize(("version", "invited"), [("1", TEA), ("2", TEAM)])
def test_codes_of_both_versions_are_written_and_read_for_ever(
    version: str, invited: Invite
) -> None:
    assert decode(FROZEN[version]) == invited
    assert encode(invited) == FROZEN[version]


def test_a_governed_channel_s_code_is_short_enough_for_one_line_of_a_chat() -> None:
    assert len(encode(TEAM)) == 171


@pytest.mark.parametrize(
    "fields",
    [
        {"genesis": b"g" * 31},
        {"secret": b"s" * 16},
        {"ticket_seed": b""},
        {"channel_id": b"c" * 16},
    ],
    ids=str,
)
def test_a_governed_code_of_other_sizes_is_damaged(fields: dict[str, bytes]) -> None:
    whole = {"channel_id": b"", "genesis": b"g" * 32, "secret": b"s" * 32, "ticket_seed": b"t" * 16}
    assert decode(code_of(version=2, **whole)).entry is not None

    with pytest.raises(LocalError, match="damaged"):
        decode(code_of(version=2, **{**whole, **fields}))


def test_no_text_of_an_invite_shows_a_secret() -> None:
    shown = repr((TEAM, TEAM.entry, TEA))

    assert not [part for part in ("ssss", "tttt", "7373", "7474") if part in shown]


@pytest.mark.parametrize("position", range(len(encode(TEA))))
def test_every_damaged_character_is_noticed(position: int) -> None:
    code = encode(TEA)
    others = set("abcdefghijklmnopqrstuvwxyz234567") - {code[position]}

    for other in others:
        with pytest.raises(LocalError):
            decode(code[:position] + other + code[position + 1 :])


@pytest.mark.parametrize("length", range(len(encode(TEA))))
def test_a_code_that_was_not_copied_whole_is_noticed(length: int) -> None:
    with pytest.raises(LocalError):
        decode(encode(TEA)[:length])


@given(st.text(max_size=500))
def test_any_text_is_a_code_or_gets_a_sentence(text: str) -> None:
    for code in (text, invite.PREFIX + text):
        with suppress(LocalError):
            assert encode(decode(code)) == "".join(code.split()).lower()


def test_a_newer_version_is_said_to_be_one() -> None:
    with pytest.raises(LocalError, match="newer version"):
        decode(code_of(version=3))


def test_parameters_that_this_version_does_not_know_are_of_a_newer_one() -> None:
    with pytest.raises(LocalError, match="newer version"):
        decode(code_of(profile="wan"))


@pytest.mark.parametrize(
    "fields",
    [{"secret": b"s" * 15}, {"channel_id": b"c" * 15}, {"channel_id": b""}, {"name": ""}],
    ids=str,
)
def test_a_code_with_less_than_a_channel_needs_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(LocalError):
        decode(code_of(**fields))


def test_the_builder_of_odd_codes_builds_right_ones_too() -> None:
    assert decode(code_of()) == Invite("tea", ChannelId((b"c" * 16).hex()), b"s" * 16, "lan")


def test_a_code_longer_than_any_is_refused_before_it_is_read() -> None:
    with pytest.raises(LocalError, match="begins with"):
        decode(invite.PREFIX + "a" * invite.CODE_MAX)


@given(NAMES, NAMES)
def test_open_channels_differ_exactly_where_their_names_do(one: str, other: str) -> None:
    first, second = open_channel(one), open_channel(other)

    assert (first.channel == second.channel) is (one == other)
    assert (first.secret == second.secret) is (one == other)


def test_an_open_channel_follows_from_its_name_however_it_is_written() -> None:
    assert open_channel("#Friends ") == open_channel("friends")
    assert open_channel("friends").channel not in open_channel("friends").secret.hex()


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("#tea", "tea"),
        (" Tea ", "tea"),
        ("STRASSE", "strasse"),
        ("ﬁsh", "fish"),
        ("c-3.p_0", "c-3.p_0"),
    ],
)
def test_a_name_has_one_form(written: str, name: str) -> None:
    assert channel_name(written) == name
    assert channel_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "#", "##tea", "two words", "a/b", "x" * 33, "tea\n!", "\u202etea"]
)
def test_what_cannot_be_a_name_gets_a_sentence(name: str) -> None:
    with pytest.raises(LocalError, match="letters, digits"):
        channel_name(name)


@given(st.text(max_size=40))
def test_the_form_of_a_name_is_its_own_form(text: str) -> None:
    try:
        name = channel_name(text)
    except LocalError:
        return

    assert channel_name(name) == name


def test_whoever_knows_the_name_of_an_open_channel_can_be_in_it_however_we_came_there() -> None:
    assert is_guessable("tea", open_channel("tea").secret)
    assert not is_guessable("tea", TEA.secret)
    assert not is_guessable("no channel has a name like this", TEA.secret)
