"""Replies in a channel with a program of before, which knows neither the field nor sessions of now.

It shows a reply as the text that its schema has, writes texts that answer nothing, and passes all
bytes on: in the line of three, whatever one end reads of the other came over its disk.
"""

from collections.abc import Callable

import pytest

from chat_tui.client.simulated import SimulatedChat
from sync.entries.changes import Change, Edit, Redaction
from sync.machine import MILLISECOND, MINUTE, SECOND, MessageId
from sync.manager.registry import BY_RULE, WAKU_ONLY
from sync.sim.world import Terms, World
from sync.view.view import Line, Unshown
from tests.support.sync.changed import released_body

ALICE, OLD, CAROL = range(3)
NAMES = ("alice", "old", "carol")
ENDS = (ALICE, CAROL)
TERMS = Terms(protocols=BY_RULE["rule"], older={OLD: WAKU_ONLY})
LIMIT = 50


class Channel:
    """Three people, the one in the middle with a program of before; `line`: the ends never meet."""

    def __init__(self, *, line: bool = True) -> None:
        self.world = World(len(NAMES), 1, terms=TERMS)
        if line:
            self.world.network.cuts.add((ALICE, CAROL))
            self.world.links.rewired()
        self.world.run(20 * SECOND)

    def begin(self, who: int, text: str, reply_to: MessageId | None = None) -> MessageId:
        """Write a line; it is on one's own disk, and on its way."""
        before = len(self._disk(who))
        self.world.write_text(who, text, reply_to=reply_to)
        self._until(lambda: len(self._disk(who)) > before)
        return self._disk(who)[-1][1]

    def arrives(self, who: int, message_id: MessageId) -> None:
        """Run until somebody has a message, and no further."""
        self._until(lambda: message_id in self.world.nodes[who].disk.rows)

    def _until(self, true: Callable[[], bool]) -> None:
        for _ in range(100):
            if true():
                return
            self.world.run(MILLISECOND)
        raise AssertionError("it never became true")

    def write(self, who: int, text: str, reply_to: MessageId | None = None) -> MessageId:
        """Write a line, and wait until everybody has it."""
        message_id = self.begin(who, text, reply_to)
        self.world.run(10 * MINUTE)
        return message_id

    def change(self, who: int, change: Change) -> None:
        self.world.change(who, change)
        self.world.run(10 * MINUTE)

    def _disk(self, who: int) -> list[tuple[int, MessageId]]:
        return self.world.nodes[who].disk.lines()

    async def lines(self, who: int) -> dict[MessageId, Line]:
        page = await self._chat(who).history.page(self.world.channel, before=None, limit=LIMIT)
        return {one.message_id: one for one in page}

    async def answered(self, who: int, target: MessageId) -> Line | Unshown:
        found = await self._chat(who).history.answered(self.world.channel, [target])
        return found[target]

    async def answers(self, who: int, target: MessageId) -> list[MessageId]:
        history = self._chat(who).history
        found = await history.answers(self.world.channel, target, limit=LIMIT)
        return [line.message_id for line, _ in found.lines]

    def as_old_reads(self, message_id: MessageId) -> tuple[str, str]:
        """Name and text by the schema of before, of the bytes that the old program has on disk."""
        body = self.world.nodes[OLD].disk.load(message_id).entry.body
        read = released_body(body)
        assert read.SerializeToString(deterministic=True) == body, "it passes all of them on"
        return read.nick, read.text  # type: ignore[attr-defined]

    def _chat(self, who: int) -> SimulatedChat:
        return SimulatedChat(self.world, who, NAMES)


@pytest.mark.parametrize("author", [ALICE, OLD], ids=["of a new one", "of the old one"])
async def test_a_reply_passes_an_old_program_which_shows_its_text(author: int) -> None:
    channel = Channel()
    asked = channel.write(author, "who comes?")

    reply = channel.write(CAROL, "I do", asked)

    assert channel.as_old_reads(reply) == ("node2", "I do")
    for end in ENDS:
        line = (await channel.lines(end))[reply]
        assert (line.text, line.reply_to, line.after_gap) == ("I do", asked, False)
        assert await channel.answers(end, asked) == [reply]


async def test_what_an_old_program_writes_behind_a_message_answers_nothing() -> None:
    channel = Channel()
    asked = channel.write(ALICE, "who comes?")
    reply = channel.write(CAROL, "I do", asked)

    said = channel.write(OLD, "so do I")

    parents = channel.world.nodes[OLD].disk.load(said).entry.header.parents
    assert reply in {one.message_id for one in parents}
    for end in ENDS:
        assert (await channel.lines(end))[said].reply_to is None
        assert await channel.answers(end, asked) == [reply]
    again = channel.write(ALICE, "then we are three", said)
    assert await channel.answers(CAROL, said) == [again]


@pytest.mark.parametrize("author", ENDS, ids=["alice's", "carol's"])
async def test_an_edit_of_a_reply_passes_an_old_program_and_it_answers_all_the_same(
    author: int,
) -> None:
    channel = Channel()
    asked = channel.write(OLD, "who comes?")
    reply = channel.write(author, "I do", asked)

    channel.change(author, Edit(reply, "we do"))

    assert (await channel.lines(OLD))[reply].text == "we do"
    for end in ENDS:
        line = (await channel.lines(end))[reply]
        assert (line.text, line.edited, line.reply_to) == ("we do", True, asked)


@pytest.mark.parametrize("author", [ALICE, OLD], ids=["of a new one", "of the old one"])
@pytest.mark.parametrize("deletes", [False, True], ids=["edited", "deleted"])
async def test_a_target_that_changes_is_quoted_as_it_is_now(author: int, *, deletes: bool) -> None:
    channel = Channel()
    asked = channel.write(author, "who comes?")
    reply = channel.write(CAROL, "I do", asked)

    channel.change(author, Redaction(asked) if deletes else Edit(asked, "who stays?"))

    assert channel.as_old_reads(reply) == ("node2", "I do")
    for end in ENDS:
        target = await channel.answered(end, asked)
        assert isinstance(target, Line)
        assert (target.deleted, target.text) == (deletes, "" if deletes else "who stays?")
        line = (await channel.lines(end))[reply]
        assert (line.text, line.reply_to) == ("I do", asked)
    late = channel.write(ALICE, "and I", asked)
    assert (await channel.lines(CAROL))[late].reply_to == asked


async def test_a_target_that_an_old_program_lacks_is_told_so_until_it_comes_or_for_ever() -> None:
    channel = Channel()
    world = channel.world
    world.network.cuts.add((ALICE, OLD))
    lost = channel.begin(ALICE, "lost on the way")
    world.run(20 * MILLISECOND)
    world.network.cuts.discard((ALICE, OLD))
    reply = channel.begin(ALICE, "I mean that", lost)
    channel.arrives(OLD, reply)
    world.crash(ALICE)
    world.run(60 * MINUTE)
    never = await channel.answered(CAROL, lost)
    at_old, at_carol = await channel.lines(OLD), await channel.lines(CAROL)

    world.restart(ALICE)
    world.run(20 * MINUTE)
    later = await channel.answered(CAROL, lost)

    assert at_old[reply].text == "I mean that"
    assert (at_carol[reply].reply_to, at_carol[reply].after_gap) == (lost, True)
    assert never is Unshown.ABSENT
    assert isinstance(later, Line)
    assert later.text == "lost on the way"
    assert await channel.answers(CAROL, lost) == [reply]


async def test_a_target_of_an_old_program_that_is_gone_comes_when_it_is_back() -> None:
    channel = Channel(line=False)
    world = channel.world
    world.network.cuts.add((OLD, CAROL))
    lost = channel.begin(OLD, "lost on the way")
    channel.arrives(ALICE, lost)
    world.crash(OLD)
    world.network.cuts.clear()
    reply = channel.begin(ALICE, "I heard that", lost)
    channel.arrives(CAROL, reply)
    world.crash(ALICE)
    world.run(60 * MINUTE)
    never = await channel.answered(CAROL, lost)
    at_carol = await channel.lines(CAROL)

    world.restart(OLD)
    world.run(20 * MINUTE)
    later = await channel.answered(CAROL, lost)

    assert never is Unshown.ABSENT
    assert (at_carol[reply].reply_to, at_carol[reply].after_gap) == (lost, True)
    assert isinstance(later, Line)
    assert later.text == "lost on the way"
    assert (await channel.lines(OLD))[reply].text == "I heard that"
