"""Two who look the same in name never look the same on the screen, nor do two channels."""

import pytest

from chat_tui.namesakes import NAMES_MAX, Names, called, look_alike_key, tell_apart
from chat_tui.plain_lines import MARK, laid, plain_name, said, tailed
from sync.identity import short_fingerprint
from sync.machine import ChannelId, PeerId
from sync.view import ChannelInfo
from tests.entries import identity

BOB, EVE, CAROL = (identity(name).peer_id for name in ("bob", "eve", "carol"))
CYRILLIC_BOB = "B\u043eb"


def info(name: str, number: int, direct: PeerId | None = None) -> ChannelInfo:
    channel = ChannelId(f"{number:064x}"[::-1])
    return ChannelInfo(channel, name, open=True, profile="lan", messages=0, direct=direct)


@pytest.mark.parametrize("other", ["bob", CYRILLIC_BOB, "B0b", "bo\u200bb"])
def test_a_second_bob_and_the_first_one_have_their_keys_beside_them(other: str) -> None:
    names = Names()

    assert names.called(BOB, "bob") == "bob"
    assert names.called(EVE, other).endswith(f" {short_fingerprint(EVE)}")
    assert names.called(BOB, "bob") == f"bob {short_fingerprint(BOB)}"
    assert names.called(CAROL, "carol") == "carol"


@pytest.mark.parametrize("form", ["bob {}", "bob ({})", "Bob [{}]", "b\u043eb {} {}"])
def test_nobody_takes_the_key_of_another_into_their_name(form: str) -> None:
    names = Names()
    names.called(BOB, "bob")
    forged = form.format(short_fingerprint(BOB), short_fingerprint(EVE))

    shown = names.called(EVE, forged)

    assert shown.endswith(short_fingerprint(EVE))
    assert names.called(BOB, "bob") == f"bob {short_fingerprint(BOB)}" != shown


def test_dashes_that_look_alike_are_one() -> None:
    key = short_fingerprint(BOB)

    assert look_alike_key(f"bob {key.replace('-', chr(0x2010))}") == look_alike_key("bob")
    assert look_alike_key("anna\u2010lena") == look_alike_key("anna-lena")


def test_a_name_that_several_have_is_shown_with_keys_wherever_it_is_shown() -> None:
    shared = frozenset({look_alike_key("bob")})

    assert called(EVE, CYRILLIC_BOB, shared) == f"{CYRILLIC_BOB} {short_fingerprint(EVE)}"
    assert called(CAROL, "carol", shared) == "carol"


def test_made_up_names_take_no_more_than_their_share_of_memory_and_all_later_ones_are_marked() -> (
    None
):
    names = Names()
    for number in range(NAMES_MAX):
        names.hear(EVE, f"{number:x}z")

    assert names.called(BOB, "bob") == f"bob {short_fingerprint(BOB)}"
    assert names.called(EVE, "7z") == "7z"


def test_of_two_channels_that_look_alike_the_later_one_has_a_sign() -> None:
    lobby, alike, other = info("lobby", 1), info("l\u043ebby", 2), info("plans", 3)
    direct = info("lobby", 4, BOB)

    told = tell_apart([lobby, alike, other, direct])

    assert told == (lobby, told[1], other, direct)
    assert told[1].sign == f"~{alike.channel[:4]}"


# --- Lines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["hi\n12:00 bob: yes", "\n\n12:00 bob: yes", "a\n    | b\n* You"])
def test_a_text_writes_nothing_at_the_left_edge(text: str) -> None:
    first, *others = said("12:01", "eve", text).split("\n")

    assert first.startswith("12:01 eve:")
    assert others
    assert all(line.startswith(MARK) for line in others)


def test_a_terminal_does_not_break_lines_for_an_author() -> None:
    padded = "hi" + " " * 60 + "x" * 100 + " 12:00 bob: yes"

    first, *others = said("12:01", "eve", padded, width=40).split("\n")

    assert all(len(line) <= 40 for line in (first, *others))
    assert all(line.startswith(MARK) for line in others)


@pytest.mark.parametrize(
    "nick", ["bob: yes", "bob\uff1a yes", "bob\u2236 yes", "(@carol) bob", "* You are", 'a" bob']
)
def test_a_name_with_our_signs_stands_in_quotation_marks(nick: str) -> None:
    shown = plain_name(nick, nick)

    assert shown.startswith('"')
    assert shown.endswith('"')
    assert shown.count('"') == 2


def test_an_ordinary_name_stands_as_it_is_and_a_key_outside_of_the_marks() -> None:
    assert plain_name("anna-lena o'neill", "anna-lena o'neill") == "anna-lena o'neill"
    assert plain_name("a:b", "a:b 7F3A-91C2") == '"a:b" 7F3A-91C2'


def test_what_an_older_chat_says_to_tail_has_keys_beside_all_names() -> None:
    message = {"nick": "bob", "author": BOB, "text": "a\nb", "created_ns": 0}

    first, second = tailed(message, None).split("\n")

    assert first[5:] == f" bob {short_fingerprint(BOB)}: a"
    assert second == f"{MARK}b"
    assert tailed({**message, "called": "bob"}, None).startswith(f"{first[:5]} bob: a")


def test_lines_that_fit_stay_as_they_are() -> None:
    assert laid("a\n\nb", MARK, 80) == f"a\n{MARK}\n{MARK}b"
