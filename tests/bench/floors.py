"""Lower bounds of the cost of SDS in Python: the same work and structures, without rules.

Measured beside each figure. Whoever receives must decode, look the id and all that it names up, and
put it into the log and the filter; whoever sends must do the same and set bits each time. A message
out of order must be noted as missing, held, freed, and asked for. What a figure costs beyond its
floor is the rules themselves: a call and a few attributes each, and the values between them.

Floors of whole messages, with signatures and the disk, are in `tests/bench/limits/floor_*.py`.
"""

from typing import Final

from msgspec.structs import replace

from sync.machine import SECOND
from sync.sds.asking import Asking
from sync.sds.incoming import Content, Incoming
from sync.sds.parameters import LAN
from sync.sds.repair import Window
from sync.sds.wire import decode, encode
from tests.bench.report import fresh_watch
from tests.bench.workload import HINT, holding, wire
from tests.support.sync.channels import NOW, peer

ASKED_FOR: Final = {"loss_20_percent": 0.2, "shuffled": 0.6, "gap_of_1000": 0.001}
"""Share of the messages that are named before they come, and while what names them waits."""


def receiving_seconds(count: int, log: int) -> float:
    """Decode, look up, and put into log and filter."""
    one = holding(log)
    frames = wire(log, count)
    known, ids = one.log.order, one.filter
    with fresh_watch() as watch:
        for frame in frames:
            message = decode(frame)
            assert message.message_id not in known
            for entry in message.causal_history:
                assert entry.message_id in known
            known.insert(message.lamport or 0, message.message_id)
            ids.insert(message.message_id)
        ids.to_bytes()
    return watch.seconds


def sending_seconds(count: int, log: int) -> float:
    """Put into log and filter, set the bits of the filter, and encode."""
    one = holding(log)
    sent = [decode(frame) for frame in wire(log, count)]
    known, ids = one.log.order, one.filter
    with fresh_watch() as watch:
        for message in sent:
            bloom_filter = ids.to_bytes()
            known.insert(message.lamport or 0, message.message_id)
            ids.insert(message.message_id)
            encode(replace(message, bloom_filter=bloom_filter))
    return watch.seconds


def holding_back_seconds(case: str, count: int) -> float:
    """Measure the two buffers alone: note as missing, ask for, hold, and free again."""
    asked_for = int(count * ASKED_FOR[case])
    incoming, asking, window = Incoming(), Asking(peer("me")), Window.of(LAN, 5)
    messages = [decode(frame) for frame in wire(0, count + 1)]
    held = [
        Content(one.message_id, one.sender_id, one.lamport or 0, one.causal_history, HINT)
        for one in messages[1:]
    ]
    with fresh_watch() as watch:
        for number, content in enumerate(held):
            named = content.causal_history[-1]
            missing = incoming.seek((named.message_id,), content.message_id, content.sender_id, NOW)
            if number < asked_for:
                asking.want(named, content.sender_id, window, NOW)
            incoming.hold(content, set(missing), NOW + SECOND)
            if number < asked_for:
                asking.drop(named.message_id, window, NOW)
            incoming.arrived(named.message_id)
    return watch.seconds
