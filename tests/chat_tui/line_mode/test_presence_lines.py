"""People who come and go, in line mode: away as they say themselves, gone since a time."""

from pathlib import Path

import pytest

from chat_tui.line_mode.output import TextFace
from chat_tui.text.times import time_of_day
from sync.machine import PeerId
from sync.view.view import PeerShown, PeerState
from tests.support.chat_tui.acquainted import acquainted
from tests.support.chat_tui.chats import line_mode, running
from tests.support.chat_tui.live_clients import Heard


@pytest.mark.net
async def test_who_leaves_is_gone_since_a_time_and_away_is_who_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, "alice") as alice:
        heard, face = Heard(alice), TextFace(alice, alice.settings)
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
            key = bob.identity.peer_id
            face.event(PeerShown(key, "bob", PeerState.UP, away="lunch"))
            face.event(PeerShown(key, "bob", PeerState.UP))
        face.event(await heard.peer(PeerState.DOWN))
        [peer] = alice.snapshot().peers
        assert peer.last_seen_ns is not None
        since = time_of_day(peer.last_seen_ns)
    printed = capsys.readouterr().out.splitlines()

    assert printed == ["* bob is away: lunch.", "* bob is here.", f"* bob is gone since {since}."]


async def test_who_takes_another_name_is_not_said_to_come(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with line_mode(tmp_path) as (_alice, face):
        for nick, away in (("bob", ""), ("bobby", ""), ("bobby", "lunch"), ("rob:", "lunch")):
            face.event(PeerShown(PeerId("b" * 64), nick, PeerState.UP, away=away))
        printed = capsys.readouterr().out.splitlines()

    assert printed == [
        "* bob is here.",
        "* bob is called bobby now.",
        "* bobby is away: lunch.",
        '* bobby is called "rob:" now.',
    ]
