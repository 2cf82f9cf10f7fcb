"""Replies by commands: in line mode and in files, whatever became of what they answer."""

import json
from pathlib import Path

import pytest

from chat_tui.commands.command import At, Result
from chat_tui.commands.replying import NO_ANSWERS, NO_REPLY
from chat_tui.commands.table import Commands
from chat_tui.model.command_findings import Goal, Listed
from sync.entries.changes import Redaction
from sync.entries.replies import answered_by
from sync.machine import MINUTE, SECOND, MessageId
from sync.sim.world import Terms
from sync.view.view import Line, Unshown
from tests.support.chat_tui.scenes import ALICE, BOB, Scene

pytestmark = pytest.mark.usefixtures("in_utc")


class Talk:
    """Bob asks something, and alice answers by commands."""

    def __init__(self) -> None:
        self.scene = Scene("alice", "bob")
        self.scene.world.run(6 * SECOND)
        self.scene.say(BOB, "who comes?")
        self.asked = self.newest()

    def newest(self) -> MessageId:
        return self.scene.world.nodes[ALICE].disk.lines()[-1][1]

    async def run(self, line: str, selected: MessageId | None = None) -> Result:
        at = At(self.scene.world.channel, selected)
        return await Commands(self.scene.chat).run(line, at)

    async def line(self, message_id: MessageId) -> Line:
        [line] = await self.scene.chat.history.named(self.scene.world.channel, message_id, limit=1)
        return line


async def test_a_reply_names_a_message_by_its_id_or_by_the_selection() -> None:
    talk = Talk()

    by_id = await talk.run(f"/reply {talk.asked[:8]} I do")
    first = talk.newest()
    selected = await talk.run("/reply and bob", first)
    second = talk.newest()

    assert by_id.ok, by_id.text
    assert selected.ok, selected.text
    assert (await talk.line(first)).reply_to == talk.asked
    assert (await talk.line(first)).text == "I do"
    assert (await talk.line(second)).reply_to == first


async def test_bob_sees_what_alice_answers() -> None:
    talk = Talk()
    await talk.run(f"/reply {talk.asked} I do")
    talk.scene.world.run(SECOND)

    disk = talk.scene.world.nodes[BOB].disk
    (_, reply) = disk.lines()[-1]

    assert answered_by(disk.load(reply).entry) == talk.asked


async def test_without_a_text_the_line_to_go_on_with_is_offered() -> None:
    talk = Talk()

    result = await talk.run("/reply", talk.asked)

    assert result.draft == f"/reply {talk.asked[:12]} "
    assert '"bob: who comes?"' in result.text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/reply nobody is selected", "Say what you answer"),
        (f"/reply {'0' * 12} nothing has this id", "No message here has an id"),
        ("/replied", "Choose a message"),
        ("/thread 0123", "No message here has an id"),
    ],
)
async def test_a_mistake_says_what_to_do(typed: str, said: str) -> None:
    result = await Talk().run(typed)

    assert not result.ok
    assert said in result.text


async def test_the_way_to_what_is_answered_and_all_that_answers() -> None:
    talk = Talk()
    await talk.run(f"/reply {talk.asked} I do")
    first = talk.newest()
    await talk.run(f"/reply {first} and I bring cake")

    to = await talk.run(f"/replied {first}")
    thread = await talk.run(f"/thread {talk.asked}")
    nothing, no_answer = (
        await talk.run("/replied", talk.asked),
        await talk.run("/thread", talk.newest()),
    )

    asked, reply = await talk.line(talk.asked), await talk.line(first)
    assert to.found == Goal(asked.position, talk.asked, (reply.position, first))
    assert isinstance(thread.found, Listed)
    assert thread.found.title == "2 messages answer bob: who comes?"
    assert thread.found.depths == (0, 1, 2)
    said = [line[9:] for line in thread.text.splitlines()[2:]]  # behind the ids
    assert [len(line) - len(line.lstrip()) for line in said] == [0, 2, 4]
    assert (nothing.text, no_answer.text) == (NO_REPLY, NO_ANSWERS)


async def test_a_deleted_message_can_be_answered_and_its_text_is_not_told() -> None:
    talk = Talk()
    talk.scene.world.change(BOB, Redaction(talk.asked))
    talk.scene.world.run(SECOND)

    result = await talk.run("/reply", talk.asked)

    assert "a message of bob, deleted since" in result.text
    assert (await talk.run(f"/reply {talk.asked} why?")).ok


async def test_the_details_of_a_reply_say_what_it_answers() -> None:
    talk = Talk()
    await talk.run(f"/reply {talk.asked} I do")

    of_reply, of_asked = await talk.run("/info", talk.newest()), await talk.run("/info", talk.asked)

    assert f"Answers: bob: who comes? ({talk.asked[:6]})" in of_reply.text
    assert "Answers:" not in of_asked.text


async def test_files_say_what_is_answered(tmp_path: Path) -> None:
    talk = Talk()
    await talk.run(f"/reply {talk.asked} I do")

    for kind in ("txt", "md", "jsonl"):
        assert (await talk.run(f"/export {kind} {tmp_path}/talk.{kind}")).ok

    text = (tmp_path / "talk.txt").read_text().splitlines()
    assert text[-2] == "↪ bob: who comes?"
    assert text[-1].endswith(" alice: I do")
    assert "  \n  *↪ bob: who comes?*  \n  I do" in (tmp_path / "talk.md").read_text()
    told = [json.loads(line) for line in (tmp_path / "talk.jsonl").read_text().splitlines()]
    assert [one["reply_to"] for one in told] == [None, talk.asked]


async def test_a_target_that_never_came_is_told_so_until_it_comes() -> None:
    scene = Scene("alice", "bob", "carol", terms=Terms(reconcile=False))
    world = scene.world
    world.run(6 * SECOND)
    world.crash(ALICE)
    scene.say(BOB, "lost on alice")
    [*_, (_, lost)] = world.nodes[BOB].disk.lines()
    world.crash(BOB)
    world.restart(ALICE)
    world.run(6 * SECOND)
    world.write_text(2, "found it", reply_to=lost)
    world.run(100_000_000)
    world.crash(2)
    world.run(60 * MINUTE)
    history = scene.chat.history
    [reply] = await history.page(world.channel, before=None, limit=9)
    before = await history.answered(world.channel, [lost])

    world.restart(BOB)
    world.run(10 * MINUTE)
    after = await history.answered(world.channel, [lost])

    assert (reply.text, reply.reply_to, reply.after_gap) == ("found it", lost, True)
    assert before == {lost: Unshown.ABSENT}
    assert isinstance(after[lost], Line)
