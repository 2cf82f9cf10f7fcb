"""Announcing as a machine: who is told what and when, what counts of what is heard, and limits."""

from hypothesis import given
from hypothesis import strategies as st

from sync.machine import MILLISECOND, MINUTE, SECOND, ChannelId, Nanos, PeerId, Tick
from sync.manager.announcing import (
    TAKEN_BURST,
    TELL_EVERY,
    TOO_OFTEN,
    Added,
    Announcing,
    Heard,
    Ignored,
    Offered,
    Removed,
    Standing,
    Told,
)
from sync.manager.values import Announced, Joined, Left
from sync.p2panda.announcements import schema_id
from sync.p2panda.messages import Announce, SyncRequest, decode, encode
from tests.support.sync.costs import calls_of

NOW: Nanos = 1_763_700_000 * SECOND
TEA, MILK, GIN = ChannelId("1" * 32), ChannelId("2" * 32), ChannelId("3" * 32)
BOB, EVE = PeerId("bb" * 32), PeerId("ee" * 32)
FAMILY = "p2panda"
NAMED = frozenset({FAMILY, "another"})


def machine(*channels: ChannelId, counter: int = 0, keeps_all: bool = True) -> Announcing:
    """One of a node that is in these channels."""
    one = Announcing(FAMILY, keeps_all=keeps_all)
    for channel in channels or (TEA, MILK):
        one.handle(Added(channel, counter), NOW)
    return one


def meet(one: Announcing, peer: PeerId = BOB, *channels: ChannelId) -> None:
    """Let a peer prove channels and name the family in each."""
    for channel in channels or (TEA,):
        one.handle(Joined(channel, peer), NOW)
        one.handle(Announced(channel, peer, NAMED), NOW)


def tick(one: Announcing, now: Nanos = NOW) -> list[Told]:
    """Let the clock reach `now`; return what is to be sent."""
    told = one.handle(Tick(), now)
    assert all(isinstance(effect, Told) for effect in told)
    return [effect for effect in told if isinstance(effect, Told)]


def said(told: Told) -> tuple[ChannelId, ...]:
    """Return the channels that an announcement names."""
    message = decode(told.payload)
    assert isinstance(message, Announce)
    assert message.timestamp == told.counter
    return tuple([one for one in (TEA, MILK, GIN) if schema_id(one) in message.schemas])


def heard(*channels: ChannelId, at: int = 1, version: int = 1, peer: PeerId = BOB) -> Heard:
    """An announcement of a peer."""
    schemas = tuple(sorted(schema_id(channel) for channel in channels))
    return Heard(peer, encode(Announce(version, at, schemas)))


# --- Telling -------------------------------------------------------------------------------------


def test_a_peer_is_told_once_it_has_proved_a_channel_and_named_the_family() -> None:
    one = machine()
    one.handle(Joined(TEA, BOB), NOW)
    assert (one.deadline(), tick(one)) == (None, [])

    one.handle(Announced(TEA, BOB, NAMED), NOW)

    assert one.deadline() is not None
    [told] = tick(one)
    assert (told.peer, said(told), told.counter) == (BOB, (TEA,), NOW)
    assert one.announced_to(BOB, TEA)
    assert not one.announced_to(BOB, MILK)
    assert not one.announced_to(EVE, TEA)
    assert one.deadline() is None


def test_an_old_program_is_told_nothing() -> None:
    one = machine()
    one.handle(Joined(TEA, BOB), NOW)
    one.handle(Announced(TEA, BOB, frozenset({"another"})), NOW)

    assert one.deadline() is None
    assert not tick(one)
    assert not one.announced_to(BOB, TEA)


def test_nobody_is_told_of_what_it_has_not_proved() -> None:
    one = machine(TEA, MILK, GIN)
    meet(one, BOB, TEA)
    meet(one, EVE, MILK, GIN)

    told = {each.peer: said(each) for each in tick(one)}

    assert told == {BOB: (TEA,), EVE: (MILK, GIN)}


def test_changes_are_told_with_what_is_left_but_not_too_often() -> None:
    one = machine()
    meet(one)
    [first] = tick(one)
    meet(one, BOB, MILK)
    one.handle(Left(TEA, BOB), NOW)

    assert one.deadline() == NOW + TELL_EVERY
    assert not tick(one, NOW + TELL_EVERY - 1)
    [second] = tick(one, NOW + TELL_EVERY)

    assert said(second) == (MILK,)
    assert second.counter > first.counter
    assert (one.announced_to(BOB, TEA), one.announced_to(BOB, MILK)) == (False, True)


def test_what_changed_and_changed_back_is_not_told() -> None:
    one = machine()
    meet(one)
    tick(one)
    meet(one, BOB, MILK)
    one.handle(Left(MILK, BOB), NOW)

    assert not tick(one, NOW + TELL_EVERY)
    assert one.deadline() is None


def test_a_channel_that_we_leave_is_taken_back() -> None:
    one = machine()
    meet(one, BOB, TEA, MILK)
    tick(one)
    one.handle(Left(TEA, BOB), NOW)
    one.handle(Removed(TEA), NOW)

    [told] = tick(one, NOW + SECOND)

    assert said(told) == (MILK,)


def test_on_a_second_link_everything_is_told_again() -> None:
    one = machine()
    meet(one)
    [first] = tick(one)
    one.handle(Joined(TEA, BOB), NOW + SECOND)

    [again] = tick(one, NOW + SECOND)

    assert said(again) == (TEA,)
    assert again.counter > first.counter


def test_all_is_forgotten_with_the_last_link() -> None:
    one = machine()
    meet(one, BOB, TEA, MILK)
    tick(one)
    one.handle(heard(TEA, at=7), NOW)

    one.handle(Left(TEA, BOB), NOW)
    assert one.standing(BOB) is not None
    one.handle(Left(MILK, BOB), NOW)

    assert one.standing(BOB) is None
    assert one.deadline() is None
    assert not one.announced_to(BOB, MILK)
    meet(one)
    assert not one.may_request(BOB, TEA), "it has said nothing on this link"
    one.handle(heard(TEA, at=3), NOW)
    assert one.may_request(BOB, TEA), "a counter of before binds nobody"
    assert [said(told) for told in tick(one, NOW + SECOND)] == [(TEA,)]


def test_a_peer_that_is_an_older_program_since_has_announced_nothing() -> None:
    one = machine()
    meet(one)
    tick(one)
    one.handle(heard(TEA), NOW)

    one.handle(Announced(TEA, BOB, frozenset()), NOW)

    assert (one.may_request(BOB, TEA), one.announced_to(BOB, TEA)) == (False, False)
    assert not tick(one, NOW + SECOND)


def test_where_old_messages_are_dropped_nothing_is_told_or_requested_and_all_is_shown() -> None:
    one = machine(keeps_all=False)
    meet(one)
    one.handle(heard(TEA), NOW)

    assert (one.deadline(), tick(one)) == (None, [])
    assert not one.may_request(BOB, TEA)
    assert one.standing(BOB) == Standing(1, frozenset({TEA}), frozenset())


def test_without_a_protocol_that_needs_it_nothing_is_told_or_heard() -> None:
    one = Announcing("")
    one.handle(Added(TEA, 0), NOW)
    one.handle(Joined(TEA, BOB), NOW)
    one.handle(Announced(TEA, BOB, frozenset({""})), NOW)

    assert (one.deadline(), tick(one), one.handle(heard(TEA), NOW)) == (None, [], ())
    assert not one.active


# --- Counters ------------------------------------------------------------------------------------

clocks = st.integers(-5 * SECOND, 5 * SECOND)


@given(st.lists(st.tuples(clocks, st.booleans()), max_size=30))
def test_counters_rise_over_restarts_whatever_the_clock_says(steps: list[tuple[int, bool]]) -> None:
    one, now, last, committed = machine(), NOW, 0, 0
    meet(one)
    for step, restarts in steps:
        now += step
        if restarts:
            one = machine(counter=committed)
            meet(one)
        else:
            one.handle(Joined(TEA, BOB), now)
        for told in tick(one, max(now, one.deadline() or 0)):
            assert told.counter > last
            last = committed = told.counter


def test_one_commit_is_enough_for_all_who_are_told_at_once() -> None:
    one = machine()
    meet(one, BOB)
    meet(one, EVE)

    assert [told.counter for told in tick(one)] == [NOW, NOW]


# --- Hearing -------------------------------------------------------------------------------------


def test_what_a_peer_announces_may_be_requested_of_it_where_it_has_proved_it() -> None:
    one = machine()
    meet(one)
    one.handle(heard(TEA, MILK, GIN), NOW)

    assert one.may_request(BOB, TEA)
    assert not one.may_request(BOB, MILK), "it has not proved that one"
    assert not one.may_request(BOB, GIN), "we are not in that one"
    assert not one.may_request(EVE, TEA)
    assert one.standing(BOB) == Standing(1, frozenset({TEA, MILK}), frozenset())

    meet(one, BOB, MILK)
    assert one.may_request(BOB, MILK)


channel_sets = st.frozensets(st.sampled_from([TEA, MILK]))
announced = st.lists(
    st.tuples(st.integers(1, 6), channel_sets, st.integers(1, 2)),
    min_size=1,
    max_size=12,
    unique_by=lambda one: one[0],
)


@given(announced, st.randoms())
def test_the_newest_counts_whatever_the_order_of_arrival(
    announcements: list[tuple[int, frozenset[ChannelId], int]], shuffle: object
) -> None:
    one = machine()
    meet(one, BOB, TEA, MILK)
    arriving = [*announcements, *announcements]
    shuffle.shuffle(arriving)  # type: ignore[attr-defined]  # hypothesis has no name for its type
    for at, channels, version in arriving:
        one.handle(heard(*channels, at=at, version=version), NOW)

    _, channels, version = max(announcements)
    for channel in (TEA, MILK):
        assert one.may_request(BOB, channel) == (version == 1 and channel in channels)


def test_each_change_of_what_may_be_requested_is_an_effect() -> None:
    one = machine()
    meet(one)

    offered = one.handle(heard(TEA, MILK, at=1), NOW)
    same = one.handle(heard(TEA, MILK, at=2), NOW)
    proved = one.handle(Joined(MILK, BOB), NOW)
    gone = one.handle(Left(TEA, BOB), NOW)
    taken_back = one.handle(heard(at=3), NOW)

    assert list(offered) == [Offered(BOB, frozenset({TEA}))]
    assert list(same) == []
    assert list(proved) == [Offered(BOB, frozenset({TEA, MILK}))]
    assert list(gone) == [Offered(BOB, frozenset({MILK}))]
    assert list(taken_back) == [Offered(BOB, frozenset())]


def test_an_equal_or_older_counter_changes_nothing_and_an_empty_list_takes_back() -> None:
    one = machine()
    meet(one)
    one.handle(heard(TEA, at=5), NOW)
    one.handle(heard(at=5), NOW)
    one.handle(heard(at=4), NOW)
    assert one.may_request(BOB, TEA)

    one.handle(heard(at=6), NOW)

    assert not one.may_request(BOB, TEA)


def test_of_another_version_nothing_is_requested_and_it_is_shown() -> None:
    one = machine()
    meet(one)
    one.handle(heard(TEA, version=2), NOW)

    assert not one.may_request(BOB, TEA)
    standing = one.standing(BOB)
    assert standing == Standing(2, frozenset({TEA}), frozenset())
    assert not standing.is_known


def test_whoever_has_no_link_announces_nothing() -> None:
    one = machine()

    assert not one.handle(heard(TEA), NOW)
    meet(one)

    assert not one.may_request(BOB, TEA)


def test_what_is_no_announcement_is_ignored_with_the_reason() -> None:
    one = machine()
    meet(one)
    one.handle(heard(TEA), NOW)

    [garbage] = one.handle(Heard(BOB, b"\xa0"), NOW)
    [request] = one.handle(Heard(BOB, encode(SyncRequest(0, 0, (schema_id(TEA),)))), NOW)

    assert isinstance(garbage, Ignored)
    assert garbage.reason.startswith("announcement: not the one CBOR of a value")
    assert request == Ignored(BOB, "something else where an announcement should be")
    assert one.may_request(BOB, TEA), "nothing has changed"


def test_of_a_thousand_announcements_a_second_few_are_read_and_nobody_else_is_kept() -> None:
    one = machine()
    meet(one, BOB)
    meet(one, EVE)
    tick(one)
    ignored = [
        effect
        for number in range(1_000)
        for effect in one.handle(heard(TEA, at=1 + number, peer=EVE), NOW + number * MILLISECOND)
        if not isinstance(effect, Offered)
    ]

    assert ignored == [Ignored(EVE, TOO_OFTEN)] * len(ignored)
    read = 1_000 - len(ignored)
    assert TAKEN_BURST <= read <= TAKEN_BURST + 8
    one.handle(heard(TEA, at=1, peer=BOB), NOW + SECOND)
    assert one.may_request(BOB, TEA)

    one.handle(heard(at=5_000, peer=EVE), NOW + MINUTE)
    assert not one.may_request(EVE, TEA), "after a moment it is read again"


def test_what_is_kept_of_a_peer_is_of_our_channels_alone() -> None:
    one = machine()
    meet(one)
    others = tuple(sorted(f"chat_{number:032x}" for number in range(1_000)))

    one.handle(Heard(BOB, encode(Announce(1, 9, others))), NOW)

    assert one.standing(BOB) == Standing(1, frozenset(), frozenset())


def test_what_happens_with_a_peer_costs_the_same_however_many_channels_it_announces() -> None:
    def with_channels(count: int) -> Announcing:
        channels = [ChannelId(f"{number:032x}") for number in range(count)]
        one = machine(*channels)
        one.handle(Joined(channels[0], BOB), NOW)
        one.handle(heard(*channels), NOW)
        return one

    def proves(one: Announcing) -> None:
        assert one.handle(Joined(ChannelId(f"{1:032x}"), BOB), NOW) != []

    few, many = with_channels(2), with_channels(300)

    assert calls_of(lambda: proves(many)) <= calls_of(lambda: proves(few))
