"""Messages for the benchmarks of SDS: real bytes, made once, and channels of any length."""

import gc
import hashlib
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from sync.machine import MILLISECOND, MessageId, PeerId
from sync.sds.channel import Channel
from sync.sds.events import Connected, Restored
from sync.sds.incoming import Content
from sync.sds.message import HistoryEntry, Message
from sync.sds.parameters import LAN, Parameters
from sync.sds.wire import encode
from sync.structures.bloom import RollingBloomFilter
from sync.structures.bloom_parameters import BloomParameters
from tests.support.sync.channels import CHANNEL, NOW, channel, peer

AUTHORS: Final = [peer(f"author {number}") for number in range(5)]
LAMPORT: Final = NOW // MILLISECOND - 10_000_000
CONTENT: Final = b"x" * 300
HINT: Final = b"h" * 32


@cache
def ident(number: int) -> MessageId:
    return MessageId(hashlib.sha256(b"%d" % number).hexdigest())


def author(number: int) -> PeerId:
    return AUTHORS[number % len(AUTHORS)]


def history(number: int) -> tuple[HistoryEntry, ...]:
    """The two messages before."""
    before = range(max(0, number - 2), number)
    return tuple([HistoryEntry(ident(one), HINT, author(one)) for one in before])


@cache
def filters(parameters: BloomParameters) -> list[bytes]:
    """Sixteen filters, each as full as a filter usually is, of ids that nobody looks for."""
    made = []
    for number in range(16):
        one = RollingBloomFilter(parameters)
        for item in range(3 * parameters.capacity // 4):
            one.insert(f"{number}/{item}")
        made.append(one.to_bytes())
    return made


def filter_of(parameters: BloomParameters, held: Sequence[str]) -> bytes:
    one = RollingBloomFilter(parameters)
    for item in held:
        one.insert(item)
    return one.to_bytes()


def message(number: int, bloom_filter: bytes | None) -> Message:
    return Message(
        author(number),
        ident(number),
        CHANNEL,
        LAMPORT + number,
        history(number),
        bloom_filter,
        (),
        CONTENT,
    )


def wire(first: int, count: int, parameters: Parameters = LAN) -> list[bytes]:
    """Messages `first` and on, as they come over a link, a filter in each."""
    there = filters(parameters.bloom)
    return [
        encode(message(number, there[number % len(there)]))
        for number in range(first, first + count)
    ]


def holding(count: int, parameters: Parameters = LAN) -> Channel:
    """A channel that has the first `count` messages in its log, and one peer."""
    one = channel("alice", peers=0, parameters=parameters)
    rows = bytearray()
    for number in range(count):
        rows += (LAMPORT + number).to_bytes(8, "big") + bytes.fromhex(_hex(number))
    tips = tuple(
        [
            Content(ident(number), author(number), LAMPORT + number, history(number), HINT)
            for number in range(max(0, count - 2), count)
        ]
    )
    one.handle(Restored(bytes(rows), tips, outgoing=(), waiting=()), NOW)
    one.handle(Connected(1), NOW)
    return one


def _hex(number: int) -> str:
    """As `ident`, which would remember a million of them."""
    return hashlib.sha256(b"%d" % number).hexdigest()


def main() -> None:
    """Print how many bytes of memory a message takes in a channel of the given length."""
    count = int(sys.argv[1])
    held = [holding(1_000)]  # what is loaded once is not counted
    gc.collect()
    before = _resident()
    held.append(holding(count))
    gc.collect()
    print((_resident() - before) / count)


def _resident() -> int:
    """Bytes of memory this process has."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


if __name__ == "__main__":
    main()
