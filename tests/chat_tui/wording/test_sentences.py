"""Sentences about a snapshot."""

import random

import pytest
from msgspec.structs import replace

from chat_tui.text.namesakes import look_alike_key
from chat_tui.wording import sentences
from chat_tui.wording.person import disk_lines
from sync.entries.identity import short_fingerprint
from sync.machine import SECOND, ChannelId, PeerId
from sync.view.state_infos import ProfileInfo, StateInfo
from sync.view.view import (
    PeerInfo,
    PeerState,
    SessionInfo,
    Trust,
    TypistInfo,
)
from tests.support.chat_tui.conversations import NOON, peer
from tests.support.chat_tui.scenes import utc
from tests.support.chat_tui.snapshots_of_state import (
    CALM,
    HERE,
    NETWORK,
    absent,
    lacking,
    present,
    session,
    snapshot,
    waiting,
)


def test_alone_with_messages_says_that_they_wait_and_for_what() -> None:
    alone = snapshot(info=waiting(3))

    sentence = sentences.what_happens(alone, alone.channels[0])

    assert sentence == "Nobody here; 3 messages wait and go out when someone appears."


def test_one_message_waits_in_the_singular() -> None:
    alone = snapshot(absent("bob"), info=waiting(1))

    sentence = sentences.what_happens(alone, alone.channels[0])

    assert sentence == "Nobody here; 1 message waits and goes out when someone appears."


@pytest.mark.parametrize(
    ("count", "changes", "said"),
    [
        (4, 3, "1 message and 3 changes wait and go"),
        (3, 1, "2 messages and 1 change wait and go"),
        (1, 1, "1 change waits and goes"),
    ],
)
def test_changes_of_messages_are_no_messages_that_wait(count: int, changes: int, said: str) -> None:
    alone = snapshot(info=replace(waiting(count), outgoing_changes=changes))

    sentence = sentences.what_happens(alone, alone.channels[0])

    assert sentence == f"Nobody here; {said} out when someone appears."


def test_alone_and_silent_says_what_the_network_does() -> None:
    alone = snapshot()

    assert sentences.what_happens(alone, CALM) == NETWORK
    assert sentences.others_here(alone, CALM) == "nobody else here"
    assert sentences.agreement(alone, CALM) == ""


def test_who_is_on_the_network_but_not_in_the_channel_is_named_with_the_way_in() -> None:
    elsewhere = snapshot(present("carol"), present("dave"))
    private = replace(CALM, open=False)

    assert sentences.what_happens(elsewhere, CALM) == (
        "carol and 1 other can come here with /join #lobby."
    )
    assert "/invite" in sentences.what_happens(elsewhere, private)


def test_nobody_is_called_into_a_channel_of_two() -> None:
    two = replace(CALM, open=False, name="bob", direct=peer("bob"))

    waiting = replace(two, outgoing_count=2)
    with utc():
        said = sentences.what_happens(snapshot(absent("bob"), present("carol"), info=two), two)
        then = sentences.what_happens(snapshot(absent("bob"), info=waiting), waiting)

    assert said == "bob is gone since 11:56; what you write waits for them."
    assert then == "bob is gone since 11:56; 2 messages wait for them."


def test_nobody_is_advised_to_invite_a_name_that_came_with_another_key() -> None:
    changed = replace(present("carol"), trust=Trust.CHANGED)
    private = replace(CALM, open=False)

    alone_with_it = sentences.what_happens(snapshot(changed), private)
    beside_others = sentences.what_happens(snapshot(changed, present("dave")), private)

    assert "carol" not in alone_with_it
    assert beside_others == "dave can come here with the code that /invite shows."


def test_while_the_disk_refuses_nothing_is_said_to_be_well() -> None:
    full = replace(snapshot(present("bob")), disk="The disk is full: free some space.")

    assert sentences.what_happens(full, CALM) == "What you write is sent once the disk takes it."
    assert [disk_lines(full, held)[1].split()[-1] for held in (1, 2)] == ["it.", "them."]


def test_an_empty_channel_says_who_will_read() -> None:
    assert "everybody" in sentences.nothing_yet(CALM)[1]
    assert "/invite" in sentences.nothing_yet(replace(CALM, open=False))[1]
    assert "/join" in sentences.nothing_yet(None)[1]


def test_all_well_is_said_too() -> None:
    two = snapshot(present("bob"))

    assert sentences.what_happens(two, CALM) == "Everything you sent was received."


def test_who_has_written_nothing_is_not_told_that_it_was_received() -> None:
    reader = replace(CALM, wrote=False)

    assert sentences.what_happens(snapshot(present("bob")), reader) == (
        "bob is here and will read what you write."
    )
    assert sentences.what_happens(snapshot(present("bob")), replace(reader, lost=2)) == (
        "bob is here and will read what you write; 2 earlier messages are lost (/sync looks again)."
    )


def test_who_is_away_is_not_said_to_read_what_is_written_now() -> None:
    reader = replace(CALM, wrote=False, peers=tuple(map(peer, ("bob", "carol", "dave"))))
    away = [replace(present(name), away="lunch") for name in ("bob", "dave")]
    said = [
        sentences.what_happens(snapshot(*people), reader)
        for people in (away[:1], away, [*away[:1], present("carol")], [*away, present("carol")])
    ]

    assert said == [
        "bob is away and can read later what you write.",
        "bob and 1 other are away and can read later what you write.",
        "carol is here and will read what you write; bob is away.",
        "carol is here and will read what you write; bob and 1 other are away.",
    ]


def test_a_peer_counts_only_in_the_channels_it_proved() -> None:
    two = snapshot(present("bob"), present("carol"))

    assert sentences.others_here(two, CALM) == "1 other here"
    assert sentences.agreement(two, CALM) == "in sync"


def test_comparing_is_said_before_all_is_well() -> None:
    comparing = snapshot(present("bob", syncing=True))

    assert sentences.agreement(comparing, CALM) == "comparing histories"
    assert sentences.what_happens(comparing, CALM) == "Comparing histories with bob."


def test_of_many_with_whom_histories_are_compared_one_is_named() -> None:
    names = [f"p{number}" for number in range(200)]
    crowd = replace(CALM, peers=tuple(map(peer, names)))
    comparing = snapshot(*[present(name, syncing=True) for name in names], info=crowd)

    assert sentences.what_happens(comparing, crowd) == (
        "Comparing histories with p0 and 199 others."
    )


def test_somebody_is_as_they_said_last_in_whatever_channel() -> None:
    draw = random.Random(3)
    people = [peer(f"p{number}") for number in range(6)]

    def said() -> StateInfo:
        some = draw.sample(people, draw.randrange(len(people)))
        at = [draw.randrange(4) * SECOND for _ in some]
        said = [ProfileInfo(who, "x", "", "", when) for who, when in zip(some, at, strict=True)]
        return StateInfo(profiles=tuple(said))

    for _ in range(50):
        ours = tuple(replace(CALM, channel=ChannelId(f"{n:032d}"), state=said()) for n in range(4))
        told = replace(snapshot(), channels=ours)
        for who in people:
            signed = [one for info in ours if (one := info.state.profile(who)) is not None]
            newest = max(signed, key=lambda one: one.at_ns, default=None)
            assert sentences.profile_of(told, who) == newest


def test_two_who_type_are_named_and_more_are_counted() -> None:
    people = [TypistInfo(peer(name), name) for name in ("dave", "erin", "\x1b[31mfay")]

    said = [
        sentences.who_types(snapshot(), replace(CALM, typists=tuple(people[:n]))) for n in range(4)
    ]

    assert said == ["", "dave is typing", "dave and erin are typing", "3 people are typing"]
    assert sentences.who_types(snapshot(), replace(CALM, typists=(people[2],))) == "fay is typing"
    assert sentences.who_types(snapshot(), None) == ""


def test_what_is_missing_is_said_with_the_time_of_the_next_asking() -> None:
    first, again = lacking(asked=0), lacking(asked=2, count=1_200)

    assert sentences.agreement(snapshot(present("bob", syncing=True)), first) == "1 missing"
    assert sentences.what_happens(snapshot(present("bob")), first) == (
        "1 earlier message is missing, asking peers in 4 s; 1 held back, 1 min at most."
    )
    assert sentences.agreement(snapshot(present("bob")), again) == "1,200 missing"
    assert sentences.what_happens(snapshot(present("bob")), again).startswith(
        "1,200 earlier messages are missing, asking again in 4 s; "
    )


def bringing(name: str, need: int, got: int, state: str = "transferring") -> SessionInfo:
    return session(1, name, state=state, need=need, got=got)


def test_history_on_its_way_is_said_with_exact_counts_and_who_sends_it() -> None:
    shown = snapshot(present("carol", syncing=True), present("dave"), info=HERE)
    one = replace(shown, sessions=(bringing("carol", 12_000, 4_310),))
    two = replace(shown, sessions=(bringing("dave", 30, 30, "checking"), *one.sessions))

    assert (
        sentences.what_happens(one, HERE) == "Getting history from carol: need 12,000, got 4,310."
    )
    assert sentences.agreement(one, HERE) == "getting history"
    assert sentences.what_happens(two, HERE) == (
        "Getting history from carol: need 12,000, got 4,310; from dave: need 30, got 30."
    )


def test_more_who_send_history_are_counted() -> None:
    sessions = tuple(bringing(f"peer{number}", 9 - number, 0) for number in range(4))
    shown = replace(snapshot(present("bob")), sessions=sessions)

    assert sentences.what_happens(shown, CALM).endswith("got 0; and from 2 others.")


def test_who_lacks_nothing_or_is_still_comparing_gets_no_history() -> None:
    nothing, comparing = bringing("bob", 0, 0), bringing("bob", 9, 0, "reconciling")
    shown = replace(snapshot(present("bob", syncing=True)), sessions=(nothing, comparing))

    assert sentences.what_happens(shown, CALM) == "Comparing histories with bob."
    assert sentences.agreement(shown, CALM) == "comparing histories"


def test_what_waits_for_older_messages_that_nobody_sends_says_so() -> None:
    waits, waits_alone = replace(CALM, loading=1_200), replace(CALM, loading=1)
    cut = replace(snapshot(present("bob")), sessions=(bringing("bob", 9, 4, "over"),))

    assert sentences.what_happens(cut, waits) == (
        "1,200 newer messages wait for older ones; looking for somebody who has them."
    )
    assert sentences.what_happens(snapshot(), waits_alone) == (
        "1 newer message waits for older ones; nobody is here to ask."
    )
    assert sentences.agreement(cut, waits) == "1,200 waiting for history"


def test_while_a_snapshot_is_saved_its_channel_says_so() -> None:
    saved = replace(CALM, channel=ChannelId("9" * 32), saving=98_000)
    shown = replace(snapshot(present("bob")), channels=(CALM, saved))

    words = "Saving 98,000 messages; you can write meanwhile."
    assert sentences.what_happens(shown, saved) == words
    assert "Saving" not in sentences.what_happens(shown, CALM)


def test_what_has_all_come_is_put_into_place() -> None:
    done = replace(snapshot(present("bob")), sessions=(bringing("bob", 9, 9, "over"),))
    waits = replace(CALM, loading=7)

    assert sentences.what_happens(done, waits) == "Putting 7 messages into place."
    assert sentences.agreement(done, waits) == "sorting history"


def test_what_is_due_is_asked_for_now_and_not_at_all_while_nobody_is_here() -> None:
    due = replace(snapshot(present("bob")), now=NOON + 5 * SECOND)

    assert "asking peers now" in sentences.what_happens(due, lacking())
    assert "and nobody is here to ask" in sentences.what_happens(snapshot(), lacking())


def test_what_stands_in_line_to_be_asked_for_is_looked_for_too() -> None:
    unarmed = replace(lacking(count=2), repair=None)

    assert "missing, looking for them;" in sentences.what_happens(snapshot(present("bob")), unarmed)


def test_what_is_lost_is_said_whatever_else_there_is_to_say() -> None:
    lost = replace(CALM, lost=1)
    comparing = snapshot(present("bob", syncing=True))

    assert sentences.agreement(snapshot(present("bob")), lost) == "1 lost"
    assert sentences.agreement(snapshot(), lost) == "1 lost"
    assert sentences.agreement(comparing, lost) == "comparing histories, 1 lost"
    assert sentences.agreement(comparing, replace(lacking(), lost=2)) == "1 missing, 2 lost"
    assert sentences.what_happens(snapshot(present("bob")), lost) == (
        "Everything you sent was received; 1 earlier message is lost (/sync looks again)."
    )


def test_without_a_channel_it_says_how_to_get_one() -> None:
    assert "/join" in sentences.what_happens(snapshot(), None)
    assert "/join" in sentences.channels(replace(snapshot(), channels=()))


def test_the_open_lobby_says_that_it_is_open() -> None:
    assert sentences.openness(CALM) == "open to everybody on this network"
    assert "invite" in sentences.openness(replace(CALM, open=False))


def test_peers_here_come_first_each_with_a_word() -> None:
    with utc():
        rows = sentences.who(snapshot(absent("erin"), present("bob", rtt=2_000_000))).splitlines()

    assert rows[0].startswith("bob ")
    assert rows[0].endswith("· here · 192.168.1.31:46021 · 2.0 ms · first seen")
    assert rows[1].endswith("· gone since 11:56 · first seen")


def test_nobody_yet_is_never_a_blank() -> None:
    assert sentences.who(snapshot()) == f"Nobody yet. {NETWORK}"


def test_names_of_peers_are_cleaned_everywhere() -> None:
    evil = PeerInfo(peer("bob"), "b\x1b[2Job\u202e", PeerState.UP, "1.2.3.4:1\x07")
    shown = snapshot(evil)

    for text in (sentences.who(shown), sentences.name_of(shown, peer("bob"))):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x07" not in text


def test_an_unknown_author_is_named_by_the_key() -> None:
    assert len(sentences.name_of(snapshot(), PeerId("ab" * 32))) == len("7F3A-91C2")


def test_ones_own_name_has_the_key_where_others_go_by_it() -> None:
    alone = snapshot()
    shared = replace(alone, shared_names=frozenset({look_alike_key(alone.nick)}))

    assert sentences.name_of(alone, alone.me) == alone.nick
    assert sentences.name_of(shared, alone.me) == f"{alone.nick} {short_fingerprint(alone.me)}"


def test_status_and_whoami_say_name_key_and_place() -> None:
    text = sentences.status(snapshot(present("bob")), CALM)

    assert text.startswith("You are alice, listening on eth0, port 46021.")
    assert "#lobby (open to everybody on this network): 12 messages, 1 other here, in sync." in text
