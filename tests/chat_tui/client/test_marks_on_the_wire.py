"""Read marks of a real chat as frames: none of one's own where they are off, or nobody looks."""

from pathlib import Path

import pytest
from textual.events import AppBlur, AppFocus

from chat_tui.client.live import Client
from chat_tui.settings.schema import READ_MARKS
from sync.calimero.state.contents import StateKind
from sync.calimero.state.entry import StateEntry, parse
from sync.calimero.state.folds import read_marks
from sync.machine import ChannelId, MessageId
from sync.net.invite import decode
from sync.net.links.frames import StateFrame
from tests.support.chat_tui.chats import running
from tests.support.chat_tui.live_screens import beside_bob, lobby, type_in
from tests.support.chat_tui.live_screens import until as until_shown
from tests.support.chat_tui.readings import shown
from tests.support.sync.nodes import Station, stations, until

pytestmark = pytest.mark.net

READ_TO = (7, MessageId("ab" * 32))
"""A line of somebody else, as the screen tells that it was read."""


def told(station: Station) -> list[StateEntry]:
    """All state entries that came over the link, in the order in which they came."""
    frames = [frame for _, frame in station.states if isinstance(frame, StateFrame)]
    return [parse(content) for frame in frames for content in frame.contents]


def marks(station: Station) -> list[StateEntry]:
    """The read marks among them."""
    return [one for one in told(station) if one.kind is StateKind.READ]


async def private(alice: Client, bob: Station) -> ChannelId:
    """Connect the two in a private channel of alice's."""
    channel = await alice.memberships.create("plans")
    bob.secrets.set_plain(channel, decode(alice.memberships.invite(channel)).secret)
    port = alice.snapshot().port
    assert port is not None
    await bob.mesh.connect("127.0.0.1", port)
    await until(lambda: (alice.identity.peer_id, channel) in bob.shared, "they share the channel")
    return channel


async def see(alice: Client, channel: ChannelId) -> None:
    """Let the person look at the channel, twice as at two beats of the screen."""
    for _ in range(2):
        alice.stating.saw(alice.snapshot(), channel, READ_TO)
    await alice.stating.set_topic(channel, "it came after what was read")


async def test_with_read_marks_off_none_of_ones_own_is_on_the_wire(tmp_path: Path) -> None:
    bob = Station("bob")
    async with running(tmp_path, "alice") as alice, stations(bob):
        alice.settings.change(READ_MARKS, "off")
        alice.stating._marks.noticed = True
        channel = await private(alice, bob)
        await see(alice, channel)
        await until(lambda: StateKind.TOPIC in {one.kind for one in told(bob)}, "the topic came")
        off = marks(bob)
        registers = alice.make_node().groups[channel].stating.registers
        kept = read_marks(registers)  # nor is there any that a session could bring
        alice.settings.change(READ_MARKS, "on")
        await see(alice, channel)
        await until(lambda: marks(bob), "switched on, it is told")

    assert off == []
    assert kept == {}
    assert [one.author.hex() for one in marks(bob)] == [alice.identity.peer_id]


async def test_while_nobody_looks_at_the_terminal_no_mark_is_on_the_wire(tmp_path: Path) -> None:
    carol = Station("carol", "lobby")
    async with beside_bob(tmp_path) as (app, pilot, bob), stations(carol):
        alice = app._chat
        assert isinstance(alice, Client)
        await carol.mesh.connect("127.0.0.1", alice.make_node().mesh.port or 0)
        await type_in(pilot, "hello")
        await until_shown(pilot, lambda: StateKind.PROFILE in {one.kind for one in told(carol)})
        app.post_message(AppBlur())
        await until_shown(pilot, lambda: not app.app_focus)
        alice.stating._marks.noticed = True
        alice.settings.change(READ_MARKS, "on")
        await bob.send_text(lobby(bob), "are you there?")
        await until_shown(pilot, lambda: "are you there?" in shown(app))
        for _ in range(3):
            app._tick()
        await alice.stating.set_topic(lobby(alice), "after what nobody looked at")
        await until_shown(pilot, lambda: StateKind.TOPIC in {one.kind for one in told(carol)})
        away = marks(carol)
        app.post_message(AppFocus())
        await until_shown(pilot, lambda: bool(marks(carol)))

    assert away == []
