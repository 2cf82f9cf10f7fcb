"""The curve of Ed25519, plainly (RFC 8032, section 5.1): slow, and with points nobody should use.

A point is the pair of its affine coordinates.
"""

import hashlib
from typing import Final, TypeAlias

Point: TypeAlias = tuple[int, int]

P: Final = 2**255 - 19
"""Coordinates are numbers below it."""

L: Final = 2**252 + 27742317777372353535851937790883648493
"""The order of `BASE`, a prime; the curve has eight times as many points."""

D: Final = -121665 * pow(121666, -1, P) % P
SIGN: Final = 255
"""The bit of an encoded point that says which of two x it has."""

ZERO: Final = (0, 1)


def point_of(y: int, *, odd: bool) -> Point | None:
    """Return the point with this y, and an x that is odd or even; None if there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        return None
    return (P - x if (x % 2 == 1) != odd else x) % P, y


def plus(one: Point, other: Point) -> Point:
    """Return the sum of two points."""
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x % P, y % P


def times(factor: int, point: Point) -> Point:
    """Return the point added to itself so many times."""
    total = ZERO
    while factor:
        if factor % 2:
            total = plus(total, point)
        point, factor = plus(point, point), factor // 2
    return total


def encoded(point: Point) -> bytes:
    """Return the 32 bytes of a point."""
    x, y = point
    return (y | x % 2 << SIGN).to_bytes(32, "little")


def challenge(commitment: bytes, public_key: bytes, data: bytes) -> int:
    """Return the number that a signature answers to (section 5.1.7, step 2)."""
    digest = hashlib.sha512(commitment + public_key + data).digest()
    return int.from_bytes(digest, "little") % L


def _base() -> Point:
    point = point_of(4 * pow(5, -1, P) % P, odd=False)
    assert point is not None
    return point


def _eighth() -> Point:
    """Return a point of order 8: what is left of a point whose order is not L, times L."""
    for y in range(2, 100):
        point = point_of(y, odd=False)
        if point is not None and times(4 * L, point) != ZERO:
            return times(L, point)
    raise AssertionError("no point of order 8")


BASE: Final = _base()

TORSION: Final = tuple(times(step, _eighth()) for step in range(8))
"""The eight points of small order, the neutral one first."""
