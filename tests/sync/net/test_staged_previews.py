"""Lines of a snapshot on its way: the newest are shown, as they look, with the staged state."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sync.calimero.governance.ops import GroupId
from sync.calimero.log.snapshot_messages import chunk_of, encode
from sync.calimero.state.contents import StateKind, Topic
from sync.entries.changes import Edit, Redaction
from sync.group.values import (
    Deliver,
    Effect,
    LogPlace,
    Previewed,
    StagedSnapshot,
    StageSnapshot,
    StateChanged,
    Status,
    StoredMessage,
    StoreMessage,
)
from sync.machine import DAY, MILLISECOND, ChannelId
from sync.net.clock import Clock
from sync.net.engine.key_priority import KeyPriority
from sync.net.staged_previews import LINES_MAX, StagedPreviews
from sync.runner.journal import Journal
from sync.sds.message import Delivery
from sync.view.state_projection import info_of_state
from tests.support.storage.stores import delivered, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, Member
from tests.support.sync.nodes import until
from tests.support.sync.states import entry_of

SCOPE = bytes(32)


@dataclass
class Shown:
    """Previews of one newcomer, and all that they show."""

    journal: Journal
    member: Member = field(default_factory=lambda: Member("newcomer"))
    effects: list[Effect] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    pages: int = 0
    here: list[tuple[ChannelId, LogPlace | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        groups = {CHANNEL: self.member.group}
        self.previews = StagedPreviews(
            groups,
            self.journal,
            KeyPriority(Clock()),
            self._show,
            lambda *told: self.here.append(told),
            self._spawn,
        )

    def _show(self, channel: ChannelId, effect: Effect) -> None:
        assert channel == CHANNEL
        self.effects.append(effect)

    def _spawn(self, name: str, work: Coroutine[Any, Any, None]) -> object:
        self.tasks.append(asyncio.create_task(work, name=name))
        return self.tasks[-1]

    def page(self, *messages: StoredMessage, state: Sequence[bytes] = ()) -> StageSnapshot:
        """The record of a page: messages, the newest first, or entries of state."""
        cursor = None
        if messages:
            last = messages[-1].entry
            cursor = (last.header.lamport, last.message_id)
        records = [one.entry.content for one in messages] or state
        chunk = encode(chunk_of(0, list(records), cursor, 9, of_state=not messages))
        self.pages += 1
        return StageSnapshot(CHANNEL, self.pages - 1, chunk, cursor, 9, SCOPE, 0)

    async def done(self) -> None:
        await until(lambda: all(one.done() for one in self.tasks), "all is read")
        for one in self.tasks:
            one.result()

    @property
    def texts(self) -> list[str]:
        """Words of the lines that are shown, as they look."""
        found = []
        for one in self.effects:
            if isinstance(one, Previewed | Deliver):
                assert one.entry is not None
                written = one.entry.body.decode(errors="replace")
                text = written[written.rindex(":") + 1 :]
                found.append("(hidden)" if one.look.hidden else one.look.text or text)
        return found


async def test_lines_are_shown_as_their_changes_have_left_them(tmp_path: Path) -> None:
    ann = Author("ann")
    first, second, third = (ann.write(f":{text}") for text in ("first", "second", "third"))
    edit = changed(ann, Edit(first.entry.message_id, "first, edited"), first)
    hide = changed(ann, Redaction(second.entry.message_id), second)
    async with opened(tmp_path / "chat.db") as store:
        shown = Shown(store.journal)
        shown.previews.begin()
        shown.previews.staged(shown.page(hide, edit, third))
        shown.previews.staged(shown.page(second, first))
        await shown.done()

    assert shown.texts == ["third", "first, edited", "(hidden)"], "of a page the oldest first"


async def test_topic_and_names_are_those_of_the_staged_state_until_there_is_another(
    tmp_path: Path,
) -> None:
    group = GroupId(bytes.fromhex(CHANNEL))
    topic = entry_of(1, Topic("tea at four"), NOW // MILLISECOND, group=group)
    line = Author("ann").write(":hello")
    async with opened(tmp_path / "chat.db") as store:
        shown = Shown(store.journal)
        shown.previews.begin()
        shown.previews.staged(shown.page(state=[topic.content]))
        await shown.done()
        assert shown.effects == [], "not before the first lines"
        shown.previews.staged(shown.page(line))
        await shown.done()

        [told, previewed] = shown.effects
        assert isinstance(told, StateChanged)
        assert told.kinds == {StateKind.TOPIC}, "of pins and names nothing is said that is not so"
        assert isinstance(previewed, Previewed)
        current = shown.previews.current(CHANNEL, shown.member.group)
        assert current is not None
        info = info_of_state(current).topic
        assert info is not None
        assert info.text == "tea at four"

        shown.previews.over(CHANNEL)
        assert shown.previews.current(CHANNEL, shown.member.group) is None


async def test_no_more_lines_are_shown_than_somebody_scrolls(tmp_path: Path) -> None:
    ann = Author("ann")
    lines = [ann.write(f":{number}") for number in range(LINES_MAX + 60)][::-1]
    async with opened(tmp_path / "chat.db") as store:
        shown = Shown(store.journal)
        shown.previews.begin()
        for start in range(0, len(lines), 100):
            shown.previews.staged(shown.page(*lines[start : start + 100]))
        await shown.done()

    newest = [str(number) for number in range(60, LINES_MAX + 60)]
    assert sorted(shown.texts, key=int) == newest


async def test_what_is_stamped_far_ahead_is_not_shown_before_it_is_judged(tmp_path: Path) -> None:
    ann = Author("ann")
    now = ann.write(":now", lamport=NOW // MILLISECOND, created_ns=NOW)
    later = NOW + 2 * DAY
    ahead = ann.write(":ahead", lamport=later // MILLISECOND, created_ns=later)
    async with opened(tmp_path / "chat.db") as store:
        shown = Shown(store.journal)
        shown.previews.begin()
        shown.previews.staged(shown.page(ahead, now))
        await shown.done()

    assert shown.texts == ["now"]


async def test_pages_of_an_earlier_run_are_shown_once_the_chat_begins(tmp_path: Path) -> None:
    ann = Author("ann")
    lines = [ann.write(f":{number}") for number in range(5)][::-1]
    async with opened(tmp_path / "chat.db") as store:
        shown = Shown(store.journal)
        pages = [shown.page(*lines[:3]), shown.page(*lines[3:])]
        await store.journal.commit(pages)
        staged = (await store.journal.restore(CHANNEL)).snapshot
        assert isinstance(staged, StagedSnapshot)

        shown.previews.resume(CHANNEL, staged)
        assert shown.tasks == [], "nobody is told before there is anybody to tell"
        shown.previews.begin()
        await shown.done()
        assert shown.texts == ["2", "3", "4", "0", "1"]


async def test_once_it_is_history_its_newest_lines_are_told_as_delivered_ones(
    tmp_path: Path,
) -> None:
    ann, me, before = Author("ann"), Author("newcomer"), Author("newcomer", log=9)
    lines = [ann.write(f":{number}") for number in range(LINES_MAX + 300)]
    edit = changed(ann, Edit(lines[-1].entry.message_id, "edited"), lines[-1])
    own = me.write(":mine", lamport=10_000)
    restored = before.write(":mine, before", lamport=9_999)
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines, edit))
        unacknowledged = Delivery.UNACKNOWLEDGED
        await store.journal.commit([StoreMessage(own, Status.DELIVERED, delivery=unacknowledged)])
        await store.journal.commit(delivered(restored))
        shown = Shown(store.journal)
        shown.previews.swapped(CHANNEL)
        await shown.done()

    assert all(isinstance(one, Deliver) for one in shown.effects)
    assert shown.texts[-3:] == [str(LINES_MAX + 298), "edited", "mine, before"]
    assert "mine" not in shown.texts, "it was told when it was written"
    [(channel, told_from)] = shown.here
    assert channel == CHANNEL
    first = lines[LINES_MAX + 301 - len(shown.texts)].entry
    assert told_from is not None
    assert told_from <= (first.header.lamport, first.message_id)


async def test_of_a_short_history_all_is_told(tmp_path: Path) -> None:
    lines = [Author("ann").write(":hello")]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines))
        shown = Shown(store.journal)
        shown.previews.swapped(CHANNEL)
        await shown.done()

    assert shown.texts == ["hello"]
    assert shown.here == [(CHANNEL, None)]
