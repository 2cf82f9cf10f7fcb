"""Two who look the same in name never look the same on the screen, nor do two channels."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.settings import schema
from chat_tui.terminal.alerts import Announcer
from chat_tui.text.namesakes import NAMES_MAX, Names, called, look_alike_key, tell_apart
from chat_tui.text.plain_lines import INDENT, MARK, laid, plain_name, said, tailed
from chat_tui.wording import peers_table, sentences
from chat_tui.wording.glyphs import UNICODE
from chat_tui.wording.panels import Unseen
from chat_tui.wording.sidebar import SIDEBAR_WIDTH, sidebar
from sync.entries.identity import short_fingerprint
from sync.machine import ChannelId, PeerId
from sync.view.infos import TypistInfo
from sync.view.view import ChannelInfo, MessageShown
from tests.support.chat_tui import scenes
from tests.support.chat_tui.scenes import Scene
from tests.support.sync.entries import identity

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


def test_a_name_that_ends_like_a_key_has_its_own_beside_it_though_nobody_else_has_that_name() -> (
    None
):
    forged = f"bob {short_fingerprint(BOB)}"

    assert Names().called(EVE, forged) == f"{forged} {short_fingerprint(EVE)}"
    assert called(EVE, forged, frozenset()) == f"{forged} {short_fingerprint(EVE)}"


@pytest.mark.parametrize(
    ("name", "signs"),
    [
        ("Nina", "N\u039d\ua4e0"),  # capitals of Greek and Lisu
        ("Hans", "H\u0397\u041d\u13bb\ua4e7"),
        ("Yves", "Y\u03a5\u0423\u04ae\ua4ec"),
        ("Zoe", "Z\u0396\u13c3\ua4dc"),
        ("bob", "b\u042c\u0184\u0299\u13cf\u15af"),
        ("oskar", "o\u0585\u05e1\u1d0f\u3007\u2c9f\u0966"),
        ("alice", "a\u0251\u237a\u1d00"),
        ("lara", "l\u01c0\u2223\u0269\u0627\u05d5\u2d4f\u16c1"),
        ("carl", "c\u1d04\u2ca5"),
        ("emil", "e\u04bd\u212e\u1d07"),
        ("grace", "g\u0261\u0581\u0262"),
        ("hugo", "h\u0570\u029c"),
        ("roy", "r\u0433\u1d26\u0280"),
        ("yusuf", "y\u04af\u10e7\u0263\u028f"),
        ("uwe", "u\u057d\u1d1c\u028b"),
        ("wim", "w\u0561\u1d21\u026f"),
        ("nora", "n\u0578\u0274"),
        ("vera", "v\u2228\u1d20"),
        ("sam", "s\ua731\u01bd"),
        ("xaver", "x\u00d7\u157d"),
        ("fred", "f\u0192\ua799"),
        ("kim", "k\u0138\u1d0b"),
    ],
)
def test_letters_of_any_script_that_look_like_a_latin_one_are_that(name: str, signs: str) -> None:
    folded = {look_alike_key(sign + name[1:]) for sign in signs}

    assert folded == {look_alike_key(name)}


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
    direct = info("lobby", 4, BOB)  # called as bob is

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


def test_no_hit_that_is_broken_off_looks_like_two() -> None:
    hits = "* 2 hits:\n    d49310 12:01 eve: tea " + "y" * 11 + " 12:00 bob: tea is on me"

    *others, last = laid(hits, INDENT, width=50).split("\n")

    assert last == f"{INDENT}{' ' * 4}{MARK}12:00 bob: tea is on me"
    assert not any(line.endswith("on me") for line in others)
    assert all(len(line) <= 50 for line in (*others, last))


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


# --- Wherever people are named -------------------------------------------------------------------


def two_bobs() -> Scene:
    """A talk in which somebody else calls themself bob, in Cyrillic, and both have written."""
    scene = Scene("alice", "bob", CYRILLIC_BOB)
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.say(1, "the real one")
    scene.say(2, "the other one")
    return scene


@pytest.fixture
def scene() -> Scene:
    return two_bobs()


async def done(scene: Scene, line: str) -> Result:
    return await Commands(scene.chat).run(line, At(scene.world.channel))


def names_of(scene: Scene) -> tuple[str, str]:
    """Return the names of the two bobs, each with its short fingerprint."""
    _, bob, other = (node.identity.peer_id for node in scene.world.nodes)
    return f"bob {short_fingerprint(bob)}", f"{CYRILLIC_BOB} {short_fingerprint(other)}"


async def test_completion_and_commands_tell_them_apart(scene: Scene) -> None:
    bob, other = names_of(scene)
    key = bob.rpartition(" ")[2]

    unclear = await done(scene, "/verify bob")
    meant = await done(scene, f"/verify {bob}")
    by_look = await done(scene, f"/verify {CYRILLIC_BOB} {key}")
    by_key = await done(scene, f"/verify {key}")

    assert {bob, other} <= set(Commands(scene.chat).vocabulary())
    assert not unclear.ok
    assert "2 are called bob: write the key instead." in unclear.text
    assert meant.ok
    assert meant.action == by_key.action == by_look.action


async def test_status_typing_and_lists_tell_them_apart(scene: Scene) -> None:
    bob, other = names_of(scene)
    snapshot = scene.snapshot()
    peers = [node.identity.peer_id for node in scene.world.nodes]
    typists = (TypistInfo(peers[1], "bob"), TypistInfo(peers[2], CYRILLIC_BOB))
    typing = replace(snapshot.channels[0], typists=typists)

    assert sentences.who_types(snapshot, typing) == f"{bob} and {other} are typing"
    assert {sentences.name_of(snapshot, peer) for peer in peers[1:]} == {bob, other}
    side = sidebar(snapshot, None, Unseen(lambda _: 0), UNICODE).plain
    table = "\n".join(line.plain for line in peers_table.table(snapshot, 120, 0, UNICODE))
    for shown in (bob, other):
        assert shown in side
        assert shown in table
    for line in side.split("\n"):
        assert cell_len(line) <= SIDEBAR_WIDTH


async def test_notices_searches_and_files_tell_them_apart(scene: Scene, tmp_path: Path) -> None:
    bob, other = names_of(scene)
    found = await done(scene, "/search one")
    for kind in ("txt", "md"):
        assert (await done(scene, f"/export {kind} {tmp_path}/talk.{kind}")).ok
    heard: list[str] = []
    scene.chat.settings.change(schema.ALERTS, "all")
    scene.chat.settings.change(schema.DESKTOP, "osc9")
    announcer = Announcer(scene.chat, heard.append, lambda: None)
    [_, line] = await scene.chat.history.page(scene.world.channel, before=None, limit=2)
    announcer.note_event(MessageShown(line))

    assert f"{bob}: the real one" in found.text
    assert f"{other}: the other one" in found.text
    text = (tmp_path / "talk.txt").read_text()
    assert f" {bob}: the real one\n" in text
    assert f" {other}: the other one\n" in text
    assert f"**{other.replace('-', chr(45))}**" in (tmp_path / "talk.md").read_text()
    assert any(f"{other}: the other one" in one for one in heard)
