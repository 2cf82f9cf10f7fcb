"""Sentences about a snapshot."""

from dataclasses import replace

from chat_tui import reports
from sync.machine import MINUTE, SECOND, MessageId, Nanos, PeerId
from sync.sds.message import Delivery
from sync.view import (
    BloomInfo,
    ChannelInfo,
    OutgoingInfo,
    PeerInfo,
    PeerState,
    Snapshot,
    WaitingInfo,
)
from tests.conversations import LOBBY, NOON, peer

CALM = ChannelInfo(LOBBY, "lobby", open=True, profile="lan", messages=12, peers=(peer("bob"),))
NETWORK = "Looking for people on eth0; nobody yet."


def present(name: str, *, syncing: bool = False, rtt: Nanos | None = None) -> PeerInfo:
    return PeerInfo(peer(name), name, PeerState.UP, "192.168.1.31:46021", rtt, None, NOON, syncing)


def absent(name: str) -> PeerInfo:
    return PeerInfo(peer(name), name, PeerState.DOWN, "", last_seen_ns=NOON - 4 * MINUTE)


def snapshot(*peers: PeerInfo, info: ChannelInfo = CALM) -> Snapshot:
    return Snapshot(peer("alice"), "alice", NOON, 46021, "eth0", NETWORK, (info,), peers)


def waiting(count: int) -> ChannelInfo:
    outgoing = OutgoingInfo(MessageId("e07a11" + "0" * 58), Delivery.UNACKNOWLEDGED, 1, NOON)
    return replace(CALM, outgoing=(outgoing,), outgoing_count=count)


def test_alone_with_messages_says_that_they_wait_and_for_what() -> None:
    alone = snapshot(info=waiting(3))

    sentence = reports.what_happens(alone, alone.channels[0])

    assert sentence == "Nobody here; 3 messages wait and go out when someone appears."


def test_one_message_waits_in_the_singular() -> None:
    alone = snapshot(absent("bob"), info=waiting(1))

    sentence = reports.what_happens(alone, alone.channels[0])

    assert sentence == "Nobody here; 1 message waits and goes out when someone appears."


def test_alone_and_silent_says_what_the_network_does() -> None:
    alone = snapshot()

    assert reports.what_happens(alone, CALM) == NETWORK
    assert reports.others_here(alone, CALM) == "nobody else here"
    assert reports.agreement(alone, CALM) == ""


def test_who_is_on_the_network_but_not_in_the_channel_is_named_with_the_way_in() -> None:
    elsewhere = snapshot(present("carol"), present("dave"))
    private = replace(CALM, open=False)

    assert reports.what_happens(elsewhere, CALM) == (
        "carol and 1 other can come here with /join #lobby."
    )
    assert "/invite" in reports.what_happens(elsewhere, private)


def test_an_empty_channel_says_who_will_read() -> None:
    assert "everybody" in reports.nothing_yet(CALM)[1]
    assert "/invite" in reports.nothing_yet(replace(CALM, open=False))[1]
    assert "/join" in reports.nothing_yet(None)[1]


def test_all_well_is_said_too() -> None:
    two = snapshot(present("bob"))

    assert reports.what_happens(two, CALM) == "Everything you sent was received."


def test_a_peer_counts_only_in_the_channels_it_proved() -> None:
    two = snapshot(present("bob"), present("carol"))

    assert reports.others_here(two, CALM) == "1 other here"
    assert reports.agreement(two, CALM) == "in sync"


def test_comparing_and_missing_are_said_before_all_is_well() -> None:
    lacking = replace(CALM, missing=(MessageId("51b07d" + "0" * 58),), waiting_count=1)
    comparing = snapshot(present("bob", syncing=True))
    missing = snapshot(present("bob"), info=lacking)

    assert reports.agreement(comparing, CALM) == "comparing histories"
    assert reports.what_happens(comparing, CALM) == "Comparing histories with bob."
    assert reports.agreement(missing, lacking) == "1 missing"
    assert reports.what_happens(missing, lacking) == (
        "1 earlier message is missing; 1 held back for it."
    )


def test_without_a_channel_it_says_how_to_get_one() -> None:
    assert "/join" in reports.what_happens(snapshot(), None)
    assert "/join" in reports.channels(replace(snapshot(), channels=()))


def test_the_open_lobby_says_that_it_is_open() -> None:
    assert reports.openness(CALM) == "open to everybody on this network"
    assert "invite" in reports.openness(replace(CALM, open=False))


def test_peers_here_come_first_each_with_a_word() -> None:
    rows = reports.who(snapshot(absent("erin"), present("bob", rtt=2_000_000))).splitlines()

    assert rows[0].startswith("bob ")
    assert rows[0].endswith("· here · 192.168.1.31:46021 · 2.0 ms")
    assert rows[1].endswith("· away for 4 min")


def test_nobody_yet_is_never_a_blank() -> None:
    assert reports.who(snapshot()) == f"Nobody yet. {NETWORK}"


def test_the_buffers_say_what_waits_for_what() -> None:
    held = WaitingInfo(
        MessageId("9c41e2" + "0" * 58),
        peer("bob"),
        (MessageId("51b07d" + "0" * 58),),
        NOON + MINUTE,
    )
    outgoing = OutgoingInfo(
        MessageId("e07a11" + "0" * 58), Delivery.POSSIBLY_ACKNOWLEDGED, 2, NOON + 8 * SECOND
    )
    info = replace(
        CALM,
        waiting=(held,),
        waiting_count=1,
        outgoing=(outgoing,),
        outgoing_count=1,
        lost=2,
        bloom=BloomInfo(412, 1000, 9585, 7, 0.24, 0.001),
    )

    text = reports.missing(snapshot(present("bob")), info)

    assert "  9c41e2 bob needs 51b07d; shown anyway in 1 min" in text
    assert "  e07a11 maybe received, again in 8 s, 2 tries" in text
    assert "Missing: none" in text
    assert "Given up as lost: 2" in text


def test_the_debug_pane_adds_filter_peers_refusals_and_steps() -> None:
    info = replace(CALM, bloom=BloomInfo(412, 1000, 9585, 7, 0.24, 0.001))
    busy = replace(
        snapshot(present("bob"), info=info),
        refused={"192.168.1.9": 3},
        trace=("09:16 in MSG", "09:16 out \x1b[2JSYNC"),
    )

    sections = {section.title: section for section in reports.debug_sections(busy, info)}

    assert sections["Filter and clocks"].rows[0].startswith("412 of 1,000 ids, 24% of 9,585 bits")
    assert sections["Peers"].total == 1
    assert sections["Bad input refused"].rows == ("192.168.1.9: 3",)
    assert sections["Last steps, newest first"].rows[0] == "09:16 out SYNC"


def test_names_of_peers_are_cleaned_everywhere() -> None:
    evil = PeerInfo(peer("bob"), "b\x1b[2Job\u202e", PeerState.UP, "1.2.3.4:1\x07")
    shown = snapshot(evil)

    for text in (reports.who(shown), reports.name_of(shown, peer("bob"))):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x07" not in text


def test_an_unknown_author_is_named_by_the_key() -> None:
    assert len(reports.name_of(snapshot(), PeerId("ab" * 32))) == len("7F3A-91C2")


def test_status_and_whoami_say_name_key_and_place() -> None:
    text = reports.status(snapshot(present("bob")), CALM)

    assert text.startswith("You are alice, listening on eth0, port 46021.")
    assert "#lobby (open to everybody on this network): 12 messages, 1 other here, in sync." in text
