"""Rows of acts of governance, and of what waits for ops: at their place, counted nowhere."""

from msgspec.structs import replace
from rich.style import Style

from chat_tui.client.message_changes import in_words
from chat_tui.model.command_findings import line_text
from chat_tui.model.conversation import PENDING_SHOWN, Conversation
from chat_tui.model.event_feed import Feed
from chat_tui.transcript.row_layout import Shape, lay_out
from chat_tui.wording.acts import SIGN
from chat_tui.wording.folding import folded_away
from chat_tui.wording.glyphs import ASCII, FOLDED, LATE, mark_word
from sync.entries.identity import short_fingerprint
from sync.view.governance_infos import (
    ActInfo,
    ActKind,
    BecauseInfo,
    Dropped,
    Lateness,
    LossInfo,
    Person,
    Reason,
    Role,
)
from sync.view.view import (
    Line,
    MessageShown,
    OpShown,
    PeerShown,
    PeerState,
    PendingEndedShown,
    PendingShown,
)
from tests.support.chat_tui.conversations import LOBBY, conversation, lamports, line, peer

ALICE, BOB, CAROL = (Person(peer(one), one) for one in ("alice", "bob", "carol"))


def act(at: int, kind: ActKind = ActKind.ADDED, whom: Person = CAROL, by: str = "bob") -> Line:
    shown = replace(line(at, author=by), text="", delivery=None)
    return replace(shown, act=ActInfo(kind, (whom,), Role.MEMBER, reason="spam"))


def waiting(at: int, author: str = "carol") -> Line:
    return replace(line(at, author=author), pending=True)


def texts(held: Conversation) -> list[str]:
    return [row.text for row in held.rows]


def test_acts_stand_among_messages_and_are_signed_with_a_sign() -> None:
    held = conversation(line(1), line(3))

    held.act(act(2, ActKind.REMOVED))

    assert texts(held) == ["message 1", "bob removed carol: spam", "message 3"]
    assert [row.nick for row in held.rows] == ["bob", SIGN, "bob"]
    assert [row.begins for row in held.rows] == [False, True, True]


def test_an_act_is_neither_unread_nor_read_to_however_far_ahead_it_is() -> None:
    held = conversation(line(1))
    held.look_away()

    held.act(act(10_000))
    held.arrive(line(2))

    assert held.unread == 1
    assert held.earlier == 0
    assert lamports(held) == [1, 2, 10_000]
    assert held.first_unread == line(2).position


def test_an_act_that_comes_to_nothing_later_says_so_in_its_row_and_once_in_a_notice() -> None:
    feed = Feed(peer("alice"), "alice")
    feed.conversation(LOBBY).add_older([], before=None, complete=True)
    added = act(2)
    why = LossInfo(Reason.SIGNER_TAKEN_OUT, BecauseInfo("aa", ActKind.REMOVED, ALICE, (BOB,)))
    assert added.act is not None
    lost = replace(added, act=replace(added.act, loss=why))

    feed.note_event(OpShown(added))
    first = feed.drain(LOBBY)
    feed.note_event(OpShown(lost, again=True))
    again = feed.drain(LOBBY)

    told = (
        "bob's adding of carol came to nothing, for alice had removed bob; /add carol lets them in"
    )
    assert first.notices == []
    assert [notice.text for notice in again.notices] == [f"{told}."]
    assert texts(feed.conversation(LOBBY)) == [told]


def test_people_of_one_name_are_told_apart_in_acts_too() -> None:
    feed = Feed(peer("alice"), "alice")
    feed.conversation(LOBBY).add_older([], before=None, complete=True)
    feed.note_event(OpShown(act(2)))
    feed.drain(LOBBY)

    feed.note_event(PeerShown(peer("other carol"), "carol", PeerState.UP))
    feed.drain(LOBBY)

    (row,) = feed.conversation(LOBBY).rows
    assert row.text == f"bob added carol {short_fingerprint(CAROL.peer)}"
    assert not row.full_name


def test_what_waits_is_dim_says_why_and_counts_once_it_is_let_in() -> None:
    held = conversation(line(1))
    held.look_away()

    held.wait([waiting(2)])
    (_, row) = held.rows
    before = held.unread
    held.arrive(replace(waiting(2), pending=False))

    assert row.dim
    assert mark_word(row.line, row.line.created_ns, alone=False) == (
        "waits: who let carol in is not known here yet"
    )
    assert ASCII.parked
    assert (before, held.unread) == (0, 1)
    assert [row.dim for row in held.rows] == [False, False]


def test_what_is_not_let_in_is_gone_without_a_trace() -> None:
    feed = Feed(peer("alice"), "alice")
    feed.conversation(LOBBY).add_older([], before=None, complete=True)
    feed.note_event(MessageShown(line(1)))
    feed.note_event(PendingShown(waiting(2)))
    feed.note_event(PendingShown(waiting(3)))
    feed.drain(LOBBY)

    ended = (waiting(2).message_id, line(99).message_id)
    feed.note_event(PendingEndedShown(LOBBY, ended, Dropped.NEVER_MEMBER))
    feed.drain(LOBBY)

    assert lamports(feed.conversation(LOBBY)) == [1, 3]


def test_of_a_flood_that_waits_only_a_few_are_shown_and_there_is_room_again() -> None:
    held = conversation(line(1))

    held.wait([waiting(at) for at in range(2, 2 * PENDING_SHOWN)])
    shown = len(held.rows)
    held.end_wait([waiting(at).message_id for at in range(2, 2 * PENDING_SHOWN)])
    held.wait([waiting(5000)])

    assert shown == 1 + PENDING_SHOWN
    assert lamports(held) == [1, 5000]


def test_a_message_that_was_let_in_does_not_wait_again() -> None:
    held = conversation(line(1))
    held.arrive(line(2, author="carol"))

    held.wait([waiting(2)])

    assert not held.rows[1].dim


def test_a_line_that_an_admin_has_hidden_says_who_hid_it() -> None:
    hidden = replace(line(1), text="", deleted=True, hidden_by=ALICE)
    nameless = replace(line(2), text="", deleted=True, hidden_by=Person(peer("eve")))

    held = conversation(hidden, nameless)

    key = short_fingerprint(peer("eve"))
    assert texts(held) == ["hidden by alice (admin)", f"hidden by {key} (admin)"]


def test_a_copy_of_the_file_and_a_list_of_hits_say_who_hid_a_line_too() -> None:
    hidden = replace(line(1), text="", deleted=True, hidden_by=ALICE)

    assert line_text(hidden, frozenset()).endswith("bob: hidden by alice (admin)")
    assert line_text(act(2), frozenset()).endswith(f"{SIGN} bob added carol")


def test_what_somebody_removed_sent_late_is_marked_or_folded_away() -> None:
    beyond = replace(line(1), late=Lateness.BEYOND)
    folded = replace(line(2), late=Lateness.FOLDED)
    sealed = replace(line(3), late=Lateness.SEALED)

    held = conversation(beyond, folded, sealed)
    laid = [lay_out(row, Shape(80, ASCII), lambda _: Style.null()) for row in held.rows]

    said = ["\n".join(strip.text.strip() for strip in one.strips) for one in laid]
    assert LATE in said[0]
    assert "message 1" in said[0]
    assert "message 2" not in said[1]
    assert texts(held)[1:] == [folded_away(1, "bob"), "message 3"]
    assert LATE not in said[2]
    assert in_words(beyond) == f"message 1 {LATE}"
    assert in_words(folded) == FOLDED


def test_acts_are_read_again_when_somebody_they_name_takes_another_name() -> None:
    feed = Feed(ALICE.peer, "alice")
    feed.conversation(LOBBY).add_older([], before=None, complete=True)
    lost = LossInfo(Reason.SIGNER_TAKEN_OUT, BecauseInfo("1" * 64, ActKind.REMOVED, CAROL, (BOB,)))
    shown = act(1, whom=BOB, by="alice")
    assert shown.act is not None
    feed.note_event(OpShown(replace(shown, act=replace(shown.act, loss=lost)), again=False))
    feed.note_event(MessageShown(line(2, author="dave")))
    feed.drain(LOBBY)

    def read_again(name: str, nick: str, state: PeerState = PeerState.UP) -> bool:
        feed.note_event(PeerShown(peer(name), nick, state))
        return LOBBY in feed.drain(LOBBY).again

    assert not read_again("bob", "bob"), "he comes, as he is called there"
    assert not read_again("bob", "bobby", PeerState.DOWN), "nobody tells a name as he goes"
    assert read_again("bob", "bobby")
    assert read_again("carol", "caroline"), "for whom it came to nothing"
    assert not read_again("dave", "david"), "a message keeps the name it was written under"
    feed.rename("alicia")
    assert LOBBY in feed.drain(LOBBY).again, "one's own name"
    assert LOBBY not in feed.drain(LOBBY).again, "once"
