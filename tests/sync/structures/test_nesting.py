"""Every reader refuses deeply nested wire data and invalid UTF-8.

Protobuf skips fields that it does not know, groups in groups among them, however deep they are.
"""

from collections.abc import Callable

import pytest

from sync.check import wire as check_wire
from sync.entries import changes, entry, ephemeral
from sync.errors import DecodeError, LocalError
from sync.net.links import frames
from sync.sds import wire as sds
from sync.waku import wire

GROUP_BEGINS, GROUP_ENDS = b"\xbb\x3e", b"\xbc\x3e"
"""Of field 999, which no message of ours has."""

MESSAGE = b"\xba\x3e"
"""Field 999 as a message, of which the length follows."""

READERS: dict[str, Callable[[bytes], object]] = {
    "SDS": sds.decode,
    "frame": frames.decode,
    "typing": ephemeral.decode,
    "entry": entry.open_content,
    "text": entry.decode_text,
    "edit": lambda body: changes.decode(entry.Kind.EDIT, body),
    "transfer": wire.decode_transfer,
    "ranges": wire.decode_ranges,
    "check": check_wire.decode_frame,
}


def groups(depth: int) -> bytes:
    return GROUP_BEGINS * depth + GROUP_ENDS * depth


@pytest.mark.parametrize("read", READERS.values(), ids=READERS.keys())
@pytest.mark.parametrize(
    "data",
    [
        groups(200),
        groups(100_000),
        GROUP_BEGINS * 300_000,
        GROUP_ENDS * 10,
        MESSAGE + b"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01" + b"x",
        b"\xff" * 1_000,
        b"\x0a\x02\xff\xfe",
        b"\x0a\x03\xed\xa0\x80",
    ],
    ids=[
        "nested",
        "deep",
        "never ended",
        "never begun",
        "huge length",
        "ones",
        "bytes",
        "surrogate",
    ],
)
def test_it_is_refused_and_nothing_else_happens(
    read: Callable[[bytes], object], data: bytes
) -> None:
    with pytest.raises((DecodeError, LocalError)):
        read(data)


def test_what_is_good_without_what_is_nested_too_deeply_is_refused_with_it() -> None:
    good = frames.encode(frames.Ping(7, 8))

    assert frames.decode(good + groups(10)) == frames.Ping(7, 8)
    with pytest.raises(DecodeError, match="cannot be read"):
        frames.decode(good + groups(200))
