"""Alerts: which message raises what, on a clock that the tests move."""

import pytest

from chat_tui.terminal.alert_rules import (
    FRESH,
    NOTHING,
    RING_EVERY,
    Alerts,
    Raised,
    Rules,
    desktop_notice,
    is_quiet,
    mentions,
    notice_of,
    set_title,
    title_of,
)
from chat_tui.text.safe_text import clean_nick
from sync.machine import HOUR, SECOND, ChannelId, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view.view import Line

NOW: Nanos = 10**18
LOBBY, BUILD = ChannelId("1" * 64), ChannelId("2" * 64)
NOON = 12 * 60


def line(
    text: str, *, channel: ChannelId = LOBBY, nick: str = "bob", own: bool = False, at: Nanos = NOW
) -> Line:
    return Line(
        channel=channel,
        message_id=MessageId("a" * 64),
        author=PeerId("b" * 64),
        nick=nick,
        text=text,
        lamport=1,
        created_ns=at,
        own=own,
        after_gap=False,
        delivery=Delivery.UNACKNOWLEDGED if own else None,
    )


def ring(
    alerts: Alerts, one: Line, *, rules: Rules | None = None, now: Nanos = NOW, minute: int = NOON
) -> Raised:
    author = clean_nick(one.nick)
    rules = rules or Rules()
    return alerts.ring(one, author=author, nick="alice", rules=rules, now=now, minute=minute)


def test_a_message_with_my_name_rings() -> None:
    assert ring(Alerts(), line("@alice look")) == Raised(bell=True)
    assert ring(Alerts(), line("look here")) == NOTHING


@pytest.mark.parametrize(
    ("alerts", "text", "rings"),
    [
        ("all", "hello", True),
        ("mentions", "hello", False),
        ("mentions", "hello ALICE!", True),
        ("none", "hello alice", False),
    ],
)
def test_who_wants_all_mentions_or_none_gets_that(alerts: str, text: str, rings: bool) -> None:
    assert ring(Alerts(), line(text), rules=Rules(alerts=alerts)).bell is rings


def test_own_messages_never_ring_nor_count() -> None:
    alerts = Alerts()
    alerts.count(line("alice", own=True))

    assert ring(alerts, line("alice", own=True), rules=Rules(alerts="all")) == NOTHING
    assert alerts.unseen == 0


def test_a_flood_rings_once_in_ten_seconds() -> None:
    alerts, rules = Alerts(), Rules(alerts="all")
    rang = [
        ring(alerts, line("x", at=NOW + n * SECOND), rules=rules, now=NOW + n * SECOND).bell
        for n in range(60)
    ]

    assert sum(rang) == 60 * SECOND // RING_EVERY
    assert rang[0]


def test_old_history_does_not_ring() -> None:
    assert ring(Alerts(), line("alice", at=NOW - FRESH - 1)) == NOTHING
    assert ring(Alerts(), line("alice", at=NOW - FRESH)).bell
    assert ring(Alerts(), line("alice", at=NOW + HOUR)).bell  # another clock goes ahead


def test_quiet_hours_ring_nothing_and_count_on() -> None:
    alerts, rules = Alerts(), Rules(alerts="all", quiet_hours=(22 * 60, 7 * 60))
    alerts.count(line("psst"))

    assert ring(alerts, line("psst"), rules=rules, minute=23 * 60) == NOTHING
    assert ring(alerts, line("psst"), rules=rules, minute=6 * 60 + 59) == NOTHING
    assert alerts.unseen == 1
    assert ring(alerts, line("psst"), rules=rules, minute=7 * 60).bell


def test_what_did_not_ring_does_not_keep_the_next_from_it() -> None:
    alerts = Alerts()

    ring(alerts, line("nothing for her"))

    assert ring(alerts, line("alice?")).bell


@pytest.mark.parametrize("hours", [(0, 0), (NOON, NOON)])
def test_hours_that_begin_when_they_end_are_none(hours: tuple[int, int]) -> None:
    assert not any(is_quiet(hours, minute) for minute in range(24 * 60))


def test_hours_within_a_day_are_quiet_between() -> None:
    quiet = [minute for minute in range(24 * 60) if is_quiet((9 * 60, 10 * 60), minute)]

    assert quiet == list(range(9 * 60, 10 * 60))


def test_looking_at_a_channel_forgets_its_count_alone() -> None:
    alerts = Alerts()
    for channel in (LOBBY, LOBBY, BUILD):
        alerts.count(line("x", channel=channel))

    alerts.look(LOBBY)
    alerts.look(None)

    assert alerts.unseen == 1
    assert title_of(alerts.unseen) == "(1) chat-tui"
    assert title_of(0) == "chat-tui"


def test_a_name_is_a_word_of_its_own() -> None:
    assert mentions("alice: hi", "alice")
    assert mentions("hi,Alice.", "alice")
    assert mentions("é@Zoë!", "zoë")
    assert not mentions("malice", "alice")
    assert not mentions("alices", "alice")
    assert mentions("see a.b", "a.b")
    assert not mentions("see axb", "a.b")


def test_bell_and_notice_are_each_off_on_their_own() -> None:
    noticed = ring(Alerts(), line("alice!"), rules=Rules(bell=False, desktop="osc9"))

    assert noticed == Raised(bell=False, notice="bob: alice!")
    assert ring(Alerts(), line("alice!"), rules=Rules(bell=False)) == NOTHING


def test_what_peers_write_cannot_end_a_sequence() -> None:
    nasty = line("a\x07b\x1b\\c;d\u009ce\nf" + "x" * 500, nick="e\x1b]0;v;il\x07")

    notice = notice_of(nasty, clean_nick(nasty.nick))

    assert notice.isprintable()
    assert ";" not in notice
    assert len(notice) <= 120
    for kind in ("osc9", "osc777"):
        sequence = desktop_notice(kind, notice)
        assert sequence.startswith("\x1b]")
        assert sequence.endswith("\x1b\\")
        assert sequence.count("\x1b") == 2
    assert set_title("x") == "\x1b]2;x\x1b\\"
