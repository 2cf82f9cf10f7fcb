"""/forget: what goes, what stays, and of whom it is refused."""

from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.wording import sentences
from sync.machine import SECOND
from sync.view.view import PeerState
from tests.support.chat_tui.acquainted import acquainted
from tests.support.chat_tui.chats import meet, run, running
from tests.support.chat_tui.live_clients import Heard, lobby
from tests.support.sync.nodes import until

pytestmark = pytest.mark.net


async def gone(client: Client) -> None:
    """Wait until the only peer is gone."""
    await until(
        lambda: [one.state for one in client.snapshot().peers] == [PeerState.DOWN], "they are gone"
    )


async def test_who_is_forgotten_is_out_of_the_list_also_later_and_their_lines_stay(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        from_alice = Heard(alice)
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
            await bob.send_text(lobby(bob), "remember me")
            await from_alice.texts(1)
            here = await run(alice, "/forget bob")
        await gone(alice)
        too_much = await run(alice, "/forget bob now")
        done = await run(alice, "/forget bob")
        listed = sentences.who(alice.snapshot())
        again = await run(alice, "/forget bob")

    assert (here.ok, here.text.partition(";")[0]) == (False, "bob is here")
    assert not too_much.ok
    assert done.ok
    assert "What they wrote stays here" in done.text
    assert listed.startswith("Nobody yet.")
    assert again.text == "Nobody called bob is known here. /who lists everyone."
    async with running(tmp_path, "alice") as alice:
        assert alice.snapshot().peers == ()
        lines = await alice.history.page(lobby(alice), before=None, limit=5)
        assert [line.text for line in lines] == ["remember me"]
        async with running(tmp_path, "bob") as bob:  # who may dial alice before we do
            await meet(alice, bob)
            await until(
                lambda: [one.nick for one in alice.snapshot().peers] == ["bob"], "bob is back"
            )


async def test_a_verified_key_a_blocked_one_and_a_channel_of_two_are_thought_of(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
            await run(alice, "/msg bob hi")
            await run(alice, "/verify bob match")
        await gone(alice)
        verified = await run(alice, "/forget bob")
        await run(alice, "/block bob")
        blocked = await run(alice, "/forget bob anyway")
        await run(alice, "/unblock bob")
        done = await run(alice, "/forget bob anyway")
        titles = [sentences.channel_title(info) for info in alice.snapshot().channels]

    assert "/forget bob anyway does it" in verified.text
    assert "/unblock first" in blocked.text
    assert done.ok
    assert "@bob is among your channels until you /leave it." in done.text
    assert titles == ["#lobby", "@bob"]


async def test_a_member_of_a_channel_is_not_forgotten(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
            plans = await alice.governing.found("plans")
            await alice.governing.add(plans, bob.identity.peer_id)
        await gone(alice)
        refused = await run(alice, "/forget bob")

    assert refused.text == (
        "bob is a member of #plans: whoever is in stays in the list. /kick bob there removes them "
        "first."
    )


async def test_who_was_here_at_the_end_is_gone_since_then(tmp_path: Path) -> None:
    async with running(tmp_path, "bob") as bob:
        async with running(tmp_path, "alice") as alice:
            await acquainted(alice, bob)
            met = alice.people.book.people[bob.identity.peer_id].last_seen_ns
            await bob.send_text(lobby(bob), "bye")
        left_at = alice._clock.wall()
    async with running(tmp_path, "alice") as alice:
        [peer] = alice.snapshot().peers

    assert peer.last_seen_ns is not None
    assert met < peer.last_seen_ns <= left_at < peer.last_seen_ns + 10 * SECOND
