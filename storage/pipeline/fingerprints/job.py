"""`fingerprints`: XOR and count per minute, hour, day and channel of an archive.

Writes `minutes`, `hours`, `days` and `roots`, all with the columns of
`storage.pipeline.fingerprints.fingerprints`.
"""

from itertools import pairwise
from typing import Final

from storage.archive.tables import sync_hash
from storage.pipeline.fingerprints.archive import Archive, write_state
from storage.pipeline.fingerprints.fingerprints import SPANS, XOR, Prints, rolled_up
from storage.pipeline.inputs.batches import rows_in, total_of
from storage.pipeline.job_context import Work

ROOTS_MAX: Final = 100
"""Channels that the figures name, the largest; the table has all."""


def run(work: Work) -> None:
    """Take the fingerprints of all exports and histories together.

    If `consolidate` has made a history of the same, that one is read: it is verified, and has each
    message once.
    """
    archive = Archive.best(work.inputs, work.results)
    write_state(work.run.directory, work.inputs)
    work.write("minutes", archive.minutes(work.spark))
    prints = Prints(work.spark, work.run.directory)
    for fine, coarse in pairwise(SPANS):
        level = rolled_up(prints.level(fine), SPANS[coarse])
        work.write(coarse, level.coalesce(1))
    roots = prints.level("roots")
    largest = roots.orderBy("count", "channel", ascending=[False, True]).limit(ROOTS_MAX).collect()
    work.run.figures |= {
        "verified": archive.verified,
        "messages": total_of(work.run.directory / "roots"),
        "channels": rows_in(work.run.directory / "roots"),
        "roots": [
            {
                "channel": root.channel,
                "messages": root["count"],
                "fingerprint": sync_hash([root[xor] for xor in XOR]).hex(),
            }
            for root in largest
        ],
        "exports": [str(path.absolute()) for path in work.inputs.sources],
    }
