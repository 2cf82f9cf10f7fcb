"""F3 and what it leads to, by keys alone; banners; and the same people in line mode."""

import asyncio
from pathlib import Path

import pytest

from chat_tui.app.app import ChatApp
from chat_tui.client.live import Client
from chat_tui.client.simulated import SimulatedChat
from chat_tui.screens.peers import AddressScreen, PeersScreen, VerifyScreen
from chat_tui.screens.settings import SettingsScreen
from chat_tui.terminal.front_to_back import FrontScreen
from chat_tui.widgets.text_screen import TextScreen
from sync.entries.identity import pair_number, pair_words, short_fingerprint
from sync.machine import SECOND, ChannelId, PeerId
from sync.view.view import PeerState, Trust
from tests.support.chat_tui import scenes
from tests.support.chat_tui.chats import meet, opened, running, setup_of
from tests.support.chat_tui.live_clients import Heard
from tests.support.chat_tui.live_screens import beside_bob, lobby, screen, type_in, until
from tests.support.chat_tui.readings import shown


def trust_of(chat: Client | SimulatedChat, nick: str) -> Trust:
    return next(one.trust for one in chat.snapshot().peers if one.nick == nick)


def morning() -> tuple[scenes.Scene, ChatApp, list[PeerId]]:
    scene = scenes.morning()
    return scene, scenes.screen_of(scene), [n.identity.peer_id for n in scene.world.nodes]


# --- On the simulator ---------------------------------------------------------------------------


async def test_the_cursor_stays_on_its_person() -> None:
    _, app, _ = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "down", "down", "down", "up")
        assert isinstance(app.screen, PeersScreen)
        chosen = app.screen.chosen
        assert chosen is not None

        assert chosen.nick == "carol"
        assert "▸ ● carol" in shown(app)
        await pilot.press("escape")
        assert not isinstance(app.screen, PeersScreen)


async def test_words_are_compared_and_the_key_marked_verified() -> None:
    scene, app, (alice, bob, *_) = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "v")
        assert isinstance(app.screen, VerifyScreen)
        text = shown(app)
        assert "  ".join(pair_words(alice, bob)) in text
        assert pair_number(alice, bob) in text
        assert "66 bits" in text
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, PeersScreen))

        await until(pilot, lambda: "✓ verified" in shown(app))
        assert "bob is verified." in shown(app)
        assert trust_of(scene.chat, "bob") is Trust.VERIFIED


async def test_who_confirms_twice_while_the_disk_is_slow_closes_one_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene, app, _ = morning()
    verify, disk = scene.chat.people.verify, asyncio.Event()

    async def verify_slowly(peer: PeerId) -> None:
        await disk.wait()
        await verify(peer)

    monkeypatch.setattr(scene.chat.people, "verify", verify_slowly)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "v", "m", "m")
        disk.set()
        await until(pilot, lambda: "bob is verified." in shown(app))
        await pilot.pause()

        assert isinstance(app.screen, PeersScreen)


async def test_a_channel_of_two_that_is_there_late_leaves_what_was_opened_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene, app, _ = morning()
    disk, written = asyncio.Event(), asyncio.Event()

    async def open_slowly(_: PeerId) -> ChannelId:
        await disk.wait()
        written.set()
        return scene.chat.snapshot().channels[0].channel

    monkeypatch.setattr(scene.chat.people, "open_direct", open_slowly)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "m", "f6")
        disk.set()
        await until(pilot, written.is_set)
        await pilot.pause()

        kinds = [type(app.screen)]
        for _ in range(2):
            await pilot.press("escape")
            kinds.append(type(app.screen))

    assert kinds == [SettingsScreen, PeersScreen, FrontScreen]


async def test_later_decides_nothing_and_is_what_enter_does() -> None:
    scene, app, _ = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "v", "enter")
        await until(pilot, lambda: isinstance(app.screen, PeersScreen))

        assert trust_of(scene.chat, "bob") is Trust.FIRST_SEEN


@pytest.mark.parametrize("size", [(60, 16), (77, 24), (80, 24), (140, 40)])
async def test_all_three_answers_are_in_sight(size: tuple[int, int]) -> None:
    _, app, _ = morning()
    async with app.run_test(size=size) as pilot:
        await pilot.press("f3", "v")
        await pilot.pause()
        text = shown(app)

    for answer in ("They match: mark verified (m)", "They differ: block (b)", "Later (Esc)"):
        assert answer in text


async def test_the_answers_are_reached_by_tab_too() -> None:
    scene, app, _ = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "v", "tab", "enter")
        await until(pilot, lambda: isinstance(app.screen, PeersScreen))

        assert trust_of(scene.chat, "bob") is Trust.VERIFIED


async def test_details_say_key_state_and_channels() -> None:
    _, app, (_, bob, *_) = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "enter")
        assert isinstance(app.screen, TextScreen)
        await pilot.pause()

        assert short_fingerprint(bob) in shown(app)
        assert "first seen" in shown(app)
        assert "#lobby" in shown(app)


async def test_what_a_simulation_cannot_do_is_said() -> None:
    _, app, _ = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "b")
        await until(pilot, lambda: "This is a simulation" in shown(app))
        await pilot.press("m")
        await until(pilot, lambda: "nobody can write to bob alone" in shown(app))
        await pilot.press("d")
        await until(pilot, lambda: "there is no network to test" in shown(app))


async def test_a_reconciliation_is_asked_for() -> None:
    scene, app, _ = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "r")
        await until(pilot, lambda: "Comparing histories with bob." in shown(app))
        scene.world.run(10 * SECOND)

    assert any(one.why == "asked by the person" for one in scene.snapshot().sessions)


async def test_an_address_is_asked_for_and_a_wrong_one_answered() -> None:
    _, app, _ = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3", "c")
        assert isinstance(app.screen, AddressScreen)
        await pilot.press(*"nowhere:x", "enter")

        await until(pilot, lambda: "'nowhere:x' is no address" in shown(app))


async def test_a_changed_key_stands_over_the_chat_until_it_is_answered() -> None:
    scene, app, (_, bob, carol, _) = morning()
    scene.chat.people.book.verify(bob, "bob", scene.snapshot().now)
    scene.chat.people.book.read(carol, "bob", scene.snapshot().now)
    async with app.run_test(size=(60, 16)) as pilot:
        await pilot.pause()
        assert "CHANGED KEY: bob was a key you verified" in shown(app)
        await pilot.press("escape")
        assert "CHANGED KEY" in shown(app)

        await type_in(pilot, "/trust")

        await until(pilot, lambda: "CHANGED KEY" not in shown(app))
        assert trust_of(scene.chat, "carol") is Trust.FIRST_SEEN


async def test_verify_by_command_opens_the_comparison() -> None:
    _, app, _ = morning()
    async with app.run_test(size=(80, 24)) as pilot:
        await type_in(pilot, "/verify bob")

        await until(pilot, lambda: isinstance(app.screen, VerifyScreen))


# --- On 127.0.0.1 ---------------------------------------------------------------------------------


@pytest.mark.net
async def test_a_direct_message_shows_as_a_channel_with_its_count(tmp_path: Path) -> None:
    async with beside_bob(tmp_path, (140, 40)) as (app, pilot, bob):
        [alice] = bob.snapshot().peers
        direct = await bob.people.open_direct(alice.peer)
        await bob.send_text(direct, "alice, psst")
        await bob.send_text(direct, "are you there?")

        await until(pilot, lambda: "@bob" in shown(app) and "2 @1" in shown(app))
        await pilot.press("alt+a")
        await until(pilot, lambda: "bob  are you there?" in shown(app))
        assert "to @bob, only bob and you can read it" in shown(app)
        assert "? first seen" in shown(app).splitlines()[0]
        await type_in(pilot, "/me nods")
        await until(pilot, lambda: "* alice nods" in shown(app))


@pytest.mark.net
async def test_m_opens_the_channel_of_two_and_leave_closes_it(tmp_path: Path) -> None:
    async with beside_bob(tmp_path) as (app, pilot, _):
        await pilot.press("f3", "m")
        await until(pilot, lambda: "to @bob" in shown(app))
        await type_in(pilot, "/leave")

        await until(pilot, lambda: "You have left @bob." in shown(app))
        assert "to #lobby" in shown(app)


@pytest.mark.net
async def test_b_blocks_and_b_again_unblocks(tmp_path: Path) -> None:
    async with beside_bob(tmp_path) as (app, pilot, bob):
        await bob.send_text(lobby(bob), "hello alice")
        await until(pilot, lambda: "bob  hello alice" in shown(app))
        await pilot.press("f3", "b")
        await until(pilot, lambda: "✗ blocked" in shown(app))
        await pilot.press("escape")
        await until(pilot, lambda: "hello alice" not in shown(app))
        await pilot.press("f3", "b")
        await until(pilot, lambda: "bob is no longer blocked." in shown(app))
        await pilot.press("escape")

        await until(pilot, lambda: "bob  hello alice" in shown(app))


@pytest.mark.net
async def test_an_invite_is_shown_to_scan(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "/create plans")
        await until(pilot, lambda: "to #plans" in shown(app))
        await type_in(pilot, "/invite")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await pilot.pause()

        assert "Whoever has this code can come into #plans" in shown(app)
        assert "█▀▀▀▀▀█" in shown(app) or "▄▄▄▄▄" in shown(app)


@pytest.mark.net
@pytest.mark.parametrize(
    ("high", "said"),
    [
        (24, "The QR code is cut here: it needs a window of "),
        (28, "Scroll down to its end to see the whole QR code."),
        (40, None),
    ],
)
async def test_an_invite_has_its_code_first_and_says_where_the_qr_code_is_not_whole(
    tmp_path: Path, high: int, said: str | None
) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice, (80, high)) as (app, pilot):
        await type_in(pilot, "/create plans")
        await until(pilot, lambda: "to #plans" in shown(app))
        await type_in(pilot, "/invite")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        await until(pilot, lambda: said is None or said in shown(app))
        await pilot.pause()

        text = shown(app)
        assert text.index("chat1-") < text.index("▄▄▄▄▄ █")
        assert ("QR code" in text) == (said is not None)


@pytest.mark.net
async def test_the_doctor_shows_what_it_finds(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice, (140, 40)) as (app, pilot):
        await type_in(pilot, "/doctor")
        await until(pilot, lambda: "All tests are done." in shown(app))

        assert "ok    announcement heard back: yes" in shown(app)
        assert "profile and database: sound, open in the chat that runs" in shown(app)
        # Chats of other tests on this computer may be announced and take no connection.
        assert "FAIL" not in shown(app).replace("FAIL  other chats", "")


@pytest.mark.net
async def test_sending_to_a_changed_key_stops_and_the_line_stays_in_the_input(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        heard = Heard(alice)
        await meet(alice, bob)
        await heard.peer(PeerState.UP)
        await alice.people.verify(bob.identity.peer_id)
        direct = await alice.people.open_direct(bob.identity.peer_id)
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        false_bob = await Client.open(setup_of(tmp_path / "elsewhere", "bob"))
        try:
            async with false_bob.running():
                await meet(false_bob, alice)
                await until(pilot, lambda: "CHANGED KEY" in shown(app))
                app._open(direct)
                await type_in(pilot, "the door code is 1234")
                await until(pilot, lambda: "Not sent." in shown(app))

                assert app.composer.text == "the door code is 1234"
                await type_in_new(pilot, app, f"/block {short_of(false_bob)}")
                await until(pilot, lambda: "CHANGED KEY" not in shown(app))
        finally:
            await false_bob.close()


def short_of(client: Client) -> str:
    return short_fingerprint(client.identity.peer_id)


async def type_in_new(pilot: object, app: ChatApp, text: str) -> None:
    """Replace what stands in the input, and enter it."""
    app.composer.text = ""
    await type_in(pilot, text)  # type: ignore[arg-type]  # a Pilot[None]


@pytest.mark.net
async def test_a_key_copies_the_invite_code(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice, screen(alice) as (app, pilot):
        await type_in(pilot, "/create plans")
        await until(pilot, lambda: "to #plans" in shown(app))
        await type_in(pilot, "/invite")
        await until(pilot, lambda: "y copies it" in shown(app))
        await pilot.press("y")
        await until(pilot, lambda: "Copied" in shown(app))
        plans = next(i.channel for i in alice.snapshot().channels if i.name == "plans")

        assert app.clipboard == f"/join {await alice.governing.invite(plans)}"
        await pilot.press("escape")
        assert not isinstance(app.screen, TextScreen)
