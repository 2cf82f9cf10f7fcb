"""Pages of delivered entries, newest first: on disk and the simulator's, by their definition."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sync.group.values import Status, StoredMessage, StoreMessage
from sync.machine import MessageId
from sync.sim.disk import Disk
from tests.support.storage.rotting import rot
from tests.support.storage.stores import ME, OWN_LOG, delivered, ids, opened
from tests.support.sync.entries import CHANNEL, Author


def place(one: StoredMessage) -> tuple[int, MessageId]:
    return one.entry.header.lamport, one.entry.message_id


@st.composite
def histories(draw: st.DrawFn) -> list[StoreMessage]:
    """Messages with whatever Lamport times and sizes, most of them delivered."""
    often = [Status.DELIVERED] * 8
    ann = Author("ann")
    records = []
    for _ in range(draw(st.integers(0, 90))):
        lamport = draw(st.integers(0, 2**64 - 1) | st.integers(1, 9))
        body = b"x" * draw(st.sampled_from([1, 1, 1, 3_000]))
        one = ann.write(lamport=lamport, created_ns=5, body=body)
        records.append(StoreMessage(one, draw(st.sampled_from([*often, *Status]))))
    return draw(st.permutations(records))


@settings(max_examples=25)
@given(history=histories(), most=st.integers(1, 40_000))
async def test_pages_go_from_the_newest_down_and_have_every_delivered_entry_once(
    history: list[StoreMessage], most: int
) -> None:
    shown = [one.message for one in history if one.status is Status.DELIVERED]
    expected = sorted(shown, key=place, reverse=True)
    disk = Disk(ME, OWN_LOG)
    disk.commit(history)
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory) / "chat.db") as store:
            await store.journal.commit(history)
            at, before, more = 0, None, True
            while more:
                page = await store.journal.newest_page(CHANNEL, before, most)
                assert disk.newest_page(before, most) == page
                came = [one.message_id for one in page.entries]
                assert came == ids(expected[at : at + len(came)])
                sizes = [len(one.entry.content) for one in page.entries]
                assert len(came) <= 1 or sum(sizes) <= most
                if page.more:
                    following = expected[at + len(came)].entry.content
                    assert sum(sizes) + len(following) > most, "there was room for another"
                at, more = at + len(came), page.more
                before = place(expected[at - 1]) if more else None
            assert at == len(expected)


async def test_a_row_that_rotted_is_passed_over_and_told(tmp_path: Path) -> None:
    ann = Author("ann")
    lines = [ann.write(text) for text in ("one", "two", "three")]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*lines))
    rot(tmp_path / "chat.db", "two")
    async with opened(tmp_path / "chat.db") as store:
        page = await store.journal.newest_page(CHANNEL, None, 10_000)
    assert [one.message_id for one in page.entries] == ids([lines[2], lines[0]])
    assert not page.more
    assert len(store.database.damage) == 1
