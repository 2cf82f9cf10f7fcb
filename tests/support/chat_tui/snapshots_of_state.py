"""Snapshots of the engine in states that are hard to reach."""

from msgspec.structs import replace

from sync.machine import MINUTE, SECOND, MessageId, Nanos
from sync.sds.message import Delivery
from sync.view.view import (
    ChannelInfo,
    OutgoingInfo,
    PeerInfo,
    PeerState,
    RepairInfo,
    RequestInfo,
    RoundInfo,
    SessionInfo,
    Snapshot,
    WaitingInfo,
)
from tests.support.chat_tui.conversations import LOBBY, NOON, peer

CALM = ChannelInfo(
    LOBBY, "lobby", open=True, profile="lan", messages=12, wrote=True, peers=(peer("bob"),)
)


NETWORK = "Looking for people on eth0; nobody yet."


def present(name: str, *, syncing: bool = False, rtt: Nanos | None = None) -> PeerInfo:
    return PeerInfo(peer(name), name, PeerState.UP, "192.168.1.31:46021", rtt, None, NOON, syncing)


def absent(name: str) -> PeerInfo:
    return PeerInfo(peer(name), name, PeerState.DOWN, "", last_seen_ns=NOON - 4 * MINUTE)


def snapshot(*peers: PeerInfo, info: ChannelInfo = CALM) -> Snapshot:
    return Snapshot(peer("alice"), "alice", NOON, 46021, "eth0", NETWORK, (info,), peers)


def ident(beginning: str) -> MessageId:
    return MessageId(beginning.ljust(64, "0"))


def lacking(*, asked: int = 0, count: int = 1) -> ChannelInfo:
    """Bob's 9c41e2 is here, and is held back for 51b07d and others."""
    request = RequestInfo(
        ident("51b07d"), ident("9c41e2"), peer("bob"), NOON + 4 * SECOND, asked, waiters=1
    )
    held = WaitingInfo(ident("9c41e2"), peer("bob"), (ident("51b07d"),), NOON + MINUTE)
    return replace(
        CALM,
        missing=(ident("51b07d"),),
        missing_count=count,
        waiting=(held,),
        waiting_count=1,
        repair=RepairInfo(5, 1, SECOND, 6 * SECOND, (request,), count),
    )


def session(
    number: int,
    name: str,
    *rounds: RoundInfo,
    state: str = "over",
    result: str = "",
    need: int = 0,
    got: int = 0,
    have: int = 0,
) -> SessionInfo:
    """A session about everything, half a second old."""
    over = state == "over"
    return SessionInfo(
        number=number,
        channel=LOBBY,
        peer=peer(name),
        protocol="waku",
        why="new link",
        state=state,
        result=result,
        proved=over,
        since=0,
        began_at=NOON - SECOND // 2,
        ended_at=NOON if over else None,
        need=need,
        got=got,
        have=have,
        naive=34_800,
        payloads=len(rounds),
        bytes_in=sum(one.size for one in rounds if not one.sent),
        bytes_out=sum(one.size for one in rounds if one.sent),
        rounds=rounds,
    )


def waiting(count: int) -> ChannelInfo:
    outgoing = OutgoingInfo(ident("e07a11"), Delivery.UNACKNOWLEDGED, 1, NOON)
    return replace(CALM, outgoing=(outgoing,), outgoing_count=count)


HERE = replace(CALM, peers=(peer("carol"), peer("dave")))
