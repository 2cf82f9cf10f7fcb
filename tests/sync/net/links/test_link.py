"""Choice among several links to one peer: both ends must decide alike."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import permutations, product

import pytest

from sync.entries.identity import Identity
from sync.group.clock_values import Follows
from sync.machine import SECOND
from sync.net.clock import draw_key
from sync.net.links.frames import Ping, Pong
from sync.net.links.link import CONTEST_MAX, RTTS_KEPT, UNANSWERED_MAX, Link, keep, superfluous
from sync.net.links.mesh import PING_EVERY
from sync.net.links.stream import SecureStream
from sync.structures.link_trips import SLOW_MAX
from tests.support.patience import PATIENCE_S
from tests.support.sync.entries import identity
from tests.support.sync.nodes import HOST

pytestmark = pytest.mark.net

ALICE, BOB = identity("alice"), identity("bob")
NOW = 1_000_000 * SECOND
BY_ALICE, BY_BOB = True, False


@asynccontextmanager
async def both_ends(*directions: bool) -> AsyncIterator[tuple[list[Link], list[Link]]]:
    """Alice's and Bob's ends of real links, each dialled by Alice or by Bob."""
    accepted: asyncio.Queue[SecureStream] = asyncio.Queue()
    streams: list[SecureStream] = []
    alices: list[Link] = []
    bobs: list[Link] = []
    for by_alice in directions:
        dialler, answerer = (ALICE, BOB) if by_alice else (BOB, ALICE)

        async def answer(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter, me: Identity = answerer
        ) -> None:
            accepted.put_nowait(await SecureStream.accept(reader, writer, me, draw_key))

        async with await asyncio.start_server(answer, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            dialled = await SecureStream.dial(HOST, port, dialler, draw_key)
            answered = await asyncio.wait_for(accepted.get(), PATIENCE_S)
        streams += [dialled, answered]
        ours, theirs = (dialled, answered) if by_alice else (answered, dialled)
        alices.append(Link.over(ours, (HOST, port), {}, NOW))
        bobs.append(Link.over(theirs, (HOST, port), {}, NOW))
    try:
        yield alices, bobs
    finally:
        for stream in streams:
            stream.abort()
            await stream.wait_closed()


def place(link: Link, links: list[Link]) -> int:
    return next(index for index, each in enumerate(links) if each is link)


@pytest.mark.parametrize(
    "directions", [each for count in (2, 3) for each in product((BY_ALICE, BY_BOB), repeat=count)]
)
async def test_both_ends_keep_the_same_of_any_links_that_answer(
    directions: tuple[bool, ...],
) -> None:
    async with both_ends(*directions) as (alices, bobs):
        numbers = range(len(directions))
        for answering in product((True, False), repeat=len(directions)):
            alive = [number for number in numbers if answering[number]]
            for order in permutations(alive):
                if not order:
                    continue
                hers = keep([alices[number] for number in order], ALICE.peer_id)
                his = keep([bobs[number] for number in sorted(order)], BOB.peer_id)

                assert place(hers, alices) == place(his, bobs)
                by_smaller = [n for n in alive if directions[n] is (ALICE.peer_id < BOB.peer_id)]
                if by_smaller:
                    assert place(hers, alices) in by_smaller


async def test_nothing_goes_before_all_have_answered_since_the_newest_opened() -> None:
    async with both_ends(BY_ALICE, BY_BOB) as (links, _):
        old = replace(links[0], opened_at=NOW - SECOND, answered_at=NOW - 1)
        new = replace(links[1], opened_at=NOW)

        assert superfluous([old, new], ALICE.peer_id, NOW) == []
        new.answered_at = NOW + 1
        assert superfluous([old, new], ALICE.peer_id, NOW + 1) == []
        old.answered_at = NOW + 1
        assert len(superfluous([old, new], ALICE.peer_id, NOW + 1)) == 1


@pytest.mark.parametrize("directions", list(product((BY_ALICE, BY_BOB), repeat=2)))
async def test_a_link_that_does_not_answer_goes_in_the_end_whoever_dialled_it(
    directions: tuple[bool, ...],
) -> None:
    async with both_ends(*directions) as (links, _):
        silent = replace(links[0], opened_at=NOW - SECOND)
        answering = replace(links[1], opened_at=NOW, answered_at=NOW + 1)
        both = [silent, answering]

        assert superfluous(both, ALICE.peer_id, NOW + CONTEST_MAX) == []
        assert superfluous(both, ALICE.peer_id, NOW + CONTEST_MAX + 1) == [silent]


async def test_where_none_answers_the_newest_stays_in_the_end() -> None:
    """Else who answers no ping would hold places for duplicates for ever."""
    async with both_ends(BY_ALICE, BY_BOB) as (links, _):
        old, new = replace(links[0], opened_at=NOW - SECOND), replace(links[1], opened_at=NOW)

        assert superfluous([old, new], ALICE.peer_id, NOW + UNANSWERED_MAX) == []
        assert superfluous([old, new], ALICE.peer_id, NOW + UNANSWERED_MAX + 1) == [old]


async def test_links_that_are_closing_are_no_rivals() -> None:
    async with both_ends(BY_ALICE, BY_BOB) as (links, _):
        for link in links:
            link.answered_at = NOW + 1
        links[0].stream.close()

        assert superfluous(links, ALICE.peer_id, NOW + 2) == []


async def test_only_the_answer_to_the_last_ping_counts_for_clocks() -> None:
    async with both_ends(BY_ALICE) as ([link], _):
        link.ping(NOW, NOW)
        link.ping(NOW + SECOND, NOW + SECOND)

        assert not link.ponged(Pong(1, NOW), NOW + 2 * SECOND)
        assert (link.answered_at, link.wall_offset) == (0, None)
        assert link.ponged(Pong(2, NOW + 9 * SECOND, Follows.YOU), NOW + 3 * SECOND)

        assert link.answered_at == NOW + 3 * SECOND
        assert link.rtt == 2 * SECOND
        assert list(link.rtts) == [2 * SECOND, 2 * SECOND]
        assert (link.wall_offset, link.follows) == (7 * SECOND, Follows.YOU)


async def test_where_a_trip_takes_longer_than_the_next_ping_waits_it_is_measured() -> None:
    async with both_ends(BY_ALICE) as ([link], _):
        trip = 2 * PING_EVERY + SECOND
        answered = []
        for number in range(1, 6):
            at = NOW + number * PING_EVERY
            link.ping(at, at)
            if number > 3:
                answered.append(link.ponged(Pong(number - 2, NOW), at + SECOND))

        assert answered == [False, False]
        assert list(link.rtts) == [trip, trip]
        assert link.trip == SLOW_MAX


async def test_a_link_is_slow_once_two_trips_in_a_row_are_and_fast_once_none_are() -> None:
    async with both_ends(BY_ALICE) as ([link], _):
        steps = []
        for number, trip in enumerate([SECOND, 0, SECOND, SECOND, *[0] * RTTS_KEPT], start=1):
            link.ping(NOW, NOW)
            link.ponged(Pong(number, NOW), NOW + trip)
            steps.append(link.trip)

        assert steps[:4] == [None, 0, 0, SECOND]
        assert steps[-3:] == [SECOND, 0, 0]


async def test_of_round_trips_the_last_are_kept() -> None:
    async with both_ends(BY_ALICE) as ([link], _):
        for number in range(1, 2 * RTTS_KEPT):
            link.ping(NOW, NOW)
            assert link.ponged(Pong(number, NOW), NOW + number)

        assert list(link.rtts) == list(range(RTTS_KEPT, 2 * RTTS_KEPT))


async def test_a_ping_is_answered_once() -> None:
    """Each answer may tell another clock, and the machines judge it."""
    async with both_ends(BY_ALICE) as ([link], _):
        link.ping(NOW, NOW)

        assert link.ponged(Pong(1, NOW), NOW + SECOND)
        assert not link.ponged(Pong(1, NOW + 9 * SECOND, Follows.YOU), NOW + 2 * SECOND)

        assert (link.rtt, link.follows) == (SECOND, Follows.NOBODY)


async def test_what_is_queued_goes_out_before_the_goodbye() -> None:
    async with both_ends(BY_ALICE) as ([alice], [bob]):
        alice.queue(b"first")
        alice.queue(b"second")
        alice.send(Ping(1, 0))
        alice.close("leaving")

        received: list[bytes] = []
        while batch := await bob.stream.receive_batch():
            received += batch

        assert received[1:3] == [b"first", b"second"]
        assert len(received) == 4
