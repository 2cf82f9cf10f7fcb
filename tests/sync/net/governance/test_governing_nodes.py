"""Acts of governance between whole nodes: codes, removals, rotations, leaves, over loopback."""

import base64
from pathlib import Path

import pytest

from sync.calimero.governance.epochs import rotation_wanted
from sync.calimero.governance.ops import Role
from sync.errors import LocalError
from sync.net.invite import decode
from sync.net.trace import Trace
from tests.support.sync.coded import (
    enter,
    founded,
    governance,
    in_as,
    role,
    same_secret,
    take_up_again,
)
from tests.support.sync.governed_nodes import key_of
from tests.support.sync.nodes import HOST, host, meet, until

pytestmark = pytest.mark.net


async def test_a_newcomer_is_let_in_by_whoever_is_there(tmp_path: Path) -> None:
    async with host(tmp_path, "bob") as bob:
        async with host(tmp_path, "alice") as alice:
            team = await founded(alice)
            code = await alice.node.governing.invite(team)
            await enter(bob, code)
            await meet(bob, alice)
            await in_as(bob, team, Role.MEMBER, alice)
            await alice.write(team, "hello")
            await until(lambda: bob.texts() == ["hello"], "bob reads")
        async with host(tmp_path, "carol") as carol:  # the inviter is away
            await enter(carol, code)
            await meet(carol, bob)

            await in_as(carol, team, Role.MEMBER, bob)
            await until(lambda: carol.texts() == ["hello"], "carol reads")
            await carol.write(team, "here I am")
            await until(lambda: "here I am" in bob.texts(), "bob reads carol")
            kept = await carol.node.governing._store.tickets(team)
    assert kept == []  # who is in needs no code


async def test_a_code_entered_while_nobody_is_there_works_later_and_over_a_restart(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice)
        code = await alice.node.governing.invite(team, Role.READER)
        async with host(tmp_path, "bob") as bob:
            await enter(bob, code)
        async with host(tmp_path, "bob") as bob:
            await take_up_again(bob)
            await meet(bob, alice)

            await in_as(bob, team, Role.READER, alice)


async def test_a_removal_ends_what_the_removed_reads_and_everybody_else_goes_on(
    tmp_path: Path,
) -> None:
    async with (
        host(tmp_path, "alice") as alice,
        host(tmp_path, "bob") as bob,
        host(tmp_path, "mallory") as mallory,
    ):
        team = await founded(alice)
        code = await alice.node.governing.invite(team)
        for one in (bob, mallory):
            await enter(one, code)
            await meet(one, alice)
            await in_as(one, team, Role.MEMBER, alice)
        await meet(bob, mallory)
        await mallory.write(team, "buy this")
        await until(lambda: alice.texts() == ["buy this"], "the line is here")

        await alice.node.governing.remove(team, [mallory.me], "spam")
        await in_as(mallory, team, Role.NONE, alice, bob)
        secret = await same_secret(team, alice, bob)
        await alice.write(team, "among us")
        await until(lambda: "among us" in bob.texts(), "bob reads on")

        assert secret not in {one.secret for one in mallory.node.secrets.known(team)}
        assert "among us" not in mallory.texts()
        with pytest.raises(LocalError, match="not in this channel"):
            await mallory.write(team, "but")
        act = governance(alice, team).dag.acts[-1]
        [seal] = act.op.seals  # type: ignore[union-attr]
        assert (seal.author, seal.seq) == (key_of(mallory), 1)


async def test_who_was_away_gets_the_new_secret_from_the_op(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice:
        team = await founded(alice)
        code = await alice.node.governing.invite(team)
        async with host(tmp_path, "bob") as bob:
            await enter(bob, code)
            await meet(bob, alice)
            await in_as(bob, team, Role.MEMBER, alice)
        for _ in range(3):
            await alice.node.governing.rotate(team)
        async with host(tmp_path, "bob") as bob:
            await take_up_again(bob)
            await meet(bob, alice)

            secret = await same_secret(team, alice, bob)
            await until(
                lambda: (
                    bob.node.governing.epochs.known(team) == alice.node.governing.epochs.known(team)
                ),
                "all secrets between, too",
            )
            kept = await bob.node.governing._store.epochs(team)
    assert [one.number for one in kept] == [0, 1, 2, 3]
    assert kept[-1].secret == secret


async def test_a_stale_code_lets_nobody_in_and_says_so(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        team = await founded(alice)
        code = await alice.node.governing.invite(team)
        await alice.node.governing.end_invites(team)
        await enter(bob, code)
        await bob.node.mesh.connect(HOST, alice.port)

        await until(lambda: "ask for a new one" in bob.notices(), "bob is told")
        assert role(alice, team, bob) is Role.NONE
        assert not governance(bob, team).dag.acts

        await enter(bob, await alice.node.governing.invite(team))
        await in_as(bob, team, Role.MEMBER, alice)


async def test_a_removed_person_s_code_only_asks_and_add_lets_in_with_a_new_log(
    tmp_path: Path,
) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        team = await founded(alice)
        driver = alice.node.governing
        await enter(bob, await driver.invite(team))
        await meet(bob, alice)
        await in_as(bob, team, Role.MEMBER, alice)
        await bob.write(team, "before")
        log = bob.node.groups[team].writer.log.number
        await driver.remove(team, [bob.me])
        await in_as(bob, team, Role.NONE, alice)

        await enter(bob, await driver.invite(team))
        await until(lambda: "only asks" in bob.notices(), "bob is told")
        await until(
            lambda: (
                [one.key for one in governance(alice, team).asking(governance(alice, team).now)]
                == [key_of(bob)]
            ),
            "alice sees that bob asks",
        )
        await driver.add(team, bob.me)
        await in_as(bob, team, Role.MEMBER, alice)
        await bob.write(team, "again")

        await until(lambda: alice.texts() == ["before", "again"], "alice reads bob")
        assert bob.node.groups[team].writer.log.number != log
        assert bob.node.groups[team].writer.log.next_seq == 2
        for one, other in ((alice, bob), (bob, alice)):
            assert one.node._runner.manager.spoken(team, other.me), "what is spoken is known again"


@pytest.mark.parametrize("used", [True, False])
async def test_a_removed_person_is_told_that_the_code_of_before_has_ended(
    tmp_path: Path, *, used: bool
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        team = await founded(alice)
        driver = alice.node.governing
        code = await driver.invite(team)
        await enter(bob, code)
        await meet(bob, alice)
        await in_as(bob, team, Role.MEMBER, alice)
        other = await driver.invite(team, Role.READER)
        await until(lambda: len(governance(bob, team).dag.acts) == 4, "bob knows of both codes")
        await driver.remove(team, [bob.me])
        await in_as(bob, team, Role.NONE, alice)
        if used:
            await bob.node.remove_channel(team)

        await enter(bob, code if used else other)

        await until(lambda: "ask for a new one" in bob.notices(), "bob is told")
        assert "only asks" not in bob.notices()
        assert not governance(bob, team).asking(governance(bob, team).now)


@pytest.mark.parametrize("known", [True, False])
async def test_who_left_is_told_that_a_code_of_before_a_rotation_lets_nobody_in(
    tmp_path: Path, *, known: bool
) -> None:
    """One who knew the code's act thought to be in, one who did not waited for it: for good."""
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        bob.node.governing.learnt_within = 0.5
        team = await founded(alice)
        driver = alice.node.governing
        await enter(bob, await driver.invite(team))
        await meet(bob, alice)
        await in_as(bob, team, Role.MEMBER, alice)
        other = await driver.invite(team, Role.READER) if known else ""
        await until(lambda: len(governance(bob, team).dag.acts) == 3 + known, "bob knows all")
        await bob.node.governing.leave(team)
        await until(lambda: role(alice, team, bob) is Role.NONE, "alice knows that bob left")
        await bob.node.remove_channel(team)
        other = other or await driver.invite(team, Role.READER)
        await driver.rotate(team)
        bob.node.mesh.hang_up("a restart")
        await until(lambda: not alice.node.mesh.peers.links.get(bob.me), "the link is gone")
        await meet(bob, alice)

        await enter(bob, other)

        await until(lambda: "says that you are not" in bob.notices(), "bob is told")
        assert role(alice, team, bob) is Role.NONE


@pytest.mark.parametrize("removed", [True, False])
async def test_whoever_is_out_is_heard_with_a_new_code_over_a_new_link(
    tmp_path: Path, *, removed: bool
) -> None:
    async with host(tmp_path, "alice", "tea") as alice, host(tmp_path, "bob", "tea") as bob:
        team = await founded(alice)
        driver = alice.node.governing
        await enter(bob, await driver.invite(team))
        await meet(bob, alice)
        await in_as(bob, team, Role.MEMBER, alice)
        if removed:
            await driver.remove(team, [bob.me])
            await in_as(bob, team, Role.NONE, alice)
        else:
            await bob.node.governing.leave(team)
            await until(lambda: role(alice, team, bob) is Role.NONE, "alice knows that bob left")
            await bob.node.remove_channel(team)
            await driver.rotate(team)
        bob.node.mesh.hang_up("a restart")
        await until(lambda: not alice.node.mesh.peers.links.get(bob.me), "the link is gone")
        await meet(bob, alice)

        await enter(bob, await driver.invite(team))

        if removed:
            known = governance(alice, team)
            await until(
                lambda: [one.key for one in known.asking(known.now)] == [key_of(bob)],
                "alice sees that bob asks",
            )
        else:
            await in_as(bob, team, Role.MEMBER, alice)


async def test_two_rotations_at_once_heal_by_a_third(tmp_path: Path) -> None:
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        team = await founded(alice)
        await enter(bob, await alice.node.governing.invite(team))
        await meet(bob, alice)
        await in_as(bob, team, Role.MEMBER, alice)
        await alice.node.governing.set_role(team, bob.me, Role.ADMIN)
        await in_as(bob, team, Role.ADMIN, alice)
    for name in ("alice", "bob"):  # each alone
        async with host(tmp_path, name) as one:
            await take_up_again(one)
            await one.node.governing.rotate(team)
    async with host(tmp_path, "alice") as alice, host(tmp_path, "bob") as bob:
        for one in (alice, bob):
            one.node.governing.epochs.rotate_after = (0.05, 0.5)
            await take_up_again(one)
        await meet(bob, alice)

        await until(
            lambda: all(
                rotation_wanted(governance(one, team), governance(one, team).now) is None
                and governance(one, team).now.epoch
                and len(governance(one, team).projection.relations.epochs) >= 3
                for one in (alice, bob)
            ),
            "a third rotation",
        )
        secret = await same_secret(team, alice, bob)
        known = [one.node.governing.epochs.known(team) for one in (alice, bob)]
        assert known[0] == known[1]
        assert secret in known[0].values()
        await bob.write(team, "healed")
        await until(lambda: alice.texts() == ["healed"], "alice reads")


async def test_a_profile_restored_from_a_backup_pulls_before_it_signs(tmp_path: Path) -> None:
    async with host(tmp_path, "bob") as bob:
        async with host(tmp_path, "alice") as alice:
            team = await founded(alice)
            await enter(bob, await alice.node.governing.invite(team))
            await meet(bob, alice)
            await in_as(bob, team, Role.MEMBER, alice)
        backup = (tmp_path / "alice.sqlite").read_bytes()
        async with host(tmp_path, "alice") as alice:
            await take_up_again(alice)
            await meet(alice, bob)
            await alice.node.governing.set_role(team, bob.me, Role.READER)
            await in_as(bob, team, Role.READER, alice)
        (tmp_path / "alice.sqlite").write_bytes(backup)
        async with host(tmp_path, "alice") as alice:
            await take_up_again(alice)
            assert role(alice, team, bob) is Role.MEMBER
            await meet(alice, bob)

            await alice.node.governing.set_role(team, bob.me, Role.ADMIN)

            await in_as(bob, team, Role.ADMIN, alice)
            assert not governance(bob, team).dag.forked


async def test_no_secret_is_in_what_a_node_shows_or_notes(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    async with (
        host(tmp_path, "alice", trace=Trace(path)) as alice,
        host(tmp_path, "bob") as bob,
    ):
        alice.node.inspection.frames()  # somebody looks at the wire
        team = await founded(alice)
        code = await alice.node.governing.invite(team)
        await enter(bob, code)
        await meet(bob, alice)
        await in_as(bob, team, Role.MEMBER, alice)
        await alice.node.governing.rotate(team)
        await same_secret(team, alice, bob)
        secrets = [*alice.node.governing.epochs.known(team).values()]
        entry = decode(code).entry
        assert entry is not None
        secrets.append(entry.ticket_seed)
        shown = repr((alice.node.snapshot(), alice.events, alice.node.secrets))
        frames = alice.node.inspection.frames()
    text = shown + repr(frames) + path.read_text()
    for secret in secrets:
        assert all(form not in text for form in forms(secret))


def forms(secret: bytes) -> tuple[str, ...]:
    """Return the ways in which a secret could stand in a text."""
    return secret.hex(), repr(secret)[2:-1], base64.b64encode(secret).decode().rstrip("=")
