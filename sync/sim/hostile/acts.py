"""Acts of hostile members: a table of small functions, each of which yields the deeds it takes.

An act draws from the member's own generator and knows what any member knows: who is there, what it
has on its disk, and what it overheard. It makes whatever bytes it likes.
`sync.sim.hostile.members` carries its deeds out.
"""

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from sync.check.message import CHECK
from sync.entries.entry import Header, Kind, Text, encode_content, encode_text, seal
from sync.entries.identity import Identity
from sync.group.ingest import Gate, message_of, parents_of
from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, ChannelId, MessageId, Nanos
from sync.sds.message import HISTORY_MAX, REPAIR_MAX, HistoryEntry, Message
from sync.sds.wire import encode
from sync.waku.message import (
    RECONCILIATION,
    TIMESTAMP_MAX,
    WakuMessage,
    content_topic,
    pubsub_topic,
)
from sync.waku.reading import UINT64_MAX
from sync.waku.wire import encode_transfer

BURST: Final = 60
"""Lines of a flood; some floods a run make hundreds."""

NAMES: Final = 40
"""Sync messages with invented names in one go, of 16 names each."""

YEAR: Final[Nanos] = 8766 * HOUR


class Say(Struct, frozen=True):
    """A frame on the links of `by` (0: its own, else an alias) to `to`; empty: to all."""

    payload: bytes
    to: tuple[int, ...] = ()
    by: int = 0


class TellClock(Struct, frozen=True):
    """Its pings, and those of its aliases, tell a clock so far ahead; None: the right one."""

    ahead: Nanos | None


class MakeLinks(Struct, frozen=True):
    """Links of so many aliases to everybody; 0 takes them down."""

    count: int


class OpenStream(Struct, frozen=True):
    """A session stream to `to`, the payloads on it, and then silence."""

    to: int
    protocol: str
    payloads: tuple[bytes, ...] = ()


class Transfer(Struct, frozen=True):
    """A transfer stream to `to`, which is ended or left open."""

    to: int
    payloads: tuple[bytes, ...] = ()
    ends: bool = True


class Manner(Enum):
    """Behaviour of a hostile member in its own sessions."""

    HONEST = "honest"
    WITHHOLD = "finds differences and brings nothing"
    STALL = "falls silent in the midst"
    DELAY = "sends each payload late"
    GARBLE = "sends other bytes than it should"
    TAMPER = "brings what was not signed"


class Behave(Struct, frozen=True):
    """From now on its own sessions go so, for a while."""

    manner: Manner


class Claim(Struct, frozen=True):
    """From now on its sessions claim so many messages that do not exist."""

    count: int


Deed: TypeAlias = Claim | Say | TellClock | MakeLinks | OpenStream | Transfer | Behave


@dataclass(slots=True)
class Mind:
    """Knowledge and identities of a hostile member."""

    rng: random.Random
    keys: Sequence[Identity]
    """Its own, and those of its aliases."""
    sign: Callable[[Identity, bytes], bytes]
    channel: ChannelId
    gate: Gate
    filter_bytes: int
    honest: Sequence[int]
    """The numbers of those it acts against."""
    now: Nanos = 0
    held: Sequence[Message] = ()
    """Messages on its disk, oldest first."""
    overheard: Sequence[bytes] = ()
    """Frames of others."""
    seq: int = 0
    """Of its entries beside those of its engine: each is in a log of its own."""

    # --- What acts are made of -----------------------------------------------------------------

    def invented(self) -> MessageId:
        """Return the id of a message that nobody wrote."""
        return MessageId(self.rng.randbytes(32).hex())

    def victim(self) -> int:
        """Return somebody honest."""
        return self.rng.choice(self.honest)

    def newest(self, count: int) -> tuple[HistoryEntry, ...]:
        """Return the newest messages it has, as parents."""
        return tuple([self.name_of(one) for one in self.held[-count:]])

    def name_of(self, message: Message) -> HistoryEntry:
        """Return how a message is named."""
        waku_hash = self.gate.check(message).waku_hash
        return HistoryEntry(message.message_id, waku_hash, message.sender_id)

    def write_entry(  # whatever a header has
        self,
        text: str,
        *,
        by: int = 0,
        ahead: Nanos = 0,
        parents: tuple[HistoryEntry, ...] = (),
        log: int | None = None,
        lamport: int | None = None,
    ) -> Message:
        """Return a line that is rightly signed; all else about it may be a lie."""
        self.seq += 1
        key, body = self.keys[by], encode_text(Text("mallory", f"{text} {self.seq}"))
        header = Header(
            author=key.peer_id,
            channel_id=self.channel,
            log=self.rng.getrandbits(63) if log is None else log,
            seq=1,
            backlink=None,
            skiplink=None,
            created_ns=min(max(0, self.now + ahead), TIMESTAMP_MAX - 1),
            lamport=(self.now + ahead) // MILLISECOND if lamport is None else lamport,
            parents=parents_of(parents),
            kind=Kind.TEXT,
            body_size=len(body),
            body_hash=hashlib.sha256(body).digest(),
        )
        return message_of(seal(header, body, lambda data: self.sign(key, data)))

    def sync(  # whatever a sync message has
        self,
        *,
        by: int = 0,
        names: tuple[HistoryEntry, ...] = (),
        asks: tuple[HistoryEntry, ...] = (),
        bloom_filter: bytes | None = None,
    ) -> bytes:
        """Return a sync message that says so."""
        me = self.keys[by].peer_id
        lamport = self.now // MILLISECOND
        return encode(
            Message(me, self.invented(), self.channel, lamport, names, bloom_filter, asks)
        )


Act: TypeAlias = Callable[[Mind], Iterator[Deed]]


# --- Clocks ------------------------------------------------------------------------------------


def tell_false_clocks(mind: Mind) -> Iterator[Deed]:
    """Clocks far ahead, of 1970, of the end of time, or just over what is borne."""
    ahead = [YEAR, 6 * MINUTE, -mind.now, UINT64_MAX - mind.now, 10 * SECOND, None]
    yield TellClock(mind.rng.choice(ahead))


def write_in_the_future(mind: Mind) -> Iterator[Deed]:
    """Lines of tomorrow, of the year 2200, and of the last Lamport time there is."""
    for ahead in (5 * MINUTE + SECOND, 24 * HOUR, 175 * YEAR):
        yield Say(encode(mind.write_entry("tomorrow", ahead=ahead)))
    yield Say(encode(mind.write_entry("the end", lamport=UINT64_MAX)))
    yield Say(encode(mind.write_entry("long ago", ahead=-mind.now, lamport=1)))


# --- Floods ------------------------------------------------------------------------------------


def flood_lines(mind: Mind) -> Iterator[Deed]:
    """Lines, more than anybody reads, of one author."""
    parents = mind.newest(2)
    for _ in range(BURST):
        yield Say(encode(mind.write_entry("flood", parents=parents)))


def flood_authors(mind: Mind) -> Iterator[Deed]:
    """Lines, each of another key."""
    for by in range(1, len(mind.keys)):
        yield Say(encode(mind.write_entry("flood", by=by)))


def flood_links(mind: Mind) -> Iterator[Deed]:
    """Identities without end, each with a link to everybody; or they all go."""
    yield MakeLinks(mind.rng.choice([len(mind.keys) - 1, len(mind.keys) - 1, 0]))


def replay(mind: Mind) -> Iterator[Deed]:
    """Replay overheard frames."""
    for payload in mind.rng.sample(mind.overheard, min(BURST, len(mind.overheard))):
        yield Say(payload)


# --- Names -------------------------------------------------------------------------------------


def invent_parents(mind: Mind) -> Iterator[Deed]:
    """Lines that name what nobody has ever written."""
    for count in (1, 2, HISTORY_MAX):
        author = mind.keys[mind.rng.randrange(len(mind.keys))].peer_id
        names = [(mind.invented(), mind.rng.randbytes(32), author) for _ in range(count)]
        parents = tuple([HistoryEntry(*name) for name in names])
        yield Say(encode(mind.write_entry("as I said", parents=parents)))


def invent_names(mind: Mind) -> Iterator[Deed]:
    """Sync messages of several keys with names that nobody has; some name the same."""
    shared = tuple([HistoryEntry(mind.invented()) for _ in range(HISTORY_MAX)])
    for number in range(NAMES):
        names = tuple([HistoryEntry(mind.invented()) for _ in range(HISTORY_MAX)])
        by = number % min(5, len(mind.keys))
        yield Say(mind.sync(by=by, names=shared if number % 5 == 0 else names), by=by)


def ask_without_sender(mind: Mind) -> Iterator[Deed]:
    """Requests that do not say who wrote what they ask for, which nobody can answer."""
    if mind.held:
        wanted = mind.rng.sample(mind.held, min(REPAIR_MAX, len(mind.held)))
        yield Say(mind.sync(asks=tuple([HistoryEntry(one.message_id) for one in wanted])))


def ask_for_everything(mind: Mind) -> Iterator[Deed]:
    """Requests for all there is, as if the author were one who is far away."""
    held = mind.held[-8 * REPAIR_MAX :]
    for at in range(0, len(held), REPAIR_MAX):
        some = held[at : at + REPAIR_MAX]
        author = mind.keys[-1].peer_id
        yield Say(
            mind.sync(asks=tuple([HistoryEntry(one.message_id, None, author) for one in some]))
        )


def claim_to_have(mind: Mind) -> Iterator[Deed]:
    """Filters of ones, of zeros and of the wrong size; names of what it may not have."""
    for bloom_filter in (b"\xff" * mind.filter_bytes, bytes(mind.filter_bytes), b"\xff", b""):
        yield Say(mind.sync(bloom_filter=bloom_filter, names=mind.newest(HISTORY_MAX)))


def send_huge_lists(mind: Mind) -> Iterator[Deed]:
    """One name more than may be, one request more, ids that are none, and a megabyte."""
    names = [HistoryEntry(mind.invented()) for _ in range(300)]
    yield Say(mind.sync(names=tuple(names[: HISTORY_MAX + 1])))
    yield Say(mind.sync(names=tuple(names)))
    yield Say(mind.sync(asks=tuple(names[: REPAIR_MAX + 1])))
    yield Say(mind.sync(names=(HistoryEntry(MessageId("../../etc/passwd")),)))
    yield Say(bytes(1 << 20))
    yield Say(mind.rng.randbytes(200))


# --- Forgery -----------------------------------------------------------------------------------


def forged(mind: Mind) -> Message | None:
    """Return a line in the name of somebody honest, signed by another key."""
    others = [one for one in mind.held if one.sender_id not in {key.peer_id for key in mind.keys}]
    if not others:
        return None
    author = mind.rng.choice(others).sender_id
    line = mind.write_entry("I owe mallory a thousand")
    stored = mind.gate.check(line)
    header = replace(stored.entry.header, author=author)
    key = mind.keys[0]
    return message_of(seal(header, stored.entry.body, lambda data: mind.sign(key, data)))


def tampered(mind: Mind) -> Message | None:
    """Return somebody's line with another body under its signature."""
    if not mind.held:
        return None
    message = mind.rng.choice(mind.held)
    entry = mind.gate.check_copy(message)
    body = encode_text(Text("alice", "something else"))
    return replace(message, content=encode_content(entry.header_bytes, entry.signature, body))


def forge(mind: Mind) -> Iterator[Deed]:
    """Send forged messages: by broadcast, as if they were answers, and by transfer."""
    for message in (forged(mind), tampered(mind)):
        if message is None:
            continue
        yield Say(encode(message))
        yield Transfer(mind.victim(), (waku_of(mind, encode(message)),))
    if mind.held:
        message = mind.rng.choice(mind.held)
        yield Say(encode(replace(message, lamport=(message.lamport or 0) + 1)))
        yield Say(encode(replace(message, message_id=mind.invented())))
        yield Say(encode(replace(message, sender_id=mind.keys[0].peer_id)))
        yield Say(encode(replace(message, causal_history=(HistoryEntry(mind.invented()),))))
    yield Say(mind.sync(names=mind.newest(2)), by=min(1, len(mind.keys) - 1))


def garble(mind: Mind) -> Iterator[Deed]:
    """Real lines in other bytes than the canonical ones, or with one of them changed."""
    if not mind.held:
        return
    payload = encode(mind.rng.choice(mind.held))
    unknown_field = b"\xfa\x7f\x01x"
    yield Say(payload + unknown_field)
    yield Transfer(mind.victim(), (waku_of(mind, payload + unknown_field),))
    at = mind.rng.randrange(len(payload))
    yield Say(payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1 :])
    yield Say(payload[:at])


def waku_of(mind: Mind, payload: bytes) -> bytes:
    """Return a payload as a transfer carries it."""
    waku = WakuMessage(payload, content_topic(mind.channel), mind.now)
    return encode_transfer(waku, pubsub_topic(mind.channel))


def fork(mind: Mind) -> Iterator[Deed]:
    """Two entries of one number in one log, each half of the people gets another one."""
    log = mind.rng.getrandbits(63)
    half = len(mind.honest) // 2
    yield Say(encode(mind.write_entry("heads", log=log)), to=tuple(mind.honest[:half]))
    yield Say(encode(mind.write_entry("tails", log=log)), to=tuple(mind.honest[half:]))


def whisper(mind: Mind) -> Iterator[Deed]:
    """A line that one person alone gets."""
    yield Say(encode(mind.write_entry("only you", parents=mind.newest(2))), to=(mind.victim(),))


# --- Sessions ----------------------------------------------------------------------------------


def hold_sessions(mind: Mind) -> Iterator[Deed]:
    """Session streams that are opened, and on which nothing comes, or but a beginning."""
    for to in mind.honest:
        yield OpenStream(to, RECONCILIATION)
        yield OpenStream(to, CHECK, (mind.rng.randbytes(40),))
        yield Transfer(to, ends=False)


def send_nonsense_sessions(mind: Mind) -> Iterator[Deed]:
    """Sessions of random bytes, and of ranges without end."""
    yield OpenStream(mind.victim(), RECONCILIATION, (mind.rng.randbytes(300),))
    yield OpenStream(mind.victim(), RECONCILIATION, (b"\xff" * 5000,))
    yield OpenStream(mind.victim(), RECONCILIATION, (bytes(1 << 16),))


def transfer_unasked(mind: Mind) -> Iterator[Deed]:
    """Lines that nobody asked for, outside of any session."""
    lines = [mind.write_entry("unasked") for _ in range(5)]
    yield Transfer(mind.victim(), tuple([waku_of(mind, encode(line)) for line in lines]))


def claim_history(mind: Mind) -> Iterator[Deed]:
    """A history that it will never bring, found missing by everybody who compares with it."""
    yield Claim(mind.rng.choice([1, 30, 300]))


def reconcile_falsely(mind: Mind) -> Iterator[Deed]:
    """Its own sessions claim what it never brings, stall, lie in the check, or bring forgeries."""
    yield Behave(mind.rng.choice(list(Manner)))


ACTS: Final[dict[str, Act]] = {
    "false clocks told": tell_false_clocks,
    "lines of the future": write_in_the_future,
    "floods of lines": flood_lines,
    "floods of authors": flood_authors,
    "floods of links": flood_links,
    "replayed frames": replay,
    "invented parents": invent_parents,
    "invented names": invent_names,
    "requests without a sender": ask_without_sender,
    "requests for everything": ask_for_everything,
    "false filters": claim_to_have,
    "huge lists": send_huge_lists,
    "forgeries": forge,
    "other bytes": garble,
    "two-faced forks": fork,
    "whispers": whisper,
    "idle sessions": hold_sessions,
    "nonsense in sessions": send_nonsense_sessions,
    "unasked transfers": transfer_unasked,
    "history that is not there": claim_history,
    "false reconciliation": reconcile_falsely,
}
"""By the name that people read; a name says what others suffer."""
