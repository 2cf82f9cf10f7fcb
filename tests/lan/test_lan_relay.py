"""Three hosts of which two cannot reach each other, as on an isolated Wi-Fi."""

import asyncio
from pathlib import Path

import pytest

from tests.lan.lab import Lab
from tests.lan.people import person_on
from tests.support.processes import PlainProcess, log

pytestmark = [pytest.mark.lan, pytest.mark.slow]

LIVE_WITHIN_S = 60.0
"""A line that cannot be heard is asked for after some seconds; three programs share two cores."""


async def heard(process: PlainProcess, text: str, since: int) -> None:
    await process.wait_for("message", since=since, within_s=LIVE_WITHIN_S, text=text)


async def test_who_is_between_two_that_cannot_reach_each_other_passes_lines_on(
    lab: Lab, tmp_path: Path
) -> None:
    lab.isolate(1, 3)
    async with (
        PlainProcess(person_on(lab, tmp_path, 1)) as alice,
        PlainProcess(person_on(lab, tmp_path, 2)) as bob,
        PlainProcess(person_on(lab, tmp_path, 3)) as carol,
    ):
        ends = {alice.participant, carol.participant}
        await bob.until(lambda: ends <= bob.peers_up, "bob reaches both")
        await bob.say("welcome")  # an empty channel takes a snapshot, which says nothing of relays
        await asyncio.gather(*(heard(end, "welcome", 0) for end in (alice, carol)))
        for writer, reader in ((alice, carol), (carol, alice)):
            since = reader.mark()
            await writer.say(f"first of {writer.person.name}")
            await heard(reader, f"first of {writer.person.name}", since)
        for end in (alice, carol):
            await end.wait_for("live", state="begun", peer=bob.participant, within_s=LIVE_WITHIN_S)

        at_alice, at_carol = alice.mark(), carol.mark()
        await asyncio.gather(
            alice.say(*(f"alice {number}" for number in range(10))),
            carol.say(*(f"carol {number}" for number in range(10))),
        )
        await asyncio.gather(
            *(heard(carol, f"alice {number}", at_carol) for number in range(10)),
            *(heard(alice, f"carol {number}", at_alice) for number in range(10)),
        )

        assert log(alice) == log(carol)
        assert alice.peers_up == carol.peers_up == {bob.participant}, "they have no other way"
