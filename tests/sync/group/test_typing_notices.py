"""Typing notices and how long they last: one channel as a machine, then a simulated group."""

from collections.abc import Sequence

import pytest

from sync.entries import ephemeral
from sync.entries.entry import NICK_MAX
from sync.errors import RemoteError
from sync.group import values
from sync.group.typing_notices import (
    LASTS,
    RESTING_MAX,
    TELL_EVERY,
    TOLD_EVERY,
    TYPISTS_MAX,
    Typists,
)
from sync.machine import MILLISECOND, SECOND, MessageId, PeerId
from sync.sds.message import Kind, Message
from sync.sds.wire import decode
from sync.sim.network import Link
from sync.sim.view import SimulatedView
from sync.sim.world import Terms, World
from sync.view.view import Event, MessageShown, TypingShown
from tests.support.sync.entries import CHANNEL, Author, identity
from tests.support.sync.groups import NOW, Member, arrived, only

BOB = identity("bob").peer_id
CAROL = identity("carol").peer_id


def began(peer: PeerId, nick: str) -> values.TypingChanged:
    return values.TypingChanged(peer, nick, typing=True)


def ceased(peer: PeerId, nick: str) -> values.TypingChanged:
    return values.TypingChanged(peer, nick, typing=False)


def alice_with(*peers: PeerId) -> Member:
    alice = Member("alice")
    alice.join(*peers)
    return alice


def notice(author: PeerId, content: bytes, link: PeerId | None = None) -> values.Arrived:
    """An ephemeral message of `author`, on its own link unless another is named."""
    message = Message(author, MessageId("e" * 64), CHANNEL, None, (), content=content)
    return arrived(message, link or author)


def typing(author: PeerId, nick: str) -> values.Arrived:
    return notice(author, ephemeral.encode(ephemeral.Typing(nick)))


def changes(effects: Sequence[values.Effect]) -> list[values.TypingChanged]:
    return only(values.TypingChanged, effects)


# --- Telling -----------------------------------------------------------------------------------


def test_the_others_are_told_with_our_name() -> None:
    alice = alice_with(BOB)

    [told] = only(values.Broadcast, alice.tell(values.Typing("alice")))

    sent = decode(told.payload)
    assert sent.kind is Kind.EPHEMERAL
    assert ephemeral.decode(sent.content) == ephemeral.Typing("alice")


def test_they_are_told_once_in_four_seconds_however_fast_we_type() -> None:
    alice = alice_with(BOB)
    keys = range(NOW, NOW + 20 * SECOND, SECOND // 5)

    told = [now for now in keys if alice.tell(values.Typing("alice"), now)]

    assert told == [NOW + beat * TELL_EVERY for beat in range(5)]


def test_nobody_is_told_where_nobody_is() -> None:
    alice = Member("alice")
    alone = alice.tell(values.Typing("alice"))
    alice.join(BOB)
    met = alice.tell(values.Typing("alice"))
    alice.tell(values.PeerGone(BOB))
    left = alice.tell(values.Typing("alice"), NOW + TELL_EVERY)

    assert [len(effects) for effects in (alone, met, left)] == [0, 1, 0]


def test_nothing_of_it_is_kept() -> None:
    alice = alice_with(BOB)

    effects = [*alice.tell(values.Typing("alice")), *alice.tell(typing(BOB, "bob"))]

    assert not any(isinstance(effect, values.Record) for effect in effects)


# --- Hearing -----------------------------------------------------------------------------------


def test_a_notice_lasts_six_seconds_after_it_was_last_heard() -> None:
    alice = alice_with(BOB)
    first = alice.tell(typing(BOB, "bob"), NOW)
    again = alice.tell(typing(BOB, "bob"), NOW + TELL_EVERY)

    before = alice.advance(NOW + TELL_EVERY + LASTS - 1)
    then = alice.advance(NOW + TELL_EVERY + LASTS)

    assert changes(first) == [began(BOB, "bob")]
    assert (changes(again), changes(before)) == ([], [])
    assert changes(then) == [ceased(BOB, "bob")]
    assert len(alice.group.typists) == 0


def test_who_types_on_under_another_name_is_named_anew() -> None:
    alice = alice_with(BOB)
    alice.tell(typing(BOB, "bob"))

    assert changes(alice.tell(typing(BOB, "robert"))) == []
    assert changes(alice.advance(NOW + TOLD_EVERY)) == [began(BOB, "robert")]
    assert alice.group.typists.nicks == {BOB: "robert"}


def test_what_was_typed_ends_it() -> None:
    alice, bob = alice_with(BOB, CAROL), Author("bob")
    alice.tell(typing(BOB, "bob"))
    alice.tell(typing(CAROL, "carol"))

    assert changes(alice.hear(bob.write("here it is"))) == [ceased(BOB, "bob")]
    assert alice.group.typists.nicks == {CAROL: "carol"}


def test_an_earlier_message_that_somebody_else_brings_ends_nothing() -> None:
    alice, bob = alice_with(BOB, CAROL), Author("bob")
    alice.tell(typing(BOB, "bob"))

    brought = alice.tell(values.Arrived(CAROL, bob.write("of yesterday").payload))

    assert only(values.Deliver, brought)
    assert changes(brought) == []


def test_who_is_gone_is_not_typing() -> None:
    alice = alice_with(BOB)
    alice.tell(typing(BOB, "bob"))

    gone = alice.tell(values.PeerGone(BOB))
    late = alice.tell(typing(BOB, "bob"))

    assert changes(gone) == [ceased(BOB, "bob")]
    assert changes(late) == [], "a notice that was put off until its author was gone"


def test_more_people_than_fit_are_noted_when_there_is_room() -> None:
    crowd = [identity(f"member {number}").peer_id for number in range(TYPISTS_MAX + 1)]
    alice = alice_with(*crowd)
    for peer in crowd:
        alice.tell(typing(peer, peer[:8]))
    full = list(alice.group.typists.nicks)

    alice.tell(values.PeerGone(crowd[0]))
    room = alice.tell(typing(crowd[-1], "last"))

    assert full == crowd[:-1]
    assert changes(room) == [began(crowd[-1], "last")]


@pytest.mark.parametrize(
    "bad",
    [
        notice(BOB, b"bob is typing"),
        notice(BOB, b"\x08\x02"),
        notice(BOB, b"\x08\x01\x12\x23\x0a\x21" + b"x" * (NICK_MAX + 1)),
        notice(CAROL, ephemeral.encode(ephemeral.Typing("carol")), link=BOB),
    ],
    ids=["malformed", "another version", "a long name", "in another's name"],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(bad: values.Arrived) -> None:
    alice = alice_with(BOB, CAROL)

    with pytest.raises(RemoteError):
        alice.tell(bad)

    assert len(alice.group.typists) == 0


# --- A group -----------------------------------------------------------------------------------

NAMES = ("alice", "bob", "carol")


class Watched:
    """A simulated group, and what alice is shown of it."""

    def __init__(self, *, mesh: bool = True) -> None:
        self.world = World(3, seed=5, link=Link(), terms=Terms(mesh=mesh))
        self.view = SimulatedView(self.world, 0, NAMES)
        self.events: list[Event] = []
        self.view.subscribe(self.events.append)
        self.world.run(6 * SECOND)

    def type(self, number: int, seconds: int) -> None:
        """Somebody presses five keys a second for a while."""
        for _ in range(5 * seconds):
            self.world.tell_typing(number)
            self.world.run(SECOND // 5)

    @property
    def typists(self) -> list[str]:
        [info] = self.view.snapshot().channels
        return [typist.nick for typist in info.typists]

    @property
    def shown(self) -> list[tuple[str, bool]]:
        events = [event for event in self.events if isinstance(event, TypingShown)]
        return [(event.nick, event.typing) for event in events]


@pytest.mark.parametrize("mesh", [True, False], ids=["links", "one broadcast"])
def test_everybody_sees_who_types_until_the_line_is_there(mesh: bool) -> None:
    group = Watched(mesh=mesh)

    group.type(1, seconds=20)
    meanwhile = group.typists
    group.world.write_text(1, "that took me a while")
    group.world.run(SECOND)

    assert (meanwhile, group.typists) == (["bob"], [])
    assert group.shown == [("bob", True), ("bob", False)], "no flicker between two notices"
    [shown] = [event.line.nick for event in group.events if isinstance(event, MessageShown)]
    assert shown == "bob"
    assert group.world.witness.failures == []


def test_who_thinks_better_of_it_is_shown_for_six_seconds() -> None:
    group = Watched()
    group.type(1, seconds=1)
    group.type(2, seconds=1)
    both = group.typists

    group.world.run(LASTS - 3 * SECOND // 2)
    one = group.typists
    group.world.run(SECOND)

    assert (both, one, group.typists) == (["bob", "carol"], ["carol"], [])


def test_who_is_cut_off_is_not_typing() -> None:
    group = Watched()
    group.type(1, seconds=1)
    before = group.typists

    group.world.crash(1)
    group.world.run(SECOND)

    assert (before, group.typists) == (["bob"], [])


def test_a_key_pressed_between_two_notices_is_no_input_of_the_engine() -> None:
    group = Watched()
    runner = group.world.nodes[0].runner
    assert runner is not None
    now = group.world.now

    runner.tell_typing(CHANNEL, "alice", now)  # not a channel of this world
    elsewhere = runner.waiting
    runner.tell_typing(group.world.channel, "alice", now)
    due = runner.waiting
    group.world.tell_typing(0)
    group.world.run(SECOND)
    group.world.tell_typing(0)

    assert (elsewhere, due) == (0, 1)
    assert not runner.busy


def test_a_thousand_notices_a_second_are_told_once_a_second_and_last_as_they_are() -> None:
    typists = Typists()
    told = []
    for number in range(3000):
        now = NOW + number * MILLISECOND
        if (due := typists.deadline()) is not None and due <= now:
            told += typists.expire(now)
        told += typists.heard(BOB, f"bob {number}", now)
    told += typists.expire(NOW + 4 * SECOND)

    assert len(told) <= 4
    assert told[-1] == began(BOB, "bob 2999")
    assert typists.nicks == {BOB: "bob 2999"}


def test_who_begins_and_stops_all_the_time_is_told_of_once_a_second() -> None:
    typists = Typists()
    told = 0
    for number in range(1000):
        told += len(typists.heard(BOB, "bob", NOW + number * MILLISECOND))
        typists.stopped(BOB)

    assert told == 1
    assert typists.heard(BOB, "bob", NOW + SECOND) == [began(BOB, "bob")]


def test_many_who_type_for_a_moment_are_not_remembered() -> None:
    typists = Typists()
    for number in range(3 * RESTING_MAX):
        typists.heard(PeerId(f"{number:064x}"), "eve", NOW)
        typists.stopped(PeerId(f"{number:064x}"))

    assert len(typists._resting) <= RESTING_MAX
    assert typists.expire(NOW + SECOND) == []
    assert not typists._resting
