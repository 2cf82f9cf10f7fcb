"""State as events of JSON: each costs what its channel has, however many channels there are."""

import json
from pathlib import Path

import pytest

from chat_tui.line_mode.output import JsonFace
from sync.calimero.state.contents import StateKind
from sync.view.view import StateShown
from tests.support.chat_tui.chats import running
from tests.support.sync.costs import calls_of

pytestmark = pytest.mark.net

FEW = 100
"""Calls that a state may take more once it has more; a look at twenty channels takes thousands."""


async def test_a_topic_costs_no_look_at_other_channels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, "alice") as alice:
        tea = await alice.memberships.join("#tea")
        await alice.send_text(tea, "whoever has written may set the topic")
        await alice.stating.set_topic(tea, "at four")
        event = StateShown(tea, frozenset({StateKind.TOPIC}), frozenset({alice.identity.peer_id}))
        costs = []
        for number in range(2):
            face = JsonFace(alice)
            face.event(event)  # from now on it knows the names
            costs.append(calls_of(lambda: face.event(event)))  # noqa: B023
            for more in range(20 * (1 - number)):
                await alice.memberships.join(f"#more{more}")

        assert costs[1] < costs[0] + FEW
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(one["channel"], one["text"]) for one in told] == [("#tea", "at four")] * 4


async def test_a_profile_makes_no_look_at_the_names_of_all_channels(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        tea = await alice.memberships.join("#tea")
        me = alice.identity.peer_id
        event = StateShown(tea, frozenset({StateKind.PROFILE}), frozenset({me}))
        face = JsonFace(alice)
        face.event(StateShown(tea, frozenset({StateKind.TOPIC}), frozenset({me})))
        cost = calls_of(lambda: face.event(event))
        for more in range(20):
            await alice.memberships.join(f"#more{more}")

        assert calls_of(lambda: face.event(event)) < cost + FEW
