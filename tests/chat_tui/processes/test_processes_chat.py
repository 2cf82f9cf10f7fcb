"""People chat with each other: real processes on 127.0.0.1, found by mDNS."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE_S
from tests.support.processes import (
    PlainProcess,
    equal_logs,
    everyone_sees_everyone,
    free_port,
    log,
    run,
    texts,
)
from tests.support.programs import FOUND_CHANNEL, channel_of_its_own, company, person

pytestmark = [pytest.mark.net, pytest.mark.slow]

SEEN_WITHIN_S = 3.0
"""From the second screen to each in the other's peer list: what a new user is promised."""

ACKNOWLEDGED_WITHIN_S = 60.0
"""A sync message names 16 lines and comes every 0.5-5 s, so 100 lines need up to 35 s."""


def numbered(count: int) -> list[str]:
    return [f"line {number}" for number in range(1, count + 1)]


async def all_acknowledged(process: PlainProcess, lines: int, *, within_s: float) -> None:
    """Wait until its `lines` own messages are acknowledged, none of them failed on the way."""

    def settled() -> bool:
        own = process.own
        return len(own) == lines and all(
            process.deliveries.get(message["id"]) == "acknowledged" for message in own
        )

    await process.until(settled, f"{lines} lines acknowledged", within_s=within_s)
    failed = [event for event in process.events("delivery") if event["state"] == "failed"]
    assert not failed


async def test_two_people_with_nothing_but_a_name_meet_within_three_seconds(
    tmp_path: Path,
) -> None:
    async with (
        PlainProcess(person("alice", tmp_path)) as alice,
        PlainProcess(person("bob", tmp_path)) as bob,
    ):
        await everyone_sees_everyone([alice, bob], within_s=SEEN_WITHIN_S)
        [hello] = await alice.say("hello")
        heard = await bob.wait_for("message", id=hello["id"])

        assert alice.channel == bob.channel
        assert alice.port != bob.port
        assert (heard["text"], heard["nick"], heard["own"]) == ("hello", "alice", False)
        assert heard["author"] == alice.participant
        assert heard["after_gap"] is False
        assert (await alice.wait_for("peer", participant=bob.participant))["nick"] == "bob"
        await all_acknowledged(alice, 1, within_s=ACKNOWLEDGED_WITHIN_S)


async def test_five_people_find_each_other_and_read_the_same(tmp_path: Path) -> None:
    async with company(tmp_path, "ann", "ben", "cleo", "dan", "eve") as everyone:
        await asyncio.gather(
            *(process.say(f"{process.person.name} is here") for process in everyone)
        )
        read = await equal_logs(everyone)

        assert sorted(read) == sorted(f"{process.person.name} is here" for process in everyone)


@pytest.mark.parametrize("lines", [5, 100])
async def test_lines_typed_at_once_by_one_of_two_are_all_acknowledged(
    tmp_path: Path, lines: int
) -> None:
    async with company(tmp_path, "alice", "bob") as [alice, bob]:
        await alice.say(*numbered(lines))
        read = await equal_logs([alice, bob])
        await all_acknowledged(alice, lines, within_s=ACKNOWLEDGED_WITHIN_S)

        assert read == numbered(lines)


async def test_a_peer_is_reached_by_its_address_where_nothing_is_discovered(
    tmp_path: Path,
) -> None:
    channel = channel_of_its_own()
    async with PlainProcess(person("alice", tmp_path, channel), "--no-discovery") as alice:
        address = f"127.0.0.1:{alice.port}"
        there = PlainProcess(
            person("bob", tmp_path, channel), "--no-discovery", "--connect", address
        )
        async with there as bob:
            await everyone_sees_everyone([alice, bob])
            await bob.say("by address")

            assert await equal_logs([alice, bob]) == ["by address"]


async def test_who_comes_back_has_the_last_lines_without_any_network(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    port = free_port()
    async with PlainProcess(alice, "--no-discovery", "--port", str(port)) as first:
        await first.say(*numbered(60))
        code = await first.close()
        written = log(first)
    async with PlainProcess(alice, "--no-discovery", "--history", "50") as second:
        await second.until(lambda: len(second.messages) >= 50, "50 lines of history")
        await second.say("back again")
        shown = [(event["lamport"], event["id"], event["text"]) for event in second.own]

        assert code == 0
        assert second.participant == first.participant
        assert second.port == first.port == port, "those who know the address find it again"
        assert shown[:50] == written[-50:]
        assert [text for _, _, text in shown[50:]] == ["back again"]


async def test_history_that_was_not_asked_for_is_not_repeated(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    async with PlainProcess(alice, "--no-discovery") as first:
        await first.say("yesterday")
        await first.close()
    async with PlainProcess(alice, "--no-discovery") as second:
        await second.say("today")

        assert texts(second) == ["today"]


async def test_what_was_written_alone_arrives_when_somebody_appears(tmp_path: Path) -> None:
    channel = channel_of_its_own()
    async with PlainProcess(person("alice", tmp_path, channel)) as first:
        await first.say(*numbered(3))
        await first.close()
    async with PlainProcess(person("alice", tmp_path, channel)) as alice:
        await alice.say("line 4")
        async with PlainProcess(person("bob", tmp_path, channel)) as bob:
            await bob.until(lambda: len(bob.messages) == 4, "all that alice wrote alone")
            await alice.until(
                lambda: list(alice.deliveries.values()).count("acknowledged") == 4,
                "acknowledged, those written before the restart as well",
                within_s=ACKNOWLEDGED_WITHIN_S,
            )

            assert texts(bob) == numbered(4)


async def test_end_of_input_still_delivers_what_was_typed_before(tmp_path: Path) -> None:
    async with company(tmp_path, "alice", "bob") as [alice, bob]:
        await alice.send("last words")
        code = await alice.close()
        await bob.wait_for("message", text="last words")

        assert code == 0


async def test_a_code_that_is_none_joins_nothing_and_says_so(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    async with PlainProcess(alice, "--no-discovery") as process:
        result = await process.ask("/join this-is-no-invite-code")
        await process.say("still in the old channel")

        assert result["ok"] is False
        assert result["text"]
        assert texts(process) == ["still in the old channel"]


async def test_only_who_has_the_code_reads_a_private_channel(tmp_path: Path) -> None:
    async with company(tmp_path, "alice", "bob", "carol") as [alice, bob, carol]:
        founded = await alice.ask(f"{FOUND_CHANNEL} #plans")
        invite = await alice.ask("/invite")
        code = max(invite["text"].split(), key=len)
        mistyped = await bob.ask(f"/join {code[:-1]}{'b' if code[-1] != 'b' else 'c'}")
        joined = await bob.ask(f"/join {code}")
        [from_alice] = await alice.say("the secret of alice")
        await bob.wait_for("message", id=from_alice["id"])
        [from_bob] = await bob.say("the secret of bob")
        await alice.wait_for("message", id=from_bob["id"])

        assert founded["ok"] is True
        assert invite["ok"] is True
        assert mistyped["ok"] is False
        assert joined["ok"] is True
        private = from_alice["channel"]
        assert private != alice.channel
        assert texts(bob, private) == ["the secret of alice", "the secret of bob"]
        await carol.never(
            lambda event: event.get("channel") == private or "the secret" in json.dumps(event),
            for_s=3.0,
        )


async def test_an_unknown_option_is_refused_in_one_sentence(tmp_path: Path) -> None:
    finished = await run(person("alice", tmp_path).plain("--nonsense"))

    assert finished.code == 2
    assert finished.stdout == ""
    assert "--nonsense" in finished.stderr.splitlines()[-1]
    assert "Traceback" not in finished.stderr


async def test_a_second_process_on_one_profile_is_refused_in_one_sentence(
    tmp_path: Path,
) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    async with PlainProcess(alice, "--no-discovery") as first:
        finished = await run(alice.plain("--no-discovery"))
        await first.say("undisturbed")

        assert finished.code not in {0, 2}
        assert "--profile" in finished.stderr
        assert "Traceback" not in finished.stderr


async def test_a_line_can_be_sent_beside_the_open_chat(tmp_path: Path) -> None:
    async with company(tmp_path, "alice", "bob") as [alice, bob]:
        finished = await run(alice.person.command("send", "from the side", "--wait", "30"))
        heard = await bob.wait_for("message", text="from the side")

        assert finished.code == 0, finished.stderr
        assert heard["author"] == alice.participant
        assert texts(alice) == ["from the side"]


async def test_a_line_that_nobody_acknowledged_is_queued_and_says_so(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    async with PlainProcess(alice, "--no-discovery") as process:
        finished = await run(alice.command("send", "anybody?", "--wait", "1"))
        await process.wait_for("message", text="anybody?", own=True)

        assert finished.code == 1
        assert "Traceback" not in finished.stderr


async def test_tail_shows_the_open_chat(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    async with PlainProcess(alice, "--no-discovery") as process:
        [said] = await process.say("look at this")
        tail = await asyncio.create_subprocess_exec(
            *alice.command("tail", "--json"), stdout=asyncio.subprocess.PIPE
        )
        try:
            assert tail.stdout is not None
            async with asyncio.timeout(PATIENCE_S):
                shown = [json.loads(await tail.stdout.readline())]
                while shown[-1].get("id") != said["id"]:
                    shown.append(json.loads(await tail.stdout.readline()))
        finally:
            if tail.returncode is None:
                tail.kill()
            await tail.communicate()

        assert shown[-1] == {**said, "called": "alice", "old": True}


async def test_tail_says_on_standard_error_that_it_joins_a_channel(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    async with PlainProcess(alice, "--no-discovery") as process:
        await process.say("the socket is there")
        tail = await asyncio.create_subprocess_exec(
            *alice.command("tail"), "--channel", "#elsewhere", stderr=asyncio.subprocess.PIPE
        )
        try:
            assert tail.stderr is not None
            async with asyncio.timeout(PATIENCE_S):
                said = await tail.stderr.readline()
        finally:
            if tail.returncode is None:
                tail.kill()
            await tail.communicate()

        assert said == b"You were not in #elsewhere, and have joined it.\n"


async def test_status_is_one_json_object_about_the_open_chat(tmp_path: Path) -> None:
    alice = person("alice", tmp_path, channel_of_its_own())
    async with PlainProcess(alice, "--no-discovery") as process:
        finished = await run(alice.command("status", "--json"))

        assert finished.code == 0, finished.stderr
        assert json.loads(finished.stdout)["participant"] == process.participant


async def test_lines_of_a_script_go_to_the_channel_that_is_open_at_their_place(
    tmp_path: Path,
) -> None:
    script = "one\n/join #second\ntwo\n/channel lobby\nthree\n/join #second\nfour\n"
    command = person("alice", tmp_path).plain()

    finished = await run(command, said=script)

    told = [json.loads(line) for line in finished.stdout.splitlines()]
    messages = [(one["channel"], one["text"]) for one in told if one["event"] == "message"]
    assert messages == [
        ("#lobby", "one"),
        ("#second", "two"),
        ("#lobby", "three"),
        ("#second", "four"),
    ]
