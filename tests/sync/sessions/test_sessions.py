"""Waku Sync sessions of one channel: begun once, cut cleanly, letting in what they want."""

import pytest

from sync.errors import RemoteError
from sync.group import values
from sync.machine import SECOND, Tick
from sync.sessions.receiving import INACTIVITY_MAX as TRANSFER_INACTIVITY_MAX
from sync.sessions.session import OFFERED
from sync.sessions.sessions import STALE_AFTER
from sync.waku import answer, answerer, asked
from sync.waku import session as waku
from sync.waku.message import RECONCILIATION, WakuMessage, content_topic, deterministic_hash
from sync.waku.reconcile import INACTIVITY_MAX
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW, Member, only
from tests.support.sync.pairs import TOPIC, Pair, different, pair, transfer

PUSHED = (values.Transferred, values.TransferEnded)


# --- Together ----------------------------------------------------------------------------------


def test_after_a_session_both_hold_the_same() -> None:
    both = different()

    both.start(both.one)
    both.run()

    assert len(both.one.shown()) == 10
    assert both.one.shown() == both.other.shown()
    assert [(ended.need, ended.have, ended.got) for ended in both.ended] == [(5, 5, 5)] * 2
    assert {ended.why for ended in both.ended} == {"test", OFFERED}
    assert all(ended.converged for ended in both.ended)
    assert not both.one.group.sessions.by_peer
    assert not both.other.group.sessions.by_peer


def test_equal_logs_cost_one_fingerprint() -> None:
    both = different()
    both.start(both.one)
    both.run()
    both.ended.clear()

    both.start(both.other)
    both.run()

    assert both.results() == {"equal"}
    assert max(ended.rounds for ended in both.ended) == 1


def test_payloads_are_counted_though_only_the_first_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waku, "ROUNDS_MAX", 1)
    both = different()

    both.start(both.one)
    both.run()

    [ours], [theirs] = (member.group.sessions.shown for member in (both.one, both.other))
    assert (len(ours.rounds), ours.payloads) == (1, theirs.payloads)
    assert ours.payloads > 2
    assert (ours.bytes_in, ours.bytes_out) == (theirs.bytes_out, theirs.bytes_in)
    assert ours.bytes_out > ours.rounds[0].size


def test_bytes_of_messages_that_are_pushed_are_counted_where_they_come() -> None:
    both = different()

    both.start(both.one)
    both.run()

    for member in (both.one, both.other):
        [session] = member.group.sessions.shown
        assert session.got > 0
        assert session.bytes_brought > 100 * session.got


@pytest.mark.parametrize("order", ["one first", "other first"])
def test_two_who_begin_at_once_end_up_with_one_session_and_the_same_log(order: str) -> None:
    both = different()
    first, second = (both.one, both.other) if order == "one first" else (both.other, both.one)

    both.start(first)
    both.start(second)
    both.run()

    assert both.one.shown() == both.other.shown()
    done = [ended for ended in both.ended if ended.converged]
    assert len(done) == 2
    assert not both.one.group.sessions.by_peer
    assert not both.other.group.sessions.by_peer


def test_a_second_session_with_the_same_peer_is_put_off() -> None:
    both = different()
    both.one.tell(values.StartSession(both.number(), both.other.peer_id, "first"))

    [ended] = both.one.tell(values.StartSession(both.number(), both.other.peer_id, "second"))

    assert isinstance(ended, values.SessionEnded)
    assert "put off" in ended.result
    assert not ended.converged


def test_a_session_whose_messages_are_on_their_way_is_not_taken_over() -> None:
    both = different()
    both.start(both.one)
    pushed = withheld(both, PUSHED)
    [before] = both.other.group.sessions.by_peer.values()

    offered = values.SessionOffered(both.number(), both.one.peer_id, RECONCILIATION)
    told = both.other.tell(offered)

    assert told == [values.CloseSession(offered.session)]
    assert list(both.other.group.sessions.by_peer.values()) == [before]
    both.queue.extend((both.other, event) for event in pushed)
    both.run()
    assert len(both.one.shown()) == len(both.other.shown()) == 10
    assert all(ended.converged for ended in both.ended)


# --- Cut short ---------------------------------------------------------------------------------


def in_steps(monkeypatch: pytest.MonkeyPatch, payloads_max: int) -> Pair:
    """Two who differ in much and answer it in steps, and in so many payloads."""
    monkeypatch.setattr(asked, "WORK", 8)
    monkeypatch.setattr(answerer, "RANGES_MAX", 250)
    monkeypatch.setattr(answer, "RANGES_MAX", 250)
    both = pair()
    both.payloads_max = payloads_max
    for number in range(400):
        (both.one, both.other)[number % 2].write(f"line {number}", NOW + number)
    for member in (both.one, both.other):
        member.in_steps = True
    return both


@pytest.mark.parametrize("payloads_max", [1, 4])
def test_what_is_answered_in_steps_makes_both_equal(
    payloads_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = in_steps(monkeypatch, payloads_max)

    both.start(both.one)
    both.run()

    assert len(both.one.shown()) == 400
    assert both.one.shown() == both.other.shown()
    assert [ended.converged for ended in both.ended] == [True, True]


@pytest.mark.parametrize("how", ["the peer goes", "the stream is closed", "time"])
def test_a_session_that_ends_in_the_midst_of_an_answer_goes_on_with_nothing(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = in_steps(monkeypatch, 4)
    both.start(both.one)
    while not (both.queue and isinstance(both.queue[0][1], values.Continue)):
        both.step()
    member, event = both.queue[0]
    assert isinstance(event, values.Continue)

    ends = {
        "the peer goes": lambda: member.tell(values.PeerGone(both.beside(member).peer_id)),
        "the stream is closed": lambda: member.tell(values.SessionClosed(event.session)),
        "time": lambda: member.tell(Tick(), NOW + INACTIVITY_MAX),
    }
    [end] = only(values.SessionEnded, ends[how]())

    assert not end.converged
    assert member.tell(event) == []
    assert not member.group.sessions.by_peer


def test_a_session_whose_peer_goes_ends_and_says_so() -> None:
    both = different()
    both.one.tell(values.StartSession(both.number(), both.other.peer_id, "test"))

    effects = both.one.tell(values.PeerGone(both.other.peer_id))

    [ended] = only(values.SessionEnded, effects)
    assert "gone" in ended.result
    assert not both.one.group.sessions.by_peer


def test_a_session_that_could_not_be_opened_ends_and_says_why() -> None:
    both = different()
    number = both.number()
    both.one.tell(values.StartSession(number, both.other.peer_id, "test"))

    [ended] = both.one.tell(values.SessionClosed(number, "no answer"))

    assert isinstance(ended, values.SessionEnded)
    assert ended.result == "interrupted: no answer"


def test_a_silent_session_does_not_outlive_a_new_link_to_its_peer() -> None:
    both = different()
    number = both.number()
    both.one.tell(values.StartSession(number, both.other.peer_id, "test"))
    both.one.tell(values.SessionOpened(number))

    at_once = both.one.tell(values.PeerJoined(both.other.peer_id), NOW + STALE_AFTER - 1)
    later = both.one.tell(values.PeerJoined(both.other.peer_id), NOW + STALE_AFTER)

    assert only(values.SessionEnded, at_once) == []
    [ended] = only(values.SessionEnded, later)
    assert "new link" in ended.result
    assert only(values.CloseSession, later) == [values.CloseSession(number)]
    assert not both.one.group.sessions.by_peer


def test_a_session_with_a_silent_peer_ends_in_time() -> None:
    both = different()
    number = both.number()
    both.one.tell(values.StartSession(number, both.other.peer_id, "test"))
    both.one.tell(values.SessionOpened(number))

    early = both.one.advance(NOW + INACTIVITY_MAX - 1)
    late = both.one.advance(NOW + INACTIVITY_MAX)

    assert only(values.SessionEnded, early) == []
    assert [ended.result for ended in only(values.SessionEnded, late)] == ["timed out"]
    assert only(values.CloseSession, late) == [values.CloseSession(number)]


def test_a_transfer_that_breaks_off_is_incomplete_and_what_came_is_kept() -> None:
    both = different()
    both.lose_pushed_after = 2

    both.start(both.one)
    both.run()

    assert both.results() == {"incomplete: 3 messages did not come"}
    assert len(both.one.shown()) == len(both.other.shown()) == 7
    assert not any(ended.converged for ended in both.ended)


def test_a_transfer_that_never_ends_is_given_up() -> None:
    both = different()
    both.start(both.one)
    while both.queue:  # everything but what is pushed arrives
        member, event = both.queue.popleft()
        if not isinstance(event, PUSHED):
            for effect in member.tell(event):
                both.carry_out(member, effect)

    late = both.one.advance(NOW + TRANSFER_INACTIVITY_MAX)

    assert "incomplete: 5 messages did not come" in {
        ended.result for ended in only(values.SessionEnded, late)
    }
    assert not both.one.group.sessions.by_peer


def test_garbage_on_a_stream_ends_its_session_and_is_counted() -> None:
    both = different()
    number = both.number()
    both.one.tell(values.StartSession(number, both.other.peer_id, "test"))
    both.one.tell(values.SessionOpened(number))

    effects = both.one.tell(values.SessionPayload(number, b"\xff" * 20))

    assert only(values.Refused, effects)[0].peer == both.other.peer_id
    assert only(values.CloseSession, effects) == [values.CloseSession(number)]
    assert only(values.SessionEnded, effects)[0].result.startswith("refused")


def test_a_payload_of_a_session_that_is_over_closes_its_stream() -> None:
    alice = Member("alice")

    assert alice.tell(values.SessionPayload(99, b"")) == [values.CloseSession(99)]
    assert alice.tell(values.SessionOpened(99)) == [values.CloseSession(99)]
    assert alice.tell(values.SessionClosed(99)) == []


# --- What a transfer lets in -------------------------------------------------------------------


def test_a_transfer_outside_a_session_is_declined() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello")

    [refused] = alice.tell(values.Transferred(bob.peer_id, transfer(sent)))

    assert refused == values.Refused(bob.peer_id, "a transferred message outside a session")
    assert alice.shown() == []


def test_a_transferred_message_that_nobody_wanted_is_declined() -> None:
    both = different()
    both.lose_pushed_after = 0
    unwanted = Author("mallory").write("buy now")
    both.start(both.one)
    while both.queue:
        member, event = both.queue.popleft()
        if member is both.one and isinstance(event, values.TransferEnded):
            continue  # so that the session still waits for what was lost
        for effect in member.tell(event):
            both.carry_out(member, effect)

    effects = both.one.tell(values.Transferred(both.other.peer_id, transfer(unwanted)))

    [refused] = only(values.Refused, effects)
    assert "not among the differences" in refused.reason
    assert unwanted.entry.message_id not in both.one.shown()


def test_nobody_is_blamed_for_the_rest_of_a_transfer_that_we_took_no_more_of() -> None:
    both = different()
    both.start(both.one)
    rest: list[values.Input] = []
    while both.queue:
        member, event = both.queue.popleft()
        if member is both.one and isinstance(event, PUSHED):
            rest.append(event)
            continue
        for effect in member.tell(event):
            both.carry_out(member, effect)
    first, *others, end = rest
    both.one.tell(first)

    effects = [
        effect
        for stored in list(both.other.disk.rows.values())
        for effect in both.one.hear(stored.message)
    ]
    late = [effect for event in (*others, end) for effect in both.one.tell(event)]

    assert only(values.CloseTransfer, effects) == [values.CloseTransfer(both.other.peer_id)]
    assert len(others) == 4
    assert late == []


def test_a_forged_message_is_refused_by_transfer_too() -> None:
    both = pair()
    forged = Author("carol").write("I never wrote this")
    entry = forged.entry
    content = entry.content.replace(entry.signature, bytes(64))
    payload = forged.payload.replace(entry.content, content)
    waku = WakuMessage(payload, content_topic(CHANNEL), entry.header.created_ns)
    row = values.StoredMessage(CHANNEL, entry, deterministic_hash(TOPIC, waku), payload)
    both.other.disk.commit([values.StoreMessage(row, values.Status.DELIVERED)])
    both.other.start()
    both.other.join(both.one.peer_id)
    refusals: list[values.Refused] = []

    both.start(both.one)
    while both.queue:
        member, event = both.queue.popleft()
        effects = member.tell(event)
        refusals += only(values.Refused, effects)
        for effect in effects:
            both.carry_out(member, effect)

    assert [refused.reason for refused in refusals] == ["the signature is not its author's"]
    assert both.one.shown() == []


def test_garbage_on_a_transfer_stream_is_refused() -> None:
    alice, bob = Member("alice"), Author("bob")

    with pytest.raises(RemoteError):
        alice.tell(values.Transferred(bob.peer_id, b"\xff" * 30))


def test_only_what_its_author_hands_on_is_acknowledged_to_it() -> None:
    both = pair()
    carol = Author("carol")
    foreign = carol.write("from carol")
    both.other.hear(foreign)
    both.other.write("from the other")

    both.start(both.one)
    both.run(NOW + SECOND)

    assert foreign.entry.message_id in both.one.shown()
    assert [entry.sender_id for entry in both.one.group.sds.log.owed.values()] == [
        both.other.peer_id
    ]


def test_a_message_both_parked_and_pushed_is_stored_once() -> None:
    both = pair()
    ahead = Author("carol").write("early", lamport=NOW // 10**6 + 600_000)
    both.other.tell(values.ReferenceClock(600 * SECOND))
    both.other.hear(ahead)
    both.one.hear(ahead)

    both.start(both.one)
    both.run()

    assert ahead.entry.message_id in both.one.group.aside.parked
    assert both.one.shown() == []
    assert both.other.shown() == [ahead.entry.message_id]


def test_the_last_of_it_may_come_after_the_peer_is_gone() -> None:
    both = different()
    both.start(both.one)
    pushed: list[values.Input] = []
    while both.queue:
        member, event = both.queue.popleft()
        if member is both.other and isinstance(event, PUSHED):
            pushed.append(event)
            continue
        for effect in member.tell(event, NOW):
            both.carry_out(member, effect)

    both.other.tell(values.PeerGone(both.one.peer_id), NOW)
    for event in pushed:
        both.other.tell(event, NOW)

    assert len(both.other.shown()) == 10


def test_the_end_of_an_earlier_transfer_does_not_end_that_of_the_next_session() -> None:
    both = different()
    both.start(both.one)
    late_end = withheld(both, (values.TransferEnded,))
    both.one.write("one more")
    both.start(both.one)
    pushed = withheld(both, PUSHED)
    both.ended.clear()

    for event in (*late_end, *pushed):
        both.queue.append((both.other, event))
    both.run()

    assert both.results() == {"reconciled"}
    assert len(both.other.shown()) == 11


def withheld(both: Pair, kinds: tuple[type, ...]) -> list[values.Input]:
    """Let everything arrive but such inputs of the other one; return those."""
    kept: list[values.Input] = []
    while both.queue:
        member, event = both.queue.popleft()
        if member is both.other and isinstance(event, kinds):
            kept.append(event)
            continue
        for effect in member.tell(event):
            both.carry_out(member, effect)
    return kept


def test_a_session_that_is_put_off_lets_nothing_in_that_waits() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    alice.join(bob.peer_id, carol.peer_id)
    alice.group.loading.restore([Author("dave").write("waits").entry.message_id], NOW)
    before = alice.group.loading.due
    number = 1
    alice.tell(values.StartSession(number, bob.peer_id, "test"))

    alice.tell(values.SessionClosed(number, "no answer"))

    assert alice.group.loading.due == before
