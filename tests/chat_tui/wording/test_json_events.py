"""Status and events as scripts and line mode print them."""

import json
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from chat_tui.client.live import Client
from chat_tui.commands.command import Result
from chat_tui.line_mode.output import JsonFace
from chat_tui.wording import json_events
from sync.entries.identity import short_fingerprint
from sync.machine import MessageId
from sync.sds.message import Delivery
from sync.sessions.values import RELAY
from sync.view.governance_infos import (
    Access,
    ActInfo,
    ActKind,
    BecauseInfo,
    Dropped,
    Entered,
    GovernanceInfo,
    LossInfo,
    MemberInfo,
    Person,
    Policy,
    Reason,
    Right,
    Role,
    RoleChange,
)
from sync.view.state_infos import (
    PinInfo,
    ProfileInfo,
    ReadInfo,
    StateInfo,
    StateKind,
    StateShown,
    TopicInfo,
)
from sync.view.view import (
    AheadShown,
    ClockInfo,
    ClockQuestion,
    ClockShown,
    ClockVoter,
    Event,
    Line,
    LiveShown,
    MembershipShown,
    MessageShown,
    OpShown,
    PeerShown,
    PeerState,
    PendingEndedShown,
    PendingShown,
    PreviewShown,
    ReplacedShown,
    Snapshot,
    SyncShown,
    Trust,
    TrustShown,
    TypingShown,
)
from tests.support.chat_tui import scenes
from tests.support.chat_tui.chats import line_mode, meet, running
from tests.support.chat_tui.conversations import LOBBY, line, peer
from tests.support.chat_tui.live_clients import Heard, lobby


def test_the_status_counts_what_is_missing_lost_and_about_to_be_repaired() -> None:
    status = json_events.snapshot(scenes.repairing().snapshot(), lambda _: "#lobby")

    [channel] = json.loads(json_events.dumps(status))["channels"]

    assert channel["channel"] == "#lobby"
    assert (channel["missing_count"], channel["lost"]) == (1, 0)
    repair = channel["repair"]
    assert (repair["requests_count"], repair["answers_count"]) == (1, 1)
    assert [request["message_id"] for request in repair["requests"]] == channel["missing"]


def test_the_status_says_who_has_which_message() -> None:
    status = json_events.snapshot(scenes.repairing().snapshot(), lambda _: "#lobby")

    [channel] = json.loads(json_events.dumps(status))["channels"]

    own = [known for known in channel["holders"] if known["own"]]
    assert all([status["participant"], "wrote"] in known["holders"] for known in own)


def test_who_begins_or_ceases_to_type_is_named() -> None:
    shown = TypingShown(LOBBY, peer("bob"), "bob", typing=True)

    assert json_events.to_json(shown, lambda _: "#lobby") == {
        "event": "typing",
        "channel": "#lobby",
        "peer": peer("bob"),
        "nick": "bob",
        "typing": True,
    }


def test_a_session_that_stays_is_told_when_it_begins_and_when_it_ends() -> None:
    begun = LiveShown(LOBBY, peer("bob"), "logheight", begun=True, why=RELAY)
    ended = replace(begun, begun=False, result="not needed any more", got=3, have=4)
    same = {"event": "live", "channel": "#lobby", "peer": peer("bob"), "protocol": "logheight"}

    assert json_events.to_json(begun, lambda _: "#lobby") == {
        **same,
        "state": "begun",
        "why": RELAY,
    }
    assert json_events.to_json(ended, lambda _: "#lobby") == {
        **same,
        "state": "ended",
        "why": RELAY,
        "result": "not needed any more",
        "got": 3,
        "have": 4,
    }


def test_the_end_of_a_comparison_tells_its_totals_and_of_how_many_logs() -> None:
    over = SyncShown(
        LOBBY, peer("bob"), "sets", "test", "reconciled", 9, 1, 30, 30, 5, 6, 2_500_000, 3
    )

    told = json_events.to_json(over, lambda _: "#lobby")

    assert told is not None
    assert (told["event"], told["channel"], told["protocol"]) == ("sync", "#lobby", "sets")
    assert (told["need"], told["logs"], told["got"], told["have"]) == (30, 3, 30, 1)
    assert (told["bytes_in"], told["bytes_out"], told["milliseconds"]) == (5, 6, 2.5)


def test_scripts_hear_of_a_message_once_it_is_delivered() -> None:
    assert json_events.to_json(PreviewShown(line(1, loading=True)), lambda _: "#lobby") is None


@pytest.mark.net
async def test_line_mode_says_who_is_away_verified_or_does_something(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async with line_mode(tmp_path) as (_, face):
        face.event(MessageShown(replace(line(1), text="/me waves")))
        face.event(PeerShown(peer("bob"), "bob", PeerState.UP, "lunch\n\x1b[2J"))
        face.event(TrustShown(peer("bob"), "bob", Trust.VERIFIED))
        said = capsys.readouterr().out

    key = short_fingerprint(peer("bob"))
    assert said.splitlines()[0].endswith(" * bob waves")
    assert said.splitlines()[1:] == ["* bob is away: lunch.", f"* bob ({key}) is verified now."]


@pytest.mark.net
async def test_a_line_of_another_channel_than_ones_own_says_which(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async with line_mode(tmp_path) as (alice, face):
        assert alice.first_channel is not None
        said = MessageShown(replace(line(1), channel=alice.first_channel))

        face.ready(alice.first_channel)
        face.event(said)
        face.now_in(LOBBY)
        face.event(said)

    here, elsewhere = capsys.readouterr().out.splitlines()[-2:]
    assert here.endswith(" bob: message 1")
    assert "(#" not in here
    assert elsewhere.endswith(" (#lobby) bob: message 1")


def test_scripts_read_what_becomes_of_own_messages_and_whether_they_wait() -> None:
    mine = replace(line(1), own=True, delivery=Delivery.POSSIBLY_ACKNOWLEDGED)
    waits = replace(line(2), own=True, parked=True, waits=True, delivery=Delivery.UNACKNOWLEDGED)

    def told(shown: Line) -> tuple[object, object]:
        event = json_events.message(shown, lambda _: "#lobby")
        return event["delivery"], event["waits"]

    assert told(mine) == ("possibly acknowledged", False)
    assert told(waits) == ("unacknowledged", True)
    assert told(line(3)) == (None, False), "somebody else's"


@pytest.mark.net
async def test_scripts_read_what_authors_take_and_how_much_of_them_waits(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async with running(tmp_path, "alice") as alice, running(tmp_path, "bob") as bob:
        face = JsonFace(alice)
        await meet(alice, bob)
        heard = Heard(alice)
        await bob.send_text(lobby(bob), "hello")
        await heard.texts(1)
        me, them = alice.identity.peer_id, bob.identity.peer_id
        await alice.send_text(lobby(alice), "hi")
        await alice._sizes.look()
        face.event(PeerShown(them, "bob", PeerState.UP))
        face.result("/status", Result(text="all is well"))
    told = [json.loads(one) for one in capsys.readouterr().out.splitlines()]

    [shown, result, status] = told
    stored = shown["stored_bytes"]
    assert (shown["event"], shown["waiting"], shown["stored_messages"]) == ("peer", 0, 1)
    assert stored > 100
    assert (result["event"], status["event"]) == ("result", "status")
    assert {one["peer"]: one["messages"] for one in status["authors"]} == {me: 1, them: 1}
    assert {"peer": them, "messages": 1, "bytes": stored} in status["authors"]


@pytest.mark.net
async def test_a_message_is_told_to_scripts_without_a_snapshot_of_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Client] = []
    snapshot = Client.snapshot

    def counted(client: Client) -> Snapshot:
        asked.append(client)
        return snapshot(client)

    monkeypatch.setattr(Client, "snapshot", counted)
    async with running(tmp_path, "alice") as alice:
        face, heard = JsonFace(alice), Heard(alice)
        for number in range(9):
            await alice.send_text(lobby(alice), f"line {number}")
        await heard.texts(9)
        asked.clear()
        for shown in heard.events:
            if isinstance(shown, MessageShown):
                face.event(shown)
    told = [json.loads(one) for one in capsys.readouterr().out.splitlines()]

    assert [one["text"] for one in told] == [f"line {number}" for number in range(9)]
    assert len(asked) == 1, "for the channel's name, which no message changes"


def test_trust_and_absence_are_told_to_scripts() -> None:
    told = json_events.to_json(TrustShown(peer("bob"), "bob", Trust.CHANGED), lambda _: "#lobby")
    away = json_events.to_json(
        PeerShown(peer("bob"), "bob", PeerState.UP, "lunch"), lambda _: "#lobby"
    )

    assert told is not None
    assert (told["event"], told["trust"]) == ("trust", "changed key")
    assert away is not None
    assert away["away"] == "lunch"


def test_a_status_can_be_told_while_a_reconciliation_is_remembered() -> None:
    scene = scenes.coming_back()
    scenes.history(scene)
    shown = scene.snapshot()
    assert any(one.ranges for session in shown.sessions for one in session.rounds)

    told = json.loads(json_events.dumps(json_events.snapshot(shown, lambda channel: channel)))

    assert told["sessions"][0]["rounds"]


def test_scripts_read_what_is_parked_and_hear_of_the_clock() -> None:
    voter = ClockVoter(peer("bob"), "bob", -90_000_000_000, standing=True)
    question = ClockQuestion((voter,), -90_000_000_000, 3, standing=True, channels=(LOBBY,))

    def told(event: Event) -> json_events.Json:
        shown = json_events.to_json(event, lambda _: "#lobby")
        assert shown is not None
        return json.loads(json_events.dumps(shown))  # type: ignore[no-any-return]

    aside = told(PreviewShown(replace(line(1), parked=True, waits=True)))
    asked = told(ClockShown(ClockInfo(question=question)))
    ahead = told(AheadShown(LOBBY, peer("bob"), "bob", 7))
    replaced = told(ReplacedShown(LOBBY, MessageId("aa"), MessageId("bb")))

    assert (aside["event"], aside["text"], aside["waits"]) == ("parked", line(1).text, True)
    assert asked["event"] == "clock"
    assert asked["question"]["voters"][0]["nick"] == "bob"
    assert asked["answer"] == "none"
    assert (ahead["participant"], ahead["ahead_ns"]) == (peer("bob"), 7)
    assert (replaced["id"], replaced["by"]) == ("aa", "bb")


def test_a_status_tells_who_is_in_a_governed_channel_in_words() -> None:
    alice, bob = Person(peer("alice"), "alice"), Person(peer("bob"), "bob")
    member = MemberInfo(*bob, Role.MEMBER, 5, Entered.ADDED, alice, None)
    governed = GovernanceInfo(
        founded=True,
        role=Role.ADMIN,
        rights=(Right.WRITE,),
        policy=Policy(write=Access.ADMINS),
        members=(member,),
    )
    shown = scenes.repairing().snapshot()
    channels = (replace(shown.channels[0], governance=governed),)

    status = json_events.snapshot(replace(shown, channels=channels), lambda _: "#lobby")

    told = json.loads(json_events.dumps(status))["channels"][0]["governance"]
    assert told["role"] == "admin"
    assert told["rights"] == ["write"]
    assert told["policy"]["write"] == "admins"
    assert told["members"] == [
        {
            "peer": bob.peer,
            "nick": "bob",
            "role": "member",
            "since_ns": 5,
            "entered": "added",
            "by": {"peer": alice.peer, "nick": "alice"},
            "role_by": None,
            "forked": False,
        }
    ]


def test_scripts_hear_of_acts_and_of_who_has_another_role() -> None:
    alice, carol = Person(peer("alice"), "alice"), Person(peer("carol"), "carol")
    why = LossInfo(
        Reason.SIGNER_TAKEN_OUT, BecauseInfo("aa", ActKind.REMOVED, alice, (carol,), None)
    )
    done = ActInfo(ActKind.POLICY, (carol,), Role.MEMBER, policy=(("write", Access.ADMINS),))
    act = replace(line(2, author="bob"), text="", act=replace(done, loss=why))
    changes = (RoleChange(*carol, Role.MEMBER, Role.NONE),)

    told = json_events.to_json(OpShown(act, again=True), lambda _: "#lobby")
    membership = json_events.to_json(MembershipShown(LOBBY, changes), lambda _: "#lobby")

    assert json.loads(json_events.dumps(told or {})) == {
        "event": "act",
        "channel": "#lobby",
        "id": act.message_id,
        "author": peer("bob"),
        "nick": "bob",
        "own": False,
        "lamport": 2,
        "created_ns": act.created_ns,
        "again": True,
        "text": "bob's change of who may do what came to nothing, for alice had removed carol",
        "kind": "policy",
        "people": [{"peer": carol.peer, "nick": "carol"}],
        "role": "member",
        "lowers": False,
        "policy": {"write": "admins"},
        "reason": "",
        "name": "",
        "epoch": None,
        "loss": {
            "reason": "its signer was removed or lowered at once",
            "because": {
                "op_id": "aa",
                "kind": "removed",
                "by": {"peer": alice.peer, "nick": "alice"},
                "people": [{"peer": carol.peer, "nick": "carol"}],
                "role": None,
            },
        },
    }
    assert membership == {
        "event": "membership",
        "channel": "#lobby",
        "changes": [
            {"participant": carol.peer, "nick": "carol", "before": "member", "after": "none"}
        ],
    }


def test_scripts_hear_of_what_waits_for_acts_and_of_how_that_ends() -> None:
    waits = replace(line(3, author="carol"), pending=True)

    pending = json_events.to_json(PendingShown(waits), lambda _: "#lobby")
    ended = [
        json_events.to_json(PendingEndedShown(LOBBY, (waits.message_id,), label), lambda _: "#l")
        for label in (Dropped.NEVER_MEMBER, None)
    ]

    assert pending is not None
    assert (pending["event"], pending["text"]) == ("pending", "message 3")
    assert ended == [
        {"event": "dropped", "channel": "#l", "ids": [waits.message_id], "label": label}
        for label in ("never_member", "forgotten")
    ]


async def test_line_mode_prints_acts_as_sentences_and_marks_what_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = Person(peer("eve"), "eve\n* alice left")
    act = replace(line(2, author="bob"), text="", act=ActInfo(ActKind.REMOVED, (evil,)))
    waits = replace(line(3, author="carol"), pending=True)
    async with line_mode(tmp_path) as (alice, face):
        channel = lobby(alice)
        here = [replace(one, channel=channel) for one in (act, waits)]
        face.now_in(channel)
        for one in here:
            face.line(one)
        face.event(OpShown(here[0]))
        face.event(PendingShown(here[1]))
        face.event(MessageShown(replace(here[1], pending=False)))
        JsonFace(alice).line(here[0])

    printed = capsys.readouterr().out.splitlines()
    assert [one.partition(" ")[2] if one[0] == "*" else one for one in printed][:4] == [
        '12:00 bob removed "eve * alice left".',
        "12:00 (waits: who let carol in is not known here yet) carol: message 3",
        '12:00 bob removed "eve * alice left".',
        "12:00 (waits: who let carol in is not known here yet) carol: message 3",
    ]
    assert json.loads(printed[4])["event"] == "act"
    assert len(printed) == 5


def test_state_is_told_as_it_counts_now() -> None:
    bob, carol = peer("bob"), peer("carol")
    pin = PinInfo(MessageId("ab" * 32), bob, 7)
    state = StateInfo(
        topic=TopicInfo("apples", bob, 5),
        pins=(pin,),
        pins_count=1,
        profiles=(ProfileInfo(bob, "bob", "", "lunch", 6),),
        reads=(ReadInfo(bob, 9, MessageId("cd" * 32)),),
    )
    event = StateShown(LOBBY, frozenset(StateKind), frozenset({bob, carol}))
    topic_alone = StateShown(LOBBY, frozenset({StateKind.TOPIC}), frozenset({carol}))

    assert json_events.state_events(event, state, lambda _: "#lobby") == [
        {"event": "topic", "channel": "#lobby", "text": "apples", "by": bob, "at_ns": 5},
        {
            "event": "pins",
            "channel": "#lobby",
            "pins": [{"message_id": "ab" * 32, "by": bob, "at_ns": 7}],
        },
        {
            "event": "profile",
            "channel": "#lobby",
            "participant": bob,
            "nick": "bob",
            "colour": "",
            "status": "lunch",
        },
        {
            "event": "read",
            "channel": "#lobby",
            "participant": bob,
            "id": "cd" * 32,
            "lamport": 9,
        },
    ]
    assert json_events.state_events(topic_alone, StateInfo(), lambda _: "#lobby") == [
        {"event": "topic", "channel": "#lobby", "text": "", "by": None, "at_ns": None}
    ]
    assert json_events.to_json(event, lambda _: "#lobby") is None


VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)


@given(st.dictionaries(st.text(), VALUES))
@settings(max_examples=30)
def test_a_line_is_what_python_itself_writes(event: json_events.Json) -> None:
    assert json_events.dumps(event) == json.dumps(event, ensure_ascii=False)


def test_names_of_files_that_are_no_text_are_written_all_the_same() -> None:
    assert json.loads(json_events.dumps({"path": "\udcff"})) == {"path": "\udcff"}
