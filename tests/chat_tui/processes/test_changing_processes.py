"""Edits, reactions and deletions between real processes, as scripts read and write them."""

from pathlib import Path

import pytest

from tests.support.processes import PlainProcess
from tests.support.programs import company

pytestmark = [pytest.mark.net, pytest.mark.slow]


async def test_scripts_edit_react_and_delete_and_are_told_of_it(tmp_path: Path) -> None:
    async with company(tmp_path, "ann", "bob") as (ann, bob):
        [mine] = await ann.say("cake at for?")
        await bob.wait_for("message", text="cake at for?")

        assert (await ann.ask("/edit cake at four?"))["ok"]
        edited = await bob.wait_for("changed", rewritten=True)
        assert (await bob.ask("/react party"))["ok"]
        reacted = await ann.wait_for("changed", reacted=True)
        refused = await bob.ask(f"/delete {mine['id']}")
        assert (await ann.ask("/delete"))["ok"]
        deleted = await bob.wait_for("changed", deleted=True)

        assert (edited["id"], edited["text"], edited["edited"]) == (
            mine["id"],
            "cake at four?",
            True,
        )
        assert reacted["reactions"] == [
            {"emoji": "🎉", "count": 1, "mine": False, "who": [bob.participant]}
        ]
        assert not refused["ok"]
        assert "only its author can delete it" in str(refused["text"])
        assert (deleted["id"], deleted["text"]) == (mine["id"], "")
        channel = bob.channel
    async with PlainProcess(bob.person, "--history", "5") as again:
        shown = await again.wait_for("message", channel=channel)
        assert (shown["text"], shown["deleted"]) == ("", True)
