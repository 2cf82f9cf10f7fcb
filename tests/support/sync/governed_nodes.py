"""Governed channels of whole nodes: founded by one, and others who have its code or were let in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from storage.profile.members import Members
from sync.calimero.governance.epochs import epochs_before, next_number, staying
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.keys import EpochName, EpochSecret, begin_epoch
from sync.calimero.governance.ops import (
    NO_GROUP,
    Add,
    Epoch,
    Genesis,
    Key,
    Op,
    OpId,
    Owner,
    Remove,
    Role,
    Rotate,
    Signable,
)
from sync.calimero.governance.signing import group_of, sign
from sync.entries.membership import Membership
from sync.group import values
from sync.machine import SECOND, ChannelId
from sync.net import clock
from sync.net.links.levels import Level
from tests.support.sync.nodes import HOST, Host, until

FIRST_SECRET = b"the secret of the genesis".ljust(32, b".")


@dataclass
class Club:
    """A governed channel, and the secrets of its epochs by the ops that began them."""

    channel: ChannelId
    genesis: bytes
    secrets: dict[bytes, EpochSecret] = field(default_factory=dict)

    @property
    def first(self) -> EpochSecret:
        """The secret of the genesis."""
        return self.secrets[self.genesis]


async def found(founder: Host) -> Club:
    """Let somebody found a channel, alone in it."""
    identity = founder.node.identity
    owner = Owner(Key(identity.public_key), identity.noise_public)
    op = sign(
        Signable(NO_GROUP, (), owner.key, 1, 1, 1, Genesis("club", "lan", bytes(16), (owner,))),
        identity.sign,
    )
    club = Club(ChannelId(group_of(op).hex()), op.id)
    club.secrets[op.id] = EpochSecret(0, op.id, FIRST_SECRET)
    await enter(founder, club)
    founder.node.queue_input(club.channel, values.OpsArrived(founder.me, (op.content,)))
    await until(lambda: governance(founder, club).dag.acts, "the genesis is taken in")
    return club


async def enter(host: Host, club: Club, secret: EpochSecret | None = None) -> None:
    """Take the channel up with one of its secrets, as a code has it; nothing else is here."""
    epoch = secret or club.first
    membership = Membership(
        club.channel, "club", epoch.secret, open=False, profile="lan", joined_ns=SECOND,
        genesis=club.genesis,
    )  # fmt: skip
    await Members(host.database).add_channel(membership, clock.draw_log())
    host.node.secrets.add_epoch(club.channel, epoch)
    await host.node.add_channel(membership)


async def add(by: Host, club: Club, who: Host, role: Role = Role.MEMBER) -> OpId:
    """Let somebody in."""
    identity = who.node.identity
    return await by.node.act(club.channel, Add(key_of(who), identity.noise_public, role))


async def remove(by: Host, club: Club, *who: Host, reason: str = "") -> EpochSecret:
    """Remove people; whoever stays is given the new secret by the test."""
    keys = tuple(sorted(map(key_of, who)))
    return await _begin(by, club, keys, lambda epoch: Remove(keys, epoch, reason))


async def rotate(by: Host, club: Club) -> EpochSecret:
    """Change the secret."""
    return await _begin(by, club, (), Rotate)


async def _begin(
    by: Host, club: Club, without: tuple[Key, ...], made: Callable[[Epoch], Op]
) -> EpochSecret:
    known = governance(by, club)
    number = next_number(known, known.now)
    secret = clock.draw(32)
    signer = key_of(by)
    epoch = begin_epoch(
        EpochName(known.group, signer, number),
        secret,
        clock.draw_key(),
        staying(known, known.now, frozenset(without)),
        [club.secrets[act.id].secret for act in epochs_before(known, known.now.cut)],
    )
    op = await by.node.act(club.channel, made(epoch))
    began = club.secrets[op] = EpochSecret(number, op, secret)
    by.node.governance.learn_epoch(club.channel, began)
    return began


def governance(host: Host, club: Club) -> Governance:
    """Return what a node knows of the channel's governance."""
    governing = host.node.groups[club.channel].governing
    assert governing is not None
    return governing.governance


def key_of(host: Host) -> Key:
    """Return somebody's key."""
    return Key(host.node.identity.public_key)


def role(host: Host, club: Club, who: Host) -> Role:
    """Return the role of somebody, as a node knows it."""
    known = governance(host, club)
    return known.now.role(key_of(who)) if known.dag.acts else Role.NONE


async def same_heads(club: Club, *hosts: Host) -> None:
    """Wait until all have the same ops."""
    await until(
        lambda: len({governance(host, club).heads for host in hosts}) == 1,
        "everybody has the same ops",
    )


def level(at: Host, of: Host, club: Club) -> Level:
    """Return the level of somebody on the links of another one."""
    return at.node.mesh.channels.level(of.me, club.channel)


async def together(club: Club, founder: Host, *others: Host) -> None:
    """Let the founder let everybody in, and wait until all links carry the channel."""
    for one in others:
        await enter(one, club)
        await add(founder, club, one)
    everybody = (founder, *others)
    for number, one in enumerate(everybody):
        for other in everybody[number + 1 :]:
            await one.node.mesh.connect(HOST, other.port)
    await same_heads(club, *everybody)
    await until(
        lambda: all(
            level(one, other, club) is Level.FULL
            for one in everybody
            for other in everybody
            if one is not other
        ),
        "everybody shares everything",
    )
