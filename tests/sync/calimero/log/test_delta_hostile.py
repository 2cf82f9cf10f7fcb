"""Delta sync with a peer that lies: it costs time, never data, and what nobody asked for is out."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import pytest

from sync.calimero.log import delta
from sync.calimero.log.delta import TURNS_MAX, DeltaExchange
from sync.calimero.log.delta_filter import IdFilter
from sync.calimero.log.delta_messages import (
    LAMPORT_MAX,
    WALK_MAX,
    BloomFilter,
    DeltaEntries,
    Message,
    Stretch,
    Want,
    decode,
    encode,
)
from sync.entries.entry import Entry
from sync.errors import RemoteError
from sync.group.values import StoredMessage
from sync.group.views.delta import FrozenMessages
from sync.machine import ChannelId
from sync.sessions.handshake import EntityState, LogState, SyncHandshake
from sync.sessions.protocol import Brings, Effect, Finished, GoOn, Load, Opening, Send
from sync.sessions.values import LoadEntries
from sync.sim.streams import loaded
from sync.structures.differences import Role
from sync.structures.ordered_set import EVERYTHING
from tests.support.sync.entries import CHANNEL, Author, identity
from tests.support.sync.groups import NOW, NOW_MS
from tests.support.sync.meetings.delta_pairs import DeltaPair, conversation, pair

EVE = identity("eve").peer_id
HOLE = 30


def id_of(line: StoredMessage) -> bytes:
    return bytes.fromhex(line.entry.message_id)


def handshake(heads: Sequence[StoredMessage]) -> SyncHandshake:
    log = LogState(bytes(32), 60, heads=tuple(sorted(map(id_of, heads))))
    return SyncHandshake(bytes(32), log, EntityState(bytes(32), 0, 0), 0)


@dataclass
class Scene:
    """A member that lacks one line, in a session with Eve, who says what she likes."""

    both: DeltaPair = field(default_factory=pair)
    lines: list[StoredMessage] = field(default_factory=lambda: conversation(60))
    said: list[Message] = field(default_factory=list)
    brought: list[Entry] = field(default_factory=list)
    finished: bool = False

    def __post_init__(self) -> None:
        self.member = self.both.one
        self.both.hear(self.member, self.lines, {HOLE})

    def begin(self, role: Role = Role.INITIATOR, heads: Sequence[StoredMessage] = ()) -> "Scene":
        group = self.member.group
        local, held = group.holdings.frozen()
        frozen = FrozenMessages(group)
        opening = Opening(
            role, CHANNEL, EVE, local, held, EVERYTHING, NOW, lambda: 1_000_000, log=frozen
        )
        ours = handshake(self.lines[-16:])
        theirs = handshake(heads) if heads else ours
        self.exchange = DeltaExchange(opening, ours, theirs)
        if role is Role.INITIATOR:
            self.carry_out(self.exchange.open(NOW))
        return self

    def hear(self, *messages: Message) -> None:
        for message in messages:
            self.carry_out(self.exchange.payload(encode(message), NOW))

    def carry_out(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(payload):
                    self.said.append(decode(payload))
                case GoOn():
                    self.carry_out(self.exchange.go_on(NOW))
                case Load(spans, after, ids, messages):
                    wanted = LoadEntries(1, spans, after, ids, messages)
                    page = loaded(self.member.disk, wanted).page
                    self.carry_out(self.exchange.loaded(page, NOW, more=False))
                case Brings(entry):
                    self.brought.append(entry)
                case Finished():
                    self.finished = True
                case _:
                    pass


def entries(*lines: StoredMessage) -> DeltaEntries:
    return DeltaEntries(tuple([one.entry.content for one in lines]))


def late(text: str = "late", lamport: int = 100) -> StoredMessage:
    return Author("late").write(text, lamport=NOW_MS + lamport)


def no_filter(floor: int = LAMPORT_MAX) -> BloomFilter:
    return BloomFilter(floor, IdFilter())


def test_what_was_named_and_what_no_filter_has_is_an_answer() -> None:
    scene = Scene().begin()
    above = late()

    scene.hear(entries(scene.lines[HOLE], above), no_filter())

    assert [one.message_id for one in scene.brought] == [
        scene.lines[HOLE].entry.message_id,
        above.entry.message_id,
    ]


UNASKED: Final[dict[str, Callable[[Scene], Message]]] = {
    "a line that is here": lambda scene: entries(scene.lines[29]),
    "a line among the newest that is here": lambda scene: entries(scene.lines[-1]),
    "an old line that nobody named": lambda _: entries(late(lamport=-5_000)),
    "the line that was named twice": lambda scene: entries(scene.lines[HOLE], scene.lines[HOLE]),
    "a line of another channel": lambda _: entries(
        Author("late", ChannelId("d1" * 16)).write("x", lamport=NOW_MS + 100)
    ),
    "what is no entry": lambda _: DeltaEntries((b"nonsense",)),
    "a line that was cut": lambda scene: DeltaEntries((scene.lines[HOLE].entry.content[:-1],)),
    "a request before the filter": lambda _: Want(),
}


@pytest.mark.parametrize("case", UNASKED)
def test_what_was_not_asked_for_is_refused(case: str) -> None:
    scene = Scene().begin()

    with pytest.raises(RemoteError):
        scene.hear(UNASKED[case](scene))

    assert len({one.message_id for one in scene.brought}) == len(scene.brought)
    assert not scene.finished


def test_a_line_that_was_given_does_not_come_again_in_a_later_turn() -> None:
    scene = Scene().begin()
    scene.hear(entries(scene.lines[HOLE]), no_filter())

    with pytest.raises(RemoteError, match="not asked for"):
        scene.hear(entries(scene.lines[HOLE]))


def test_a_second_filter_is_refused() -> None:
    scene = Scene().begin()
    scene.hear(no_filter())

    with pytest.raises(RemoteError, match="first turn"):
        scene.hear(no_filter())


def test_a_word_out_of_turn_is_refused() -> None:
    scene = Scene().begin()
    scene.hear(no_filter())
    scene.hear(Want())
    assert scene.finished

    with pytest.raises(RemoteError, match="out of turn"):
        scene.hear(Want())


def test_while_entries_are_loaded_for_a_peer_it_must_wait() -> None:
    scene = Scene().begin(Role.RESPONDER)
    scene.exchange.payload(encode(no_filter(0)), NOW)

    with pytest.raises(RemoteError, match="out of turn"):
        scene.exchange.payload(encode(Want()), NOW)


def test_a_filter_of_all_ones_gets_nothing_and_ends() -> None:
    scene = Scene().begin(Role.RESPONDER)

    scene.hear(BloomFilter(0, IdFilter(1, b"\xff")), Want())

    assert [type(one) for one in scene.said] == [BloomFilter, Want]


def test_who_claims_to_have_nothing_gets_what_is_there_once() -> None:
    scene = Scene().begin(Role.RESPONDER)
    everything = Stretch(0, LAMPORT_MAX, IdFilter())

    scene.hear(no_filter(0), *[Want((), (everything,))] * 3)

    sent = [one for said in scene.said if isinstance(said, DeltaEntries) for one in said.contents]
    assert sent == [one.entry.content for one in scene.lines if one is not scene.lines[HOLE]]


def test_a_filter_is_compared_with_a_bounded_number_of_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delta, "EXAMINED_MAX", 10)
    scene = Scene().begin(Role.RESPONDER)

    scene.hear(BloomFilter(0, IdFilter(), (), (Stretch(0, NOW_MS + 20, IdFilter()),)))

    [answer] = [one for one in scene.said if isinstance(one, DeltaEntries)]
    assert answer == entries(*scene.lines[-10:]), "the newest first"


def test_all_turns_of_a_session_compare_a_bounded_number_of_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delta, "EXAMINED_OF_SESSION", 10)
    scene = Scene().begin(Role.RESPONDER)
    everything = Stretch(0, LAMPORT_MAX, IdFilter())

    scene.hear(no_filter(0), *[Want((), (everything,))] * 5)

    answers = [one for one in scene.said if isinstance(one, DeltaEntries)]
    assert answers == [entries(*scene.lines[-10:])]


def test_a_peer_that_asks_without_end_is_refused() -> None:
    scene = Scene().begin(Role.RESPONDER)
    wants = Want((), (Stretch(0, 1, IdFilter()),))
    scene.hear(no_filter(0), *[wants] * TURNS_MAX)
    with pytest.raises(RemoteError, match="without end"):
        scene.hear(wants, wants)


def test_ids_that_nobody_ever_wrote_get_no_answer() -> None:
    scene = Scene().begin(Role.RESPONDER)
    invented = sorted(hashlib.sha256(bytes([number])).digest() for number in range(200))

    scene.hear(BloomFilter(LAMPORT_MAX, IdFilter(), tuple(invented)))

    assert [type(one) for one in scene.said] == [BloomFilter]


def test_a_chain_of_invented_parents_is_followed_for_a_bounded_number_of_turns() -> None:
    scene = Scene().begin()
    chain = [late("0")]
    for number in range(1, 200):
        chain.append(
            Author("eve").write(str(number), after=chain[-1:], lamport=NOW_MS + 100 + number)
        )
    chain.reverse()
    scene.hear(entries(chain[0]), no_filter())
    turns = 1
    for one in chain[1:]:
        if scene.said[-1] == Want():
            break
        assert id_of(one) in scene.said[-1].ids  # type: ignore[union-attr]  # a request
        scene.hear(entries(one), Want())
        turns += 1

    assert turns == TURNS_MAX - 1
    assert scene.finished


def test_parents_that_are_asked_for_in_vain_are_asked_for_once() -> None:
    scene = Scene().begin()
    never = [late(f"never {number}", lamport=50) for number in range(8)]
    child = Author("eve").write("child", after=never, lamport=NOW_MS + 100)
    scene.hear(entries(child), no_filter())
    assert set(map(id_of, never)) <= set(scene.said[-1].ids)  # type: ignore[union-attr]  # a request

    scene.hear(Want())

    assert scene.said[-1] == Want()
    assert scene.finished


def test_more_entries_than_a_session_brings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert WALK_MAX == 10_000
    monkeypatch.setattr(delta, "WALK_MAX", 5)
    scene = Scene().begin()
    news = [late(f"{number}") for number in range(6)]
    scene.hear(entries(*news[:5]))

    with pytest.raises(RemoteError, match="more than 5 entries"):
        scene.hear(entries(news[5]))


def test_a_head_that_does_not_come_is_asked_for_once() -> None:
    scene = Scene()
    never = late()
    scene.begin(heads=[*scene.lines[-15:], never])
    scene.hear(no_filter())
    asked = scene.said[-1]
    assert isinstance(asked, Want)
    assert id_of(never) in asked.ids

    scene.hear(Want())

    assert scene.said[-1] == Want()
    assert scene.finished


def test_what_comes_after_the_session_began_is_neither_told_nor_sent() -> None:
    scene = Scene().begin(Role.RESPONDER)
    news = late()
    scene.member.hear(news, scene.both.now)
    assert news.entry.message_id in scene.member.shown()

    scene.hear(no_filter(0))

    sent = [one for said in scene.said if isinstance(said, DeltaEntries) for one in said.contents]
    assert len(sent) == len(scene.lines) - 1
    assert news.entry.content not in sent
    [told] = [one for one in scene.said if isinstance(one, BloomFilter)]
    assert id_of(news) not in told.filter
