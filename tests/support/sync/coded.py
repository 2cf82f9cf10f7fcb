"""Governed channels of whole nodes by the driver of governance: founded, entered by codes."""

from storage.profile.channel_keys import ChannelKeys
from storage.profile.members import Members
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Role
from sync.entries.membership import Membership
from sync.machine import SECOND, ChannelId
from sync.net import clock
from sync.net.governance.key_store import ticket_of
from sync.net.invite import decode
from tests.support.sync.governed_nodes import key_of
from tests.support.sync.nodes import Host, until


async def founded(by: Host, name: str = "team") -> ChannelId:
    """Found a channel and take it up."""
    membership = await by.node.governing.found(name)
    await by.node.add_channel(membership)
    await by.node.drained()
    return membership.channel


async def enter(host: Host, code: str) -> ChannelId:
    """Use a code, as `/join` does."""
    invited = decode(code)
    assert invited.entry is not None
    membership = Membership(
        invited.channel, invited.name, invited.secret, open=False, profile=invited.profile,
        joined_ns=SECOND, genesis=invited.entry.genesis,
    )  # fmt: skip
    await Members(host.database).add_channel(membership, clock.draw_log())
    await ChannelKeys(host.database).keep_ticket(invited.channel, ticket_of(invited))
    if invited.channel in host.node.groups:
        host.node.governing.enter_by(membership, ticket_of(invited))
    else:
        await host.node.add_channel(membership)
    return invited.channel


async def take_up_again(host: Host) -> None:
    """Take up what the disk of a node says it is in."""
    for membership in await Members(host.database).channels():
        await host.node.add_channel(membership)
    await host.node.drained()


def governance(host: Host, channel: ChannelId) -> Governance:
    """Return what a node knows of a channel's governance."""
    governing = host.node.groups[channel].governing
    assert governing is not None
    return governing.governance


def role(host: Host, channel: ChannelId, who: Host) -> Role:
    """Return the role of somebody, as a node knows it."""
    known = governance(host, channel)
    return known.now.role(key_of(who)) if known.dag.acts else Role.NONE


async def in_as(who: Host, channel: ChannelId, expected: Role, *hosts: Host) -> None:
    """Wait until everybody says that somebody has a role."""
    await until(
        lambda: all(role(host, channel, who) is expected for host in (who, *hosts)),
        f"{who.name} is {expected.name}",
    )


async def same_secret(channel: ChannelId, *hosts: Host) -> bytes:
    """Wait until all have the newest secret, and return it."""

    def newest() -> set[bytes | None]:
        known = [host.node.secrets.newest(channel) for host in hosts]
        return {None if one is None else one.secret for one in known}

    await until(lambda: len(newest()) == 1 and None not in newest(), "all have the newest secret")
    [secret] = newest()
    assert secret is not None
    return secret
