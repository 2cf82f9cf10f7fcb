"""Cost of `@waku/sds`, for comparison with our benchmarks; `bench.mjs` says how it is made.

    with SdsNode(installed()) as node:
        cost = bench_receive(node, log=10_000, count=50)
        print(cost.per_second)

Counts are best small: with a log of 10,000 it manages 100 messages a second.
"""

from dataclasses import dataclass

from tests.interop.sds_js.node import BENCH_WITHIN_S, SdsNode

NOW_MS = 1_763_700_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of the node process for `count` messages, user and system, all threads."""

    log: int
    """Messages in the log before."""
    count: int
    unacknowledged: int
    """Own messages awaiting acknowledgement all the while."""
    cpu_s: float
    done: int
    """Number really delivered, or sent: `count`."""
    wire_bytes: int
    """Of all `count` encoded messages together."""

    @property
    def per_second(self) -> float:
        """Messages in a second of processor time."""
        return self.count / self.cpu_s


def bench_receive(node: SdsNode, log: int, count: int, unacknowledged: int = 0) -> Cost:
    """Let it decode and receive `count` messages in causal order."""
    return _cost(node, "bench_receive", log, count, unacknowledged)


def bench_send(node: SdsNode, log: int, count: int, unacknowledged: int = 0) -> Cost:
    """Let it send and encode `count` messages; they all stay unacknowledged, too."""
    return _cost(node, "bench_send", log, count, unacknowledged)


def _cost(node: SdsNode, op: str, log: int, count: int, unacknowledged: int) -> Cost:
    fields = {"log": log, "count": count, "unacknowledged": unacknowledged}
    found = node.request(op, fields, NOW_MS, BENCH_WITHIN_S)
    cost = Cost(**found)
    assert cost.done == count, f"{op} did {cost.done} of {count} messages"
    return cost
