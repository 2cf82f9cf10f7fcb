"""The /commands about people and channels, as line mode runs them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.client.live import Client
from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.text.plain_lines import INDENT, laid
from sync.entries.identity import fingerprint, pair_number, pair_words, short_fingerprint
from sync.machine import DAY
from sync.manager.wishes import ASKED
from sync.view.view import PeerState, SyncShown, Trust
from tests.support.chat_tui.acquainted import acquainted, friends
from tests.support.chat_tui.chats import meet, running, setup_of
from tests.support.chat_tui.live_clients import Heard, lobby
from tests.support.sync.nodes import until

pytestmark = pytest.mark.net


async def run(client: Client, text: str) -> Result:
    return await Commands(client).run(text, At(lobby(client)))


def offers_logs(client: Client) -> bool:
    """Return whether its only peer has announced author logs of the lobby."""
    announcing = client._node._runner.announcing
    return any(announcing.may_request(one, lobby(client)) for one in announcing._linked)


def asked(heard: Heard) -> list[str]:
    """Protocols of the sessions that the person asked for."""
    ended = [one for one in heard.events if isinstance(one, SyncShown)]
    return [one.protocol for one in ended if one.why == ASKED]


def live(client: Client) -> int:
    return client._node._runner.groups[lobby(client)].sessions.live


async def test_msg_opens_and_writes(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_bob = Heard(bob)

        result = await run(alice, "/msg @Bob how are you?")

        assert result.text == "@bob is a channel for two: only bob and you can read it."
        assert await from_bob.texts(1) == ["how are you?"]
        assert (await run(alice, "/channel @bob")).channel == result.channel
        assert "@bob · 1 message" in (await run(alice, "/channels")).text
        assert not (await run(alice, "/msg carol hi")).ok
        assert not (await run(alice, "/msg")).ok


async def test_ones_own_name_is_no_stranger(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        said = {(await run(alice, line)).text for line in ("/whois Alice", "/msg @alice hi")}

    assert said == {"alice is you: /whoami. Nobody else of that name is known."}


async def test_msg_to_somebody_away_says_that_it_waits(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
        await until(
            lambda: [one.state for one in alice.snapshot().peers] == [PeerState.DOWN], "bob is gone"
        )
        result = await run(alice, "/msg bob for later")

    assert "They are not here; what you write waits for them." in result.text


async def test_verify_shows_words_and_takes_the_answer(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        me, them = alice.identity.peer_id, bob.identity.peer_id

        words = await run(alice, "/verify bob")
        same = await run(bob, "/verify alice")
        code = await run(alice, "/verify bob qr")
        odd = await run(alice, "/verify bob perhaps")
        match = await run(alice, "/verify bob match")

        assert " ".join(pair_words(me, them)) in words.text
        assert " ".join(pair_words(me, them)) in same.text
        assert fingerprint(them) in words.text
        assert code.text.startswith(pair_number(me, them))
        assert "####" in code.text
        assert not odd.ok
        assert match.text == f"bob ({short_fingerprint(them)}) is verified."
        assert "verified" in (await run(alice, "/whois bob")).text
        assert "verified" in (await run(alice, "/who")).text


async def test_two_of_one_name_are_told_apart_by_their_keys(tmp_path: Path) -> None:
    other = await Client.open(setup_of(tmp_path / "elsewhere", "bob"))
    try:
        async with (
            running(tmp_path, "alice") as alice,
            running(tmp_path, "bob") as bob,
            other.running(),
        ):
            await acquainted(alice, bob)
            await meet(alice, other)
            await until(lambda: len(alice.snapshot().peers) == 2, "both are here")

            unclear = await run(alice, "/whois bob")
            key = short_fingerprint(bob.identity.peer_id)
            clear = await run(alice, f"/whois {key}")

            assert not unclear.ok
            assert "2 are called bob: write the key instead." in unclear.text
            assert key in unclear.text
            assert fingerprint(bob.identity.peer_id) in clear.text
    finally:
        await other.close()


async def test_a_namesake_of_ones_own_is_named_as_shown(tmp_path: Path) -> None:
    elsewhere = await Client.open(replace(setup_of(tmp_path, "bob"), nick="alice"))
    try:
        async with running(tmp_path, "alice") as alice, elsewhere.running():
            await acquainted(alice, elsewhere)
            key = short_fingerprint(elsewhere.identity.peer_id)
            heard = Heard(elsewhere)
            shown = alice.people.book.names.called(elsewhere.identity.peer_id, "alice")
            await run(alice, f"/msg {shown} hi")
            await run(alice, f"/msg alice {key[:4]} {key[:4]} is a word")
            texts = await heard.texts(2)
            invited = await run(alice, f"/invite {shown} reader")

        assert shown == f"alice {key}"
        assert texts == ["hi", f"{key[:4]} {key[:4]} is a word"]
        assert "alice" in invited.text
        assert "Write /invite" not in invited.text
    finally:
        await elsewhere.close()


async def test_block_says_what_it_does_and_is_undone(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, _):
        blocked = await run(alice, "/block bob")
        trusts = [one.trust for one in alice.snapshot().peers]
        undone = await run(alice, "/unblock bob")
        again = await run(alice, "/unblock bob")

        assert "still passed on, so that everybody" in blocked.text
        assert trusts == [Trust.BLOCKED]
        assert undone.ok
        await until(lambda: alice.snapshot().peers[0].state is PeerState.UP, "bob is back")
        assert again.text == "That person is not blocked."
        assert (
            await run(alice, "/trust")
        ).text == "No key has changed; there is nothing to accept."


async def test_names_with_spaces_are_found(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        await bob.rename("Bob the second")
        await acquainted(alice, bob)
        from_bob = Heard(bob)

        result = await run(alice, "/msg bob the second hello there")

        assert result.ok, result.text
        assert await from_bob.texts(1) == ["hello there"]


async def test_sync_with_one_of_them(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, _):
        result = await run(alice, "/sync bob")

        assert result.text == "Comparing #lobby with bob."
        assert not (await run(alice, "/sync carol")).ok


@pytest.mark.parametrize("way", ["waku", "RBSR"])
async def test_sync_takes_the_way_there_is(tmp_path: Path, way: str) -> None:
    async with friends(tmp_path) as (alice, _):
        result = await run(alice, f"/sync bob {way}")

        assert result.text == "Comparing #lobby with bob."


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ("sketches", "There is no way to compare called sketches"),
        ("telepathy", "There is no way to compare called telepathy"),
    ],
)
async def test_sync_says_which_ways_there_are(tmp_path: Path, way: str, says: str) -> None:
    async with friends(tmp_path) as (alice, _):
        result = await run(alice, f"/sync bob {way}")

        assert not result.ok
        assert result.text.startswith(says)
        ways = "waku, logheight, sets, live, delta, sketch, snapshot, hash or level"
        assert result.text.endswith(f": leave it out, or write {ways}.")


@pytest.mark.parametrize(
    ("way", "protocol"), [("waku", "waku"), ("logheight", "logheight"), ("SETS", "sets")]
)
async def test_a_named_way_is_the_one_that_is_used(tmp_path: Path, way: str, protocol: str) -> None:
    async with friends(tmp_path) as (alice, _):
        await until(lambda: offers_logs(alice), "bob announces")
        ended = Heard(alice)

        result = await run(alice, f"/sync bob {way}")

        assert result.text == "Comparing #lobby with bob."
        await until(lambda: asked(ended) == [protocol], "it is over")


async def test_live_is_a_session_that_stays(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        await until(lambda: offers_logs(alice) and offers_logs(bob), "both announce")

        result = await run(alice, "/sync bob live")

        assert result.ok, result.text
        await until(lambda: live(alice) == live(bob) == 1, "both stay")
        again = Heard(alice)
        await run(alice, "/sync bob waku")
        await until(lambda: "waku" in asked(again), "another session is over")
        assert live(alice) == live(bob) == 1


@pytest.mark.parametrize("way", ["logheight", "live"])
async def test_who_announces_no_logs_is_not_asked_for_them(tmp_path: Path, way: str) -> None:
    whole = setup_of(tmp_path, "alice")
    recent = replace(whole, network=replace(whole.network, retention=3 * DAY))
    async with running(tmp_path, "bob") as bob:
        alice = await Client.open(recent)
        async with alice.running():
            await acquainted(alice, bob)
            result = await run(alice, f"/sync bob {way}")
        await alice.close()

    assert not result.ok
    assert result.text.startswith(f"{way} needs author logs, and they have announced none")


async def test_leave_says_how_to_come_back(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        plans = await alice.memberships.create("plans")

        left = await Commands(alice).run("/leave", At(plans))
        only = await run(alice, "/leave")
        back = await run(alice, "/join #plans")

        assert "Its history stays on this disk; /join #plans comes back" in left.text
        assert left.channel == lobby(alice)
        assert "only channel" in only.text
        assert back.channel == plans


async def test_a_code_for_a_name_that_we_have_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        await bob.memberships.create("plans")
        code = alice.memberships.invite(await alice.memberships.create("plans"))

        joined = await run(bob, f"/join {code}")

        assert joined.text == (
            "You are in #plans-2, private: only people with its invite code. You are in another "
            "channel called #plans, too."
        )


async def test_a_channel_whose_own_name_ends_with_a_number_is_not_a_second_one(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        alone = await run(alice, "/join #team-2")
        await run(alice, "/join #team")
        other = await run(alice, "/join #team-3")

    assert alone.text == "You are in #team-2, open to everybody on this network."
    assert other.text == "You are in #team-3, open to everybody on this network."


async def test_an_invite_has_a_code_to_scan_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with friends(tmp_path) as (alice, bob):
        plans = await alice.memberships.create("plans")
        direct = await alice.people.open_direct(bob.identity.peer_id)

        plain = await Commands(alice).run("/invite", At(plans))
        monkeypatch.setenv("LC_ALL", "C.UTF-8")
        monkeypatch.setenv("TERM", "xterm")
        scanned = await Commands(alice).run("/invite qr", At(plans))
        monkeypatch.setenv("LC_ALL", "C")
        in_ascii = await Commands(alice).run("/invite qr", At(plans))
        of_two = await Commands(alice).run("/invite", At(direct))

        assert "#" * 10 not in plain.text
        assert "\u2588" * 10 in scanned.text
        assert max(map(len, laid(scanned.text, INDENT, 80).split("\n")[3:])) < 80
        assert "|" not in laid(scanned.text, INDENT, 80)
        assert "#" * 10 in in_ascii.text
        assert alice.memberships.invite(plans) in scanned.text
        assert of_two.text == "This is a channel for two people; nobody else can be invited."


async def test_away_and_back(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        gone = await run(alice, "/away lunch\x1b[2J")
        await until(lambda: bob.snapshot().peers[0].away, "bob sees it")
        seen = await run(bob, "/who")
        back = await run(alice, "/away")
        too_long = await run(alice, f"/away {'x' * 200}")

        assert "away: lunch" in gone.text
        assert "away: lunch" in seen.text
        assert "\x1b" not in seen.text
        assert back.text == "You are back; the others can see it."
        assert not too_long.ok
