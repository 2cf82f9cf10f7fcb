"""Governed channels as a snapshot tells of them, in any state; and a screen that shows one."""

from typing import Final

from msgspec.structs import replace

from chat_tui.app.app import ChatApp
from chat_tui.client.simulated import SimulatedChat
from chat_tui.wording.glyphs import UNICODE, Glyphs
from sync.machine import HOUR, MINUTE, ChannelId, PeerId
from sync.view.governance_infos import (
    OPEN_POLICY,
    AskingInfo,
    DepartureInfo,
    Entered,
    GovernanceInfo,
    MemberInfo,
    Person,
    Policy,
    Reason,
    Right,
    Role,
)
from sync.view.view import ChannelInfo, Snapshot
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.scenes import Scene
from tests.support.chat_tui.snapshots_of_state import CALM, present, snapshot
from tests.support.copies import made_once

RIGHTS: Final = {
    Role.NONE: (),
    Role.READER: (Right.REACT, Right.LEAVE),
    Role.MEMBER: (Right.WRITE, Right.REACT, Right.INVITE, Right.LEAVE),
    Role.ADMIN: tuple(right for right in Right if right is not Right.ADMINS),
    Role.OWNER: tuple(Right),
}
"""Rights by role, where the policy is that of the beginning."""

ALICE, BOB, CAROL, DAVE, ERIN = (
    Person(peer(name), name) for name in ("alice", "bob", "carol", "dave", "erin")
)


def member(who: Person, role: Role, by: Person | None = ALICE, hours: int = 0) -> MemberInfo:
    """Somebody who came in so many hours after noon: added by `by`, or by nobody as founder."""
    entered = Entered.FOUNDED if by is None else Entered.ADDED
    return MemberInfo(who.peer, who.nick, role, NOON + hours * HOUR, entered, by, None)


FRIENDS: Final = (
    member(ALICE, Role.OWNER, None),
    member(BOB, Role.ADMIN, ALICE, 1),
    member(CAROL, Role.MEMBER, BOB, 2),
    member(DAVE, Role.READER, BOB, 3),
)

MALLORY: Final = DepartureInfo(
    peer("mallory"), "mallory", ALICE, left=False, reason="spam", at_ns=NOON + 4 * HOUR, op_id="e0"
)


def governance(
    role: Role = Role.OWNER, *members: MemberInfo, policy: Policy = OPEN_POLICY
) -> GovernanceInfo:
    """Alice, who has `role`, among friends: an owner, an admin, a member and a reader."""
    rights = RIGHTS[role]
    return GovernanceInfo(
        founded=True,
        role=role,
        rights=rights,
        name="plans",
        policy=policy,
        members=members or FRIENDS,
    )


def removed(by: Person = BOB, reason: str = "spam") -> GovernanceInfo:
    """Alice was removed."""
    out = DepartureInfo(ALICE.peer, "alice", by, left=False, reason=reason, at_ns=NOON, op_id="e1")
    left = tuple(one for one in FRIENDS if one.peer != ALICE.peer)
    return replace(governance(Role.NONE, *left), departure=out, gone=(out,), gone_count=1)


def all_on_alice() -> GovernanceInfo:
    """Alice, who is the only owner, where nobody is admin."""
    friends = (
        FRIENDS[0],
        member(BOB, Role.MEMBER, ALICE, 1),
        member(CAROL, Role.MEMBER, ALICE, 2),
        member(DAVE, Role.READER, ALICE, 3),
    )
    return replace(governance(Role.OWNER, *friends), only_owner=ALICE.peer)


def with_others(info: GovernanceInfo) -> GovernanceInfo:
    """The same with erin, who asks to be let in again, and mallory, who was removed."""
    asking = AskingInfo(ERIN.peer, ERIN.nick, Reason.ASKS, "e2")
    return replace(info, asking=(asking,), gone=(MALLORY,), gone_count=1)


def plans(info: GovernanceInfo) -> ChannelInfo:
    return replace(CALM, name="plans", open=False, governance=info)


def told(info: GovernanceInfo) -> Snapshot:
    """Alice's snapshot: bob is here."""
    return snapshot(present("bob"), info=plans(info))


class GovernedChat(SimulatedChat):
    """A simulated chat, whose channel is governed as `governance` says; others' acts change it."""

    governance: GovernanceInfo | None = None

    def snapshot(self) -> Snapshot:
        """See `chat_tui.client.chat.Chat`."""
        shown = super().snapshot()
        dressed = [
            replace(one, open=False, name="plans", governance=self.governance)
            for one in shown.channels
        ]
        return replace(shown, channels=tuple(dressed))


def governed_scene(scene: Scene, info: GovernanceInfo) -> tuple[Scene, GovernedChat]:
    """Return a scene in whose channel people have these roles, by the names they have there."""
    keys = {
        peer(name): node.identity.peer_id
        for name, node in zip(scene.names, scene.world.nodes, strict=True)
    }
    chat = GovernedChat(scene.world, scenes.ALICE, scene.names)
    chat.people, chat.settings = scene.chat.people, scene.chat.settings
    chat.governance = of_keys(info, keys)
    scene.chat = chat
    return scene, chat


def of_keys(info: GovernanceInfo, keys: dict[PeerId, PeerId]) -> GovernanceInfo:
    """Return the same about people of other keys."""

    def person(one: Person | None) -> Person | None:
        return None if one is None else one._replace(peer=keys.get(one.peer, one.peer))

    def departed(one: DepartureInfo) -> DepartureInfo:
        by = person(one.by)
        assert by is not None
        return replace(one, peer=keys.get(one.peer, one.peer), by=by)

    members = [
        replace(one, peer=keys.get(one.peer, one.peer), by=person(one.by)) for one in info.members
    ]
    return replace(
        info,
        members=tuple(members),
        departure=None if info.departure is None else departed(info.departure),
        gone=tuple(departed(one) for one in info.gone),
        only_owner=None if info.only_owner is None else keys.get(info.only_owner, info.only_owner),
    )


@made_once
def planning() -> Scene:
    """Alice, bob, carol and dave, who plan a party; dave is not here any more."""
    scene = Scene(*scenes.NAMES)
    scene.sleep_until(scenes.MONDAY_MORNING)
    scene.say(scenes.BOB, "Saturday at eight, then? I bring the long table")
    scene.say(scenes.CAROL, "and I the lamps, if somebody has a ladder")
    scene.say(scenes.DAVE, "we have one at home, I have to measure whether it fits the car")
    scene.say(scenes.ALICE, "it will, mine is smaller", then=MINUTE)
    scene.world.crash(scenes.DAVE)
    scene.world.run(MINUTE)
    return scene


def screen_of(info: GovernanceInfo, glyphs: Glyphs = UNICODE) -> ChatApp:
    """Alice's screen while they plan, in a channel governed so."""
    scene, _ = governed_scene(planning(), info)
    return scenes.screen_of(scene, glyphs=glyphs)


def channel_of(chat: GovernedChat) -> ChannelId:
    return chat.snapshot().channels[0].channel
