"""Wrong clocks among real programs: who chats goes on reading everybody, whoever's clock is wrong.

Nobody is discovered: who is there is there by its address, and nobody else is.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from sync.machine import MINUTE, Nanos
from sync.net import clock
from tests.support.processes import Event, Person, PlainProcess, everyone_sees_everyone, texts
from tests.support.programs import FOUND_CHANNEL, channel_of_its_own
from tests.support.sync.nodes import Station, stations
from tests.support.wrong_clocks import DAY, nothing_left, off_by

pytestmark = [pytest.mark.net, pytest.mark.slow]

EVER: Nanos = 2**64 - 1
"""The latest time that a ping can tell."""


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    with nothing_left():
        yield


class People:
    """Programs that run beside each other."""

    def __init__(self, tmp_path: Path, channel: str) -> None:
        self.running: list[PlainProcess] = []
        self._tmp_path, self._channel = tmp_path, channel
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "People":
        off_by(DAY)  # it skips; among programs that start it would leave one behind
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    async def come(
        self, name: str, *options: str, ahead: Nanos = 0, channel: str | None = None
    ) -> PlainProcess:
        """Start somebody's program, with a clock that is `ahead` of the system's."""
        prefix = off_by(ahead) if ahead else ()
        where = channel or self._channel
        person = Person(name, self._tmp_path / name, "127.0.0.1", channel=where, prefix=prefix)
        program = PlainProcess(person, "--no-discovery", *options)
        await self._stack.enter_async_context(program)
        self.running.append(program)
        return program

    async def meet(self) -> None:
        """Connect everybody with everybody."""
        for number, one in enumerate(self.running):
            for other in self.running[:number]:
                if other.participant not in one.peers_up:
                    result = await one.ask(f"/connect 127.0.0.1:{other.port}")
                    assert result["ok"], result
        await everyone_sees_everyone(self.running)

    async def leave(self, program: PlainProcess) -> None:
        """End somebody's program as a person does."""
        assert await program.close() == 0
        self.running.remove(program)


async def verify(one: PlainProcess, other: PlainProcess) -> None:
    """Let somebody note that they compared words with another."""
    result = await one.ask(f"/verify {other.person.name} match")
    assert result["ok"], result


async def all_show(programs: list[PlainProcess], said: Event) -> None:
    """Wait until a message is delivered by all of them, not only kept aside."""
    await asyncio.gather(*(one.wait_for("message", id=said["id"]) for one in programs))


def off(message: Event) -> Nanos:
    """Return how far the time of a message is from the system time."""
    return abs(int(message["created_ns"]) - time.time_ns())


async def test_with_a_flat_battery_one_reads_and_is_read(tmp_path: Path) -> None:
    async with People(tmp_path, channel_of_its_own()) as people:
        alice = await people.come("alice", ahead=MINUTE - time.time_ns())
        [alone] = await alice.say("is it 1970?")
        bob = await people.come("bob")
        await people.meet()
        await all_show([bob], alone)
        [from_bob] = await bob.say("no")
        await all_show([alice], from_bob)
        await verify(alice, bob)
        [followed] = await alice.say("then I go by your clock")
        await all_show([bob], followed)

        assert texts(alice) == texts(bob)
        assert off(followed) < 2 * MINUTE, "who has no clock goes by that of who is verified"


async def test_a_clock_that_was_wrong_once_is_forgotten(tmp_path: Path) -> None:
    async with People(tmp_path, channel_of_its_own()) as people:
        dave = await people.come("dave", ahead=DAY)
        [early] = await dave.say("written alone, a day ahead")
        await people.leave(dave)
        names = ("alice", "bob", "carol", "dave")
        *others, dave = await asyncio.gather(*(people.come(name) for name in names))
        await people.meet()
        withdrawn = await dave.wait_for("withdrawn")
        [right] = await dave.say("my clock is right again")
        await all_show(others, right)
        await people.leave(dave)
        dave = await people.come("dave")
        await people.meet()
        [later] = await dave.say("and after a restart")
        await all_show(others, later)
        [answer] = await others[0].say("welcome back")
        await all_show([dave, *others], answer)

        assert withdrawn["ids"] == [early["id"]]
        assert all(early["id"] not in one.messages for one in others)


@pytest.mark.parametrize("follower", ["alice", "bob"])
async def test_of_two_who_differ_by_a_day_either_can_follow(tmp_path: Path, follower: str) -> None:
    async with People(tmp_path, channel_of_its_own()) as people:
        both = people.come("alice", ahead=DAY), people.come("bob")
        alice, bob = await asyncio.gather(*both)
        await people.meet()
        await verify(alice, bob)
        await verify(bob, alice)
        asked = [await one.wait_for(is_asked_by_the_known) for one in (alice, bob)]
        await alice.send("whose clock is right?")
        waiting = await alice.wait_for("parked", text="whose clock is right?")
        [from_bob] = await bob.say("mine, I think")
        await all_show([alice], from_bob)
        before = (alice.mark(), bob.mark())
        who = alice if follower == "alice" else bob
        result = await who.ask("/clock follow")
        for one, since in zip((alice, bob), before, strict=True):
            await one.wait_for(is_settled, since=since)
        shown = await bob.wait_for("message", text="whose clock is right?")
        [after] = await alice.say("now we agree")
        await all_show([bob], after)

        assert [event["question"]["ahead_ns"] < 0 for event in asked] == [True, False]
        assert waiting["waits"] is True
        assert result["ok"], result
        assert shown["author"] == alice.participant
        assert (off(after) < 2 * MINUTE) == (follower == "alice")


def is_asked_by_the_known(event: Event) -> bool:
    question = event["question"] if event["event"] == "clock" else None
    return question is not None and question["standing"]


def is_settled(event: Event) -> bool:
    return event["event"] == "clock" and event["question"] is None


class Liar(Station):
    """Somebody on the network, in a channel, who tells another time than it is."""

    def __init__(self, name: str, channel: str, tells: Nanos) -> None:
        super().__init__(name, channel)
        self.mesh._clock = Told(tells)


class Told(clock.Clock):
    """The real clock, but for what it tells others."""

    def __init__(self, wall: Nanos) -> None:
        super().__init__()
        self._wall = wall

    def wall(self) -> Nanos:
        return self._wall


async def test_strangers_set_nobodys_clock(tmp_path: Path) -> None:
    lobby = channel_of_its_own()
    year_ahead = time.time_ns() + 365 * DAY
    tells = [EVER, EVER, *[year_ahead] * 4]
    liars = [Liar(f"liar {number}", lobby, wall) for number, wall in enumerate(tells)]
    async with stations(*liars), People(tmp_path, lobby) as people:
        dials = [word for one in liars for word in ("--connect", f"127.0.0.1:{one.port}")]
        alice = await people.come("alice", *dials)
        founded = await alice.ask(f"{FOUND_CHANNEL} #friends")
        code = max((await alice.ask("/invite"))["text"].split(), key=len)
        bob = await people.come("bob", *dials, channel=code)
        joined = await bob.ask(f"/join {lobby}")
        back = await bob.ask("/channel #friends")
        await people.meet()
        strangers = {one.me for one in liars}
        await alice.until(lambda: strangers <= alice.peers_up, "alice has met the strangers")
        await bob.until(lambda: strangers <= bob.peers_up, "bob has met the strangers")
        await bob.until(
            lambda: any(
                change["nick"] == "bob" and change["after"] == "member"
                for event in bob.events("membership")
                for change in event["changes"]
            ),
            "bob was let in",
        )
        for number in range(3):
            [from_alice] = await alice.say(f"{number}: shall we meet?")
            [from_bob] = await bob.say(f"{number}: tomorrow")
            await all_show([bob], from_alice)
            await all_show([alice], from_bob)
            assert off(from_alice) < MINUTE
            assert off(from_bob) < MINUTE

        assert all(result["ok"] for result in (founded, joined, back))
        assert not alice.events("parked")
        assert not bob.events("parked")
        assert await alice.close() == 0
        assert await bob.close() == 0
