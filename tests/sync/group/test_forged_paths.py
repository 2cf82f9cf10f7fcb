"""One forged message on every path there is: none is stored, shown or passed on, and none counts.

Those by transfer and from archives are in `test_sessions` and `test_importing`, over theirs.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from proto import entry_pb2
from sync.errors import RemoteError
from sync.group import values
from sync.machine import MINUTE, PeerId
from sync.sds.wire import encode
from tests.support.sync.entries import Author
from tests.support.sync.groups import NOW, Member, arrived, sds_of, with_content

BOB, EVE = Author("bob"), Author("eve")

Path = Callable[[bytes], values.Input]

PATHS: dict[str, Path] = {
    "broadcast in the author's name": lambda payload: values.Arrived(EVE.peer_id, payload),
    "broadcast on the author's own link": lambda payload: values.Arrived(BOB.peer_id, payload),
    "repair, from whoever answers": lambda payload: values.Arrived(PeerId("ee" * 32), payload),
    "a retriever": values.Retrieved,
}


def forgeries(sent: values.StoredMessage) -> dict[str, bytes]:
    """Return the forgeries of a message that are possible without its author's key."""
    other = entry_pb2.SignedEntry.FromString(sent.entry.content)
    unsigned = entry_pb2.SignedEntry(header=other.header, signature=bytes(64), body=other.body)
    by_eve = entry_pb2.SignedEntry(
        header=other.header, signature=EVE.identity.sign(other.header), body=other.body
    )
    body = entry_pb2.SignedEntry(
        header=other.header, signature=other.signature, body=other.body.replace(b"bob", b"eve")
    )
    return {
        name: encode(with_content(sent, one.SerializeToString(deterministic=True)))
        for name, one in (("unsigned", unsigned), ("signed by eve", by_eve), ("other words", body))
    }


@pytest.mark.parametrize("path", PATHS)
def test_a_forged_message_gets_in_by_no_path_and_the_real_one_is_still_looked_for(
    path: str,
) -> None:
    bob = Author("bob")
    wanted = bob.write("hello, bob here")
    child = bob.write("and then", after=[wanted])
    alice = Member("alice")
    alice.join(BOB.peer_id, EVE.peer_id)
    alice.hear(child)
    assert wanted.entry.message_id in alice.group.sds.incoming.missing
    before = alice.disk.restore()

    for payload in forgeries(wanted).values():
        with pytest.raises(RemoteError, match="sign"):
            alice.tell(PATHS[path](payload))

    assert alice.disk.restore() == before
    assert wanted.entry.message_id in alice.group.sds.incoming.missing, "it is asked for"
    assert wanted.entry.message_id not in alice.group.sds.log.order.recent
    alice.tell(PATHS[path](wanted.payload))
    assert alice.shown() == [wanted.entry.message_id, child.entry.message_id]


@settings(max_examples=200)
@given(at=st.integers(0), mask=st.integers(1, 255), cut=st.booleans())
def test_no_other_bytes_go_by_the_id_of_a_message(at: int, mask: int, cut: bool) -> None:
    """Threat 9: under an id that is here nothing else is ever stored, nor under a false one."""
    sent = Author("bob").write("hello")
    alice = Member("alice")
    alice.join(BOB.peer_id)
    at %= len(sent.payload)
    flipped = sent.payload[:at] + bytes([sent.payload[at] ^ mask]) + sent.payload[at + 1 :]
    payload = sent.payload[:at] if cut else flipped
    try:
        alice.tell(values.Arrived(BOB.peer_id, payload), NOW + MINUTE)
    except RemoteError:
        assert alice.shown() == []
    stored = alice.disk.rows.values()
    assert all(row.message.payload == sent.payload for row in stored)
    assert {row.message.entry.message_id for row in stored} <= {sent.entry.message_id}


def test_another_content_under_an_id_that_is_here_changes_nothing() -> None:
    bob = Author("bob")
    sent, other = bob.write("hello"), bob.write("something else")
    alice = Member("alice")
    alice.hear(sent)
    message = replace(sds_of(sent), content=other.entry.content)
    with pytest.raises(RemoteError, match="differ"):
        alice.tell(arrived(message, BOB.peer_id))
    assert alice.disk.rows[sent.entry.message_id].message == sent
