"""/invite bob and /accept: a code by direct message, and one key or command that takes it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from chat_tui.client.live import Client
from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from chat_tui.line_mode.output import TextFace
from chat_tui.settings.preferences import Preferences
from chat_tui.wording.invitations import DAMAGED, PREFIX, Offer, invitation_to, offered
from chat_tui.wording.sentences import channel_title
from sync.machine import ChannelId, PeerId
from sync.net import invite
from sync.net.invite import Invite, encode
from sync.view.governance_infos import Role
from sync.view.view import MessageShown, PeerState, PreviewShown
from tests.support.chat_tui.acquainted import acquainted, friends
from tests.support.chat_tui.chats import run, running
from tests.support.chat_tui.live_clients import Heard
from tests.support.sync.nodes import until

CODE = encode(Invite("plans", ChannelId("ab" * 16), b"s" * 16, "lan"))


@pytest.mark.parametrize(
    ("text", "offer"),
    [
        (invitation_to("#plans", CODE), Offer(CODE, "#plans")),
        (f"You are in #plans now. Enter it with: {CODE}", Offer(CODE, "#plans")),
        (f"{CODE[:-3]}222", Offer(f"{CODE[:-3]}222", DAMAGED)),
        (invitation_to("#garden", "#Garden"), Offer("#garden", "#garden")),
        ("try /join #garden.", Offer("#garden", "#garden")),
        ("/join #{reading_join}", None),
        ("chat1-abc is how a code begins", None),
        ("what is #plans?", None),
    ],
)
def test_what_a_message_invites_to_is_its_code_or_the_open_channel(
    text: str, offer: Offer | None
) -> None:
    assert offered(text) == offer


def test_codes_are_known_by_their_beginning() -> None:
    assert PREFIX == invite.PREFIX


async def said(client: Client, line: str, channel: ChannelId) -> Result:
    return await Commands(client).run(line, At(channel))


def titles(client: Client) -> list[str]:
    return [channel_title(info) for info in client.snapshot().channels]


def governance_role(client: Client, channel: ChannelId) -> Role:
    info = next(one for one in client.snapshot().channels if one.channel == channel)
    assert info.governance is not None
    return info.governance.role


def has_member(client: Client, channel: ChannelId, peer: PeerId) -> bool:
    info = next(one for one in client.snapshot().channels if one.channel == channel)
    return info.governance is not None and info.governance.member(peer) is not None


@pytest.mark.net
async def test_bob_is_invited_as_a_reader_and_comes_when_he_accepts(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_bob = Heard(bob)
        plans = await alice.governing.found("plans")
        sent = await said(alice, "/invite bob reader", plans)
        [text] = await from_bob.texts(1)
        before = titles(bob)
        joined = await run(bob, "/accept alice")
        assert joined.then is not None
        await until(lambda: governance_role(bob, plans) is Role.READER, "bob is in")
        once_in = joined.then(bob.snapshot())
        await until(lambda: has_member(alice, plans, bob.identity.peer_id), "alice has heard")
        again = await said(alice, "/invite bob", plans)

    assert sent.text == (
        "bob is invited to #plans: the code stands in @bob. It holds until the next removal, "
        "/rotate or /invite end."
    )
    assert sent.channel is None
    assert text.startswith("Come to #plans: /join chat1-")
    assert before == ["#lobby", "@alice"]
    assert joined.channel == plans
    assert joined.took_up is not None
    assert joined.took_up.text == text
    assert joined.text == (
        "You come into #plans as soon as somebody is here who is in it, unless you left after this "
        "code was made."
    )
    assert once_in == "You are in #plans; only its 2 members can read it."
    assert again.text == "bob is in #plans already, as reader."


@pytest.mark.net
async def test_who_invites_somebody_removed_hears_that_the_code_only_asks(tmp_path: Path) -> None:
    async with friends(tmp_path) as (alice, _bob):
        plans = await alice.governing.found("plans")
        await said(alice, "/add bob", plans)
        await said(alice, "/kick bob", plans)
        sent = await said(alice, "/invite bob", plans)

    assert sent.text.endswith("They were removed before, so it only asks: /add bob lets them in.")


@pytest.mark.net
async def test_who_is_not_here_finds_the_invitation_when_they_come(tmp_path: Path) -> None:
    async with running(tmp_path, "alice") as alice:
        async with running(tmp_path, "bob") as bob:
            await acquainted(alice, bob)
        await until(lambda: alice.snapshot().peers[0].state is PeerState.DOWN, "bob is gone")
        old = await alice.memberships.create("old")
        sent = await said(alice, "/invite bob", old)
        async with running(tmp_path, "bob") as bob:
            from_bob = Heard(bob)
            await acquainted(alice, bob)
            await from_bob.texts(1)
            joined = await run(bob, "/accept")

    assert sent.text == ("bob is not here: the invitation to #old waits in @bob until they come.")
    assert joined.channel == old


@pytest.mark.net
async def test_an_open_channel_needs_no_code_and_roles_are_of_governed_ones(
    tmp_path: Path,
) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_bob = Heard(bob)
        garden = await alice.memberships.join("#garden")
        role = await said(alice, "/invite bob reader", garden)
        await said(alice, "/invite bob", garden)
        [text] = await from_bob.texts(1)
        joined = await run(bob, "/accept")
        here = await run(alice, "/invite bob")
        nobody = await run(alice, "/invite carol")
        odd = await run(alice, "/invite bob boss")

    assert "nobody has a role there" in role.text
    assert text == "Come to #garden: /join #garden"
    assert joined.channel == garden
    assert here.text == "bob is in #lobby already."
    assert nobody.text == "Nobody called carol is known here. /who lists everyone."
    assert odd.text.startswith("Write /invite bob, or /invite bob reader;")


@pytest.mark.net
async def test_accepting_what_is_not_there_or_invites_to_nothing_is_refused(
    tmp_path: Path,
) -> None:
    async with friends(tmp_path) as (alice, bob):
        from_bob = Heard(bob)
        nothing = await run(bob, "/accept")
        await run(alice, "/msg bob hello there")
        await from_bob.texts(1)
        [info] = [one for one in bob.snapshot().channels if one.direct is not None]
        [line] = await bob.history.page(info.channel, before=None, limit=1)
        plain = await run(bob, f"/accept {line.message_id[:8]}")
        unknown = await run(bob, "/accept 00000000")
        stranger = await run(bob, "/accept zoe")
        await alice.send_text(info.channel, f"come: {CODE[:-3]}222")
        await from_bob.texts(2)
        damaged = await run(bob, "/accept")

    assert nothing.text.startswith("Nobody has invited you")
    assert plain.text == "That message has no invite code and names no open channel."
    assert unknown.text.startswith("No message here or in a channel of two has an id")
    assert stranger.text.startswith("Nobody called zoe")
    assert damaged.text == "The invite code is damaged or incomplete; copy the whole of it again."
    assert not any(one.ok for one in (nothing, plain, unknown, stranger, damaged))


@pytest.mark.net
@pytest.mark.parametrize("told_before", [False, True])
async def test_line_mode_says_how_one_accepts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *, told_before: bool
) -> None:
    async with friends(tmp_path) as (alice, bob):
        face, from_bob = TextFace(bob, Preferences()), Heard(bob)
        plans = await alice.governing.found("plans")
        await said(alice, "/invite bob", plans)
        await from_bob.texts(1)
        [shown] = [one for one in from_bob.events if isinstance(one, MessageShown)]
        capsys.readouterr()
        if told_before:  # as the first line of a new channel of two is
            face.event(PreviewShown(replace(shown.line, loading=True)))
        face.event(shown)
        face.event(MessageShown(replace(shown.line, own=True, message_id=shown.line.message_id)))
        told = capsys.readouterr().out.splitlines()

    offers = [one for one in told if one.startswith("* /accept")]
    assert offers == [f"* /accept {shown.line.message_id[:8]} joins #plans."]
