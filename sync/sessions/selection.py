"""Verdict, then rule: the kind of session for two handshakes, and why. Pure.

Both ends know both handshakes, and `select` is a function of the two, so both compute the same kind
without another word.

Verdict: different heads of governance come first, since roots are worth comparing only where both
judge alike. Then, plane by plane, equal roots are agreement.
"""

from collections.abc import Collection
from enum import Enum
from math import log
from typing import Final

from msgspec import Struct

from sync.errors import RemoteError
from sync.sessions.handshake import (
    NOTHING,
    SPREAD_HASH_SIZE,
    SPREAD_SIZE,
    SyncHandshake,
    SyncKind,
)
from sync.sessions.protocol import ROUND_TRIP
from sync.sessions.sync_config import CONFIG
from sync.sessions.values import Plane

SET_LOGS: Final = 512
"""Logs above which heights are compared by sets of ranges instead of told all."""

FEW_CHANGED: Final = 2
MORE_CHANGED: Final = 8
"""First-level nodes that differ, of 16, up to which a tree is descended node by node: few in any
tree, more in a large one."""

LARGE_TREE: Final = 1_000
"""Entries above which a tree is large."""

SKETCH_IDS_MIN: Final = 1_000
"""Messages above which there are symbols: fewer are compared in a few payloads anyway."""

SKETCH_DIFFERENCES_MAX: Final = 11_000
"""Messages that may differ for symbols to tell which: as many symbols as are kept tell 11,800."""

SKETCH_BYTES: Final = 2_700
SKETCH_ID_BYTES: Final = 100
"""Estimates: the first 64 symbols, and for each id that differs 1.6 symbols and half of a hash."""

ENTRY_BYTES: Final = 461
HEIGHT_BYTES: Final = 45
HOLE_BYTES: Final = 36
ID_BYTES: Final = 16
NODE_BYTES: Final = 260
WAKU_BYTES: Final = 20_000
"""Estimates: an entry of a snapshot, a told height, a wanted id with its share of the filter, the
id of a state entry, an inner node with 16 children, a comparison of sets."""

SETS_BYTES: Final = 20_000


class Verdict(Enum):
    """Meaning of two handshakes for each other."""

    CONVERGED = "both have the same"
    GOVERNANCE = "who is in is known differently"
    DIVERGED = "they differ"


class Selection(Struct, frozen=True):
    """A kind, why it is the one, and its estimate: bytes, with `ROUND_TRIP` for each round trip.

    `kind` is None where nothing is to be done.
    """

    kind: SyncKind | None
    why: str
    estimate: int = 0


def verdict(opener: SyncHandshake, answerer: SyncHandshake, plane: Plane) -> Verdict:
    """Return whether there is anything to do in a plane."""
    if opener.scope != answerer.scope:
        return Verdict.GOVERNANCE
    ours, theirs = (
        (opener.log.root, answerer.log.root)
        if plane is Plane.LOG
        else (opener.state.root, answerer.state.root)
    )
    return Verdict.CONVERGED if ours == theirs else Verdict.DIVERGED


def check_scopes(opener: SyncHandshake, answerer: SyncHandshake) -> None:
    """Refuse a handshake that says another thing of whether anybody governs at all.

    Raises:
        RemoteError: one of the two says that the channel is governed, the other not.
    """
    scopes = {opener.scope, answerer.scope}
    if len(scopes) > 1 and NOTHING in scopes:
        raise RemoteError("a handshake about governance where nobody governs, or about none")


def select(
    opener: SyncHandshake,
    answerer: SyncHandshake,
    plane: Plane,
    failed: Collection[SyncKind] = (),
) -> Selection:
    """Return the kind of session for two handshakes.

    Args:
        opener: of who opened the stream.
        answerer: of the other one.
        plane: what is compared.
        failed: kinds that ended without agreement since both last agreed.
    """
    match verdict(opener, answerer, plane):
        case Verdict.GOVERNANCE:
            return Selection(
                SyncKind.GOVERNANCE, "who is in is known differently", NODE_BYTES + ROUND_TRIP
            )
        case Verdict.CONVERGED:
            return Selection(None, "both have the same")
        case Verdict.DIVERGED:
            pass
    kinds = _of_log if plane is Plane.LOG else _of_state
    return kinds(opener, answerer, frozenset(failed))


def other_state(opener: SyncHandshake, answerer: SyncHandshake, of_log: Selection) -> bool | None:
    """Return whether state is to be compared after a session over messages of this selection.

    None where governance or a snapshot comes first: the handshakes after it tell.
    """
    empty = of_log.kind is None and opener.log.root != answerer.log.root
    if empty or of_log.kind in {SyncKind.GOVERNANCE, SyncKind.SNAPSHOT}:
        return None
    return verdict(opener, answerer, Plane.STATE) is Verdict.DIVERGED


# --- Messages ----------------------------------------------------------------------------------


def _of_log(
    opener: SyncHandshake, answerer: SyncHandshake, failed: frozenset[SyncKind]
) -> Selection:
    left, right = opener.log, answerer.log
    if not right.count and _both(opener, answerer, SyncKind.SNAPSHOT, failed):
        return Selection(None, "the other one is empty, and begins by itself")
    count = right.count
    if not left.count and _both(opener, answerer, SyncKind.SNAPSHOT, failed):
        why = "we have nothing here yet"
        return Selection(SyncKind.SNAPSHOT, why, ENTRY_BYTES * count + 2 * ROUND_TRIP)
    by_sketch = _by_sketch(opener, answerer, failed)
    if left.floor or right.floor:
        return _of_sets("one side has let go of what is old", by_sketch)
    holes = left.holes + right.holes
    by_heights = not holes and not failed & {SyncKind.LOG_HEIGHT, SyncKind.SETS}
    if by_heights and (chosen := _by_heights(opener, answerer)) is not None:
        if by_sketch is None or chosen.estimate <= by_sketch:
            return chosen
        return _of_sets(f"of {max(left.logs, right.logs):,} logs, one by one is more", by_sketch)
    if not set(left.heads) & set(right.heads):
        return _of_sets("no head is known to both", by_sketch)
    if holes > CONFIG.delta_sync_threshold:
        return _of_sets(f"over {CONFIG.delta_sync_threshold:,} messages are missing", by_sketch)
    if _both(opener, answerer, SyncKind.DELTA, failed):
        why = f"{holes:,} missing messages are known by their ids"
        return Selection(SyncKind.DELTA, why, HOLE_BYTES * holes + 2 * ROUND_TRIP)
    return _of_sets("nothing cheaper is left that both speak", by_sketch)


def _by_heights(opener: SyncHandshake, answerer: SyncHandshake) -> Selection | None:
    """Return the way to compare author logs without holes; None if one side cannot."""
    logs = max(opener.log.logs, answerer.log.logs)
    if logs <= SET_LOGS and _both(opener, answerer, SyncKind.LOG_HEIGHT):
        cost = HEIGHT_BYTES * (opener.log.logs + answerer.log.logs) + ROUND_TRIP
        return Selection(SyncKind.LOG_HEIGHT, "no log has a hole", cost)
    if _both(opener, answerer, SyncKind.SETS):
        why = f"no log has a hole, of {logs:,}"
        return Selection(SyncKind.SETS, why, SETS_BYTES + 3 * ROUND_TRIP)
    return None


def _by_sketch(
    opener: SyncHandshake, answerer: SyncHandshake, failed: Collection[SyncKind]
) -> int | None:
    """Return the estimate of a sketch; None if one side has no symbols, or too much differs.

    At least as many messages differ as one side has more, or as are known to be missing. How many
    really do, the first symbols tell: if they are too many, the session goes on by Waku Sync.
    """
    left, right = opener.log, answerer.log
    least = max(abs(left.count - right.count), left.holes, right.holes)
    enough = min(left.count, right.count) > SKETCH_IDS_MIN
    if not enough or least > SKETCH_DIFFERENCES_MAX:
        return None
    if not _both(opener, answerer, SyncKind.SKETCH, failed):
        return None
    return SKETCH_BYTES + SKETCH_ID_BYTES * least + 2 * ROUND_TRIP


def _of_sets(why: str, by_sketch: int | None) -> Selection:
    """Return the way to compare sets, whatever their order: by symbols, or by ranges."""
    if by_sketch is not None:
        return Selection(SyncKind.SKETCH, why, by_sketch)
    return Selection(SyncKind.WAKU, why, WAKU_BYTES + 4 * ROUND_TRIP)


# --- State -------------------------------------------------------------------------------------


def _of_state(
    opener: SyncHandshake, answerer: SyncHandshake, failed: frozenset[SyncKind]
) -> Selection:
    left, right = opener.state, answerer.state
    larger = max(left.count, right.count)
    changed = _changed(left.spread, right.spread)
    few = changed <= FEW_CHANGED or (changed <= MORE_CHANGED and larger > LARGE_TREE)
    hashed = Selection(
        SyncKind.HASH,
        f"{changed} of 16 parts of the state differ",
        NODE_BYTES * _guessed(changed) + 3 * ROUND_TRIP,
    )
    at_once = ID_BYTES * left.count
    level = Selection(
        SyncKind.LEVEL,
        f"{changed} of 16 parts of the state differ, of {larger:,} entries",
        min(at_once, NODE_BYTES * _guessed(changed)) + 2 * ROUND_TRIP,
    )
    for one in (hashed, level) if few else (level, hashed):
        assert one.kind is not None
        if _both(opener, answerer, one.kind, failed):
            return one
    return Selection(None, "state cannot be compared with this peer")


def _changed(left: bytes, right: bytes) -> int:
    """Return how many of the 16 first-level hashes differ."""
    places = range(0, SPREAD_SIZE, SPREAD_HASH_SIZE)
    return sum(
        left[at : at + SPREAD_HASH_SIZE] != right[at : at + SPREAD_HASH_SIZE] for at in places
    )


def _guessed(changed: int) -> int:
    """Return about how many entries changed if so many of 16 parts did."""
    parts = SPREAD_SIZE // SPREAD_HASH_SIZE
    return round(-parts * log(1 - min(changed, parts - 0.5) / parts)) if changed else 0


def _both(
    opener: SyncHandshake,
    answerer: SyncHandshake,
    kind: SyncKind,
    failed: Collection[SyncKind] = (),
) -> bool:
    """Return whether both speak a kind, and it has not failed."""
    return kind not in failed and opener.speaks(kind) and answerer.speaks(kind)
