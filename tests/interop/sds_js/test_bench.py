"""The benchmark requests do the work they report."""

from collections.abc import Callable

import pytest

from tests.interop.sds_js.bench import Cost, bench_receive, bench_send
from tests.interop.sds_js.node import SdsNode

pytestmark = [pytest.mark.net]

FILTER_BYTES = 18_752


@pytest.mark.parametrize("bench", [bench_receive, bench_send])
def test_a_benchmark_does_as_much_as_was_asked_for(
    node: SdsNode, bench: Callable[[SdsNode, int, int, int], Cost]
) -> None:
    cost = bench(node, 30, 5, 3)

    assert (cost.log, cost.count, cost.unacknowledged, cost.done) == (30, 5, 3, 5)
    assert cost.wire_bytes > 5 * FILTER_BYTES
    assert cost.cpu_s > 0
