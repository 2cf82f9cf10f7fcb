"""Finding lines: by words, people, days, links and names, in one channel or all."""

import random
from functools import partial
from pathlib import Path

import pytest

from storage.sqlite.search import finding
from storage.sqlite.search.finding import find
from sync.entries.changes import Redaction
from sync.group.values import Status, StoreMessage
from sync.machine import SECOND, ChannelId
from sync.view.finding import Wanted
from tests.support.storage.stores import ME, Store, delivered, membership, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author

OTHER = ChannelId("0d" * 16)
LIMIT = 50


async def texts(store: Store, wanted: Wanted, limit: int = LIMIT) -> list[str]:
    """Return the texts that a search finds, which the index alone finds too."""
    lines = await store.history.find(wanted, limit=limit)
    indexed = await store.database.read(partial(find, ME, wanted, limit, walked=0))
    assert [line.text for line in indexed.lines] == [line.text for line in lines]
    return [line.text for line in lines]


async def test_hits_of_all_channels_come_the_newest_first(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob", channel=OTHER)
    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "plans"), 2)
        await store.journal.commit(
            delivered(
                ann.write("tea at nine", created_ns=1 * SECOND),
                bob.write("TEA at ten", created_ns=2 * SECOND),
                ann.write("coffee", created_ns=3 * SECOND),
                ann.write("steady teapot", created_ns=4 * SECOND),
            )
        )

        assert await texts(store, Wanted((CHANNEL, OTHER), "tea")) == [
            "steady teapot", "TEA at ten", "tea at nine",
        ]  # fmt: skip
        assert await texts(store, Wanted((OTHER,), "tea")) == ["TEA at ten"]
        assert await texts(store, Wanted((CHANNEL,), "tea n")) == ["tea at nine"]


async def test_filters_leave_what_is_of_somebody_of_a_time_and_with_a_link(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(
            delivered(
                ann.write("tea: https://example.org/a", created_ns=1 * SECOND),
                bob.write("tea", created_ns=2 * SECOND),
                ann.write("tea again", created_ns=3 * SECOND),
                bob.write("ann, http is a word", created_ns=4 * SECOND),
            )
        )
        of_ann = frozenset({ann.peer_id}), frozenset({"ann"})

        assert await texts(store, Wanted((CHANNEL,), "tea", *of_ann)) == [
            "tea again", "tea: https://example.org/a",
        ]  # fmt: skip
        assert await texts(store, Wanted((CHANNEL,), nicks=frozenset({"BOB"}))) == [
            "ann, http is a word", "tea",
        ]  # fmt: skip
        assert await texts(store, Wanted((CHANNEL,), links=True)) == ["tea: https://example.org/a"]
        assert await texts(store, Wanted((CHANNEL,), naming="ann")) == ["ann, http is a word"]
        assert await texts(store, Wanted((CHANNEL,), "tea", before=3 * SECOND)) == [
            "tea", "tea: https://example.org/a",
        ]  # fmt: skip
        assert await texts(
            store, Wanted((CHANNEL,), "tea", since=2 * SECOND, before=3 * SECOND)
        ) == ["tea"]


async def test_what_was_deleted_is_not_found_by_its_words(tmp_path: Path) -> None:
    ann = Author("ann")
    said = ann.write("tea in secret")
    gone = changed(ann, Redaction(said.entry.message_id), said)
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(one, Status.DELIVERED) for one in (said, gone)])

        assert await texts(store, Wanted((CHANNEL,), "secret")) == []
        assert await store.history.find(Wanted((CHANNEL,), before=1 << 62), limit=9) == []


@pytest.mark.parametrize("share", [1.0, 0.5, 0.05])
async def test_among_many_the_newest_are_found_and_all_are_counted(
    tmp_path: Path, share: float
) -> None:
    dice, ann = random.Random(3), Author("ann")
    written = [
        ann.write(
            f"tea {number}" if dice.random() < share else f"rain {number}",
            created_ns=number * SECOND,
        )
        for number in range(1, 1_500)
    ]
    hits = [one for one in written if b"tea" in one.payload]
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(*written))
        lines = await store.history.find(Wanted((CHANNEL,), "tea"), limit=20)
        counted = await store.history.fitting(Wanted((CHANNEL,), "tea"))
        uncounted = await store.history.fitting(Wanted((CHANNEL,), "te"))

    assert [one.message_id for one in lines] == [
        one.entry.message_id for one in hits[: -20 - 1 : -1]
    ]
    assert (counted, uncounted) == (len(hits), None)


async def test_a_small_channel_is_searched_to_its_beginning(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob", channel=OTHER)
    many = [ann.write(f"tea {number}", created_ns=number * SECOND) for number in range(2, 3_000)]
    first = bob.write("tea in the small one", created_ns=SECOND)
    rest = [bob.write(f"rain {one}", created_ns=one * SECOND) for one in range(2, 500)]
    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "plans"), 2)
        await store.journal.commit(delivered(first, *rest, *many))

        assert await texts(store, Wanted((OTHER,), "tea")) == ["tea in the small one"]


async def test_a_search_reads_apart_from_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.sqlite.database.APART_MAX_S", 0.2)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
    async with opened(tmp_path / "chat.db") as store:
        with pytest.raises(Exception, match="took too long"):
            await store.database.read_apart(lambda db: db.execute(endless).fetchall())
        await store.journal.commit(delivered(Author("ann").write("tea")))

        assert await texts(store, Wanted((CHANNEL,), "tea")) == ["tea"]


async def test_nothing_in_a_search_is_an_operator(tmp_path: Path) -> None:
    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(Author("ann").write("tea AND (rain) NEAR text:x *")))
        for words in ('"', "AND", "NEAR(", "text:", "*", "(", "tea OR zebra", "\0", "{nick}"):
            wanted = Wanted((CHANNEL,), words, nicks=frozenset({'"x', "a OR b", "*"}))
            assert await store.history.find(wanted, limit=5) == []
            wanted = Wanted((CHANNEL,), naming=words)
            await store.history.find(wanted, limit=5)
            await store.database.read(partial(find, ME, wanted, 5, walked=0))
    assert len("tea") > finding.SHORT
