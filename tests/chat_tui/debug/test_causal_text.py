"""The causal graph around a message: from SQLite, from the simulator, and in words."""

from pathlib import Path

from msgspec.structs import replace

from chat_tui.debug import causal_text
from chat_tui.text.namesakes import look_alike_key
from sync.entries.changes import Edit, Reactions, Redaction
from sync.entries.entry import Text, encode_text
from sync.entries.identity import short_fingerprint
from sync.group.values import Status, StoredMessage, StoreMessage
from sync.machine import ChannelId, MessageId
from sync.sim.history import SimulatedHistory
from sync.view.view import Place
from tests.support.chat_tui import scenes
from tests.support.chat_tui.readings import command, reading, shown, until
from tests.support.storage.stores import delivered, opened
from tests.support.sync.changed import changed
from tests.support.sync.entries import CHANNEL, Author

LIMIT = 50


async def test_what_a_message_builds_on_and_what_builds_on_it(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    first, other = ann.write("first"), bob.write("other")
    middle = ann.write("middle \x1b[31m", after=[first, other])
    last, beside = bob.write("last", after=[middle]), ann.write("beside", after=[first])

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(
            [StoreMessage(one, Status.DELIVERED) for one in (first, other, middle, last, beside)]
        )
        nodes = await store.history.causal(CHANNEL, middle.entry.message_id, depth=3, limit=LIMIT)
        near = await store.history.causal(CHANNEL, last.entry.message_id, depth=1, limit=LIMIT)
        bounded = await store.history.causal(CHANNEL, middle.entry.message_id, depth=3, limit=2)

    ids = [one.message_id for one in nodes]
    assert ids[0] == middle.entry.message_id
    assert set(ids) == {one.entry.message_id for one in (first, other, middle, last)}
    assert nodes[0].parents == (first.entry.message_id, other.entry.message_id)
    assert (nodes[0].nick, nodes[0].text, nodes[0].place) == ("ann", "middle \x1b[31m", Place.HERE)
    assert [one.message_id for one in near] == [last.entry.message_id, middle.entry.message_id]
    assert len(bounded) == 2


async def test_what_is_missing_or_waits_is_in_it_too(tmp_path: Path) -> None:
    ann, bob = Author("ann"), Author("bob")
    lost = ann.write("nobody has it")
    held = bob.write("an answer", after=[lost])

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(held, Status.WAITING)])
        nodes = await store.history.causal(CHANNEL, held.entry.message_id, depth=2, limit=LIMIT)
        around_missing = await store.history.causal(
            CHANNEL, lost.entry.message_id, depth=2, limit=LIMIT
        )

    assert [(one.place, one.author) for one in nodes] == [
        (Place.WAITING, bob.peer_id),
        (Place.MISSING, ann.peer_id),
    ]
    assert {one.message_id for one in around_missing} == {
        lost.entry.message_id,
        held.entry.message_id,
    }


async def test_what_nobody_ever_named_has_no_graph(tmp_path: Path) -> None:
    ann = Author("ann")
    known = ann.write("known")

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit([StoreMessage(known, Status.DELIVERED)])
        history = store.history
        unknown = await history.causal(CHANNEL, MessageId("ab" * 32), depth=2, limit=LIMIT)
        garbage = await history.causal(CHANNEL, MessageId("' OR 1"), depth=2, limit=LIMIT)
        elsewhere = await history.causal(
            ChannelId("0d" * 16), known.entry.message_id, depth=2, limit=LIMIT
        )

    assert (unknown, garbage, elsewhere) == ([], [], [])


async def test_a_simulated_disk_gives_the_same_graph() -> None:
    scene = scenes.repairing()
    [info] = scene.snapshot().channels
    held = info.waiting[0]
    history = scene.chat.history
    assert isinstance(history, SimulatedHistory)

    nodes = await history.causal(info.channel, held.message_id, depth=2, limit=LIMIT)

    places = {one.message_id: one.place for one in nodes}
    assert places[held.message_id] is Place.WAITING
    assert [places[one] for one in held.unmet] == [Place.MISSING]
    assert nodes[0].nick == "carol"


async def test_in_words_each_message_says_where_it_is_and_what_it_builds_on() -> None:
    scene = scenes.repairing()
    shown = scene.snapshot()
    [info] = shown.channels
    held = info.waiting[0]
    graph = await causal_text.read(scene.chat.history, info.channel, held.message_id, 2)

    text = causal_text.as_text(shown, info, graph)
    given_up = replace(info, lost_ids=held.unmet, missing=())

    assert f"{held.message_id[:6]} carol · waiting (" in text
    assert f"{held.unmet[0][:6]} carol · MISSING, asked for in 5 s" in text
    assert "(missing)" in text
    assert "LOST" in causal_text.as_text(shown, given_up, graph)


async def test_without_a_message_the_newest_is_in_the_middle() -> None:
    scene = scenes.repairing()
    [info] = scene.snapshot().channels
    [newest] = await scene.chat.history.page(info.channel, before=None, limit=1)

    graph = await causal_text.read(scene.chat.history, info.channel, None, 1)

    assert graph.centre == newest.message_id


async def test_what_was_edited_or_deleted_is_in_the_graph_as_its_author_wants_it(
    tmp_path: Path,
) -> None:
    ann = Author("ann")
    first = ann.write("a secret")
    second = ann.write("noon?", after=[first])
    hidden = changed(ann, Redaction(first.entry.message_id), first)
    edited = changed(ann, Edit(second.entry.message_id, "one o'clock?"), second)

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(first, second, hidden, edited))
        nodes = await store.history.causal(CHANNEL, second.entry.message_id, depth=1, limit=9)

    texts = {node.message_id: node.text for node in nodes}
    assert texts[first.entry.message_id] == "(deleted)"
    assert texts[second.entry.message_id] == "one o'clock?"


async def test_a_deleted_message_of_the_simulator_is_not_read_in_the_graph() -> None:
    scene = scenes.empty()
    async with reading(scene) as (app, pilot):
        await command(pilot, "a mistake")
        await command(pilot, "/delete")
        await until(pilot, lambda: "deleted by its author" in shown(app))
        graph = await causal_text.read(scene.chat.history, scene.world.channel, None, 2)

    text = causal_text.as_text(scene.snapshot(), scene.snapshot().channels[0], graph)
    assert "(deleted)" in text
    assert "a mistake" not in text


async def test_what_is_no_line_says_what_it_does(tmp_path: Path) -> None:
    ann = Author("ann")
    said = ann.write("tea?")
    reacted = changed(ann, Reactions(said.entry.message_id, ("❤",)), said)
    edited = changed(ann, Edit(said.entry.message_id, "tea!"), said)
    hidden = changed(ann, Redaction(said.entry.message_id), said)
    unknown = ann.write(kind=77, body=b"", after=[said])

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(said, reacted, edited, hidden, unknown))
        nodes = await store.history.causal(CHANNEL, said.entry.message_id, depth=1, limit=9)

    texts = {node.message_id: node.text for node in nodes}
    assert texts == {
        said.entry.message_id: "(deleted)",
        reacted.entry.message_id: "(reacts ❤)",
        edited.entry.message_id: "(edits)",
        hidden.entry.message_id: "(deletes)",
        unknown.entry.message_id: "(a kind this version does not know)",
    }


def said_by(author: Author, nick: str, text: str, *after: StoredMessage) -> StoredMessage:
    return author.write(body=encode_text(Text(nick, text)), after=after)


async def test_two_of_one_name_or_of_one_look_have_their_keys_beside_them(tmp_path: Path) -> None:
    ann, bob, other, alike = Author("ann"), Author("bob"), Author("bob2"), Author("bob3")
    first = said_by(bob, "bob", "one")
    second = said_by(other, "bob", "two", first)
    third = said_by(alike, "b\u043eb", "three", second)
    last = said_by(ann, "ann", "four", third)
    scene = scenes.empty()
    snapshot = scene.snapshot()
    [info] = snapshot.channels

    async with opened(tmp_path / "chat.db") as store:
        await store.journal.commit(delivered(first, second, third, last))
        graph = await causal_text.read(store.history, CHANNEL, last.entry.message_id, 4)
        near = await causal_text.read(store.history, CHANNEL, last.entry.message_id, 1)
    text = causal_text.as_text(snapshot, info, graph)
    heard = replace(snapshot, shared_names=frozenset({look_alike_key("bob")}))
    node = graph.by_id[second.entry.message_id]

    for author, nick in ((bob, "bob"), (other, "bob"), (alike, "b\u043eb")):
        assert f" {nick} {short_fingerprint(author.peer_id)} · “" in text
    assert " ann · “four”" in text
    key = f"of bob {short_fingerprint(other.peer_id)}"
    assert causal_text.node_detail(snapshot, info, graph, node).title.endswith(key)
    assert f"b\u043eb {short_fingerprint(alike.peer_id)}" in causal_text.as_text(heard, info, near)
