"""Sessions by sketch between two real groups: what they say, what they bring, how they end."""

import pytest

from sync.group import values
from sync.group.history_loading import PATIENCE
from sync.machine import HOUR, SECOND
from sync.sds.message import HistoryEntry
from sync.sessions.session import STALLED_AFTER
from sync.sessions.values import Outcome
from sync.sketch import messages, prefix, session
from sync.sketch.key import words_of
from sync.sketch.messages import (
    AskMore,
    Done,
    Entries,
    MoreSymbols,
    Opening,
    Stop,
    Wanted,
)
from sync.structures import set_digest
from sync.structures.sorted_run import HASH_BYTES, split
from tests.support.sync.groups import NOW, Member
from tests.support.sync.sketch.pairs import SketchPair, from_few, lines, sketch_pair


@pytest.fixture(autouse=True)
def _symbols_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    from_few(monkeypatch)


def apart(ours: int, theirs: int, both: int = 20) -> SketchPair:
    """Return two of whom each holds so many lines that the other lacks."""
    pair = sketch_pair()
    told = lines(ours + theirs + both)
    pair.hold(pair.one, told, range(theirs))
    pair.hold(pair.other, told, range(theirs, theirs + ours))
    return pair


@pytest.mark.parametrize("opener", ["one", "other"])
@pytest.mark.parametrize(("ours", "theirs"), [(1, 0), (0, 1), (3, 5), (15, 15)])
def test_a_few_differences_are_told_by_the_opening(ours: int, theirs: int, opener: str) -> None:
    pair = apart(ours, theirs)

    pair.meet(getattr(pair, opener))

    assert pair.converged
    assert pair.same
    assert {one.result for one in pair.ended} == {"reconciled"}
    assert pair.kinds()[:2] == [Opening, Wanted]
    assert not {MoreSymbols, AskMore, Stop} & set(pair.kinds())


def test_more_differences_take_the_other_end_s_symbols() -> None:
    pair = apart(60, 60)

    pair.meet()

    assert pair.converged
    assert pair.same
    assert pair.kinds()[:3] == [Opening, MoreSymbols, Wanted]
    [wanted] = [one for _, one in pair.said if isinstance(one, Wanted)]
    assert (wanted.owed, len(wanted.hashes)) == (60, 60 * HASH_BYTES)


def test_where_the_guess_was_low_a_quarter_of_a_few_more_comes_as_often_as_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "needed", lambda count: count)
    pair = apart(80, 80)

    pair.meet()

    assert pair.converged
    assert pair.same
    told = [one for _, one in pair.said if isinstance(one, MoreSymbols)]
    asked = len(told) - 1
    assert pair.kinds()[: 2 + asked] == [Opening, MoreSymbols, *[AskMore] * asked], "at once"
    assert asked >= 2
    assert [one.first for one in told[1:]] == [one.first + len(one.symbols) for one in told[:-1]]
    assert [len(one.symbols) for one in told[1:]] == [
        (one.first + len(one.symbols)) // 4 for one in told[:-1]
    ]


def test_each_says_only_what_the_other_lacks_and_each_entry_once() -> None:
    pair = apart(40, 70)

    pair.meet()

    sent = [one for _, one in pair.said if isinstance(one, Entries)]
    assert sum(len(one.contents) for one in sent) == 110
    assert len({content for one in sent for content in one.contents}) == 110
    assert pair.kinds().count(Done) == 2
    assert {(one.need, one.have, one.got) for one in pair.ended} == {(70, 40, 70), (40, 70, 40)}


def test_one_that_lacks_everything_but_a_few_gets_it() -> None:
    pair = apart(0, 300)

    pair.meet()

    assert pair.converged
    assert pair.same


def test_equal_histories_end_with_the_handshake() -> None:
    pair = apart(0, 0)

    pair.meet()

    assert pair.converged
    assert pair.kinds() == []


def test_what_comes_during_the_session_is_the_next_one_s() -> None:
    pair = apart(2, 2)
    late = lines(3, "late")
    begins = values.StartSession(pair.number(), pair.other.peer_id, "test", None, "sketch")
    pair.queue.append((pair.one, begins))
    while not pair.said:
        pair.step(NOW + SECOND)
    pair.one.hear(late[0])
    pair.other.hear(late[1])
    pair.run(NOW + SECOND)

    assert pair.converged, "what both froze is what they prove"
    assert not pair.same
    pair.meet()
    assert pair.converged
    assert pair.same


@pytest.mark.parametrize("late", [0, 1])
def test_a_line_that_comes_while_the_digest_is_made_is_no_poison(
    late: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_digest, "SLICE", 16)
    pair = apart(3, 3, both=60)
    pair.one.in_steps = pair.other.in_steps = True
    hears, [line] = (pair.one, pair.other)[late], lines(1, "late")
    start = values.StartSession(pair.number(), pair.other.peer_id, "test", None, "sketch")
    pair.queue.append((pair.one, start))
    heard = False
    while pair.queue:
        pair.step(NOW + 2 * SECOND)
        if not heard and hears.group.holdings._freezing is not None:
            hears.hear(line)
            heard = True

    assert heard
    assert all(one.outcome is Outcome.BENIGN for one in pair.ended)
    pair.one.in_steps = pair.other.in_steps = False
    pair.meet()
    assert (pair.same, pair.converged) == (True, True)


def test_more_than_symbols_can_tell_goes_on_by_waku_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix, "SYMBOLS_FEW", 128)
    pair = apart(120, 120)

    pair.meet()

    assert pair.kinds() == [Opening, Stop]
    assert {(one.outcome, one.then) for one in pair.ended} == {(Outcome.BENIGN, "waku")}
    assert {one.result for one in pair.ended} == {
        "goes on by waku: more differs than a sketch can tell"
    }


def test_symbols_that_are_spent_go_on_by_waku_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "differences", lambda _: 50)
    monkeypatch.setattr(prefix, "SYMBOLS_FEW", 128)
    pair = apart(120, 120)

    pair.meet()

    assert pair.kinds()[-2:] == [MoreSymbols, Stop]
    told = [one for _, one in pair.said if isinstance(one, MoreSymbols)]
    assert sum(len(one.symbols) for one in told) == 128
    assert {one.result for one in pair.ended} == {"goes on by waku: all symbols are spent"}


def test_who_keeps_no_symbols_is_not_compared_with_by_them() -> None:
    pair = apart(2, 2)
    pair.other.group.prefix.begin_anew(NOW)

    pair.meet()

    assert pair.kinds() == []
    [ours] = [one for one in pair.ended if one.why == "test"]
    assert ours.result.startswith("sketch does not suit: ")
    assert ours.outcome is Outcome.BENIGN


def asked_by_hash(pair: SketchPair) -> tuple[Member, list[HistoryEntry]]:
    """Begin a session; return who asks for what it lacks, and that as repair would name it."""
    start = values.StartSession(pair.number(), pair.other.peer_id, "test", None, "sketch")
    pair.queue.append((pair.one, start))
    while Wanted not in pair.kinds():
        pair.step(NOW + SECOND)
    [(name, wanted)] = [(who, one) for who, one in pair.said if isinstance(one, Wanted)]
    asks = next(one for one in (pair.one, pair.other) if one.name == name)
    hashes = split(words_of(wanted.hashes))
    rows = [row.message for row in pair.beside(asks).disk.rows.values()]
    lacking = [one for one in rows if one.waku_hash in hashes]
    assert len(lacking) == len(hashes) > 0
    return asks, [HistoryEntry(one.entry.message_id, one.waku_hash, None) for one in lacking]


def test_what_it_asks_for_by_hash_is_asked_of_nobody_else_until_it_is_here() -> None:
    pair = apart(3, 5)
    asks, lacking = asked_by_hash(pair)
    loading = asks.group.loading

    assert all(loading.on_its_way.is_asked_for(one) for one in lacking)
    assert all(loading.is_brought(one) for one in lacking), "delta sync leaves it to this session"
    pair.run(NOW + SECOND)
    assert pair.converged
    assert not loading.on_its_way


def test_what_it_did_not_bring_is_given_back() -> None:
    pair = apart(3, 5)
    asks, lacking = asked_by_hash(pair)
    pair.queue.clear()

    asks.tell(values.PeerGone(pair.beside(asks).peer_id), NOW + SECOND)
    assert not any(asks.group.loading.is_brought(one) for one in lacking)
    asks.advance(NOW + SECOND + PATIENCE)
    assert not asks.group.loading.on_its_way


def test_a_silent_peer_is_given_up_after_a_moment_though_the_session_goes_on() -> None:
    pair = apart(3, 5)
    asks, lacking = asked_by_hash(pair)
    asks.advance(NOW + SECOND + STALLED_AFTER - 1)
    assert all(asks.group.loading.is_brought(one) for one in lacking)

    asks.advance(NOW + SECOND + STALLED_AFTER)

    assert not any(asks.group.loading.is_brought(one) for one in lacking)
    assert pair.ended == []


def test_a_long_silence_ends_it() -> None:
    pair = apart(2, 0)
    start = values.StartSession(pair.number(), pair.other.peer_id, "test", None, "sketch")
    pair.queue.append((pair.one, start))
    while not pair.said:
        pair.step(NOW + SECOND)
    pair.queue.clear()
    for one in (pair.one, pair.other):
        for effect in one.advance(NOW + HOUR):
            pair.carry_out(one, effect)

    assert {one.result for one in pair.ended} == {"nothing came in time"}


def test_cards_show_what_was_said_and_when_symbols_became_pure() -> None:
    pair = apart(60, 60)
    pair.meet()
    [ours] = pair.one.group.sessions.shown
    words = [one.words for one in ours.rounds]

    assert words[:3] == ["handshake", "handshake", "64 symbols of 80 messages"]
    assert words[3].endswith(" symbols")
    assert words[4] == "60 wanted, 60 owed"
    waves = ours.rounds[3].waves
    assert 0 < len(waves) <= session.SHOWN_MAX
    assert {0, 1, 2} <= set(waves)


def test_pages_are_packed_into_messages_of_a_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sync.sketch.sending.MESSAGE_SIZE", 1_000)
    pair = apart(0, 20)
    pair.meet()

    sent = [one for _, one in pair.said if isinstance(one, Entries)]
    assert len(sent) > 3
    assert all(len(messages.encode(one)) < 1_200 for one in sent)
    assert pair.same
