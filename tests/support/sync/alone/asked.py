"""A buffer of outgoing repair requests, with names that a peer said are missing."""

from sync.machine import MessageId, Nanos
from sync.sds.asking import Asking
from sync.sds.message import HistoryEntry
from sync.sds.parameters import LAN
from sync.sds.repair import Window
from tests.support.sync.channels import NOW, message_id, peer

ALICE = peer("alice")


WINDOW = Window.of(LAN, 2)


T_MAX = WINDOW.t_max


def asking_for(*names: str, namer: str = "bob") -> Asking:
    asking = Asking(ALICE)
    for name in names:
        asking.want(entry(name), peer(namer), WINDOW, NOW, peer(namer))
    return asking


def entry(name: str) -> HistoryEntry:
    return HistoryEntry(message_id(name))


def delay(name: str) -> Nanos:
    return WINDOW.request_delay(ALICE, message_id(name))


def by_t_req(*names: str) -> list[MessageId]:
    return [message_id(name) for name in sorted(names, key=delay)]


def asked_for(asking: Asking, now: Nanos, most: int = 3) -> list[MessageId]:
    return [request.entry.message_id for request in asking.ask(most, WINDOW, now)]


def fill(asking: Asking, namer: str, count: int) -> list[MessageId]:
    """Let `namer` name `count` messages; returns their ids."""
    names = [f"{namer} {number}" for number in range(count)]
    for name in names:
        asking.want(entry(name), peer(namer), WINDOW, NOW, peer(namer))
    return [message_id(name) for name in names]


def waiting_in_line(asking: Asking) -> int:
    return len(asking) - len(asking.requests)
