"""The commands of the debug pane in line mode: the same, in words."""

from pathlib import Path

import pytest

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Result
from chat_tui.commands.table import Commands
from sync.machine import SECOND
from tests.support.chat_tui import scenes
from tests.support.chat_tui.chats import running
from tests.support.chat_tui.scenes import Scene


@pytest.fixture(scope="module")
def scene() -> Scene:
    return scenes.repairing()


async def run(scene: Scene, line: str) -> Result:
    chat: Chat = scene.chat
    return await Commands(chat).run(line, At(scene.world.channel))


async def test_buffers_lists_and_with_an_id_explains(scene: Scene) -> None:
    [info] = scene.snapshot().channels
    assert info.repair is not None
    wanted = info.repair.requests[0].message_id

    listed = await run(scene, "/buffers")
    opened = await run(scene, f"/buffers {wanted[:6]}")
    unknown = await run(scene, "/buffers 0000")

    assert "To request (T_req 1 s to 6 s): 1" in listed.text
    assert "T_req = now + T_min + hash(me, id) mod (T_max - T_min)" in opened.text
    assert (unknown.ok, "/buffers lists what does" in unknown.text) == (False, True)


async def test_now_says_the_last_minute_in_words(scene: Scene) -> None:
    said = await run(scene, "/now")

    assert said.action == "open_debug('Now', '')"
    for words in (
        "Frames of the last 60 s:\n  out     ",
        "Time to acknowledge:\n  ack     p50 ",
        "for parents 1, to request 1, to answer 1, unacknowledged 1",
        "Repairs: nothing was missing since this start",
        "bob      gone since ",
        "of 1,000 ids, false maybe",
    ):
        assert words in said.text


async def test_graph_of_a_message_named_or_selected_or_the_newest(scene: Scene) -> None:
    [info] = scene.snapshot().channels
    held = info.waiting[0].message_id

    named = await run(scene, f"/graph {held[:8]}")
    missing = await run(scene, f"/graph {info.missing[0][:8]}")
    newest = await run(scene, "/graph")
    at = At(scene.world.channel, selected=held)
    selected = await Commands(scene.chat).run("/graph", at)
    unknown = await run(scene, "/graph 0000")

    assert "waiting (" in named.text
    assert "MISSING" in missing.text
    assert "builds on" in newest.text
    assert selected.text == named.text
    assert selected.action == f"open_debug('Causal', '{held}')"
    assert unknown.text == "No message begins with 0000; write the beginning of one id."


async def test_bloom_says_its_formula_and_tests_an_id(scene: Scene) -> None:
    [info] = scene.snapshot().channels

    all_of_it = await run(scene, "/bloom")
    here = await run(scene, f"/bloom {info.holders[0].message_id[:8]}")
    absent = await run(scene, "/bloom what")

    assert "(1 - e^(-k·n/m))^k" in all_of_it.text
    assert "maybe, and it is here" in here.text
    assert "no: surely not" in absent.text
    assert here.text.count("set") == 10


async def test_wire_lists_filters_opens_and_records(scene: Scene, tmp_path: Path) -> None:
    listed = await run(scene, "/wire")
    chosen = await run(scene, "/wire dave sync")
    number = chosen.text.split()[0]
    opened = await run(scene, f"/wire open {number}")
    gone = await run(scene, "/wire open 99999")
    unnamed = await run(scene, "/wire record")
    begun = await run(scene, f"/wire record {tmp_path / 'wire.jsonl'}")
    scene.world.run(10 * SECOND)
    ended = await run(scene, "/wire stop")
    twice = await run(scene, "/wire stop")

    assert len(listed.text.splitlines()) > len(chosen.text.splitlines()) > 0
    assert "SDS message, sync" in opened.text
    assert "no longer kept" in gone.text
    assert (unnamed.ok, "Name a file" in unnamed.text) == (False, True)
    assert begun.ok
    assert "recorded to" in ended.text
    assert (twice.ok, "Not recording" in twice.text) == (False, True)


async def test_a_second_recording_says_that_it_ends_the_first(scene: Scene, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    await run(scene, f"/wire record {first}")
    scene.world.run(10 * SECOND)
    begun = await run(scene, f"/wire record {second}")
    frames = len(first.read_text().splitlines())
    await run(scene, "/wire stop")

    assert frames > 1
    assert begun.text.startswith(f"{frames} frames recorded to {first}. Recording frames to ")


async def test_trace_lists_filters_and_refuses_a_file_in_a_simulation(scene: Scene) -> None:
    steps = await run(scene, "/trace missing")
    named = await run(scene, "/trace names missing")
    refused = await run(scene, "/trace on x")
    unnamed = await run(scene, "/trace on")

    assert "misses 1 message that was named" in steps.text
    assert "Missing" not in steps.text
    assert "Missing" in named.text
    assert "misses" not in named.text
    assert (refused.ok, "simulation" in refused.text) == (False, True)
    assert "Name a file" in unnamed.text


async def test_explain_knows_terms_tabs_and_ids(scene: Scene) -> None:
    [info] = scene.snapshot().channels

    term = await run(scene, "/explain T_req")
    tab = await run(scene, "/explain bloom")
    row = await run(scene, f"/explain {info.waiting[0].message_id[:6]}")
    everything = await run(scene, "/explain")

    assert "so that only one person asks" in term.text
    assert tab.text.startswith("Bloom filter: ")
    assert "waiting for 1 parent" in row.text
    assert len(everything.text.splitlines()) > 30


async def test_sessions_walk_their_ranges() -> None:
    scene = scenes.coming_back()
    scenes.history(scene)
    session = next(one for one in scene.snapshot().sessions if one.rounds)

    listed = await run(scene, "/sessions")
    walked = await run(scene, f"/sessions {session.number}")
    unknown = await run(scene, "/sessions 999")

    assert f"Session {session.number} with" in listed.text
    assert "bytes before delta coding" in walked.text
    assert "theirs" in walked.text
    assert not unknown.ok


@pytest.mark.net
async def test_a_live_trace_begins_and_ends_by_command(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    async with running(tmp_path, "alice") as alice:
        lobby = alice.first_channel
        assert lobby is not None
        do = Commands(alice).run
        begun = await do(f"/trace on {path}", At(lobby))
        traced = alice.inspection.traced
        await alice.send_text(lobby, "written down")
        elsewhere = await do(f"/trace on {tmp_path / 'none' / 'steps'}", At(lobby))
        again = await do(f"/trace on {tmp_path / 'again'}", At(lobby))
        ended = await do("/trace off", At(lobby))
        frames = alice.inspection.frames()

    assert begun.ok
    assert traced == path
    assert b"written down".hex() in path.read_text()
    assert elsewhere.text.endswith("name another file.")
    assert again.text.startswith(f"The trace to {path} has ended. Recording every step to ")
    assert ended.text == f"The trace to {tmp_path / 'again'} has ended."
    assert [one.sent for one in frames]


async def test_group_in_a_channel_that_nobody_governs_says_how_there_is_one(scene: Scene) -> None:
    said = await run(scene, "/group")

    assert not said.ok
    assert "nobody governs this channel; /create founds one" in said.text
