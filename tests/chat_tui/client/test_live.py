from pathlib import Path

import pytest

from chat_tui.client import memberships
from chat_tui.client.live import Client
from chat_tui.settings.schema import NAME, TYPING_NOTICES, checked_nick
from storage.profile.profile import ProfileInUseError
from sync.errors import LocalError
from sync.net.links.channel_proofs import PROOFS_MAX
from sync.sds.message import Delivery
from sync.view.view import (
    ChannelShown,
    PeerShown,
    PeerState,
    TypingShown,
)
from tests.support.chat_tui.chats import meet, opened, running, setup_of
from tests.support.chat_tui.live_clients import Heard, lobby

pytestmark = pytest.mark.net


async def test_two_people_talk_and_the_mark_says_received(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        from_alice, from_bob = Heard(alice), Heard(bob)
        await meet(alice, bob)

        message_id = await alice.send_text(lobby(alice), "hello bob")

        assert await from_bob.texts(1) == ["hello bob"]
        await from_alice.delivery(message_id, Delivery.ACKNOWLEDGED)
        assert (await from_bob.peer(PeerState.UP)).nick == "alice"


async def test_history_is_there_before_the_network(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        await alice.send_text(lobby(alice), "for later")

    async with opened(tmp_path, "alice") as alice:
        lines = await alice.history.page(lobby(alice), before=None, limit=50)

    assert [line.text for line in lines] == ["for later"]


async def test_what_was_written_alone_goes_out_when_somebody_comes(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        await alice.send_text(lobby(alice), "line 0")
        ends = await alice.send_texts(lobby(alice), ["line 1", "", "line 2"])
        assert [isinstance(one, LocalError) for one in ends] == [False, True, False]

    async with running(tmp_path, "bob") as bob:
        from_bob = Heard(bob)
        async with running(tmp_path, "alice") as alice:
            await meet(alice, bob)

            assert await from_bob.texts(3) == ["line 0", "line 1", "line 2"]


async def test_a_private_channel_is_joined_by_its_code_alone(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        plans = await alice.memberships.create("plans")
        code = alice.memberships.invite(plans)
        from_bob = Heard(bob)
        await meet(alice, bob)
        await alice.send_text(plans, "secret")

        joined = await bob.memberships.join(code)

        assert joined == plans
        assert await from_bob.texts(1) == ["secret"]
        shown = [event for event in from_bob.events if isinstance(event, ChannelShown)]
        assert shown == [ChannelShown(plans, "plans")]


async def test_a_stranger_to_a_channel_sees_neither_message_nor_name(tmp_path: Path) -> None:
    async with (
        running(tmp_path, "alice", channel="only-alice") as alice,
        running(tmp_path, "eve", channel="only-eve") as eve,
    ):
        from_eve = Heard(eve)
        await meet(alice, eve)
        await alice.send_text(lobby(alice), "not for eve")
        await eve.send_text(lobby(eve), "mark")

        assert await from_eve.texts(1) == ["mark"]
        assert not any(isinstance(event, PeerShown) for event in from_eve.events)
        assert eve.snapshot().peers == ()


async def test_names_and_ports_are_remembered(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        await alice.rename("Alice in the office")
        port = alice.snapshot().port

    again = await Client.open(setup_of(tmp_path, "alice"))
    await again.close()
    kept = again.profile.settings

    assert kept.port == port
    assert kept.nick == "alice"  # given on the command line again


async def test_a_name_that_cannot_be_kept_holds_until_the_end_and_that_is_said(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        for name in ("settings.json.new", "settings.toml.new"):
            (alice.profile.directory / name).mkdir()
        with pytest.raises(LocalError, match="the change holds until the chat closes"):
            await alice.rename("alina")

        assert alice.snapshot().nick == alice.settings[NAME] == "alina"


async def test_changes_are_counted_apart_from_messages_that_wait(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        sent = await alice.send_text(lobby(alice), "hello")
        await alice.edit(lobby(alice), sent, "hello all")
        await alice.react(lobby(alice), sent, "❤")
        counts = [(one.outgoing_count, one.outgoing_changes) for one in alice.snapshot().channels]
    async with running(tmp_path, "alice") as alice:
        after = [(one.outgoing_count, one.outgoing_changes) for one in alice.snapshot().channels]
        from_alice = Heard(alice)
        async with running(tmp_path, "bob") as bob:
            await meet(alice, bob)
            await from_alice.delivery(sent, Delivery.ACKNOWLEDGED)

    assert counts == after == [(3, 2)]


async def test_who_keeps_it_to_oneself_is_not_seen_typing_after_a_restart_either(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, "alice") as alice:
        before = alice.settings[TYPING_NOTICES]
        alice.settings.change(TYPING_NOTICES, False)
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        seen, heard = Heard(alice), Heard(bob)
        await meet(alice, bob)
        await seen.peer(PeerState.UP)
        await heard.peer(PeerState.UP)
        alice.typing(lobby(alice))
        await alice.send_text(lobby(alice), "hello")
        await heard.texts(1)
        after = alice.settings[TYPING_NOTICES]

    assert (before, after) == (True, False)
    assert not [event for event in heard.events if isinstance(event, TypingShown)]


async def test_a_key_makes_the_engine_leave_the_loop_sooner_whether_others_hear_or_not(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        alice.settings.change(TYPING_NOTICES, False)
        assert alice._made is not None
        before = alice._made.keys.is_hurried
        alice.typing(lobby(alice))

        assert (before, alice._made.keys.is_hurried) == (False, True)


async def test_an_open_channel_has_no_code(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        with pytest.raises(LocalError, match="its name is enough"):
            alice.memberships.invite(lobby(alice))


@pytest.mark.parametrize("text", ["friends", "chat1-broken", "#", "#two words", "https://x.y"])
async def test_what_is_neither_name_nor_code_is_not_joined(tmp_path: Path, text: str) -> None:
    async with running(tmp_path, "alice") as alice:
        with pytest.raises(LocalError):
            await alice.memberships.join(text)

        assert len(alice.snapshot().channels) == 1


async def test_nobody_is_in_more_channels_than_a_link_proves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memberships.CHANNELS_MAX < PROOFS_MAX
    monkeypatch.setattr(memberships, "CHANNELS_MAX", 3)
    async with running(tmp_path, "alice") as alice:
        await alice.memberships.join("#tea")
        coffee = await alice.memberships.join("#coffee")

        for one_more in (
            alice.memberships.join("#water"),
            alice.memberships.create("plans"),
            alice.governing.found("plans"),
        ):
            with pytest.raises(LocalError, match=r"in 3 channels.*/leave one first"):
                await one_more

        assert len(alice.snapshot().channels) == 3
        await alice.memberships.leave(coffee)
        assert await alice.memberships.join("#water")


async def test_two_channels_of_one_name_get_different_names_here(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        await alice.memberships.create("plans")
        await alice.memberships.create("plans")
        names = [info.name for info in alice.snapshot().channels]

    assert names == ["lobby", "plans", "plans-2"]


async def test_a_profile_is_open_once(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice"):
        with pytest.raises(ProfileInUseError, match="--profile other"):
            await Client.open(setup_of(tmp_path, "alice"))


@pytest.mark.parametrize("nick", ["", " ", "a" * 33, "bell\a", "two\nlines"])
def test_a_name_must_be_usable(nick: str) -> None:
    with pytest.raises(LocalError, match="1 to 32"):
        checked_nick(nick)


async def test_asking_for_a_comparison_is_answered_by_a_session(tmp_path: Path) -> None:
    async with (
        running(tmp_path, "alice", channel="asked") as alice,
        running(tmp_path, "bob", channel="asked") as bob,
    ):
        from_alice = Heard(alice)
        await meet(alice, bob)
        await from_alice.session({"new link", "the peer began it"})

        asked = await alice.sync(lobby(alice))

        assert asked == 1
        session = await from_alice.session({"asked by the person"}, put_off=False)
        assert session.result == "both have the same"
        assert session.bytes_out > 0


async def test_without_discovery_nobody_is_said_to_be_looked_for(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        said = alice.snapshot().network

    assert said == "Discovery is off on 127.0.0.1: /connect dials an address."


async def test_an_address_where_nobody_listens_is_named_once(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        with pytest.raises(LocalError) as refused:
            await alice.connect("127.0.0.1", 1)

    assert str(refused.value).startswith(
        "Nobody answers at 127.0.0.1:1 (cannot be reached: Connection refused). Look whether"
    )
