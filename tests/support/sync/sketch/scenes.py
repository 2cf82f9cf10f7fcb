"""Somebody who holds some lines, in a session by sketch with a peer that says what it likes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from msgspec.structs import replace

from sync.group.values import StoredMessage
from sync.sessions.handshake import EntityState, LogState, SyncHandshake
from sync.sessions.protocol import Brings, Effect, Finished, GoOn, Load, Send
from sync.sessions.protocol import Opening as SessionOpening
from sync.sessions.values import LoadEntries, Outcome
from sync.sim.streams import loaded
from sync.sketch.estimate import OPENING
from sync.sketch.key import SketchKey, derived
from sync.sketch.messages import SYMBOLS_MAX, Message, Opening, Reason, Stop, decode, encode
from sync.sketch.prefix import Prefix
from sync.sketch.session import SketchExchange
from sync.sketch.symbols import Symbols
from sync.structures.differences import Role
from sync.structures.ordered_set import EVERYTHING, OrderedSet, SyncId
from sync.structures.set_digest import Digest, Held
from tests.support.sync.entries import CHANNEL, identity
from tests.support.sync.groups import NOW, Member
from tests.support.sync.sketch.pairs import lines

EVE: Final = identity("eve").peer_id
KEY: Final = derived(b"hostile")
SCENE_KEY: Final = SketchKey.of(KEY)


@dataclass
class Scene:
    """One that holds some lines, in a session with Eve, who says what she likes."""

    role: Role = Role.INITIATOR
    told: Sequence[StoredMessage] = field(default_factory=lambda: lines(40))
    more: Sequence[SyncId] = ()
    floor: int = 0
    said: list[Message] = field(default_factory=list)
    brought: int = 0
    finished: Finished | None = None

    def __post_init__(self) -> None:
        self.member = Member("alice")
        self.items = OrderedSet()
        for one in self.told:
            self.member.hear(one)
        self.items.extend(self.member.group.holdings.items.items(*EVERYTHING))
        self.items.extend(self.more)
        frozen = self.items.frozen()
        symbols = Symbols.empty(SYMBOLS_MAX)
        prefix = Prefix(KEY, frozen)
        for part in frozen.parts(EVERYTHING.lower):
            symbols.put(part.hashes, prefix._key)
        prefix._symbols = symbols
        opening = SessionOpening(
            self.role,
            CHANNEL,
            EVE,
            frozen,
            Held(frozen, Digest.of(frozen)),
            EVERYTHING,
            NOW,
            lambda: 1_000_000,
            log=prefix.frozen(frozen, 0, NOW),
        )
        state = EntityState(bytes(32), 0, 0)
        ours = SyncHandshake(bytes(32), LogState(bytes(32), len(frozen)), state, 0)
        theirs = replace(ours, log=replace(ours.log, floor=self.floor))
        self.exchange = SketchExchange(opening, ours, theirs)
        if self.role is Role.INITIATOR:
            self.do(lambda: self.exchange.open(NOW))

    @property
    def symbols(self) -> Symbols:
        """Symbols of one that holds the same, to be tampered with."""
        symbols = Symbols.empty(SYMBOLS_MAX)
        for part in self.items.parts(EVERYTHING.lower):
            symbols.put(part.hashes, SketchKey.of(KEY))
        return symbols

    def hear(self, *messages: Message) -> "Scene":
        for message in messages:
            payload = encode(message)
            self.do(lambda payload=payload: self.exchange.payload(payload, NOW))  # type: ignore[misc]
        return self

    def opened(self, symbols: Symbols, floor: int = 0) -> "Scene":
        """Hear an opening of the first of these symbols."""
        first = symbols.part(0, OPENING)
        return self.hear(Opening(SYMBOLS_MAX, floor, 2**31 - 1, first))

    def do(self, step: Callable[[], Sequence[Effect]]) -> None:
        for effect in step():
            match effect:
                case Send(payload):
                    self.said.append(decode(payload))
                case GoOn():
                    self.do(lambda: self.exchange.go_on(NOW))
                case Load(spans, after, ids, messages):
                    wanted = LoadEntries(1, spans, after, ids, messages)
                    page = loaded(self.member.disk, wanted).page
                    self.do(lambda page=page: self.exchange.loaded(page, NOW, more=False))  # type: ignore[misc]
                case Brings():
                    self.brought += 1
                case Finished():
                    self.finished = effect
                case _:
                    pass

    def stopped(self, reason: Reason) -> bool:
        """Return whether it stopped for this reason, and goes on by another kind."""
        assert self.finished is not None
        failed = self.finished.outcome is Outcome.NOT_CONVERGED
        assert failed == (reason is Reason.POISONED)
        assert (self.finished.then, self.finished.why) == ("waku", reason.words)
        assert not self.finished.checked
        return self.said[-1] == Stop(reason)


def noise(size: int, seed: int = 1) -> Symbols:
    rows = np.random.default_rng(seed).integers(0, 2**64, (size, 5), dtype=np.uint64)
    return Symbols(rows, np.ones(size, np.int32))
