"""Cost of SDS: receiving, sending, acknowledging, repairing, remembering; beside `@waku/sds`.

All times are processor time of one process. Each figure is the median of a few runs; two that are
compared are measured in turns. `python -m tests.bench.bench_sds --json` runs all of them.

The goal is "receive and deliver (decode included) at most 3 times the cost of decoding alone. Send
the same": both are compared with decoding. Encoding, which is a sixth cheaper, stands beside
sending without a goal. Garbage is looked for as in the running chat (`chat_tui.client.gc_policy`).

Beside each figure that is compared stands its floor, of the same run (`tests.bench.floors`). Of
some 12 us that receiving takes, 4.4 are for decoding, and 3.4 see that the id is new and put it
into log and filter; the rest are 25 calls between the rules of SDS, and four tuples. Sending takes
12 us, of which 3 are encoding: the filter of now goes out each time, so ten bits are set and 1,880
bytes copied for each message, 2 us. A message out of order is announced, looked for with a time of
its own (one SHA-256), held back and freed: 55,000 instructions beside 126,000 in order if shuffled,
and they wait for memory more often. At 20 % loss 800 sync messages ask as well, with 14 names each:
a sixth of the time, most of it for bits of the filter, encoding, and what to ask for, and when
again. In order there are none of these. Where a figure misses its goal, standard error says why.
"""

import argparse
import gc
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from chat_tui.client import gc_policy
from sync.machine import SECOND, MessageId, Nanos, Tick
from sync.sds.channel import Channel
from sync.sds.events import Answer, Broadcast, Received, Sealed, Send
from sync.sds.log import OrderedLog
from sync.sds.parameters import LAN, WAKU, Parameters
from sync.sds.wire import decode, encode
from tests.bench import floors
from tests.bench.report import (
    Params,
    Result,
    Stopwatch,
    at_least,
    at_most,
    explained,
    floor,
    fresh_watch,
    progress,
)
from tests.bench.workload import CONTENT, HINT, LAMPORT, filter_of, holding, ident, message, wire
from tests.interop.sds_js.bench import bench_receive
from tests.interop.sds_js.install import UnavailableError, installed
from tests.interop.sds_js.node import SdsNode
from tests.support.sync.channels import NOW

LOGS: Final = (0, 1_000, 10_000, 100_000, 1_000_000)
COUNT: Final = 10_000
RUNS: Final = 5

PER_SECOND: Final = 25_000.0
SLOWER_AT_MOST: Final = 1.2
TIMES_DECODING: Final = 3.0
"""For sending too: "Receive and deliver ... at most 3 times the cost of decoding alone ... Send the
same." What it is beside encoding, the cheaper of the two, is told as well."""
UNACKNOWLEDGED_PER_SECOND: Final = 10_000.0
OUT_OF_ORDER_TIMES: Final = 2.0
INSERT_US: Final = 5.0
BYTES_A_MESSAGE: Final = 100.0

PEER_RATIOS: Final = {(0, 0): (10.0, 200), (10_000, 0): (100.0, 60), (0, 1_000): (300.0, 20)}
"""(log, unacknowledged) -> how many times faster than `@waku/sds`, and how many messages it gets:
it takes seconds for a hundred."""


def sds_receive(place: Path) -> Iterator[Result]:
    """Receive and deliver, decoding included, at logs of growing length."""
    del place
    bare = partial(floors.receiving_seconds, COUNT)
    codecs = {"decoding": _decode_seconds}
    yield from _over_logs("sds_receive", _receive_seconds, codecs, bare)


def sds_send(place: Path) -> Iterator[Result]:
    """Send, encoding included, at logs of growing length."""
    del place
    bare = partial(floors.sending_seconds, COUNT)
    codecs = {"decoding": _decode_seconds, "encoding": _encode_seconds}
    yield from _over_logs("sds_send", _send_seconds, codecs, bare)


def _over_logs(
    name: str,
    cost: Callable[[int], float],
    codecs: Mapping[str, Callable[[int], float]],
    bare: Callable[[int], float],
) -> Iterator[Result]:
    """Compare with each of `codecs` alone; `bare` is the floor of `cost`.

    Only `decoding` has a goal.
    """
    measured = {"whole": cost, "least": bare, **codecs}
    figures: dict[int, list[dict[str, float]]] = {log: [] for log in LOGS}
    for run in range(RUNS):
        for log in LOGS:
            progress(f"{name}: run {run + 1}, a log of {log} ...")
            figures[log].append({part: seconds(log) for part, seconds in measured.items()})
    for log, runs in figures.items():
        params: Params = {"log": log, "messages": COUNT, "runs": RUNS}
        whole = _median([one["whole"] for one in runs])
        yield at_least(name, COUNT / whole, "messages/s", PER_SECOND, params)
        for codec in codecs:
            beside = f"{name}_beside_{codec}"
            times = _median([one["whole"] / one[codec] for one in runs])
            if codec == "decoding":
                compared = at_most(beside, times, "times", TIMES_DECODING, params)
                yield explained(compared, partial(cost, log))
            else:
                yield Result(beside, times, "times", params=params)
            lowest = _median([one["least"] / one[codec] for one in runs])
            yield floor(beside, lowest, "times", params)
    shortest, longest = LOGS[0], LOGS[-1]
    pairs = zip(figures[longest], figures[shortest], strict=True)  # measured in turns
    slower = _median([long["whole"] / short["whole"] for long, short in pairs])
    lengths: Params = {"log": longest, "beside": shortest}
    yield at_most(f"{name}_slower", slower, "times", SLOWER_AT_MOST, lengths)


def _receive_seconds(log: int, parameters: Parameters = LAN, count: int = COUNT) -> float:
    return _receiving(holding(log, parameters), wire(log, count, parameters), parameters)


def _receiving(one: Channel, frames: Sequence[bytes], parameters: Parameters = LAN) -> float:
    """Seconds to receive `frames`, each on its author's own link."""
    limits = parameters.limits
    with fresh_watch() as watch:
        for frame in frames:
            one.handle(Received(decode(frame, limits), HINT, from_author=True), NOW)
        one.filter.to_bytes()  # what was put off
    return watch.seconds


def _decode_seconds(log: int) -> float:
    frames = wire(log, COUNT)
    with fresh_watch() as watch:
        for frame in frames:
            decode(frame)
    return watch.seconds


def _send_seconds(log: int, parameters: Parameters = LAN, count: int = COUNT) -> float:
    one = holding(log, parameters)
    sealed = iter([Sealed(_fresh(-1 - number), CONTENT, HINT) for number in range(count)])
    one._seal = lambda lamport, history, body: next(sealed)
    with fresh_watch() as watch:
        for number in range(count):
            for effect in one.handle(Send(number), NOW):
                if isinstance(effect, Broadcast):
                    encode(effect.message)
    return watch.seconds


def _encode_seconds(log: int) -> float:
    sent = [decode(frame) for frame in wire(log, COUNT)]
    with fresh_watch() as watch:
        for one in sent:
            encode(one)
    return watch.seconds


# --- Acknowledgements --------------------------------------------------------------------------


def sds_unacknowledged(place: Path) -> Iterator[Result]:
    """Receive while 1,000 own messages wait, and every received message carries a filter."""
    del place
    for held in ("none", "all"):
        runs = [_unacknowledged_seconds(1_000, held) for _ in range(RUNS)]
        params: Params = {"unacknowledged": 1_000, "held": held, "messages": COUNT}
        rate = COUNT / _median(runs)
        yield at_least(
            "sds_receive_unacknowledged", rate, "messages/s", UNACKNOWLEDGED_PER_SECOND, params
        )


def _unacknowledged_seconds(
    waiting: int, held: str, parameters: Parameters = LAN, count: int = COUNT
) -> float:
    one = holding(0, parameters)
    mine = [_sent(one, number) for number in range(waiting)]
    frames = wire(0, count, parameters)
    if held == "all":
        theirs = filter_of(parameters.bloom, mine[-parameters.bloom.capacity :])
        frames = [encode(message(number, theirs)) for number in range(count)]
    return _receiving(one, frames, parameters)


def _sent(one: Channel, number: int) -> str:
    [sent] = [
        effect.message.message_id
        for effect in one.handle(Send(number), NOW)
        if isinstance(effect, Broadcast)
    ]
    return sent


# --- Out of order ------------------------------------------------------------------------------


def sds_out_of_order(place: Path) -> Iterator[Result]:
    """Losses that are repaired, shuffled arrival, and a deep gap, beside the same in order."""
    del place
    for name, cost, in_order in (
        ("loss_20_percent", partial(_lossy_seconds, 0.2), partial(_lossy_seconds, 0.0)),
        ("shuffled", _shuffled_seconds, _in_order_seconds),
        ("gap_of_1000", _gap_seconds, _in_order_seconds),
    ):
        runs = [
            (cost(run), in_order(run), floors.holding_back_seconds(name, COUNT))
            for run in range(RUNS)
        ]
        times = _median([whole / beside for whole, beside, _ in runs])
        params: Params = {"case": name, "messages": COUNT}
        result = at_most("sds_out_of_order", times, "times", OUT_OF_ORDER_TIMES, params)
        yield explained(result, partial(cost, 0))
        lowest = _median([1 + least / beside for _, beside, least in runs])
        yield floor(result.name, lowest, "times", params)


def _in_order_seconds(seed: int) -> float:
    del seed
    return _receive_seconds(0)


def _shuffled_seconds(seed: int) -> float:
    """Each message comes up to 50 places late."""
    rng = random.Random(seed)  # a seeded run, not a secret
    frames = wire(0, COUNT)
    late = sorted(range(COUNT), key=lambda number: number + 50 * rng.random())
    one = holding(0)
    seconds = _receiving(one, [frames[number] for number in late])
    assert len(one.log.order) == COUNT
    return seconds


def _gap_seconds(seed: int) -> float:
    """A message is missing, a thousand wait for it, it comes; again and again."""
    del seed
    frames = wire(0, COUNT)
    order = [
        number
        for start in range(0, COUNT, 1_000)
        for number in (*range(start + 1, start + 1_000), start)
    ]
    one = holding(0)
    seconds = _receiving(one, [frames[number] for number in order])
    assert len(one.log.order) == COUNT
    return seconds


def _lossy_seconds(loss: float, seed: int) -> float:
    """A share of the frames is lost; what was asked for is answered, until all is here.

    Counted is the side that lacks: receiving, acknowledging, asking, and receiving the answers.
    """
    rng = random.Random(seed)
    frames = wire(0, COUNT)
    stored = {ident(number): frame for number, frame in enumerate(frames)}
    lacking, whole = holding(0), holding(COUNT)
    watch = Stopwatch()
    now: Nanos = NOW
    arrived = [number for number in range(COUNT) if number == COUNT - 1 or rng.random() >= loss]
    for start in range(0, len(arrived), 100):
        now += 5 * SECOND
        gc.collect()
        with watch:
            for number in arrived[start : start + 100]:
                lacking.handle(Received(decode(frames[number]), HINT, from_author=True), now)
        _repair(lacking, whole, stored, now, watch)
    while len(lacking.log.order) < COUNT:
        now += SECOND
        _repair(lacking, whole, stored, now, watch)
    return watch.seconds


def _repair(
    lacking: Channel,
    whole: Channel,
    stored: dict[MessageId, bytes],
    now: Nanos,
    watch: Stopwatch,
) -> None:
    """Let a minute of asking and answering pass; `watch` sees what it costs the one who asks."""
    for _ in range(240):
        due = lacking.deadline()
        if due is None or due > now:
            break
        with watch:
            asked = [
                encode(effect.message)
                for effect in lacking.handle(Tick(), now)
                if isinstance(effect, Broadcast)
            ]
        for frame in asked:
            whole.handle(Received(decode(frame), HINT, from_author=True), now)
        answers = [stored[one.message_id] for one in _answers(whole, now)]
        with watch:
            for answer in answers:
                lacking.handle(Received(decode(answer), HINT, from_author=False), now)
        now += SECOND // 4


def _answers(whole: Channel, now: Nanos) -> list[Answer]:
    """Return the repair answers of the other side, without its sync messages."""
    due = whole.deadline()
    if due is None or due > now:
        return []
    return [effect for effect in whole.handle(Tick(), now) if isinstance(effect, Answer)]


# --- The log -----------------------------------------------------------------------------------


def sds_log(place: Path) -> Iterator[Result]:
    """Insert into the middle of a log of a million, and what the engine keeps of a message."""
    del place
    count = LOGS[-1]
    params: Params = {"log": count}
    yield at_most("sds_memory", _bytes_a_message(count), "bytes/message", BYTES_A_MESSAGE, params)
    grown = OrderedLog()
    for number in range(count):
        grown.insert(LAMPORT + 2 * number, _fresh(number))
    rng = random.Random(1)
    late = [(LAMPORT + 2 * rng.randrange(count) + 1, _fresh(-1 - n)) for n in range(COUNT)]
    with fresh_watch() as watch:
        for lamport, message_id in late:
            grown.insert(lamport, message_id)
    micros = watch.seconds / COUNT * 1e6
    yield at_most("sds_log_insert_in_the_middle", micros, "us", INSERT_US, params)


def _fresh(number: int) -> MessageId:
    return ident.__wrapped__(number)


def _bytes_a_message(count: int) -> float:
    """Memory of a channel by its messages, in a process of its own.

    Its allocator gives back what was only needed while the log was read, as other programs would
    have it; what this process has freed before would count as well.
    """
    command = [sys.executable, "-m", "tests.bench.workload", str(count)]
    told = subprocess.run(
        command,
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": str(128 * 1024)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(told.stdout)


# --- Beside another implementation -------------------------------------------------------------


def sds_beside_waku(place: Path) -> Iterator[Result]:
    """Receive beside the npm package `@waku/sds` in the same run, with its parameters."""
    del place
    try:
        installation = installed()
    except UnavailableError as error:
        progress(f"beside @waku/sds: left out, {error}")
        return
    with SdsNode(installation) as theirs:
        for (length, waiting), (goal, count) in PEER_RATIOS.items():
            progress(f"beside @waku/sds: a log of {length}, {waiting} unacknowledged ...")
            peer = bench_receive(theirs, length, count, waiting).per_second
            if waiting:
                seconds = _unacknowledged_seconds(waiting, "none", WAKU, 2_000)
            else:
                seconds = _receive_seconds(length, WAKU, 2_000)
            rate = 2_000 / seconds
            yield Result(
                "sds_receive_beside_waku_sds",
                rate,
                "messages/s",
                goal * peer,
                rate >= goal * peer,
                {"log": length, "unacknowledged": waiting, "times": goal},
                peer=peer,
                ratio=rate / peer,
            )


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


BENCHMARKS: Final = (
    sds_receive,
    sds_send,
    sds_unacknowledged,
    sds_out_of_order,
    sds_log,
    sds_beside_waku,
)


def main() -> None:
    """Print every figure as soon as it is known."""
    parser = argparse.ArgumentParser(prog="tests.bench.bench_sds", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line (always so)")
    parser.parse_args()
    gc_policy.settle()
    for benchmark in BENCHMARKS:
        for result in benchmark(Path()):
            print(result.to_json(), flush=True)


if __name__ == "__main__":
    main()
