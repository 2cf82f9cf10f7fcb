"""Three real nodes of which two cannot reach each other: the one between passes lines on."""

from pathlib import Path

import pytest

from sync.manager.registry import WITH_P2PANDA
from sync.net.links.session_streams import ANSWERED_MAX
from sync.sessions.table import LIVE_MAX
from sync.sessions.values import RELAY
from sync.view.view import LiveShown, SyncShown
from tests.support.sync.nodes import TEA, Host, host, meet, until, write_all

pytestmark = pytest.mark.net

assert ANSWERED_MAX <= LIVE_MAX, "live sessions would take all places else"


def live(member: Host) -> int:
    return member.node._runner.groups[TEA].sessions.live


async def test_a_line_goes_through_who_is_between_and_leaves_places_to_others(
    tmp_path: Path,
) -> None:
    async with (
        host(tmp_path, "alice", "tea", protocols=WITH_P2PANDA) as alice,
        host(tmp_path, "bob", "tea", protocols=WITH_P2PANDA) as bob,
        host(tmp_path, "carol", "tea", protocols=WITH_P2PANDA) as carol,
    ):
        await meet(bob, alice, carol)
        for writer in (alice, carol):
            await write_all(writer, [f"first of {writer.name}"])
        await until(lambda: live(alice) == live(carol) == 1, "both ask bob to stay")
        await until(lambda: live(bob) == 2, "bob passes on")

        for number in range(50):
            await alice.write(TEA, f"alice {number}")
            await carol.write(TEA, f"carol {number}")
        await until(
            lambda: {len(set(one.texts())) for one in (alice, bob, carol)} == {102},
            "everybody has everything",
        )

        assert not bob.node.streams._answered.holders
        begun = [one for one in carol.shown(SyncShown) if one.why == RELAY]
        assert {one.result for one in begun} & {"reconciled", "equal"}
        [stays] = carol.shown(LiveShown)
        assert (stays.begun, stays.why) == (True, RELAY)
        assert len(bob.shown(LiveShown)) == 2


async def test_when_the_one_between_is_gone_and_back_lines_go_through_again(
    tmp_path: Path,
) -> None:
    async with (
        host(tmp_path, "alice", "tea", protocols=WITH_P2PANDA) as alice,
        host(tmp_path, "carol", "tea", protocols=WITH_P2PANDA) as carol,
    ):
        async with host(tmp_path, "bob", "tea", protocols=WITH_P2PANDA) as bob:
            await meet(bob, alice, carol)
            await write_all(alice, ["before"])
            await until(lambda: live(carol) == 1, "carol asks bob to stay")
        await until(lambda: live(carol) == 0, "bob is gone")
        await write_all(alice, ["meanwhile"])

        async with host(tmp_path, "bob", "tea", protocols=WITH_P2PANDA) as bob:
            await meet(bob, alice, carol)
            await until(lambda: live(carol) == 1, "carol asks bob again")
            await write_all(alice, ["again"])
            await until(lambda: carol.texts() == ["before", "meanwhile", "again"], "all came")
