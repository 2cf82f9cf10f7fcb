"""The sections of the debug pane, and the same in the words of line mode."""

import pytest
from msgspec.structs import replace

from chat_tui.debug import explanations, state_sections
from chat_tui.debug.section import Row, Section, in_words
from chat_tui.debug.styled_lines import section_lines
from chat_tui.wording.glyphs import UNICODE
from sync.machine import MILLISECOND, MINUTE, SECOND
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from sync.view.view import (
    AnswerInfo,
    BloomInfo,
    ChannelInfo,
    HoldersInfo,
    OutgoingInfo,
    RepairInfo,
    RequestInfo,
    Snapshot,
    WaitingInfo,
)
from tests.support.chat_tui import scenes
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.snapshots_of_state import (
    CALM,
    absent,
    ident,
    lacking,
    present,
    snapshot,
)

BLOOM = BloomInfo(412, 1000, 9585, 7, 0.24, 0.001)


def everything(shown: Snapshot, info: ChannelInfo | None) -> list[Section]:
    """Return the sections of all tabs of the debug pane."""
    of_channel = []
    if info is not None:
        of_channel = [
            *state_sections.buffers(shown, info),
            *state_sections.knowledge(shown, info),
            state_sections.timers(shown, info),
        ]
    rest = [
        state_sections.peers(shown),
        *state_sections.refusals(shown),
        state_sections.steps(shown),
    ]
    return [*of_channel, *rest]


def section(shown: Snapshot, info: ChannelInfo | None, title: str) -> Section:
    """The section whose title begins so."""
    sections = everything(shown, info)
    return next(one for one in sections if one.title.startswith(title))


def outgoing(
    delivery: Delivery, *, attempts: int = 0, possibly_by: tuple[str, ...] = ()
) -> ChannelInfo:
    resend_at = None if delivery is Delivery.FAILED else NOON + 8 * SECOND
    names = tuple(peer(name) for name in possibly_by)
    one = OutgoingInfo(ident("e07a11"), delivery, attempts, resend_at, names)
    return replace(CALM, outgoing=(one,), outgoing_count=1)


def holders(*known: tuple[str, Evidence], own: bool = False) -> HoldersInfo:
    return HoldersInfo(ident("b2f9c3"), own, tuple((peer(name), how) for name, how in known))


# -- what waits for what --------------------------------------------------------------------------


def test_a_message_that_waits_names_its_parents_and_when_it_is_shown_anyway() -> None:
    waiting = section(snapshot(present("bob")), lacking(), "Waiting for parents")

    assert waiting.total == 1
    assert waiting.rows == (
        Row(
            "from bob, needs 51b07d",
            subject="9c41e2",
            when="shown anyway in",
            left=MINUTE,
        ),
    )


def test_a_parent_that_somebody_else_named_or_that_waits_too_says_so() -> None:
    held = WaitingInfo(
        ident("aaaaaa"), peer("carol"), (ident("51b07d"), ident("9c41e2")), NOON + MINUTE
    )
    info = lacking()
    info = replace(info, waiting=(*info.waiting, held), waiting_count=2)

    rows = section(snapshot(present("bob"), present("carol")), info, "Waiting").rows

    assert rows[1].text == "from carol, needs 51b07d (named by bob), 9c41e2 (waiting too)"


def test_a_request_counts_down_and_says_who_named_it_and_who_waits() -> None:
    request = section(snapshot(present("bob")), lacking(asked=2), "To request")

    assert request.title == "To request (T_req 1 s to 6 s)"
    assert request.note == "5 participants, 1 response group"
    assert request.rows == (
        Row(
            "named by bob in 9c41e2, asked for twice, 1 waits for it",
            subject="51b07d",
            share=4 / 6,
            when="asks in",
            left=4 * SECOND,
        ),
    )


def test_what_a_sync_message_named_is_named_by_its_sender_alone() -> None:
    request = RequestInfo(ident("51b07d"), peer("bob"), peer("bob"), NOON, asked=0, waiters=0)
    info = replace(CALM, repair=RepairInfo(5, 1, SECOND, 6 * SECOND, (request,), 1))

    [row] = section(snapshot(present("bob")), info, "To request").rows

    assert (row.text, row.left, row.share) == ("named by bob", 0, 0.0)


def test_a_request_waits_while_nobody_is_here() -> None:
    [row] = section(snapshot(absent("bob")), replace(lacking(), peers=()), "To request").rows

    assert row.text.startswith("asked for once somebody is here, named by bob")
    assert row.left is None


def test_what_stands_in_line_is_counted() -> None:
    *_, last = section(snapshot(present("bob")), lacking(count=1_001), "To request").rows

    assert last == Row("and 1,000 more")


def test_an_answer_counts_down_and_says_for_whom_it_is() -> None:
    answer = AnswerInfo(ident("77aa10"), peer("carol"), NOON + 3 * SECOND)
    repair = RepairInfo(5, 1, SECOND, 6 * SECOND, answers=(answer,), answers_count=1)

    shown = section(snapshot(present("carol")), replace(CALM, repair=repair), "To answer")

    assert shown.title == "To answer (T_resp up to 6 s)"
    assert shown.rows == (
        Row("for carol", subject="77aa10", share=0.5, when="answers in", left=3 * SECOND),
    )


@pytest.mark.parametrize(
    ("info", "words"),
    [
        (outgoing(Delivery.UNACKNOWLEDGED), "e07a11 again in 8 s: sent"),
        (
            outgoing(Delivery.POSSIBLY_ACKNOWLEDGED, attempts=2, possibly_by=("bob", "carol")),
            "e07a11 again in 8 s: maybe received by bob, carol (filter), resent twice",
        ),
        (outgoing(Delivery.FAILED, attempts=5), "e07a11 failed, resent 5 times"),
    ],
)
def test_an_unacknowledged_message_says_its_state_and_who_may_have_it(
    info: ChannelInfo, words: str
) -> None:
    [row] = section(snapshot(present("bob"), present("carol")), info, "Unacknowledged").rows

    assert in_words(row) == words
    assert row.mark is info.outgoing[0].delivery


def test_what_nobody_could_hear_waits_and_is_not_sent() -> None:
    info = outgoing(Delivery.UNACKNOWLEDGED)
    offline = replace(info, outgoing=(replace(info.outgoing[0], resend_at=None),))

    [row] = section(snapshot(), offline, "Unacknowledged").rows

    assert in_words(row) == "e07a11 waiting"


def test_what_is_lost_or_of_the_future_has_a_section_only_then() -> None:
    titles = {one.title for one in state_sections.buffers(snapshot(), CALM)}
    info = replace(CALM, lost=2, parked=3, parked_own=(ident("d00d1e"),))
    sections = {one.title: one for one in state_sections.buffers(snapshot(), info)}

    assert sections.keys() - titles == {"Given up as lost", "Stamped in the future"}
    assert sections["Given up as lost"].total == 2
    assert sections["Stamped in the future"].total == 3
    assert sections["Stamped in the future"].rows[1].subject == "d00d1e"


# -- who has what ---------------------------------------------------------------------------------


def test_the_filter_says_its_size_its_fill_and_how_often_it_is_wrong() -> None:
    rows = section(snapshot(), replace(CALM, bloom=BLOOM), "Filter").rows

    assert rows[0] == Row("412 of 1,000 ids, rolls over in 588", cells="#" * 10 + "." * 14)
    assert [row.text for row in rows[1:]] == [
        "9,585 bits, k 7, 24% set",
        "chance of a false “maybe”: 0.10%",
    ]


def test_a_full_filter_rolls_over_with_the_next_id() -> None:
    rows = section(snapshot(), replace(CALM, bloom=replace(BLOOM, count=1000)), "Filter").rows

    assert rows[0].text.endswith("rolls over with the next")


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0.00%"), (1e-17, "under 0.01%"), (0.001, "0.10%"), (0.24, "24%"), (1.0, "100%")],
)
def test_small_shares_have_decimals(share: float, words: str) -> None:
    assert explanations.percent(share) == words


def test_who_has_a_message_is_said_with_the_evidence_strongest_first() -> None:
    known = holders(
        ("alice", Evidence.NAMED),
        ("dave", Evidence.FILTER),
        ("carol", Evidence.NAMED),
        ("erin", Evidence.SENT),
        ("bob", Evidence.WROTE),
    )
    everybody = snapshot(*(present(name) for name in ("bob", "carol", "dave", "erin")))

    [row] = section(everybody, replace(CALM, bloom=BLOOM, holders=(known,)), "Holders").rows

    assert in_words(row) == (
        "b2f9c3 bob wrote it · carol named it · erin sent it to us · dave maybe (filter, 0.10%)"
    )
    assert row.mark is None


def test_an_own_message_is_yours_and_has_its_mark() -> None:
    written = ("alice", Evidence.WROTE)
    alone = replace(CALM, bloom=BLOOM, holders=(holders(written, own=True),))
    named = replace(alone, holders=(holders(written, ("bob", Evidence.NAMED), own=True),))
    pending = replace(
        alone,
        outgoing=(OutgoingInfo(ident("b2f9c3"), Delivery.FAILED, 5, None),),
        outgoing_count=1,
    )
    crowd = snapshot(present("bob"))

    rows = [section(crowd, info, "Holders").rows[0] for info in (alone, named, pending)]

    assert [row.text for row in rows] == [
        "yours · received before this start",
        "yours · bob named it",
        "yours · nobody else yet",
    ]
    assert [row.mark for row in rows] == [
        Delivery.ACKNOWLEDGED,
        Delivery.ACKNOWLEDGED,
        Delivery.FAILED,
    ]


def test_a_mark_that_a_cut_list_cannot_tell_is_left_out() -> None:
    info = replace(
        CALM,
        bloom=BLOOM,
        holders=(holders(("alice", Evidence.WROTE), own=True),),
        outgoing_count=150,
    )

    [row] = section(snapshot(), info, "Holders").rows

    assert (row.mark, row.text) == (None, "yours")


def test_many_names_are_counted() -> None:
    names = [f"peer{number}" for number in range(9)]
    known = holders(*((name, Evidence.NAMED) for name in names))
    crowd = snapshot(*(present(name) for name in names))

    [row] = section(crowd, replace(CALM, bloom=BLOOM, holders=(known,)), "Holders").rows

    assert row.text == "peer0, peer1, peer2 and 6 more named it"


# -- the whole pane, and line mode ----------------------------------------------------------------


def test_the_debug_pane_adds_timers_peers_refusals_and_steps() -> None:
    info = replace(CALM, bloom=BLOOM, next_sync_at=NOON + 3 * SECOND)
    busy = replace(
        snapshot(present("bob"), info=info),
        refused={"192.168.1.9": 3, present("bob").peer: 1},
        trace=("09:16 in MSG", "09:16 Tick → nothing", "09:16 out \x1b[2JSYNC"),
    )

    sections = {one.title: one for one in everything(busy, info)}

    assert sections["Timers"].rows[0].left == 3 * SECOND
    assert sections["Peers"].total == 1
    assert [in_words(row) for row in sections["Bad input refused"].rows] == [
        "192.168.1.9: 3",
        "bob: 1",
    ]
    assert [row.text for row in sections["Last steps, newest first"].rows] == [
        "09:16 out (SYNC)",
        "09:16 in (MSG)",
    ]


def test_without_a_channel_there_are_peers_and_steps() -> None:
    titles = [one.title for one in everything(snapshot(), None)]

    assert titles == ["Peers", "Last steps, newest first"]


def test_line_mode_says_the_same_in_words_alone() -> None:
    info = replace(
        lacking(), bloom=BLOOM, holders=(holders(("bob", Evidence.WROTE)),), lost=2, outgoing=()
    )

    lines = state_sections.as_text(snapshot(present("bob")), info).splitlines()

    assert lines == [
        "Waiting for parents: 1",
        "  9c41e2 shown anyway in 1 min: from bob, needs 51b07d",
        "To request (T_req 1 s to 6 s): 1",
        "  5 participants, 1 response group",
        "  51b07d asks in 4 s: named by bob in 9c41e2, 1 waits for it",
        "To answer (T_resp up to 6 s): nobody asks",
        "Unacknowledged: none, all was received",
        "Given up as lost: 2",
        "  each place is marked in the chat; /sync looks again",
        "Reconciliations: none since this start",
        "Filter:",
        "  412 of 1,000 ids, rolls over in 588",
        "  9,585 bits, k 7, 24% set",
        "  chance of a false “maybe”: 0.10%",
        "Holders, newest first:",
        "  b2f9c3 bob wrote it",
    ]


def test_an_engine_that_asks_and_answers_shows_both() -> None:
    scene = scenes.repairing()
    shown = scene.snapshot()
    [info] = shown.channels

    request = section(shown, info, "To request")
    answer = section(shown, info, "To answer")
    held = section(shown, info, "Waiting")

    assert request.rows[0].text.startswith("named by carol in ")
    assert [row.text for row in answer.rows] == ["for dave"]
    assert held.rows[0].text == f"from carol, needs {request.rows[0].subject}"


def test_an_engine_with_every_mark_says_who_may_have_what() -> None:
    scene = scenes.morning()
    shown = scene.snapshot()
    [info] = shown.channels

    rows = section(shown, info, "Unacknowledged").rows

    assert {row.mark for row in rows} == set(Delivery) - {Delivery.ACKNOWLEDGED}
    assert any(row.text.startswith("maybe received by bob (filter)") for row in rows)
    assert any("named it" in row.text for row in section(shown, info, "Holders").rows)


def keys_of(section: Section, text: str) -> set[str]:
    """Return the keys of the lines with `text`, by which a row stays selected and open."""
    lines = section_lines([section], 80, UNICODE)
    return {line.key for line in lines if text in line.content.plain}


def test_a_step_stays_the_one_that_is_open_while_others_come_above_it() -> None:
    before = replace(snapshot(), trace=("09:16 in MSG", "09:17 in SYNC"))
    after = replace(before, trace=(*before.trace, "09:18 out ANSWER"))

    assert keys_of(state_sections.steps(before), "09:17") == keys_of(
        state_sections.steps(after), "09:17"
    )
    assert keys_of(state_sections.steps(after), "09:17") != keys_of(
        state_sections.steps(after), "09:18"
    )


def test_a_timer_stays_the_one_that_is_open_while_another_begins_or_ends() -> None:
    shown = replace(snapshot(), longest_block_ns=80 * MILLISECOND)
    with_sync = replace(CALM, next_sync_at=NOON + 3 * SECOND)
    without = replace(CALM, next_sync_at=None)
    two = state_sections.timers(shown, with_sync)

    assert keys_of(state_sections.timers(shown, without), "80 ms") == keys_of(two, "80 ms")
    assert keys_of(two, "80 ms") != keys_of(two, "next sync")
