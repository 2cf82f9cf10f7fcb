"""The driver of governance on one node: acts with what is drawn, over a real disk."""

from pathlib import Path

import pytest

from storage.profile.members import Members
from sync.calimero.governance.governance import Governance
from sync.calimero.governance.ops import Access, Genesis, GroupId, Key, Policy, Role
from sync.entries.membership import Membership
from sync.errors import LocalError
from sync.machine import ChannelId
from sync.net.invite import decode
from tests.support.sync.entries import identity
from tests.support.sync.nodes import Host, channel_of, host

pytestmark = pytest.mark.net

ALICE, BOB = identity("alice"), identity("bob")


def governance(node: Host, channel: ChannelId) -> Governance:
    group = node.node._runner.groups[channel]
    assert group.governing is not None
    return group.governing.governance


async def founded(node: Host, name: str = "team") -> Membership:
    """Found a channel and take it up."""
    membership = await node.node.governing.found(name)
    await node.node.add_channel(membership)
    await node.node.drained()
    return membership


def role(node: Host, channel: ChannelId, name: str) -> Role:
    return governance(node, channel).now.role(Key(identity(name).public_key))


async def test_who_founds_a_channel_owns_it_and_writes_there(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice, "#Team")
        await alice.write(team.channel, "hello")

        assert role(alice, team.channel, "alice") is Role.OWNER
        assert alice.texts() == ["hello"]
    async with host(tmp_path, "alice") as alice:
        [again] = await Members(alice.database).channels()
        await alice.node.add_channel(again)
        await alice.write(team.channel, "still here")

        assert again == team
        assert (team.name, team.channel) == ("team", team.genesis.hex()[:32])  # type: ignore[union-attr]
        assert role(alice, team.channel, "alice") is Role.OWNER


async def test_a_successor_names_the_channel_that_it_goes_on_after(tmp_path: Path) -> None:
    before, _ = channel_of("plans")
    async with host(tmp_path, "alice") as alice:
        team = await alice.node.governing.found("plans", before, called="plans-2")
        await alice.node.add_channel(team)
        await alice.node.drained()
        genesis = governance(alice, team.channel).dag.acts[0].op

    assert team.name == "plans-2"
    assert isinstance(genesis, Genesis)
    assert (genesis.name, genesis.predecessor) == ("plans", GroupId(bytes.fromhex(before)))


async def test_a_code_is_the_same_until_codes_end(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice)
        driver = alice.node.governing

        code = await driver.invite(team.channel)
        again = await driver.invite(team.channel)
        readers = await driver.invite(team.channel, Role.READER)
        await driver.end_invites(team.channel)
        later = await driver.invite(team.channel)

        assert code == again
        assert len({code, readers, later}) == 3
        assert decode(code).secret == team.secret
        assert decode(later).secret == driver.epochs.newest(team.channel) != team.secret
        assert decode(later).entry is not None
        assert decode(later).channel == team.channel


async def test_a_removal_changes_the_secret_which_survives_a_restart(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice)
        driver = alice.node.governing
        with pytest.raises(LocalError, match="Nothing is known of them"):
            await driver.add(team.channel, BOB.peer_id)
        await Members(alice.database).remember_peer(
            BOB.peer_id, nick="bob", address=None, now=1, noise_key=BOB.noise_public
        )
        await driver.add(team.channel, BOB.peer_id)
        assert role(alice, team.channel, "bob") is Role.MEMBER

        await driver.remove(team.channel, [BOB.peer_id], "spam")
        secret = driver.epochs.newest(team.channel)
        assert role(alice, team.channel, "bob") is Role.NONE
        assert secret != team.secret
    async with host(tmp_path, "alice") as alice:
        await alice.node.add_channel(team)
        await alice.node.drained()

        assert alice.node.governing.epochs.newest(team.channel) == secret
        assert set(alice.node.governing.epochs.known(team.channel).values()) == {
            secret,
            team.secret,
        }


async def test_a_secret_that_was_not_kept_is_opened_from_its_op(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice)
        for _ in range(3):
            await alice.node.governing.rotate(team.channel)
        known = dict(alice.node.governing.epochs.known(team.channel))
    async with host(tmp_path, "alice") as alice:  # killed between the ops and their secrets
        await alice.database.write(lambda db: db.execute("DELETE FROM epochs WHERE number > 1"))
        await alice.node.add_channel(team)
        await alice.node.drained()
        await alice.node.governing.epochs.open_all(team.channel)

        assert dict(alice.node.governing.epochs.known(team.channel)) == known
        kept = await alice.node.governing._store.epochs(team.channel)
        assert {one.op: one.secret for one in kept} == known


async def test_roles_and_policy_are_set_and_nothing_else_with_them(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice)
        driver = alice.node.governing
        await Members(alice.database).remember_peer(
            BOB.peer_id, nick="bob", address=None, now=1, noise_key=BOB.noise_public
        )
        await driver.add(team.channel, BOB.peer_id, Role.READER)
        await driver.set_role(team.channel, BOB.peer_id, Role.ADMIN)
        await driver.set_policy(team.channel, write=Access.ADMINS)

        assert role(alice, team.channel, "bob") is Role.ADMIN
        assert governance(alice, team.channel).now.policy == Policy(write=Access.ADMINS)


REFUSED = {
    "an owner's removal": ("remove", ([ALICE.peer_id],), "You cannot do that to yourself"),
    "a stranger's removal": ("remove", ([BOB.peer_id],), "They are not in this channel"),
    "a stranger's role": ("set_role", (BOB.peer_id, Role.READER), "They are not in this channel"),
}


@pytest.mark.parametrize(("act", "about", "told"), REFUSED.values(), ids=REFUSED)
async def test_an_act_that_cannot_be_done_says_why_in_a_sentence(
    tmp_path: Path, act: str, about: tuple[object, ...], told: str
) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice)
        before = len(governance(alice, team.channel).dag)

        with pytest.raises(LocalError, match=told):
            await getattr(alice.node.governing, act)(team.channel, *about)

        assert len(governance(alice, team.channel).dag) == before


async def test_nobody_governs_a_channel_of_before(tmp_path: Path) -> None:
    async with host(tmp_path, "alice", "plans") as alice:
        plans, _ = channel_of("plans")

        with pytest.raises(LocalError, match="/govern founds a governed one"):
            await alice.node.governing.rotate(plans)
        with pytest.raises(LocalError, match="/join it first"):
            await alice.node.governing.rotate(ChannelId("0f" * 16))
