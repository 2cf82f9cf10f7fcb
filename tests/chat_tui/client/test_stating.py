"""Topic, pins, names and read marks between programs on this computer."""

from pathlib import Path

import pytest

from chat_tui.client.live import Client
from chat_tui.client.read_marks import NOTICE
from chat_tui.line_mode.output import JsonFace, TextFace
from chat_tui.settings.preferences import Preferences, Wishes
from chat_tui.settings.schema import READ_MARKS, STATUS_MAX
from chat_tui.wording.sentences import find, name_of
from sync.calimero.state import contents
from sync.calimero.state.contents import StateKind
from sync.machine import ChannelId
from sync.net.links.noise import CipherState
from sync.view.view import Line, MessageShown, Notice, Position, StateInfo
from tests.support.chat_tui.acquainted import friends
from tests.support.chat_tui.chats import meet, opened, run, running
from tests.support.chat_tui.conversations import LOBBY, line
from tests.support.chat_tui.live_clients import Heard
from tests.support.sync.nodes import until

pytestmark = [pytest.mark.net, pytest.mark.usefixtures("in_utc")]


def state(client: Client, channel: ChannelId | None = None) -> StateInfo:
    info = find(client.snapshot(), channel or client.first_channel)
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


async def private(alice: Client, bob: Client) -> ChannelId:
    """A private channel of alice, in which bob is."""
    channel = await alice.memberships.create("plans")
    await bob.memberships.join(alice.memberships.invite(channel))
    await until(lambda: channel_has(alice, channel, bob), "bob is there")
    return channel


def channel_has(client: Client, channel: ChannelId, other: Client) -> bool:
    info = find(client.snapshot(), channel)
    return info is not None and other.identity.peer_id in info.peers


async def say(one: Client, other: Client, channel: ChannelId, text: str) -> Line:
    """Let somebody write; returns the line as the other has it."""
    heard = Heard(other)
    await one.send_text(channel, text)
    await heard.texts(1)
    return next(event.line for event in heard.events if isinstance(event, MessageShown))


def of_marks(client: Client, channel: ChannelId, author: Client) -> bool:
    """Return whether a read mark of somebody was ever heard of, be it an empty one."""
    registers = client.make_node().groups[channel].stating.registers
    key = bytes.fromhex(author.identity.peer_id)
    return any(one.author == key for one in registers.of_kind(StateKind.READ).values())


def all_that_is_sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return all that links and streams are given to encrypt from now on, by anybody."""
    sent: list[bytes] = []
    encrypt = CipherState.encrypt

    def noted(cipher: CipherState, associated_data: bytes, plaintext: bytes) -> bytes:
        sent.append(plaintext)
        return encrypt(cipher, associated_data, plaintext)

    monkeypatch.setattr(CipherState, "encrypt", noted)
    return sent


def signed_marks(sent: list[bytes], author: Client) -> list[bytes]:
    """Return what of that holds a read mark of somebody: their key, then its kind."""
    mark = bytes.fromhex(author.identity.peer_id) + bytes([StateKind.READ])
    return [one for one in sent if mark in one]


def mark_of(client: Client, channel: ChannelId, author: Client) -> Position | None:
    mark = state(client, channel).read(author.identity.peer_id)
    return None if mark is None else (mark.lamport, mark.message_id)


async def test_whoever_was_never_met_has_the_name_and_status_they_signed(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "carol") as carol:
        async with running(tmp_path, "bob") as bob:
            await meet(alice, bob)
            channel = await private(alice, bob)
            him = bob.identity.peer_id
            await bob.rename("robert")
            await bob.be_away("back on Monday, or so, if the train is not late")

            def said() -> tuple[str, str]:
                profile = state(alice, channel).profile(him)
                return ("", "") if profile is None else (profile.nick, profile.status)

            status = "back on Monday, or so, if the t…"
            await until(lambda: said() == ("robert", status), "alice has his profile")
        await meet(alice, carol)
        await carol.memberships.join(alice.memberships.invite(channel))
        await until(lambda: state(carol, channel).profile(him), "carol has it from alice")

        assert name_of(carol.snapshot(), him) == "robert"
        assert all(one.peer != him for one in carol.snapshot().peers)


async def test_status_and_colour_of_the_absent_are_shown_by_whoever_has_them(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "carol") as carol:
        async with running(tmp_path, "bob") as bob:
            await meet(alice, bob)
            channel = await private(alice, bob)
            him = bob.identity.peer_id
            await bob.send_text(channel, "hello")
            refused = await run(bob, "/colour mauve")
            assert (await run(bob, "/colour teal")).text == "Your colour is teal; all see it."
            assert "all see it" in (await run(bob, "/status in room 2")).text
            assert "Your status: in room 2" in (await run(bob, "/status")).text

            def said(one: Client) -> tuple[str, str]:
                profile = state(one, channel).profile(him)
                return ("", "") if profile is None else (profile.colour, profile.status)

            await until(lambda: said(alice) == ("teal", "in room 2"), "alice has both")
            await bob.be_away("at lunch")
            await until(lambda: said(alice) == ("teal", "at lunch"), "why he is away comes first")
            await bob.be_away("")
            await until(lambda: said(alice) == ("teal", "in room 2"), "he is back")
        await meet(alice, carol)
        await carol.memberships.join(alice.memberships.invite(channel))
        await until(lambda: said(carol) == ("teal", "in room 2"), "carol has it from alice")
        whois = (await run(alice, "/whois bob")).text
        who = (await run(alice, "/who")).text
    async with running(tmp_path, "bob") as bob:
        assert (await run(bob, "/colour")).text.startswith("Your colour is teal.")
        assert (await run(bob, "/status -")).text == "You have no status any more."
        await until(lambda: said(bob) == ("teal", ""), "it is taken back")

    assert not refused.ok
    assert "status    in room 2" in whois
    assert '"in room 2"' in who


def test_a_status_is_as_long_as_one_can_be() -> None:
    assert STATUS_MAX == contents.STATUS_MAX


async def test_a_profile_stands_once_one_has_written_and_is_not_signed_again_at_a_start(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "alice") as alice:
        await until(lambda: state(alice).restored, "the disk is read")
        await alice.stating.keep()
        assert state(alice).profiles == ()
        await run(alice, "hello")
        await until(lambda: state(alice).profiles, "it stands")
        [before] = state(alice).profiles
    async with running(tmp_path, "alice") as alice:
        await until(lambda: state(alice).restored, "the disk is read")
        await alice.stating.keep()
        [after] = state(alice).profiles

    assert before == after


async def test_a_mark_reaches_the_other_and_is_taken_back_when_marks_are_switched_off(
    tmp_path: Path,
) -> None:
    async with friends(tmp_path) as (alice, bob):
        channel = await private(alice, bob)
        line = await say(alice, bob, channel, "hello")
        told: list[str] = []
        bob.subscribe(lambda event: told.append(event.text) if isinstance(event, Notice) else None)
        bob.stating.saw(bob.snapshot(), channel, line.position)
        first = (list(told), of_marks(bob, channel, bob), bob.profile.settings.told_of_read_marks)
        bob.stating._marks._first_at = 0  # ten seconds later
        bob.stating.saw(bob.snapshot(), channel, line.position)
        await until(lambda: mark_of(alice, channel, bob) == line.position, "alice has the mark")
        bob.settings.change(READ_MARKS, "off")
        await until(lambda: mark_of(alice, channel, bob) is None, "it is taken back")
        registers = alice.make_node().groups[channel].stating.registers
        kept = [one.signed.value for one in registers.of_kind(StateKind.READ).values()]

        assert first == ([NOTICE], False, True)
        assert kept == [b""]


async def test_with_marks_off_none_is_signed_or_sent_and_none_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = all_that_is_sent(monkeypatch)
    async with friends(tmp_path) as (alice, bob):
        channel = await private(alice, bob)
        bob.settings.change(READ_MARKS, "off")
        for one in (alice, bob):
            one.stating._marks.noticed = True
        first = await say(alice, bob, channel, "hello")
        second = await say(bob, alice, channel, "hello you")
        bob.stating.saw(bob.snapshot(), channel, first.position)
        alice.stating.saw(alice.snapshot(), channel, second.position)
        await until(lambda: of_marks(bob, channel, alice), "hers is kept, to be passed on")
        await bob.stating.set_topic(channel, "sent after it")  # the link keeps the order
        await until(lambda: state(alice, channel).topic, "what bob set later is there")

        assert signed_marks(sent, alice)
        assert not signed_marks(sent, bob)
        assert not of_marks(alice, channel, bob)
        assert not of_marks(bob, channel, bob)
        assert state(bob, channel).reads == ()
        assert mark_of(alice, channel, alice) == second.position


async def test_a_mark_of_before_is_taken_back_if_the_next_start_hides_marks(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        channel = await private(alice, bob)
        line = await say(alice, bob, channel, "hello")
        bob.stating._marks.noticed = True
        bob.stating.saw(bob.snapshot(), channel, line.position)
        await until(lambda: mark_of(bob, channel, bob) == line.position, "it stands")
        file = bob.profile.directory
    Preferences.of_profile(file, Wishes()).change(READ_MARKS, "off")
    async with running(tmp_path, "bob") as bob:
        registers = bob.make_node().groups[channel].stating.registers
        await until(
            lambda: (
                [one.signed.value for one in registers.of_kind(StateKind.READ).values()] == [b""]
            ),
            "it is taken back",
        )


async def test_the_first_own_line_where_ones_name_does_not_stand_has_it_set(tmp_path: Path) -> None:
    async with opened(tmp_path, "alice") as alice:
        stating = alice.stating
        stating._nameless.add(LOBBY)
        stating.note_event(MessageShown(line(1, author="bob")))
        of_bob = stating._wanted.is_set()
        stating.note_event(MessageShown(line(2, author="alice")))

        assert not of_bob
        assert stating._wanted.is_set()


async def test_a_name_that_does_not_count_yet_is_not_told_and_keeps_the_link(
    tmp_path: Path,
) -> None:
    async with friends(tmp_path) as (alice, bob):
        await until(lambda: state(alice).restored, "the disk is read")
        await alice.rename("alina")
        await alice.stating.keep()
        heard = Heard(bob)
        await run(alice, "hello")
        await heard.texts(1)
        await until(lambda: state(bob).profiles, "bob has her name with her first line")

        assert [one.nick for one in state(bob).profiles] == ["alina"]
        assert bob.snapshot().refused == {}
        assert alice.snapshot().refused == {}
