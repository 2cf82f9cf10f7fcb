"""Wrong clocks: messages from the future wait for their time, within bounds."""

import pytest
from msgspec.structs import replace

from sync.entries.entry import Kind, Text, encode_text
from sync.group import values
from sync.group.aside import STRANGERS_WARNED_MAX
from sync.group.clock_policy import Policy
from sync.group.clock_values import Follows, MemberClock
from sync.group.future_entries import (
    CLOCK_AHEAD_MAX,
    PARKED_MAX,
    PARKED_PER_AUTHOR_MAX,
    TOO_MANY_AHEAD,
    Parked,
)
from sync.group.ingest import outline_of
from sync.group.values import Effect
from sync.machine import DAY, HOUR, MILLISECOND, MINUTE, SECOND, MessageId, PeerId
from sync.sds.message import Delivery
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, NOW_MS, Member, arrived, name_of, only, sds_of

YEAR_2100_MS = 4_102_444_800_000
AHEAD_MS = CLOCK_AHEAD_MAX // MILLISECOND


@pytest.mark.parametrize("stamp", ["lamport", "created_ns"])
def test_a_message_from_the_future_is_kept_aside_until_its_time(stamp: str) -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    ahead = 10 * MINUTE
    lamport = NOW_MS + ahead // MILLISECOND if stamp == "lamport" else 5
    sent = bob.write("hello", lamport=lamport, created_ns=NOW + ahead if lamport == 5 else 5)

    parked = alice.hear(sent)
    aside = (alice.shown(), len(alice.group.holdings), alice.group.sds.filter.count)
    early = alice.advance(NOW + ahead - CLOCK_AHEAD_MAX - 1)
    in_time = alice.advance(NOW + ahead - CLOCK_AHEAD_MAX)

    assert only(values.StoreMessage, parked) == [values.StoreMessage(sent, values.Status.PARKED)]
    assert aside == ([], 0, 0)
    assert only(values.Deliver, early) == []
    assert [one.message_id for one in only(values.Deliver, in_time)] == [sent.entry.message_id]
    assert len(alice.group.holdings) == 1


def test_exactly_five_minutes_ahead_is_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello", lamport=NOW_MS + AHEAD_MS)

    alice.hear(sent)

    assert alice.shown() == [sent.entry.message_id]


def test_what_is_ahead_is_judged_by_the_reference_clock() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(sent)

    effects = alice.tell(values.ReferenceClock(CLOCK_AHEAD_MAX))

    assert [one.message_id for one in only(values.Deliver, effects)] == [sent.entry.message_id]


def test_the_far_future_does_not_end_the_channel() -> None:
    alice, mallory = Member("alice"), Author("mallory")
    for lamport in (2**31 - 1, 2**63 - 1, 2**64 - 1):
        alice.hear(mallory.write("doom", lamport=lamport, created_ns=5))

    mine = alice.write("still here").entry.header

    assert mine.lamport == NOW_MS
    assert len(alice.group.aside.parked) == 2  # 2**31 - 1 ms is a day in 1970


def test_parked_messages_are_bounded_per_author() -> None:
    alice, mallory, bob = Member("alice"), Author("mallory"), Author("bob")
    doom = [
        alice.hear(mallory.write("doom", lamport=2**62 + number, created_ns=5))
        for number in range(PARKED_PER_AUTHOR_MAX + 5)
    ]
    honest = bob.write("my clock is wrong", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(honest)

    assert len(only(values.Refused, doom[-1])) == 1
    assert len(alice.group.aside.parked) == PARKED_PER_AUTHOR_MAX + 1
    assert honest.entry.message_id in alice.group.aside.parked


@pytest.mark.parametrize("again", [False, True])
def test_filter_and_request_beside_a_parked_message_count_and_its_history_does_not(
    again: bool,  # a parameter of the test
) -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    named, hinted = alice.write("one"), alice.write("two")
    sent = bob.write("from the future", after=[named], lamport=NOW_MS + 2 * AHEAD_MS)
    if again:
        alice.hear(sent)
    filter_of = alice.group.sds.filter.to_bytes()
    message = replace(sds_of(sent), bloom_filter=filter_of, repair_request=(name_of(hinted),))

    effects = alice.tell(arrived(message, bob.peer_id))
    relayed = alice.tell(arrived(message, Author("carol").peer_id))

    changed = {one.message_id: one.delivery for one in only(values.DeliveryChanged, effects)}
    possibly = Delivery.POSSIBLY_ACKNOWLEDGED
    assert changed == {one.entry.message_id: possibly for one in (named, hinted)}
    answers = alice.group.sds.repairs.answering.answers
    assert {one: answer.requester for one, answer in answers.items()} == {
        hinted.entry.message_id: bob.peer_id
    }
    assert only(values.DeliveryChanged, relayed) == []


def test_a_parked_message_counts_as_evidence_once_it_is_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.join(bob.peer_id)
    mine = alice.write("hello")
    reply = bob.write("hi", after=[mine], lamport=NOW_MS + 2 * AHEAD_MS)

    parked = alice.hear(reply)
    let_in = alice.tell(values.ReferenceClock(CLOCK_AHEAD_MAX))

    acknowledged = values.DeliveryChanged(mine.entry.message_id, Delivery.ACKNOWLEDGED)
    assert acknowledged not in parked
    assert acknowledged in let_in


def test_a_parked_message_survives_a_start() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("hello", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(sent)

    alice.start()
    alice.advance(NOW + CLOCK_AHEAD_MAX)

    assert alice.shown() == [sent.entry.message_id]


def test_whoever_writes_below_own_times_is_told_that_the_clock_was_ahead_or_is_behind() -> None:
    alice = Member("alice")
    alice.write("early", now=NOW + 10 * MINUTE)

    alice.tell(values.ReferenceClock(-10 * MINUTE), NOW + 10 * MINUTE + SECOND)
    event = values.Write(2, 1, b"")
    effects = alice.tell(event, NOW + 10 * MINUTE + 2 * SECOND)

    [warned] = only(values.Warned, effects)
    assert "If that was ahead" in warned.text
    assert "if it is behind now" in warned.text


def test_old_stamps_are_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    sent = bob.write("from 1970", lamport=1, created_ns=0)

    alice.hear(sent)

    assert alice.shown() == [sent.entry.message_id]


# --- Our own clock was wrong ---------------------------------------------------------------------


def ahead_of(member: Member, *, by: int = 10 * MINUTE) -> list[values.StoredMessage]:
    """Return what `member` wrote alone with its clock `by` ahead; the clock is then set right."""
    member.tell(values.OwnClock(by))
    written = [member.write(text) for text in ("one", "two")]
    member.tell(values.OwnClock(0, was_set=True))
    return written


def meets(member: Member, name: str, *, offset: int = 0, standing: bool = True) -> list[Effect]:
    """Somebody joins whose clock is `offset` ahead of the machines' clock of `member`."""
    peer = Author(name).peer_id
    member.join(peer)
    return member.tell(values.MemberClock(peer, offset, name, standing))


@pytest.mark.parametrize("standing", [False, True])
def test_what_was_written_with_a_clock_ahead_is_set_aside_once_one_other_shows_the_time(
    *, standing: bool
) -> None:
    alice = Member("alice")
    before = alice.write("before")
    written = ahead_of(alice)
    log = alice.disk.log_number
    alone = alice.shown()

    effects = meets(alice, "bob", offset=AHEAD_MS * MILLISECOND - SECOND, standing=standing)

    ids = tuple(one.entry.message_id for one in written)
    assert alone == [before.entry.message_id, *ids], "alone nobody knows which time was wrong"
    assert only(values.Withdrawn, effects) == [values.Withdrawn(ids)]
    assert "everywhere: 2." in only(values.Warned, effects)[0].text
    assert effects[-1] == values.BeginAnew()
    assert alice.shown() == [before.entry.message_id]
    assert alice.disk.log_number != log


def test_it_is_set_aside_after_a_start_as_well_and_stays_so() -> None:
    alice = Member("alice")
    written = ahead_of(alice)
    alice.start()

    effects = meets(alice, "bob")
    alice.start()
    again = alice.tell(values.OwnClock(0)) + meets(alice, "bob") + alice.advance(NOW + SECOND)

    ids = tuple(one.entry.message_id for one in written)
    assert only(values.Withdrawn, effects) == [values.Withdrawn(ids)]
    assert only(values.Withdrawn, again) == []
    assert alice.shown() == []


def test_after_that_we_go_on_in_a_new_log_with_the_right_time() -> None:
    alice = Member("alice")
    alice.write("before")
    ahead_of(alice)
    meets(alice, "bob")
    alice.start()

    header = alice.write("again").entry.header

    assert (header.log, header.seq, header.backlink) == (alice.disk.log_number, 1, None)
    assert header.created_ns == NOW + 1
    assert header.lamport == NOW_MS + 1
    assert not only(values.Broadcast, alice.advance(NOW + SECOND))
    assert len(alice.group.aside.parked.of(alice.peer_id)) == 2


def test_who_does_not_agree_with_our_clock_takes_nothing_back() -> None:
    alice = Member("alice")
    ahead_of(alice)

    effects = meets(alice, "bob", offset=-CLOCK_AHEAD_MAX - 1)

    assert only(values.Withdrawn, effects) == []
    assert len(alice.shown()) == 2


def test_what_is_less_than_five_minutes_ahead_stays() -> None:
    alice = Member("alice")
    ahead_of(alice, by=CLOCK_AHEAD_MAX - SECOND)

    assert only(values.Withdrawn, meets(alice, "bob")) == []


def test_strangers_who_come_and_go_take_nothing_back_time_and_again() -> None:
    """Each time all machines would begin anew, and all sessions of all channels be cut."""
    alice, mallory = Member("alice"), Author("mallory")
    for name in ("one", "two", "three"):
        meets(alice, name, offset=4 * MINUTE, standing=False)
    moved = alice.group.aside.offset
    alice.hear(mallory.write("far", lamport=NOW_MS + (moved + CLOCK_AHEAD_MAX) // MILLISECOND - 9))

    gone: list[Effect] = []
    for name in ("one", "two", "three"):
        gone += alice.tell(values.PeerGone(Author(name).peer_id))
    gone += meets(alice, "other", standing=False)

    assert moved > MINUTE
    assert only(values.Withdrawn, gone) == []
    assert only(values.BeginAnew, gone) == []


def test_a_time_server_says_the_same_where_there_are_no_links() -> None:
    alice = Member("alice")
    ahead_of(alice)
    alice.tell(values.Audience(3))

    assert len(only(values.Withdrawn, alice.tell(values.ReferenceClock(0)))) == 1


# --- Our own clock is wrong ----------------------------------------------------------------------


def asked(standing: bool = True) -> tuple[Member, list[values.StoredMessage]]:
    """Alice wrote alone with a clock ten minutes ahead, and then bob was there."""
    alice = Member("alice")
    alice.tell(values.OwnClock(10 * MINUTE, policy=Policy.ASK))
    written = [alice.write("alone")]
    effects = meets(alice, "bob", standing=standing)
    [judged] = only(values.ClockJudged, effects)
    assert judged.question is not None
    assert alice.group.would_set_aside(judged.question, NOW) == 1
    return alice, written


def waits(alice: Member) -> values.StoredMessage:
    """A line that alice writes, and that nobody is sent."""
    body = encode_text(Text("alice", "waits"))
    effects = alice.tell(values.Write(7, Kind.TEXT, body))
    [stored] = only(values.StoreMessage, effects)
    message_id = stored.message.entry.message_id
    assert stored.status is values.Status.PARKED
    assert only(values.Written, effects) == [values.Written(7, message_id)]
    [shown] = only(values.SetAside, effects)
    assert (shown.message_id, shown.waits) == (message_id, True)
    assert not only(values.Broadcast, effects)
    return stored.message


def test_what_those_with_standing_would_set_aside_waits_for_the_answer() -> None:
    alice, written = asked()
    waiting = waits(alice)
    aside = alice.group.aside
    assert (waiting.entry.message_id in aside, len(aside)) == (True, 1)

    stayed = alice.tell(values.ClockAnswered(follow=False))

    ids = [written[0].entry.message_id, waiting.entry.message_id]
    assert [one.message_id for one in only(values.BroadcastStored, stayed)] == ids[1:]
    assert alice.shown() == ids
    assert list(alice.group.sds.outgoing.pending) == ids
    assert alice.write("goes out at once").entry.header.seq == 3


def restarted(alice: Member) -> None:
    """Alice begins anew with the same clock, alone."""
    effects = alice.start() + alice.tell(values.OwnClock(10 * MINUTE, policy=Policy.ASK))
    assert not only(values.BroadcastStored, effects)


def test_what_waits_goes_on_waiting_after_a_start_and_goes_out_once_it_is_answered() -> None:
    alice, written = asked()
    waiting = waits(alice)
    ids = [written[0].entry.message_id, waiting.entry.message_id]
    restarted(alice)
    alone = alice.shown()
    met = meets(alice, "bob")
    meanwhile = alice.shown()

    stayed = alice.tell(values.ClockAnswered(follow=False))

    assert alone == meanwhile == ids[:1]
    assert not only(values.BroadcastStored, met)
    assert [one.message_id for one in only(values.BroadcastStored, stayed)] == ids[1:]
    assert ids[1] in alice.group.sds.outgoing.pending
    again = alice.advance(NOW + MINUTE)
    assert ids[1] in [one.message_id for one in only(values.BroadcastStored, again)], "resent"
    assert alice.shown() == ids


def test_after_a_start_it_goes_out_as_soon_as_nobody_with_standing_would_set_it_aside() -> None:
    alice, written = asked()
    waiting = waits(alice)
    restarted(alice)

    effects = meets(alice, "bob", offset=10 * MINUTE)

    sent = [waiting.entry.message_id]
    assert [one.message_id for one in only(values.BroadcastStored, effects)] == sent
    assert alice.shown() == [written[0].entry.message_id, *sent]
    restarted(alice)
    assert alice.shown() == [written[0].entry.message_id, *sent], "and only once"
    assert not only(values.WriteAnew, effects)


def test_after_a_start_whoever_follows_has_it_written_anew_once() -> None:
    alice, _ = asked()
    waiting = waits(alice)
    restarted(alice)
    meets(alice, "bob")

    effects = alice.tell(values.ClockAnswered(follow=True))
    restarted(alice)
    again = meets(alice, "bob")

    assert only(values.WriteAnew, effects) == [values.WriteAnew((waiting.entry.message_id,))]
    assert not only(values.WriteAnew, again)


def test_what_was_sent_before_it_was_set_aside_does_not_wait_for_an_answer() -> None:
    alice, written = asked()
    alice.tell(values.ClockAnswered(follow=True))
    restarted(alice)

    effects = meets(alice, "bob")

    assert alice.group.aside.own() == [written[0].entry.message_id]
    assert not only(values.WriteAnew, effects)
    assert alice.shown() == []


def test_whoever_follows_has_it_written_anew() -> None:
    alice, written = asked()
    waiting = waits(alice)
    log = alice.disk.log_number

    effects = alice.tell(values.ClockAnswered(follow=True))
    alice.start()

    assert only(values.Withdrawn, effects) == [values.Withdrawn((written[0].entry.message_id,))]
    assert only(values.WriteAnew, effects) == [values.WriteAnew((waiting.entry.message_id,))]
    assert effects[-1] == values.BeginAnew()
    assert alice.disk.log_number != log
    assert alice.disk.clock.shift == -10 * MINUTE


def test_who_is_gone_asks_nothing_any_more() -> None:
    alice, _ = asked()

    effects = alice.tell(values.PeerGone(Author("bob").peer_id))

    assert [one.question for one in only(values.ClockJudged, effects)] == [None]


def test_who_begins_to_follow_us_is_told_once() -> None:
    alice = Member("alice")
    bob = MemberClock(Author("bob").peer_id, HOUR, "10.0.0.2", True, Follows.YOU)

    told = [only(values.ClockJudged, alice.tell(bob)) for _ in range(2)]

    assert told == [[values.ClockJudged(None)], []]


def test_what_strangers_would_set_aside_goes_out() -> None:
    alice, _ = asked(standing=False)

    written = alice.write("goes out")

    assert alice.shown()[1:] == [written.entry.message_id]


def test_what_waits_goes_out_by_itself_once_the_others_would_take_it() -> None:
    alice, _ = asked()
    waiting = waits(alice).entry.message_id

    early = alice.advance(NOW + 10 * MINUTE - CLOCK_AHEAD_MAX - SECOND)
    in_time = alice.advance(NOW + 10 * MINUTE - CLOCK_AHEAD_MAX + SECOND)

    assert waiting not in [one.message_id for one in only(values.BroadcastStored, early)]
    assert waiting in [one.message_id for one in only(values.BroadcastStored, in_time)]
    assert waiting in alice.shown()


def test_without_a_clock_nothing_is_set_aside_and_nothing_let_in() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.hear(ahead := bob.write("ahead", lamport=NOW_MS + 2 * AHEAD_MS))
    to_1970 = -NOW

    alice.tell(values.OwnClock(to_1970, was_set=True, released=NOW - DAY))
    later = bob.write("later", lamport=NOW_MS + 3 * AHEAD_MS)
    alice.hear(later)
    mine = alice.write("mine").entry.header

    assert alice.shown() == [later.entry.message_id, mine_id(alice)]
    assert ahead.entry.message_id in alice.group.aside
    assert mine.created_ns == NOW - DAY, "no entry is older than the program"


def test_what_is_stamped_after_2100_waits_even_where_nobody_has_a_clock() -> None:
    alice, bob = Member("alice"), Author("bob")
    alice.tell(values.OwnClock(-NOW, was_set=True, released=NOW - DAY))
    in_time = bob.write("at the turn of the century", lamport=YEAR_2100_MS)

    alice.hear(in_time)
    alice.hear(late := bob.write("a millisecond later", lamport=YEAR_2100_MS + 1))

    assert alice.shown() == [in_time.entry.message_id]
    assert late.entry.message_id in alice.group.aside


def test_what_sync_messages_told_meanwhile_is_no_base_of_what_is_written() -> None:
    alice = Member("alice")
    meets(alice, "bob")
    alice.write("before")
    alice.tell(values.OwnClock(HOUR))
    told = only(values.Broadcast, alice.advance(NOW + MINUTE))
    alice.tell(values.OwnClock(0, was_set=True), NOW + MINUTE)

    header = alice.write("after", NOW + MINUTE).entry.header

    assert told, "sync messages, an hour ahead"
    assert header.lamport == NOW_MS + MINUTE // MILLISECOND


def mine_id(alice: Member) -> str:
    """The id of the newest message."""
    return alice.shown()[-1]


def test_one_person_is_told_of_once() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    ahead = NOW_MS + 2 * AHEAD_MS

    told = [
        only(values.AuthorAhead, alice.hear(one.write("hello", lamport=ahead + number)))
        for number, one in enumerate((bob, bob, carol, bob))
    ]

    assert [len(one) for one in told] == [1, 0, 1, 0]
    assert told[0] == [values.AuthorAhead(bob.peer_id, "bob", 2 * AHEAD_MS * MILLISECOND)]


def test_of_authors_that_somebody_makes_up_few_are_told_of_and_of_friends_all() -> None:
    alice, bob = Member("alice"), Author("bob")
    meets(alice, "bob")
    ahead = NOW_MS + 2 * AHEAD_MS

    made_up = [
        only(values.AuthorAhead, alice.hear(Author(f"eve {number}").write("x", lamport=ahead)))
        for number in range(2 * STRANGERS_WARNED_MAX)
    ]
    of_bob = only(values.AuthorAhead, alice.hear(bob.write("hello", lamport=ahead)))

    assert sum(map(len, made_up)) == STRANGERS_WARNED_MAX
    assert [one.peer for one in of_bob] == [bob.peer_id]


def test_parked_messages_are_bounded_over_all_authors_but_those_with_standing() -> None:
    parked = Parked()
    author = Author("mallory")
    outline = outline_of(author.write("doom", lamport=2**40))
    for number in range(PARKED_MAX):
        peer = PeerId(f"{number // PARKED_PER_AUTHOR_MAX:064x}")
        parked.add(replace(outline, message_id=MessageId(f"{number:064x}"), sender_id=peer))

    assert parked.full(PeerId("bob"))
    assert not parked.full(PeerId("bob"), known=True)
    assert parked.full(PeerId(f"{0:064x}"), known=True)


def test_of_whoever_is_not_here_no_more_is_kept_aside_once_the_table_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.group.future_entries.PARKED_MAX", 2)
    alice, bob = Member("alice"), Author("bob")
    for name in ("mallory", "eve"):
        alice.hear(Author(name).write("doom", lamport=NOW_MS + 10**9))
    meets(alice, "bob")

    strangers = alice.hear(Author("carol").write("doom", lamport=NOW_MS + 10**9))
    known = alice.hear(bob.write("early", lamport=NOW_MS + 10**9))

    assert [one.reason for one in only(values.Refused, strangers)] == [TOO_MANY_AHEAD]
    assert only(values.Refused, known) == []
    assert len(alice.group.aside.parked) == 3


def test_a_message_set_aside_is_missed_by_nobody() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    alice.join(bob.peer_id, carol.peer_id)
    ahead = bob.write("ahead", lamport=NOW_MS + 2 * AHEAD_MS)
    alice.hear(ahead)

    effects = alice.hear(carol.write("builds on it", after=[ahead], lamport=NOW_MS))

    assert only(values.Missing, effects) == []
    assert [one.after_gap for one in only(values.Deliver, effects)] == [True]
    assert not alice.group.sds.repairs.asking.requests


def test_who_waits_for_a_message_that_is_set_aside_is_shown_after_a_gap_at_once() -> None:
    alice, bob, carol = Member("alice"), Author("bob"), Author("carol")
    alice.join(bob.peer_id, carol.peer_id)
    ahead = bob.write("ahead", lamport=NOW_MS + 2 * AHEAD_MS)
    child = carol.write("builds on it", after=[ahead], lamport=NOW_MS)
    held = alice.hear(child)

    effects = alice.hear(ahead)

    assert only(values.Deliver, held) == []
    assert only(values.Found, effects) == [values.Found(ahead.entry.message_id, lost=False)]
    assert [(one.message_id, one.after_gap) for one in only(values.Deliver, effects)] == [
        (child.entry.message_id, True)
    ]
    assert not alice.group.sds.incoming.missing
    assert alice.shown() == [child.entry.message_id]


def test_a_millisecond_more_than_five_minutes_ahead_is_set_aside() -> None:
    alice, bob = Member("alice"), Author("bob")

    alice.hear(bob.write("hello", lamport=NOW_MS + AHEAD_MS + 1))

    assert alice.shown() == []
    assert len(alice.group.aside.parked) == 1
