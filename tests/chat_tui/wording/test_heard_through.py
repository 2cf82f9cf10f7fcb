"""F3 says through whom somebody without a connection is heard."""

from msgspec.structs import replace

from chat_tui.client.simulated import SimulatedChat
from chat_tui.wording import peers_table
from chat_tui.wording.glyphs import UNICODE
from chat_tui.wording.peers_table import HEARD_NAMES
from sync.group.relays import AUTHORS_MAX, RELAYED_WITHIN, Relays
from sync.machine import HOUR, MINUTE, SECOND, PeerId
from sync.sim.shapes import line, unlinked
from sync.sim.world import World
from sync.view.view import HeardInfo

NAMES = ("alice", "bob", "carol")


def chat_in_a_line() -> tuple[World, SimulatedChat]:
    """Alice's chat, who reaches bob alone, where bob reaches carol."""
    world = World(3, 1)
    world.network.cuts |= unlinked(line(3))
    chat = SimulatedChat(world, 0, NAMES)
    world.run(10 * SECOND)
    return world, chat


def lines(chat: SimulatedChat) -> list[str]:
    return [one.plain for one in peers_table.table(chat.snapshot(), 100, 0, UNICODE)]


def test_who_is_heard_through_somebody_stands_below_the_people() -> None:
    world, chat = chat_in_a_line()
    before = lines(chat)
    world.write_text(2, "hello from afar")
    world.run(MINUTE)

    assert not any("heard through" in one for one in before)
    assert lines(chat)[-1].strip() == "carol: heard through bob"


def test_after_an_hour_of_silence_it_is_not_said_any_more() -> None:
    world, chat = chat_in_a_line()
    world.write_text(2, "hello from afar")
    world.run(MINUTE)

    world.run(HOUR + MINUTE)

    assert chat.snapshot().heard == ()


def test_of_many_heard_through_one_a_few_are_named() -> None:
    _, chat = chat_in_a_line()
    snapshot = chat.snapshot()
    [bob] = [one.peer for one in snapshot.peers]
    heard = tuple(HeardInfo(PeerId(f"{n:064x}"), f"n{n}", bob) for n in range(HEARD_NAMES + 2))

    crowded = replace(snapshot, heard=heard)
    [_, said] = peers_table.heard_through(crowded)
    narrow = [one.plain for one in peers_table.table(crowded, 40, 0, UNICODE)]

    assert said == "n0, n1, n2, n3, n4, n5 and 2 more: heard through bob"
    assert [line.strip() for line in narrow[-2:]] == [
        "n0, n1, n2, n3, n4, n5 and 2 more:", "heard through bob",
    ]  # fmt: skip


def test_authors_are_remembered_for_an_hour_and_no_more_than_there_is_room_for() -> None:
    relays, bridge = Relays(), PeerId("bb" * 32)
    for number in range(AUTHORS_MAX + 1):
        relays.heard(PeerId(f"{number:064x}"), bridge, 0, number)

    assert len(relays.recent(100)) == 100
    relays.forget(RELAYED_WITHIN + 10)
    assert len(relays.recent(AUTHORS_MAX)) == AUTHORS_MAX - 10
