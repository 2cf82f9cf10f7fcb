"""CBOR as another implementation reads it, kept to the values of ours."""

from io import BytesIO

import cbor2

from sync.p2panda import cbor


def strict(data: bytes) -> object:
    """Return what cbor2 reads, if that is one of our values in its one spelling, else None."""
    stream = BytesIO(data)
    try:
        value = cbor2.load(stream)
        again = cbor2.dumps(value, canonical=True)
    except Exception:  # noqa: BLE001 - whatever a hostile value makes of it
        return None
    return value if again == data and plain(value, cbor.DEPTH_MAX) else None


def plain(value: object, depth: int) -> bool:
    """True for a value of ours."""
    if isinstance(value, list):
        return depth > 0 and all(plain(item, depth - 1) for item in value)
    number = type(value) is int and 0 <= value < 2**64
    return number or value is None or isinstance(value, bytes | str | bool)
