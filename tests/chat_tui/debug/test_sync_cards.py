"""The cards of reconciliations, and the same in the words of line mode."""

import re

from msgspec.structs import replace

from chat_tui.debug import state_sections
from chat_tui.debug.sync_cards import CARDS_SHOWN, PAYLOADS_SHOWN, session_cards
from chat_tui.text.times import time_of_day
from sync.machine import HOUR, MINUTE, SECOND, ChannelId
from sync.view.view import RoundInfo, SessionInfo, Snapshot
from tests.support.chat_tui import scenes
from tests.support.chat_tui.snapshots_of_state import CALM, present, session, snapshot

ASKS = RoundInfo(True, 48, 0, 1, 0, 0, "#" * 32)
DIVIDES = RoundInfo(False, 642, 7, 1, 0, 0, "." * 16 + "####" + "." * 12)
LISTS = RoundInfo(True, 1_200, 1, 0, 1, 31, "." * 16 + "====" + "." * 12)
ENDS = RoundInfo(False, 6, 0, 0, 0, 0, "." * 32)


LONG = session(12, "carol", ASKS, DIVIDES, result="reconciled")


def with_sessions(*sessions: SessionInfo) -> Snapshot:
    return replace(snapshot(present("carol")), sessions=sessions)


def card(shown: SessionInfo) -> list[tuple[str, str]]:
    """Subject and text of each row of the only card."""
    [only] = session_cards(with_sessions(shown), CALM)
    assert only.title == "Session 12 with carol"
    return [(row.subject, row.text) for row in only.rows]


def test_a_card_says_why_what_each_payload_was_and_what_came_of_it() -> None:
    over = session(
        12, "carol", ASKS, DIVIDES, LISTS, ENDS, result="reconciled", need=12, got=12, have=4
    )

    assert card(over) == [
        ("", "waku · reconciled · 500 ms"),
        ("why", "new link · everything · proved to agree"),
        ("rt 1", "out 48 B, 1 to compare"),
        ("rt 1", "in 642 B, 7 equal, 1 to compare"),
        ("rt 2", "out 1.2 kB, 1 equal, item set 31 ids"),
        ("rt 2", "in 6 B, nothing differs"),
        ("", "2 round trips · 1.2 kB out · 648 B in"),
        ("", "naive list would cost 34.8 kB (18x)"),
        ("result", "need 12, got 12, gave 4"),
    ]


def test_all_payloads_of_an_answer_are_of_one_round_trip() -> None:
    over = session(12, "carol", ASKS, DIVIDES, DIVIDES, LISTS, LISTS, LISTS, ENDS)
    longer = replace(over, payloads=len(over.rounds) + 2)

    assert [over.trip(at) for at in range(7)] == [1, 1, 1, 2, 2, 2, 2]
    assert [subject for subject, _ in card(over) if subject.startswith("rt")][:4] == [
        *["rt 1"] * 3,
        "rt 2",
    ]
    assert (over.trips, longer.trips) == (2, 3)


def test_each_payload_draws_its_cells() -> None:
    [only] = session_cards(with_sessions(session(12, "carol", ASKS, LISTS)), CALM)

    assert [row.cells for row in only.rows if row.cells] == [ASKS.cells, LISTS.cells]


def test_a_session_that_goes_on_counts_exactly() -> None:
    running = session(12, "carol", state="transferring", need=12_000, got=4_310, have=1)
    later = replace(running, began_at=running.began_at - 3 * SECOND)
    much_later = replace(running, began_at=running.began_at - MINUTE)

    assert card(running)[0][1] == "waku · transferring · 500 ms"
    assert card(running)[-1][1] == "need 12,000, got 4,310, gives 1"
    assert card(later)[0][1] == "waku · transferring · 3.5 s"
    assert card(much_later)[0][1] == "waku · transferring · 1 min"


def test_a_window_and_what_was_not_proved_are_said() -> None:
    cut = session(12, "carol", result="interrupted: the peer is gone")
    cut = replace(cut, since=cut.began_at - 2 * HOUR, proved=False)

    assert card(cut)[:2] == [
        ("", "waku · interrupted: the peer is gone · 500 ms"),
        ("why", "new link · the last 2 h · not proved"),
    ]


def test_a_proof_counts_on_what_is_yet_to_come() -> None:
    cut = session(12, "carol", result="incomplete: 3 messages did not come", need=9, got=6)
    running = replace(session(12, "carol", state="transferring", need=9, got=6), proved=True)

    assert card(cut)[1][1] == "new link · everything · proved, but not all came"
    assert card(running)[1][1] == "new link · everything · proved to agree once all is here"


def test_what_is_beyond_the_shown_is_counted() -> None:
    many = session(12, "carol", *[ASKS, DIVIDES] * PAYLOADS_SHOWN, result="reconciled")
    sessions = [session(number, "carol") for number in range(CARDS_SHOWN + 3, 0, -1)]
    cards = session_cards(with_sessions(*sessions), CALM)

    assert ("", f"and {PAYLOADS_SHOWN} more payloads") in card(many)
    assert [one.title for one in cards[:2]] == ["Session 8 with carol", "Session 7 with carol"]
    assert (len(cards), cards[-1].none) == (CARDS_SHOWN + 1, "and 3 more")


def test_the_cost_counts_payloads_that_are_not_remembered_too() -> None:
    long = session(12, "carol", *[ASKS, DIVIDES] * PAYLOADS_SHOWN, result="reconciled")
    long = replace(long, payloads=90, bytes_out=1_000_000, bytes_in=500_000, naive=40_000_000)

    assert ("", "and 78 more payloads") in card(long)
    assert ("", "45 round trips · 1.0 MB out · 500.0 kB in") in card(long)
    assert ("", "naive list would cost 40.0 MB (27x)") in card(long)


def test_messages_that_were_pushed_are_counted_beside_what_was_compared() -> None:
    pushed = replace(LONG, bytes_out=30_000, bytes_in=37_000, bytes_brought=2_200_000)

    assert ("", "67.0 kB compared, 2.2 MB brought") in card(pushed)


def test_it_says_where_a_plain_list_would_have_been_cheaper() -> None:
    dear = replace(LONG, bytes_out=30_000, bytes_in=39_600, naive=34_800)

    assert ("", "a plain list would have been cheaper: 34.8 kB (0.5x)") in card(dear)


HANDSHAKE = RoundInfo(True, 436, 0, 0, 0, 0, "", words="handshake")


def test_it_says_so_of_a_handshake_too_unless_messages_came_with_it() -> None:
    dear = session(12, "carol", HANDSHAKE, result="both have the same")
    dear = replace(dear, bytes_out=436, bytes_in=436, naive=160)

    assert ("", "a plain list would have been cheaper: 160 B (0.2x)") in card(dear)
    assert ("", "naive list would cost 160 B (0.2x)") in card(replace(dear, got=3))


def test_another_channel_has_its_own_cards() -> None:
    other = replace(session(12, "carol"), channel=ChannelId("f" * 32))

    assert [one.none for one in session_cards(with_sessions(other), CALM)] == [
        "none since this start"
    ]


def test_words_of_peers_are_cleaned_and_cut() -> None:
    evil = replace(session(12, "carol", result="refused: \x1b[2J" + "x" * 200), why="\x07why")

    rows = card(evil)

    assert "\x1b" not in rows[0][1]
    assert len(rows[0][1]) < 90
    assert rows[1][1].startswith("why ·")


def test_line_mode_says_the_card_in_words() -> None:
    lines = state_sections.as_text(with_sessions(session(12, "carol", ASKS)), CALM).splitlines()

    assert "Session 12 with carol:" in lines
    assert "  rt 1 out 48 B, 1 to compare" in lines
    assert "  result need 0, got 0, gave 0" in lines


def test_an_engine_that_gets_history_shows_its_payloads() -> None:
    scene = scenes.coming_back()
    scenes.history(scene)
    shown = scene.snapshot()

    cards = session_cards(shown, shown.channels[0])

    first = cards[-1]
    assert first.title in ("Session 1 with bob", "Session 1 with carol")
    bands = [row.cells for row in first.rows if row.cells]
    assert len(bands) == 6
    assert {sign for band in bands for sign in band} == set(".#=")
    assert re.search(r"need 340, got \d\d, gives 0", first.rows[-1].text)


def test_a_live_session_says_since_when_and_what_it_passed_on() -> None:
    live = replace(
        session(12, "carol", state="live", need=30, got=30, have=12), protocol="logheight"
    )

    assert card(live)[0][1] == f"logheight · live since {time_of_day(live.began_at)}"
    assert card(live)[-1] == ("result", "passed on 12, brought 30")


def test_what_a_peer_says_that_we_lack_is_its_claim_until_the_end() -> None:
    claimed = session(12, "carol", state="reconciling", need=12_000, got=4_310)
    claimed = replace(claimed, protocol="sets", logs=3)
    over = replace(session(12, "carol", result="reconciled", need=3, got=3), protocol="sets")

    told = "need 12,000 of 3 logs, got 4,310, gives 0 (the need is the peer's claim)"
    assert card(claimed)[-1][1] == told
    assert card(over)[-1][1] == "need 3, got 3, gave 0"
