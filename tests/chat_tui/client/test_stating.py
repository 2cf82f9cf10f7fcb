"""Topic and pins between two programs on this computer, and what line mode and scripts say."""

from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.line_mode.output import JsonFace, TextFace
from chat_tui.settings.preferences import Preferences
from chat_tui.wording.sentences import find
from sync.view.view import StateInfo
from tests.support.chat_tui.acquainted import friends
from tests.support.chat_tui.chats import run
from tests.support.chat_tui.live_clients import Heard
from tests.support.sync.nodes import until

pytestmark = [pytest.mark.net, pytest.mark.usefixtures("in_utc")]


def state(client: Client) -> StateInfo:
    info = find(client.snapshot(), client.first_channel)
    assert info is not None
    return info.state


async def test_a_topic_and_a_pin_of_alice_stand_at_bob(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with friends(tmp_path) as (alice, bob):
        face, scripts = TextFace(bob, Preferences()), JsonFace(bob)
        bob.subscribe(face.event)
        bob.subscribe(scripts.event)
        heard = Heard(bob)
        await run(alice, "hello")
        await heard.texts(1)
        await run(alice, "/topic the demo is at three")
        await run(alice, "/pin")
        await until(lambda: state(bob).pins, "bob has the pin")
        shown = (await run(bob, "/topic")).text
        pins = (await run(bob, "/pins")).text
        me = alice.identity.peer_id
        said = capsys.readouterr().out

        assert state(bob).topic is not None
        assert [one.by for one in state(bob).pins] == [me]
        assert shown.startswith("#lobby: the demo is at three (set by alice, ")
        assert "hello (pinned by alice)" in pins
        assert "* alice set the topic of #lobby: the demo is at three" in said
        assert '"event": "topic"' in said
        assert '"event": "pins"' in said


async def test_bob_takes_back_what_alice_has_set(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        for one, other in ((alice, bob), (bob, alice)):
            heard = Heard(other)
            await run(one, "hello")
            await heard.texts(1)
        await run(alice, "/topic apples")
        await until(lambda: state(bob).topic, "bob has the topic")
        await run(bob, "/topic -")
        await until(lambda: state(alice).topic is None, "alice has none")
