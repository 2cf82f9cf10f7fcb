"""A trace of a governed channel plays again: ops come in, are signed anew, and judge as before."""

from collections.abc import Sequence
from pathlib import Path

from sync.calimero.governance.cross_check import Answer, Divergence
from sync.calimero.governance.ops import Add, Key, Role, SignedGroupOp
from sync.calimero.governance.verdicts import Doing, Plane
from sync.calimero.state.contents import Pin, StateKind, Topic
from sync.entries.entry import Kind, Text, encode_text
from sync.group import values
from sync.machine import ChannelId
from sync.net.replay import Replay, read
from sync.net.trace import SEED_SIZE, Began, Trace
from sync.runner.runner import Opened
from tests.support.sync.entries import Author
from tests.support.sync.governed import History, key, noise, person
from tests.support.sync.groups import NOW, NOW_MS, Member


def recorded(path: Path, history: History, events: Sequence[values.Input]) -> Path:
    """Write the trace of a node whose machines get these inputs."""
    channel = ChannelId(history.governance.group.hex())
    alice = Member("alice", channel=channel, identity_of=person, governed=True)
    trace = Trace(path)
    trace(NOW, "runner", Began(alice.peer_id, bytes(SEED_SIZE)), ())
    trace(NOW, "runner", Opened(channel, "lan", governed=True), ())
    trace(NOW, channel, values.Restored(values.ChannelState(1)), (values.Governed(()),))
    for event in events:
        trace(NOW, channel, event, alice.tell(event))
    trace.close()
    return path


def test_a_governed_channel_plays_as_it_was_recorded(tmp_path: Path) -> None:
    history = History("alice", signing=True)
    history.add("alice", "bob")
    bob = Author("bob", ChannelId(history.governance.group.hex()))
    bob.identity = person("bob")
    bob.peer_id = bob.identity.peer_id
    unknown = history.add("alice", "carol")
    waits = bob.write(lamport=NOW_MS, governance=[unknown.id])

    def came(*ops: SignedGroupOp) -> values.OpsArrived:
        return values.OpsArrived(bob.peer_id, tuple(op.content for op in ops))

    writes = Answer(key("bob"), (unknown.id,), granted=True, doing=Doing.WRITE)
    divergences = (
        Divergence(Plane.CUT_GRANT, writes),
        Divergence(Plane.SYNC, Answer(key("bob"), (unknown.id,), granted=False)),
    )
    events: list[values.Input] = [
        came(*history.ops[:2]),
        values.Arrived(bob.peer_id, waits.payload),
        values.Act(1, Add(key("dave"), noise("dave"), Role.READER)),
        values.Write(2, Kind.TEXT, encode_text(Text("alice", "hello"))),
        came(unknown),
        values.Act(3, history.removal("bob", after=[unknown])),
        values.AnswersChecked(2, 1, divergences),
        values.SetState(4, StateKind.TOPIC, Topic("tea at four")),
        values.SetState(5, StateKind.PIN, Pin(), name=b"x" * 32),
        values.SetState(6, StateKind.TOPIC, None),
    ]
    path = recorded(tmp_path / "trace", history, events)

    replay = Replay()
    played = [replay.play(step) for step in read(path, path.read_text())]

    assert [one.difference for one in played] == [""] * len(played)
    assert [one.step.event for one in played[3:]] == events
    group = replay.groups[ChannelId(history.governance.group.hex())]
    assert group.governing is not None
    assert group.governing.governance.now.role(Key(bytes.fromhex(bob.peer_id))) is Role.NONE
    assert waits.entry.message_id in group.sds.log.order
    assert group.governing.answers.divergences == {Plane.CUT_GRANT: 1, Plane.SYNC: 1}
    assert '"plane": "membership-cut-grant"' in path.read_text()
