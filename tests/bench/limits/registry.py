"""The limits that are measured, by name. Each has a file; a new one gets a line here."""

from typing import Final

from tests.bench.limits import (
    latency,
    million,
    newcomer,
    rate,
    reconcile,
    screen,
    signatures,
    sketch,
    stalls,
    start,
)
from tests.bench.limits.figures import Limit

LIMITS: Final[dict[str, Limit]] = {
    one.name: one
    for one in (
        rate.LIMIT,
        latency.LIMIT,
        screen.LIMIT,
        stalls.LIMIT,
        start.LIMIT,
        reconcile.LIMIT,
        sketch.LIMIT,
        newcomer.LIMIT,
        million.LIMIT,
        signatures.LIMIT,
    )
}
