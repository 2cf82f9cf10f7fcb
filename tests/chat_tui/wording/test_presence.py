"""Words for where somebody is."""

import pytest
from msgspec.structs import replace

from chat_tui.text.times import since
from chat_tui.wording import peers_table, presence, sentences
from chat_tui.wording.glyphs import UNICODE
from chat_tui.wording.json_events import more_of
from chat_tui.wording.panels import Unseen
from chat_tui.wording.person import has_and_needs
from chat_tui.wording.sidebar import SIDEBAR_WIDTH, sidebar
from sync.entries.identity import short_fingerprint
from sync.machine import DAY, HOUR, MINUTE, ChannelId, Nanos
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.scenes import utc
from tests.support.chat_tui.snapshots_of_state import CALM, absent, present, session, snapshot

TWO = replace(CALM, channel=ChannelId("2" * 32), name="bob", open=False, direct=peer("bob"))
YEAR: Nanos = 365 * DAY


@pytest.mark.parametrize(
    ("before", "long", "short"),
    [
        (4 * MINUTE, "11:56", "11:56"),
        (13 * HOUR, "20 Nov, 23:00", "20 Nov"),
        (YEAR, "21 Nov 2024", "Nov 2024"),
    ],
)
def test_a_time_of_another_day_has_its_day(before: Nanos, long: str, short: str) -> None:
    with utc():
        assert since(NOON - before, NOON) == long
        assert since(NOON - before, NOON, short=True) == short


def test_away_is_said_of_who_says_so_and_gone_of_who_is() -> None:
    says, gone = replace(present("bob"), away="lunch"), absent("carol")
    shown = snapshot(says, gone, present("dave"), info=CALM)

    with utc():
        listed = sentences.who(shown)
        side = sidebar(shown, CALM.channel, Unseen(lambda _: 0), UNICODE).plain
        table = "\n".join(one.plain for one in peers_table.table(shown, 120, 0, UNICODE))
        carol = presence.presence(shown, gone)

    assert [line.count("away") for line in listed.splitlines()] == [1, 0, 0]
    assert carol == ["gone since 11:56"]
    assert "away: lunch" in listed
    assert [line.split()[1:-1] for line in side.splitlines()[-3:]] == [
        ["bob", "away"],
        ["dave", "here"],
        ["carol", "gone", "11:56"],
    ]
    assert "offline" not in table
    assert table.count("away") == 1
    assert "11:56" in table


def test_who_left_is_told_to_scripts_with_the_time() -> None:
    shown = snapshot(absent("carol"), present("bob"))

    assert more_of(shown, peer("carol"))["gone_since_ns"] == NOON - 4 * MINUTE
    assert "gone_since_ns" not in more_of(shown, peer("bob"))


def test_a_channel_of_two_says_where_its_other_end_is() -> None:
    away = replace(present("bob"), away="lunch")
    with utc():
        said = [
            sentences.others_here(snapshot(*people, info=info), info)
            for people, info in [
                ((present("bob"),), TWO),
                ((away,), TWO),
                ((absent("bob"),), TWO),
                ((present("bob"),), replace(TWO, peers=())),
                ((), TWO),
            ]
        ]

    assert said == [
        "here",
        "away: lunch",
        "gone since 11:56",
        "here, not in this channel",
        "not here",
    ]


def test_the_sidebar_has_the_sign_of_who_is_at_the_other_end() -> None:
    def second_line(*people: str) -> str:
        shown = replace(snapshot(*map(present, people), absent("bob")), channels=(CALM, TWO))
        if "bob" in people:
            shown = replace(shown, peers=(present("bob"),))
        return sidebar(shown, CALM.channel, Unseen(lambda _: 0), UNICODE).plain.splitlines()[2]

    assert second_line("bob").split() == ["@bob", "●"]
    assert second_line("carol").split() == ["@bob", "○"]


def test_a_long_name_is_cut_before_its_key_also_of_a_channel_and_a_member() -> None:
    key = short_fingerprint(peer("bob"))
    long = replace(TWO, name="maximilian of the hill", sign=f" {key}")
    shown = replace(snapshot(present("bob")), channels=(CALM, long))

    side = sidebar(shown, CALM.channel, Unseen(lambda _: 12), UNICODE).plain.splitlines()[2]

    assert side.split()[-3:] == [key, "●", "12"]
    assert len(side) == SIDEBAR_WIDTH


def test_of_who_is_gone_nobody_knows_what_they_lack() -> None:
    equal = (session(1, "bob"),)
    here = replace(snapshot(present("bob")), sessions=equal)
    gone = replace(snapshot(absent("bob")), sessions=equal)

    assert has_and_needs(here, here.peers[0]) == "in sync"
    assert has_and_needs(gone, gone.peers[0]) == "unknown"
