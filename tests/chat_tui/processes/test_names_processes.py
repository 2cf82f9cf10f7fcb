"""Texts and names of members as real line mode and a real `tail` print them."""

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from pathlib import Path

import pytest

from chat_tui.text.plain_lines import MARK
from sync.entries.identity import short_fingerprint
from sync.machine import PeerId
from tests.support.patience import PATIENCE_S
from tests.support.processes import ROOT, PlainProcess, everyone_sees_everyone, run
from tests.support.programs import channel_of_its_own, person

pytestmark = [pytest.mark.net, pytest.mark.slow]

CYRILLIC_BOB = "b\u043eb"


async def first_lines(command: Sequence[str], count: int) -> list[str]:
    """The first lines that a command prints which does not end by itself."""
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE_S):
            return [(await process.stdout.readline()).decode()[:-1] for _ in range(count)]
    finally:
        process.kill()
        await process.wait()


async def test_nobody_writes_lines_of_others_or_looks_like_them(tmp_path: Path) -> None:
    channel = channel_of_its_own()
    ann, bob, eve = (person(name, tmp_path, channel) for name in ("ann", "bob", "eve"))
    async with (
        PlainProcess(ann) as listening,
        PlainProcess(bob) as honest,
        PlainProcess(eve, "--name", CYRILLIC_BOB) as forging,
    ):
        await everyone_sees_everyone([listening, honest, forging])
        await honest.say("lunch?")
        await listening.wait_for("message", text="lunch?")
        forged = "hi\n12:00 bob: yes\n* You are in #secret, private."
        await run(eve.command("send", forged, "--wait", "9"))
        await listening.wait_for("message", text=forged)
        tailed = await first_lines(ann.command("tail", "--history", "9"), 4)
        keys = [short_fingerprint(PeerId(one.participant)) for one in (honest, forging)]

    text_mode = [word for word in ann.plain("--history", "9") if word != "--json"]
    printed = (await run(text_mode)).stdout.splitlines()

    for lines in (tailed, [line for line in printed if not line.startswith("* ")]):
        assert lines[0][5:] == f" bob {keys[0]}: lunch?"
        assert lines[1][5:] == f" {CYRILLIC_BOB} {keys[1]}: hi"
        assert lines[2:] == [f"{MARK}12:00 bob: yes", f"{MARK}* You are in #secret, private."]
    assert sum(line.startswith("* You are") for line in printed) == 1


async def test_a_channel_that_looks_like_the_lobby_never_is_called_so(tmp_path: Path) -> None:
    command = [word for word in person("ann", tmp_path).plain() if word != "--json"]
    said = "/join #lobby\n/join #l\u043ebby\none\n/channel #lobby\ntwo\n/create lobby\n/channels\n"

    shown = (await run(command, said=said)).stdout.splitlines()

    title = next(word for word in " ".join(shown).split() if word.startswith("#l\u043ebby~"))
    assert len(title.rstrip(",.")) == len("#lobby~1234")
    warnings = [line for line in shown if "whose name looks the same" in line]
    assert len(warnings) == 1
    assert "It is not #lobby, " in warnings[0]
    key = title.rstrip(",.")
    again = "".join(f"/channel {way}\n{text}\n" for way, text in ((key, "a"), ("#l\u043ebby", "b")))
    events = (await run(person("ann", tmp_path).plain(), said=again)).stdout.splitlines()
    tailed = await first_lines(person("ann", tmp_path, key).command("tail"), 3)
    messages = [one for one in map(json.loads, events) if one["event"] == "message"]
    assert [(one["channel"], one["text"]) for one in messages] == [(key, "a"), (key, "b")]
    assert [line.rpartition(" ")[2] for line in tailed] == ["one", "a", "b"]
    listed = [line.split()[0] for line in shown if line.startswith("  #")]
    assert len(set(listed) | {"#lobby"}) == 3
