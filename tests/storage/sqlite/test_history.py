"""Pages and search over what is on disk."""

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sync.entries.changes import Reactions, Redaction
from sync.entries.entry import Kind
from sync.group.values import SetStatus, Status, StoredMessage, StoreMessage
from sync.machine import ChannelId
from sync.sds.message import Delivery
from sync.view.view import Line
from tests.support.storage.searching import searched
from tests.support.storage.stores import Store, membership, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author, identity

OTHER = ChannelId("0d" * 16)
LIMIT = 100


async def keep(store: Store, messages: Sequence[StoredMessage]) -> None:
    await store.journal.commit([StoreMessage(message, Status.DELIVERED) for message in messages])


def texts(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines]


async def test_pages_walk_the_one_order_both_ways(tmp_path: Path) -> None:
    dice = random.Random(1)
    ann = Author("ann")
    messages = [ann.write(lamport=dice.randrange(20)) for _ in range(60)]
    expected = sorted((m.entry.header.lamport, m.entry.message_id) for m in messages)

    async with opened(tmp_path / "chat.db") as store:
        await keep(store, messages)
        backwards = [await store.history.page(CHANNEL, before=None, limit=7)]
        while backwards[-1]:
            first = backwards[-1][0].position
            backwards.append(await store.history.page(CHANNEL, before=first, limit=7))
        forwards = [await store.history.page_after(CHANNEL, after=expected[0], limit=7)]
        while forwards[-1]:
            last = forwards[-1][-1].position
            forwards.append(await store.history.page_after(CHANNEL, after=last, limit=7))

    assert [line.position for page in reversed(backwards) for line in page] == expected
    assert [line.position for page in forwards for line in page] == expected[1:]
    assert {len(page) for page in backwards[:-2]} == {7}


async def test_a_line_has_everything_that_is_shown(tmp_path: Path) -> None:
    me, ann = Author("me"), Author("ann")
    mine = me.write("Grüße \x1b[31m", lamport=5, created_ns=7)
    hers = ann.write("hi", after=[mine, ann.write("lost on the way")])

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(
            [
                StoreMessage(mine, Status.DELIVERED, delivery=Delivery.UNACKNOWLEDGED),
                StoreMessage(hers, Status.DELIVERED, after_gap=True),
            ]
        )
        first, second = await store.history.page(CHANNEL, before=None, limit=LIMIT)

    assert first == Line(
        channel=CHANNEL,
        message_id=mine.entry.message_id,
        author=me.peer_id,
        nick="me",
        text="Grüße \x1b[31m",
        lamport=5,
        created_ns=7,
        own=True,
        after_gap=False,
        delivery=Delivery.UNACKNOWLEDGED,
    )
    assert (second.nick, second.own, second.after_gap, second.delivery) == (
        "ann",
        False,
        True,
        None,
    )


async def test_only_delivered_messages_of_the_channel_are_shown(tmp_path: Path) -> None:
    ann, elsewhere = Author("ann"), Author("ann", channel=OTHER)
    shown, parked = ann.write("shown"), ann.write("parked")
    waiting = ann.write("waiting", after=[parked])
    other = elsewhere.write("elsewhere")

    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(membership(OTHER, "coffee"), log=1)
        await store.journal.commit(
            [
                StoreMessage(shown, Status.DELIVERED),
                StoreMessage(waiting, Status.WAITING),
                StoreMessage(parked, Status.PARKED),
                StoreMessage(other, Status.DELIVERED),
            ]
        )
        before = await store.history.page(CHANNEL, before=None, limit=LIMIT)
        found = await searched(store, CHANNEL, "waiting", limit=LIMIT)
        await store.journal.commit(
            [SetStatus(CHANNEL, waiting.entry.message_id, Status.DELIVERED, after_gap=True)]
        )
        after = await store.history.page(CHANNEL, before=None, limit=LIMIT)
        count = await store.history.count(CHANNEL)

    assert (texts(before), texts(found)) == (["shown"], [])
    assert [(line.text, line.after_gap) for line in after] == [("shown", False), ("waiting", True)]
    assert count == 2


async def test_a_gap_that_is_filled_is_none_any_more(tmp_path: Path) -> None:
    ann = Author("ann")
    lost = [ann.write("lost"), ann.write("lost too")]
    after = ann.write("after a gap", after=lost)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(after, Status.DELIVERED, after_gap=True)])
        seen = [await store.history.page(CHANNEL, before=None, limit=LIMIT)]
        for one, status in zip(lost, (Status.DELIVERED, Status.WAITING), strict=True):
            await store.journal.commit([StoreMessage(one, status)])
            seen.append(await store.history.page(CHANNEL, before=None, limit=LIMIT))
        delivered = SetStatus(CHANNEL, lost[1].entry.message_id, Status.DELIVERED, after_gap=False)
        await store.journal.commit([delivered])
        seen.append(await store.history.page(CHANNEL, before=None, limit=LIMIT))

    assert [page[-1].after_gap for page in seen] == [True, True, True, False]


@pytest.mark.parametrize(("kind", "body"), [(98, b""), (99, b"new"), (Kind.TEXT, b"\xff")])
async def test_what_is_no_text_is_shown_as_unknown(tmp_path: Path, kind: int, body: bytes) -> None:
    async with opened(tmp_path / "chat.db") as store:
        await keep(store, [Author("ann").write(kind=kind, body=body)])
        [line] = await store.history.page(CHANNEL, before=None, limit=LIMIT)

    assert line.text == "(a kind of message this version does not know)"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tea", ["Tea at FOUR?", "more tea"]),
        ("TE", ["Tea at FOUR?", "more tea"]),
        ("four tea", ["Tea at FOUR?"]),
        ("cafe", ["the café, don't be late"]),
        ("don't", ["the café, don't be late"]),
        ("ann", ["Tea at FOUR?", "the café, don't be late", 'say "NOT" x:y -z* (a^b)']),
        ('"not"', ['say "NOT" x:y -z* (a^b)']),
        ("x:y -z*", ['say "NOT" x:y -z* (a^b)']),
        ("(a^b)", ['say "NOT" x:y -z* (a^b)']),
        ("tea\0four", ["Tea at FOUR?"]),
        ("tea OR café", []),
        ("text:tea", []),
        ("ea", []),
        ('"', []),
        ("* - : ^ ( ) ?!", []),
        ("\0", []),
        ("\udcff", []),
    ],
)
async def test_search_takes_every_word_as_it_is_written(
    tmp_path: Path, query: str, found: list[str]
) -> None:
    ann, bob = Author("ann"), Author("bob")

    async with opened(tmp_path / "chat.db") as store:
        await keep(store, [ann.write("Tea at FOUR?"), ann.write("the café, don't be late")])
        await keep(store, [ann.write('say "NOT" x:y -z* (a^b)'), bob.write("more tea", lamport=9)])

        assert texts(await searched(store, CHANNEL, query, limit=LIMIT)) == found


async def test_search_gives_the_newest_of_many(tmp_path: Path) -> None:
    ann = Author("ann")

    async with opened(tmp_path / "chat.db") as store:
        await keep(store, [ann.write(f"tea {number}") for number in range(10)])

        newest = await searched(store, CHANNEL, "tea", limit=3)

    assert texts(newest) == ["tea 7", "tea 8", "tea 9"]


@settings(max_examples=20)
@given(queries=st.lists(st.text(), min_size=30, max_size=30))
async def test_no_query_is_an_error(queries: list[str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        async with opened(Path(directory) / "chat.db") as store:
            for query in queries:
                assert await searched(store, CHANNEL, query, limit=LIMIT) == []


async def test_own_follows_from_the_key(tmp_path: Path) -> None:
    ann = Author("ann")

    async with opened(tmp_path / "chat.db", me=identity("ann").peer_id) as store:
        await keep(store, [ann.write(), Author("me").write(lamport=2)])
        lines = await store.history.page(CHANNEL, before=None, limit=LIMIT)

    assert [line.own for line in lines] == [True, False]


async def test_messages_are_found_by_the_beginning_of_their_id(tmp_path: Path) -> None:
    ann = Author("ann")
    messages = [ann.write(lamport=number) for number in range(40)]
    ids = sorted(message.entry.message_id for message in messages)
    prefix = ids[7][:1]

    async with opened(tmp_path / "chat.db") as store:
        await keep(store, messages)
        whole = await store.history.named(CHANNEL, ids[7], limit=LIMIT)
        begun = await store.history.named(CHANNEL, prefix, limit=LIMIT)
        first = await store.history.named(CHANNEL, prefix, limit=1)
        elsewhere = await store.history.named(OTHER, ids[7], limit=LIMIT)
        no_id = await store.history.named(CHANNEL, "hello", limit=LIMIT)

    assert [line.message_id for line in whole] == [ids[7]]
    assert [line.message_id for line in begun] == [one for one in ids if one.startswith(prefix)]
    assert first == begun[:1]
    assert not elsewhere
    assert not no_id


async def test_what_is_set_aside_is_in_no_page_and_read_by_itself(tmp_path: Path) -> None:
    me, ann = Author("me"), Author("ann")
    ahead, sooner = ann.write("ahead", lamport=2**40), ann.write("sooner", lamport=2**39)
    hidden = me.write("doubled", lamport=2**41)
    hiding = changed(me, Redaction(hidden.entry.message_id), hidden)
    reaction = changed(ann, Reactions(ahead.entry.message_id, ("👍",)), ahead)

    async with opened(tmp_path / "chat.db") as store:
        aside = [ahead, sooner, hidden, reaction]
        await store.journal.commit([StoreMessage(one, Status.PARKED) for one in aside])
        await keep(store, [hiding])
        page = await store.history.page(CHANNEL, before=None, limit=LIMIT)
        parked = await store.history.parked(CHANNEL, limit=LIMIT)
        first = await store.history.parked(CHANNEL, limit=1)
        elsewhere = await store.history.parked(OTHER, limit=LIMIT)

    assert page == []
    assert texts(parked) == ["sooner", "ahead"], "not what its author hid, nor what is no line"
    assert all(line.parked for line in parked)
    assert (texts(first), elsewhere) == (["sooner"], [])
