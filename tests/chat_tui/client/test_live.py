import asyncio
from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.settings.schema import checked_nick
from storage.profile.profile import ProfileInUseError
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.sds.message import Delivery
from sync.view.view import (
    ChannelShown,
    DeliveryShown,
    Event,
    MessageShown,
    PeerShown,
    PeerState,
    SyncShown,
    TypingShown,
)
from tests.support.chat_tui.chats import meet, opened, running, setup_of
from tests.support.patience import PATIENCE_S

pytestmark = pytest.mark.net


class Heard:
    """Everything a client told, and a way to wait for more."""

    def __init__(self, client: Client) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Condition()
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        client.subscribe(self._note)

    def _note(self, event: Event) -> None:
        self.events.append(event)
        task = self._loop.create_task(self._wake())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def texts(self, count: int) -> list[str]:
        def shown() -> list[str]:
            return [event.line.text for event in self.events if isinstance(event, MessageShown)]

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: len(shown()) >= count)
        return shown()

    async def delivery(self, message_id: str, state: Delivery) -> None:
        def reached() -> bool:
            return any(
                isinstance(event, DeliveryShown)
                and event.message_id == message_id
                and event.delivery is state
                for event in self.events
            )

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(reached)

    async def peer(self, state: PeerState) -> PeerShown:
        def found() -> list[PeerShown]:
            return [
                event
                for event in self.events
                if isinstance(event, PeerShown) and event.state is state
            ]

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: bool(found()))
        return found()[-1]

    async def session(self, whys: set[str]) -> SyncShown:
        def ended() -> list[SyncShown]:
            return [
                event for event in self.events if isinstance(event, SyncShown) and event.why in whys
            ]

        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: bool(ended()))
        return ended()[-1]


def lobby(client: Client) -> ChannelId:
    assert client.first_channel is not None
    return client.first_channel


async def test_two_people_talk_and_the_mark_says_received(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        from_alice, from_bob = Heard(alice), Heard(bob)
        await meet(alice, bob)

        message_id = await alice.write(lobby(alice), "hello bob")

        assert await from_bob.texts(1) == ["hello bob"]
        await from_alice.delivery(message_id, Delivery.ACKNOWLEDGED)
        assert (await from_bob.peer(PeerState.UP)).nick == "alice"


async def test_history_is_there_before_the_network(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        await alice.write(lobby(alice), "for later")

    async with opened(tmp_path, "alice") as alice:
        lines = await alice.history.page(lobby(alice), before=None, limit=50)

    assert [line.text for line in lines] == ["for later"]


async def test_what_was_written_alone_goes_out_when_somebody_comes(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        for number in range(3):
            await alice.write(lobby(alice), f"line {number}")

    async with running(tmp_path, "bob") as bob:
        from_bob = Heard(bob)
        async with running(tmp_path, "alice") as alice:
            await meet(alice, bob)

            assert await from_bob.texts(3) == ["line 0", "line 1", "line 2"]


async def test_a_private_channel_is_joined_by_its_code_alone(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        plans = await alice.create("plans")
        code = alice.invite(plans)
        from_bob = Heard(bob)
        await meet(alice, bob)
        await alice.write(plans, "secret")

        joined = await bob.join(code)

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
        await alice.write(lobby(alice), "not for eve")
        await eve.write(lobby(eve), "mark")

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


async def test_who_keeps_it_to_oneself_is_not_seen_typing_after_a_restart_either(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, "alice") as alice:
        before = alice.typing_notices
        await alice.set_typing_notices(on=False)
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        seen, heard = Heard(alice), Heard(bob)
        await meet(alice, bob)
        await seen.peer(PeerState.UP)
        await heard.peer(PeerState.UP)
        alice.typing(lobby(alice))
        await alice.write(lobby(alice), "hello")
        await heard.texts(1)
        after = alice.typing_notices

    assert (before, after) == (True, False)
    assert not [event for event in heard.events if isinstance(event, TypingShown)]


async def test_an_open_channel_has_no_code(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        with pytest.raises(LocalError, match="its name is enough"):
            alice.invite(lobby(alice))


@pytest.mark.parametrize("text", ["friends", "chat1-broken", "#", "#two words", "https://x.y"])
async def test_what_is_neither_name_nor_code_is_not_joined(tmp_path: Path, text: str) -> None:
    async with running(tmp_path, "alice") as alice:
        with pytest.raises(LocalError):
            await alice.join(text)

        assert len(alice.snapshot().channels) == 1


async def test_two_channels_of_one_name_get_different_names_here(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        await alice.create("plans")
        await alice.create("plans")
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
        session = await from_alice.session({"asked by the person"})
        assert session.result == "equal"
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
