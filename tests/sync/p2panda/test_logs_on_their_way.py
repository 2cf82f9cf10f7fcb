"""Entries that a log session is about to bring: nobody is asked for them, and nothing is a gap."""

from sync.group import values
from sync.group.history_loading import Loading
from sync.group.status import Status
from sync.machine import MINUTE, SECOND, MessageId, PeerId
from sync.manager.registry import LOG_HEIGHT
from sync.sds.message import HistoryEntry
from sync.sessions.protocol import Protocols
from sync.sessions.session import STALLED_AFTER
from sync.waku.session import WAKU_SYNC
from tests.support.sync.groups import NOW, Member
from tests.support.sync.pairs import Pair

ALL = Protocols((WAKU_SYNC, LOG_HEIGHT))
LINES = 600
CAROL, DAVE = PeerId("ca" * 32), PeerId("da" * 32)


def newcomer() -> tuple[Pair, Member]:
    """A newcomer in the middle of a session, and the author of all that it brings."""
    names = ("alice", "bob")
    one, other = sorted(
        [Member(name, protocols=ALL) for name in names], key=lambda member: member.peer_id
    )
    both, carol = Pair(one, other), Member("carol")
    for number in range(LINES):
        other.hear(carol.write(f"line {number}"))
    both.queue.append(
        (one, values.StartSession(both.number(), other.peer_id, "test", None, "logheight"))
    )
    while not one.shown():
        both.step()
    return both, carol


def test_a_line_written_meanwhile_waits_and_nobody_is_asked() -> None:
    both, carol = newcomer()

    line = carol.write("written meanwhile")
    effects = both.one.hear(line)

    row = both.one.disk.rows[line.entry.message_id]
    assert len(both.one.shown()) < LINES
    assert row.status is Status.LOADING
    assert not [one for one in effects if isinstance(one, values.Missing | values.Lacking)]
    assert not both.one.group.sds.incoming.missing


def test_it_takes_its_place_when_the_session_is_over() -> None:
    both, carol = newcomer()
    line = carol.write("written meanwhile")
    both.one.hear(line)

    both.run()
    for effect in both.one.advance(NOW + SECOND):
        both.carry_out(both.one, effect)
    both.run()

    assert both.one.shown()[-1] == line.entry.message_id
    assert len(both.one.shown()) == LINES + 1
    assert not both.one.group.loading.on_its_way


def test_who_claims_to_bring_logs_and_stalls_is_believed_for_some_seconds() -> None:
    both, carol = newcomer()
    both.one.hear(carol.write("written meanwhile"))

    effects = both.one.advance(NOW + STALLED_AFTER)
    held_up = both.one.group.loading.on_its_way
    effects += both.one.advance(NOW + MINUTE)

    assert not held_up
    assert [one for one in effects if isinstance(one, values.LoadHeldBack)]


def test_authors_are_counted_by_session() -> None:
    loading = Loading()
    named = HistoryEntry(MessageId("aa" * 32), None, CAROL)
    loading.want_logs({CAROL, DAVE})
    loading.want_logs({CAROL})

    loading.unwant_logs({CAROL, DAVE})
    still = loading.on_its_way.brings(named)
    loading.unwant_logs({CAROL})

    assert still
    assert not loading.on_its_way.brings(named)
    assert not loading.on_its_way
