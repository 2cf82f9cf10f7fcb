"""An honest member and a peer that sends whatever a test writes by hand."""

import random
from collections.abc import Sequence

from sync.group import values
from sync.group.history_loading import LEFT_MAX, STALLED_AFTER
from sync.sessions.table import SHOWN_MAX
from sync.structures.codec import append_uvarint
from sync.waku.message import (
    CLUSTER,
    EVERYTHING,
    PAYLOAD_BYTES_MAX,
    RANGES_MAX,
    RECONCILIATION,
    Range,
    Ranges,
    RangesData,
    shard,
)
from sync.waku.session import ROUNDS_MAX as ROUNDS_SHOWN_MAX
from sync.waku.wire import encode_ranges
from tests.support.sync.entries import CHANNEL
from tests.support.sync.groups import NOW, Member, only
from tests.support.sync.pairs import Pair, pair

EFFECTS_MAX = 8
"""More than an answer, a difference, an end, a push and a refusal never follow one payload."""


STREAM = 900


def header() -> bytearray:
    encoded = bytearray()
    for number in (CLUSTER, 1, shard(CHANNEL)):
        append_uvarint(encoded, number)
    return encoded


def raw(*parts: int | bytes) -> bytes:
    """A payload's header and what follows: numbers as varints, bytes as they are."""
    encoded = header()
    for part in parts:
        if isinstance(part, int):
            append_uvarint(encoded, part)
        else:
            encoded += part
    return bytes(encoded)


def ranges(*given: Range) -> bytes:
    return encode_ranges(RangesData(CLUSTER, (shard(CHANNEL),), Ranges.of(given)))


SKIP, FINGERPRINT, ITEM_SET = b"\0", b"\1", b"\2"


GARBAGE: dict[str, bytes] = {
    "a bound below the one before it": raw(5, SKIP, b"\0\x01\x09", SKIP, b"\0\x01\x03", SKIP),
    "the same bound again": raw(5, SKIP, b"\0\x01\0", SKIP),
    "an overlong varint": raw(b"\x85\x00", SKIP),
    "a varint that never ends": raw(b"\xff" * 200),
    "2^60 shards": bytes(header()[:3]) + raw(2**60)[-9:],
    "2^60 items": raw(5, ITEM_SET, 2**60, b"\0"),
    "items that fall": raw(9, ITEM_SET, 2, 3, b"\2" * 32, 0, b"\1" * 32, b"\0"),
    "items outside their range": raw(2, ITEM_SET, 1, 7, b"\2" * 32, b"\0"),
    "a fourth kind of range": raw(5, b"\3"),
    "a fingerprint that breaks off": raw(5, FINGERPRINT, b"\1" * 31),
    "a flag of 2": raw(5, ITEM_SET, 0, b"\2"),
    "too many tiny ranges": raw(*[b"\1\0"] * (RANGES_MAX + 1)),
    "a mebibyte of noise": random.Random(1).randbytes(PAYLOAD_BYTES_MAX),
    "a mebibyte of ones": b"\xff" * PAYLOAD_BYTES_MAX,
    "a mebibyte of zeros": bytes(PAYLOAD_BYTES_MAX),
    "over a mebibyte": raw(5, ITEM_SET) + bytes(PAYLOAD_BYTES_MAX),
}


def attacked() -> tuple[Member, Pair]:
    """The member under attack, who holds a hundred lines, and its streams to the attacker."""
    both = pair()
    for number in range(100):
        both.one.write(f"line {number}")
        if number % 10 == 0:
            both.other.write(f"other line {number}")
    return both.one, both


def tell(honest: Member, event: values.Input) -> list[values.Effect]:
    """Give an input, and hold what comes of it against the bounds."""
    effects = honest.tell(event)
    sent = [effect.payload for effect in only(values.SendPayload, effects)]
    assert len(effects) <= EFFECTS_MAX, [type(effect).__name__ for effect in effects]
    assert all(len(payload) <= PAYLOAD_BYTES_MAX for payload in sent)
    assert len(honest.group.sessions.by_peer) <= 1
    return effects


def offer(honest: Member, both: Pair, protocol: str | None = None) -> list[values.Effect]:
    if protocol is None:
        return tell(
            honest, values.SessionOffered(STREAM, both.beside(honest).peer_id, RECONCILIATION)
        )
    return tell(honest, values.SessionOffered(STREAM + 1, both.beside(honest).peer_id, protocol))


def ended(effects: Sequence[values.Effect]) -> values.SessionEnded:
    [end] = only(values.SessionEnded, effects)
    return end


def check_unharmed(honest: Member, both: Pair) -> None:
    """Nothing is left over, and an honest session makes both equal."""
    sessions = honest.group.sessions
    assert not sessions.by_peer
    assert len(honest.group.loading.coming) <= LEFT_MAX
    assert len(sessions.shown) <= SHOWN_MAX
    assert all(len(shown.rounds) <= ROUNDS_SHOWN_MAX for shown in sessions.shown)
    both.ended.clear()
    both.queue.clear()
    both.start(honest)
    both.run()
    assert both.one.shown() == both.other.shown()
    assert all(end.converged for end in both.ended), both.ended
    assert len(both.ended) == 2
    honest.advance(NOW + 2 * STALLED_AFTER)
    assert not honest.group.loading.coming
    assert honest.group.loading.deadline() is None


def fingerprint(of: Member) -> bytes:
    return of.group.holdings.items.fingerprint(*EVERYTHING)
