"""Waves of a sketch: which symbols became pure when, on a card and in what opens from it."""

from msgspec.structs import replace

from chat_tui.debug.range_rows import payload_detail
from chat_tui.debug.styled_lines import section_lines
from chat_tui.debug.sync_cards import session_cards
from chat_tui.wording.glyphs import ASCII, UNICODE
from chat_tui.wording.waves import ACROSS, ROWS, wave_rows, waves_plainly, waves_said
from sync.view.view import RoundInfo
from tests.support.chat_tui.snapshots_of_state import CALM, present, session, snapshot

WAVES = (1, 0, 2, 2, 11, *[0] * 59)
OPENED = RoundInfo(
    sent=False,
    size=2_700,
    skips=0,
    fingerprints=0,
    item_sets=0,
    items=0,
    cells="",
    words="64 symbols of 1,016 messages",
    waves=WAVES,
)


def test_each_symbol_is_a_sign_and_each_wave_is_counted() -> None:
    first, second = wave_rows(WAVES)
    assert first == "1.22+" + "." * (ACROSS - 5)
    assert second == "." * ACROSS
    assert waves_said(WAVES) == ("11 waves: 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1 pure of 64 symbols")


def test_of_many_symbols_the_first_are_drawn_and_of_many_waves_the_first_are_counted() -> None:
    waves = list(range(1, 200))
    assert len(wave_rows(waves)) == ROWS
    assert waves_said(waves).endswith("1, … pure of 199 symbols")
    assert waves_said([0, 0]) == "none of 2 symbols was pure"
    assert wave_rows([]) == []


def test_in_plain_words_no_wave_is_named() -> None:
    assert waves_plainly((1, 1, 2, 0, 3)) == (
        "2 of 5 symbols have one line that differs alone; with those lines taken out, 1 more, "
        "then 1 more"
    )
    assert waves_plainly((1, 0)) == "1 of 2 symbols has one line that differs alone"
    assert waves_plainly((0, 0)) == "none of 2 symbols has a line that differs for itself"


def test_a_card_draws_them_below_their_payload() -> None:
    told = session(12, "carol", OPENED, result="reconciled")
    shown = replace(snapshot(present("carol")), sessions=(told,))
    [card] = session_cards(shown, CALM)
    at = next(n for n, row in enumerate(card.rows) if "64 symbols" in row.text)

    assert [row.cells for row in card.rows[at + 1 : at + 3]] == wave_rows(WAVES)
    assert card.rows[at + 3].text == waves_said(WAVES)
    for glyphs in (ASCII, UNICODE):
        drawn = [line.content.plain for line in section_lines([card], 60, glyphs)]
        assert any("1" in line and "22+" in line for line in drawn)


def test_what_opens_says_what_pure_means() -> None:
    told = session(12, "carol", OPENED, result="reconciled")
    detail = payload_detail(told, 0)
    assert waves_said(WAVES) in detail.facts
    assert any(fact.startswith("pure: only one message") for fact in detail.facts)
    assert [fact for fact in detail.facts if fact.strip().startswith("32 ")]
