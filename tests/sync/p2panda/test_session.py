"""Sessions of p2panda replication: two members, the streams between them, and who breaks rules."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sync.errors import RemoteError
from sync.group import values
from sync.machine import MINUTE, SECOND, ChannelId
from sync.manager.choice import choose
from sync.manager.registry import LOG_HEIGHT, SETS
from sync.p2panda.announcements import schema_id
from sync.p2panda.bounds import Place
from sync.p2panda.entries import entry_message
from sync.p2panda.messages import Entry, Have, Message, SyncDone, SyncRequest, encode
from sync.p2panda.sending import Sending
from sync.p2panda.session import FIRST_WITHIN, Exchange, Mode
from sync.p2panda.states import State
from sync.sds.message import Delivery
from sync.sessions import brought
from sync.sessions.protocol import (
    Brings,
    Finished,
    Load,
    Opening,
    Protocols,
    Send,
    Situation,
    Speaks,
)
from sync.sessions.values import LoadedEntry, Outcome
from sync.structures.differences import Role
from sync.structures.log_spans import LogSpan
from sync.structures.ordered_set import EVERYTHING, SyncId
from sync.waku.session import WAKU_SYNC
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.pairs import Pair

OTHER_CHANNEL = ChannelId("d1" * 16)
ALL = Protocols((WAKU_SYNC, LOG_HEIGHT, SETS))
BOTH_MODES = pytest.mark.parametrize("protocol", ["logheight", "sets"])


def members(*names: str) -> list[Member]:
    found = [Member(name, protocols=ALL) for name in names]
    return sorted(found, key=lambda one: one.peer_id)


def pair() -> Pair:
    one, other = members("alice", "bob")
    return Pair(one, other)


def different() -> Pair:
    """Both wrote some lines that the other has not, and they share others, also of a third."""
    both = pair()
    [carol] = members("carol")
    for one in [carol.write(f"carol {number}") for number in range(4)]:
        both.one.hear(one)
    for number in range(3):
        both.other.hear(both.one.write(f"shared {number}"))
    for number in range(5):
        both.one.write(f"one {number}")
        both.other.write(f"other {number}")
    return both


def begin(both: Pair, member: Member, protocol: str, why: str = "test") -> None:
    peer = both.beside(member)
    start = values.StartSession(both.number(), peer.peer_id, why, None, protocol)
    both.queue.append((member, start))


def payloads(both: Pair) -> list[bytes]:
    return [one.payload for one in both.carried if isinstance(one, values.SendPayload)]


def stored(member: Member) -> dict[str, bytes]:
    return {one: row.message.payload for one, row in member.disk.rows.items()}


# --- Two honest ends ---------------------------------------------------------------------------


@BOTH_MODES
def test_both_hold_the_same_after_a_session(protocol: str) -> None:
    both = different()

    begin(both, both.one, protocol)
    both.run()

    assert stored(both.one) == stored(both.other)
    assert {one.protocol for one in both.ended} == {protocol}
    assert [one.outcome for one in both.ended] == [Outcome.CONVERGED] * 2
    assert both.results() == {"reconciled"}
    assert sorted((one.have, one.need, one.got) for one in both.ended) == [(5, 9, 9), (9, 5, 5)]
    assert both.one.shown() == both.other.shown()


@BOTH_MODES
def test_equal_pasts_need_a_few_messages(protocol: str) -> None:
    both = different()
    begin(both, both.one, protocol)
    both.run()
    both.ended.clear()
    both.carried.clear()

    begin(both, both.other, protocol)
    both.run()

    assert both.results() == {"equal"}
    assert all(one.got == one.need == 0 for one in both.ended)


@BOTH_MODES
def test_who_has_nothing_gets_everything_in_order_each_once(protocol: str) -> None:
    both = pair()
    for number in range(600):
        both.other.write(f"line {number}")

    begin(both, both.one, protocol)
    both.run()

    assert both.one.shown() == both.other.shown()
    sent = [one for one in payloads(both) if one[:2] == b"\x84\x02"]
    assert len(sent) == len(set(sent)) == 600
    [mine] = [one for one in both.ended if one.need]
    assert (mine.need, mine.got) == (600, 600)
    assert not any(isinstance(one, values.Missing) for one in both.carried)


def test_a_batch_is_one_row_of_the_card() -> None:
    both = different()

    begin(both, both.one, "sets")
    both.run()

    [session] = both.one.group.sessions.shown
    rows = [(one.sent, one.words) for one in session.rounds]
    assert rows[:2] == [(True, "asks for session 0 by sets"), (True, "batch: 2 fingerprints")]
    assert {words.partition(":")[0] for _, words in rows[2:-2]} == {"batch"}
    assert sorted(rows[-2:]) == [
        (False, "all is sent, ready to go live"),
        (True, "all is sent"),
    ]
    assert sum(one.size for one in session.rounds if one.sent) <= session.bytes_out


def test_who_answers_takes_the_mode_that_is_asked_for() -> None:
    both = different()

    begin(both, both.one, "sets")
    both.run()

    assert {one.protocol for one in both.ended} == {"sets"}


def test_of_two_that_begin_at_once_the_smaller_key_goes_on_whatever_the_protocols() -> None:
    for mine, yours in (("logheight", "waku"), ("waku", "sets"), ("sets", "logheight")):
        both = different()
        begin(both, both.one, mine)
        begin(both, both.other, yours)
        both.run()

        assert stored(both.one) == stored(both.other)
        converged = [one for one in both.ended if one.converged]
        assert {one.protocol for one in converged} == {mine}


def test_entries_above_a_hole_and_of_a_fork_are_found_by_the_check() -> None:
    both = pair()
    [carol] = members("carol")
    lines = [carol.write(f"carol {number}") for number in range(6)]
    [twin] = members("carol")
    fork = twin.write("another first line")
    for one in (lines[0], lines[1], lines[4]):
        both.one.hear(one)
    for one in (lines[0], fork, lines[5]):
        both.other.hear(one)

    begin(both, both.one, "logheight")
    both.run()
    begin(both, both.one, "logheight")
    both.run()

    assert stored(both.one) == stored(both.other)
    assert len(stored(both.one)) == 5
    assert both.ended[-1].converged


# --- Cut anywhere ------------------------------------------------------------------------------


@BOTH_MODES
def test_a_stream_cut_at_any_payload_ends_and_the_next_session_goes_on(protocol: str) -> None:
    whole = different()
    begin(whole, whole.one, protocol)
    whole.run()

    for cut in range(len(payloads(whole))):
        both = different()
        begin(both, both.one, protocol)
        while both.queue and len(payloads(both)) <= cut:
            both.step()
        both.queue.clear()
        for member in (both.one, both.other):
            numbers = [one.number for one in member.group.sessions.running.values()]
            for number in numbers:
                for stream in (number, -number):
                    for effect in member.tell(values.SessionClosed(stream, "cut")):
                        both.carry_out(member, effect)
            member.advance(NOW + 60 * SECOND)
        both.queue.clear()
        assert not both.one.group.sessions.running
        assert not both.other.group.sessions.running

        begin(both, both.one, protocol)
        both.run(NOW + 120 * SECOND)
        assert stored(both.one) == stored(both.other), cut


# --- The same as Waku Sync ---------------------------------------------------------------------


@settings(max_examples=25)
@given(
    seen=st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1, max_size=12),
    protocol=st.sampled_from(["logheight", "sets"]),
)
def test_what_both_hold_then_is_what_waku_sync_would_give(
    seen: list[tuple[int, int]], protocol: str
) -> None:
    results = []
    for by in (protocol, "waku"):
        both = pair()
        writers = [Member(name, protocols=ALL) for name in ("carol", "dave", "erin")]
        for number, (writer, who) in enumerate(seen):
            line = writers[writer].write(f"line {number}", NOW + number)
            for bit, member in ((1, both.one), (2, both.other)):
                if who & bit:
                    member.hear(line)
        begin(both, both.one, by)
        both.run()
        assert stored(both.one) == stored(both.other)
        results.append(stored(both.one))
    assert results[0] == results[1]


# --- Rules of a session ------------------------------------------------------------------------


def opening(role: Role, member: Member | None = None, **changes: object) -> Opening:
    member = member or members("alice")[0]
    local, held = member.group.holdings.frozen()
    made = Opening(
        role,
        CHANNEL,
        member.peer_id,
        local,
        held,
        EVERYTHING,
        NOW,
        lambda: 1000,
        heights=member.group.holdings.heights,
    )
    return replace(made, **changes)


def answering(member: Member | None = None, mode: int = 0, **changes: object) -> Exchange:
    """Return the exchange of an answerer that was asked."""
    exchange = Exchange(opening(Role.RESPONDER, member, **changes), Mode.LOG_HEIGHT)
    assert say(exchange, SyncRequest(7, mode, (schema_id(CHANNEL),))) == [
        Speaks("sets" if mode else "logheight")
    ]
    return exchange


def say(exchange: Exchange, message: Message) -> list[object]:
    return list(exchange.payload(encode(message), NOW))


@pytest.mark.parametrize(
    ("request_", "announced", "said"),
    [
        (SyncRequest(0, 0, (schema_id(OTHER_CHANNEL),)), True, "something else than the channel"),
        (
            SyncRequest(0, 0, tuple(sorted([schema_id(CHANNEL), schema_id(OTHER_CHANNEL)]))),
            True,
            "something else than the channel",
        ),
        (SyncRequest(0, 2, (schema_id(CHANNEL),)), True, "unknown mode 2"),
        (SyncRequest(0, 0, (schema_id(CHANNEL),)), False, "not announced"),
    ],
)
def test_what_may_not_be_asked_for_is_refused_with_its_reason(
    request_: SyncRequest, announced: bool, said: str
) -> None:
    exchange = Exchange(opening(Role.RESPONDER, announced=announced), Mode.LOG_HEIGHT)

    with pytest.raises(RemoteError, match=said):
        say(exchange, request_)


def test_who_is_not_answered_is_told_so_and_nothing_is_wrong() -> None:
    both = pair()
    for name, protocol in (("logheight", "logheight"), ("sets", "sets")):
        both.queue.append(
            (both.one, values.StartSession(both.number(), both.other.peer_id, "test", None, name))
        )
        both.announced = False
        both.run()

        mine = both.ended[-1] if both.ended[-1].why == "test" else both.ended[-2]
        assert (mine.result, mine.outcome) == ("closed unanswered", Outcome.BENIGN)
        assert mine.protocol == protocol
        refused = [one for one in both.carried if isinstance(one, values.Refused)]
        assert "not announced" in refused[-1].reason


def lines(count: int = 3) -> tuple[Member, list[values.StoredMessage]]:
    [carol] = members("carol")
    return carol, [carol.write(f"carol {number}") for number in range(count)]


def hostile() -> Iterator[tuple[str, list[Message], str]]:
    """Yield what a peer says after its request, and why it is refused."""
    carol, written = lines()
    key = bytes.fromhex(carol.peer_id)
    log = written[0].entry.header.log
    first, second, third = [entry_message(7, one.entry) for one in written]
    have = Have(7, (Place(key, log, 2),))
    yield "a second request", [SyncRequest(8, 0, (schema_id(CHANNEL),))], "another session"
    yield "another session", [SyncDone(8, live=False)], "another session"
    yield "done before all was compared", [SyncDone(7, live=False)], "before all was compared"
    yield "a second Have", [have, have], "a second Have"
    yield "beyond what was told", [have, third], "not asked for"
    yield "after the end", [have, first, second, SyncDone(7, live=False), third], "after SyncDone"
    yield "no operation", [have, first._replace(operation=None)], "without its operation"
    yield "no entry", [have, first._replace(entry=b"nothing")], "not a signed entry"
    body = (first.operation or b"") + b"more"
    yield "another body", [have, first._replace(operation=body)], "signed"


@pytest.mark.parametrize("case", list(hostile()), ids=lambda case: case[0])
def test_who_breaks_the_rules_is_refused_with_the_reason(
    case: tuple[str, list[Message], str],
) -> None:
    _, said, reason = case
    exchange = answering()

    for message in said[:-1]:
        say(exchange, message)
    with pytest.raises(RemoteError, match=reason):
        say(exchange, said[-1])


def test_an_entry_that_is_held_was_not_asked_for() -> None:
    carol, written = lines()
    [alice] = members("alice")
    for one in written:
        alice.hear(one)
    exchange = answering(alice)
    key, log = bytes.fromhex(carol.peer_id), written[0].entry.header.log
    say(exchange, Have(7, (Place(key, log, 3),)))

    with pytest.raises(RemoteError, match="not asked for"):
        say(exchange, entry_message(7, written[1].entry))


def test_an_entry_may_come_before_its_log_was_told_of() -> None:
    _, written = lines(1)
    exchange = answering(mode=1)

    [brings] = say(exchange, entry_message(7, written[0].entry))

    assert brings == Brings(written[0].entry)


def test_a_message_before_the_request_is_refused() -> None:
    exchange = Exchange(opening(Role.RESPONDER), Mode.LOG_HEIGHT)

    with pytest.raises(RemoteError, match="before the request"):
        say(exchange, Have(0, ()))


def test_a_peer_that_says_nothing_ends_the_session() -> None:
    exchange = Exchange(opening(Role.INITIATOR), Mode.LOG_HEIGHT)
    first, *_ = exchange.open(NOW)
    assert isinstance(first, Send)
    assert exchange.deadline() == NOW + FIRST_WITHIN

    [ended] = exchange.tick(NOW + FIRST_WITHIN)

    assert isinstance(ended, Finished)
    assert not ended.checked
    assert exchange.state is State.OVER


def test_a_request_says_how_many_sessions_there_were_before() -> None:
    exchange = Exchange(opening(Role.INITIATOR, count=3), Mode.LOG_HEIGHT)

    first, *_ = exchange.open(NOW)

    assert first == Send(encode(SyncRequest(3, 0, (schema_id(CHANNEL),))))


def test_the_entry_on_the_wire_is_less_than_half_of_a_transfer() -> None:
    _, [line] = lines(1)

    carried = encode(entry_message(0, line.entry))

    assert isinstance(entry_message(0, line.entry), Entry)
    assert len(carried) < len(line.payload)


def delivery(member: Member, line: values.StoredMessage) -> Delivery | None:
    return member.disk.rows[line.entry.message_id].delivery


@BOTH_MODES
def test_a_session_that_ends_equal_acknowledges_what_it_sent(protocol: str) -> None:
    both = pair()
    lines = [both.one.write("alone"), both.other.write("alone too"), both.one.write("again")]

    begin(both, both.one, protocol)
    both.run()

    assert all(one.converged for one in both.ended)
    assert delivery(both.one, lines[0]) is Delivery.ACKNOWLEDGED
    assert delivery(both.other, lines[1]) is Delivery.ACKNOWLEDGED
    assert delivery(both.one, lines[2]) is Delivery.ACKNOWLEDGED


@BOTH_MODES
@pytest.mark.parametrize("asked_by_its_author", [True, False])
def test_what_the_other_end_keeps_aside_is_known_and_not_acknowledged(
    protocol: str, asked_by_its_author: bool
) -> None:
    both = pair()
    line = both.one.write("in time")
    ahead = both.one.write("ten minutes ahead", now=NOW + 10 * MINUTE)

    begin(both, both.one if asked_by_its_author else both.other, protocol)
    both.run()

    assert all(one.converged for one in both.ended)
    assert ahead.entry.message_id in both.other.group.aside.parked
    assert delivery(both.one, line) is Delivery.ACKNOWLEDGED
    assert delivery(both.one, ahead) is not Delivery.ACKNOWLEDGED


def test_who_keeps_more_aside_than_it_can_tell_acknowledges_nothing_that_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(brought, "ASIDE_MAX", 1)
    both = pair()
    line = both.one.write("in time")
    for number in range(2):
        both.one.write(f"ahead {number}", now=NOW + (10 + number) * MINUTE)

    begin(both, both.one, "logheight")
    both.run()
    at_once = delivery(both.one, line)
    begin(both, both.one, "logheight")
    both.run()

    assert at_once is not Delivery.ACKNOWLEDGED
    assert delivery(both.one, line) is Delivery.ACKNOWLEDGED, "it was held before that session"


def test_what_is_gone_from_the_disk_between_comparing_and_sending_is_passed_over() -> None:
    carol, written = lines(4)
    key, log = bytes.fromhex(carol.peer_id), written[0].entry.header.log
    page = [
        LoadedEntry(one.entry, SyncId(one.entry.header.created_ns, one.waku_hash))
        for one in (written[0], written[2])
    ]
    sending = Sending()
    sending.owe(LogSpan(key, log, 0, 4))
    assert sending.ask() == Load((LogSpan(key, log, 0, 4),))
    assert sending.ask() is None, "a page is on its way"

    sending.loaded(page[:1], more=True)
    place = (page[0].entry.header.lamport, page[0].entry.message_id)
    assert sending.ask() == Load((LogSpan(key, log, 1, 4),), place)
    sending.loaded(page[1:], more=False)

    assert sending.ask() is None
    assert sending.sent == 2


def test_it_suits_who_announced_its_logs_and_the_mode_follows_from_how_many_there_are() -> None:
    few = Situation("test", by_logs=True, offered=True, logs=512)
    many = replace(few, logs=513)

    def cheaper(situation: Situation) -> str:
        spoken = replace(situation, spoken=frozenset(["p2panda"]))
        choice = choose((LOG_HEIGHT, SETS), spoken)
        return "" if choice is None else choice.protocol

    assert cheaper(few) == "logheight"
    assert cheaper(many) == "sets"
    for other in (
        replace(few, offered=False),
        replace(few, by_logs=False),
        replace(few, span=SECOND),
    ):
        assert cheaper(other) == ""


@BOTH_MODES
def test_a_writer_that_forks_daily_costs_each_day_no_more_than_what_is_new(protocol: str) -> None:
    both = pair()
    mallory = Author("mallory")
    sent: list[int] = []

    for _ in range(30):
        twin = mallory.fork()
        for number in range(5):
            at = NOW_MS + 10 * len(mallory.entries) + number
            both.one.hear(mallory.write(f"to one {number}", lamport=at))
            both.other.hear(twin.write(f"to the other {number}", lamport=at))
        both.ended.clear()
        both.carried.clear()
        begin(both, both.one, protocol)
        both.run()
        begin(both, both.one, protocol)
        both.run()
        sent.append(sum(one.got for one in both.ended))
        assert stored(both.one) == stored(both.other)
        assert both.ended[-1].converged

    assert len(stored(both.one)) == 300
    assert set(sent[1:]) == {10}, "what one of them lacked, once"
    assert len(payloads(both)) < 60
