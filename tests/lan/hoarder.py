"""Attack on memory, run as `python -m tests.lan.hoarder TARGET PORT IDENTITIES CHANNEL` on a host.

It does all at once what takes memory, in an open channel, until its input ends, and prints one JSON
object a line. `FLOODS` links send large frames as fast as they are read; so many people as asked
for begin a large frame each and stay; `CLAIMANTS` claim to hold what nobody has, again and again;
`IDLE_SESSIONS` connections for sessions are opened, begun and left alone.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from typing import TypeVar

from sync.errors import RemoteError
from sync.machine import ChannelId
from sync.net.clock import draw_key
from sync.net.invite import open_channel
from sync.net.links.channel_proofs import Membership
from sync.net.links.channel_secrets import plain
from sync.net.links.frames import Open, Ping, Proof, SdsFrame, decode, encode
from sync.net.links.link import LINK_FRAME_MAX, PROTOCOL
from sync.net.links.stream import FRAME_MAX, SecureStream
from sync.structures.ordered_set import ORIGIN, ZERO_HASH, SyncId
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    RECONCILIATION,
    TRANSFER,
    Bounds,
    Fingerprint,
    ItemSet,
    Ranges,
    RangesData,
    shard,
)
from sync.waku.wire import encode_ranges
from tests.lan.attacker import PING_S, end_of_input, say
from tests.support.sync.entries import identity
from tests.support.sync.streams import begin

FLOODS = CLAIMANTS = 8
IDLE_SESSIONS = 64
AT_ONCE = 4
"""Handshakes at once; an address has eight."""

LARGE = 250_000
"""Bytes of a large frame, nearly all that a link may carry."""

FRAMES_FIRST = 20
"""Frames of each flood that are taken before the attack has begun: five megabytes."""

CLAIMED = 500_000
CLAIMED_AT_ONCE = 16_000
"""Ids that one session claims, and those of one payload."""

CLAIM_AGAIN_S = 0.2
TIMES_MAX = 100
"""Between two claims of one claimant, and how many there are."""

T = TypeVar("T")


class Hoarder:
    """See the module docstring; `sent` is the bytes of whole frames that were taken, by sender."""

    def __init__(self, target: str, port: str, channel: str) -> None:
        self.sent: Counter[str] = Counter()
        self._opened = open_channel(channel)
        self._streams: list[SecureStream] = []
        self._target, self._port = target, int(port)
        self._go = asyncio.Event()
        self._flooding = asyncio.Semaphore(0)

    async def run(self, people: int) -> None:
        """Attack until the input ends."""
        async with asyncio.TaskGroup() as attacking:
            floods = await gathered(
                [self.connect(f"flood {number}", PROTOCOL) for number in range(FLOODS)]
            )
            tasks = [attacking.create_task(self.flood(stream)) for stream in floods]
            tasks += [attacking.create_task(self.claim(number)) for number in range(CLAIMANTS)]
            half_frames = await gathered([self.stay(number) for number in range(people)])
            await gathered([self.idle(number) for number in range(IDLE_SESSIONS)])
            self._go.set()
            for _ in floods:
                await self._flooding.acquire()
            say(begun=len(self._streams), half_frames=sum(half_frames))
            await end_of_input()
            say(sent=self.sent)
            for task in tasks:
                task.cancel()
            for stream in self._streams:
                stream.abort()

    async def connect(self, who: str, protocol: str) -> SecureStream:
        """Open a connection as `who`, and prove the channel."""
        stream = await SecureStream.dial(self._target, self._port, identity(who), draw_key)
        self._streams.append(stream)
        secrets = {self._opened.channel: plain(self._opened.secret)}
        proofs = Membership(stream.role, stream.handshake_hash, secrets).opening()
        stream.send_batch([encode(Open(protocol, 0)), *map(encode, map(Proof, proofs))])
        while (answer := await stream.receive()) is not None:
            if isinstance(decode(answer), Proof):
                return stream  # from here on large frames may come
        raise RemoteError("it does not want us")

    async def flood(self, stream: SecureStream) -> None:
        """Send large frames; until all others are there only pings."""
        frame = encode(SdsFrame(self._opened.channel, bytes(LARGE)))
        who = f"flood {stream.peer}"
        with suppress(RemoteError):
            while not self._go.is_set():
                stream.send(encode(Ping(1, 0)))
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._go.wait(), PING_S)
            for number in count(1):
                stream.send(frame)
                await stream.drain()
                self.sent[who] += LARGE
                if number == FRAMES_FIRST:
                    self._flooding.release()
        self._flooding.release()

    async def claim(self, number: int) -> None:
        """Claim what nobody has, in one session after the other, each by somebody else."""
        for time in range(TIMES_MAX):
            who = f"claimant {number} {time}"
            with suppress(RemoteError):
                stream = await self.connect(who, RECONCILIATION)
                for payload in invented(self._opened.channel):
                    stream.send(payload)
                    self.sent[who] += len(payload)
                    if await stream.receive() is None:
                        break
            await asyncio.sleep(CLAIM_AGAIN_S)

    async def stay(self, number: int) -> bool:
        """Link as somebody, begin a frame of the largest size, and stay; were we let in?"""
        with suppress(RemoteError):
            stream = await self.connect(f"person {number}", PROTOCOL)
            begin(stream, LINK_FRAME_MAX)
            return True
        return False

    async def idle(self, number: int) -> None:
        """Open a connection for a session, and begin a payload if it is wanted; each key has 8."""
        with suppress(RemoteError):
            kind = (TRANSFER, RECONCILIATION)[number // 8 % 2]
            begin(await self.connect(f"idle {number // 8}", kind), FRAME_MAX)


def invented(channel: ChannelId) -> Iterator[bytes]:
    """Payloads of so many ids each that nobody has, never the same, with something left open."""
    for first in range(1, CLAIMED, CLAIMED_AT_ONCE):
        middle = SyncId(first + CLAIMED_AT_ONCE, ZERO_HASH)
        ids = [SyncId(at, at.to_bytes(32)) for at in range(first, middle.timestamp)]
        claim = ItemSet(Bounds(ORIGIN, middle), tuple(ids), reconciled=True)
        rest = Fingerprint(Bounds(middle, EVERYTHING.upper), b"\1" * 32)
        yield encode_ranges(RangesData(CLUSTER, (shard(channel),), Ranges.of((claim, rest))))


async def gathered(connecting: Sequence[Awaitable[T]]) -> list[T]:
    """Return the results of all, some of which are under way at once."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(waiting: Awaitable[T]) -> T:
        async with places:
            return await waiting

    return await asyncio.gather(*map(one, connecting))


if __name__ == "__main__":
    _, target, port, identities, channel = sys.argv
    asyncio.run(Hoarder(target, port, channel).run(int(identities)))
