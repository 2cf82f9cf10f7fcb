"""Verdicts on entries that come on a session's own stream, found ahead of time."""

from collections.abc import Callable
from typing import Final

import pytest

from sync.calimero.log import delta_messages
from sync.errors import RemoteError
from sync.group import values
from sync.group.inputs.foreseen import (
    ENTRIES_MAX,
    Entries,
    Foresight,
    Verdict,
    Waiting,
    verdict_of,
)
from sync.manager.registry import WITH_CALIMERO
from sync.sketch import messages as sketch_messages
from tests.support.sync.entries import Author
from tests.support.sync.foreseeing import as_ever, counts, foreseeing, gate_of, look_at
from tests.support.sync.groups import NOW, Member
from tests.support.sync.pairs import Pair

BOB: Final = Author("bob")
LINES: Final = [BOB.write(f"line {number}", after=BOB.entries[-1:]) for number in range(8)]
KINDS: Final = ("logheight", "sets", "delta")

Change = Callable[[bytes], bytes]
Encode = Callable[[tuple[bytes, ...]], bytes]


def encode_delta(contents: tuple[bytes, ...]) -> bytes:
    return delta_messages.encode(delta_messages.DeltaEntries(contents))


def encode_sketch(contents: tuple[bytes, ...]) -> bytes:
    return sketch_messages.encode(sketch_messages.Entries(contents))


def as_sent(payload: bytes) -> bytes:
    return payload


def with_another_signature(payload: bytes) -> bytes:
    """Return a payload in which the fourth line is signed by nobody."""
    return payload.replace(LINES[3].entry.signature, bytes(64))


def with_another_body(payload: bytes) -> bytes:
    """Return a payload in which the fourth line says something else."""
    return payload.replace(b"line 3", b"line X")


def outcomes(newcomer: Member, kind: str, change: Change, *, looks: bool) -> list[object]:
    """Return what comes of a session that brings all but the first line."""
    source = Member("source", protocols=WITH_CALIMERO)
    for sent in LINES:
        source.hear(sent)
    newcomer.hear(LINES[0])
    both = Pair(newcomer, source)
    begins = values.StartSession(both.number(), source.peer_id, "test", None, kind)
    both.queue.append((newcomer, begins))
    found: list[object] = []
    while both.queue:
        member, event = both.queue.popleft()
        if member is newcomer and isinstance(event, values.SessionPayload):
            event = values.SessionPayload(event.session, change(event.payload))
            if looks:
                look_at(newcomer, [event])
        ahead = counts(newcomer).total()
        try:
            effects = member.tell(event, NOW)
        except RemoteError as error:
            found.append((type(error), str(error)))
            continue
        if looks and member is newcomer and isinstance(event, values.SessionPayload):
            assert counts(newcomer).total() == ahead, "nothing is verified where it is handled"
        found += effects if member is newcomer else []
        for effect in effects:
            both.carry_out(member, effect)
    return found


@pytest.mark.parametrize("change", [as_sent, with_another_signature, with_another_body])
@pytest.mark.parametrize("kind", KINDS)
def test_entries_are_let_in_and_refused_as_one_by_one(kind: str, change: Change) -> None:
    one_by_one = as_ever("newcomer", WITH_CALIMERO)
    expected = outcomes(one_by_one, kind, change, looks=False)

    ahead = foreseeing("newcomer", WITH_CALIMERO)

    assert outcomes(ahead, kind, change, looks=True) == expected
    assert ahead.shown() == one_by_one.shown()
    refused = [one for one in expected if isinstance(one, values.Refused)]
    assert bool(refused) is (change is not as_sent)


def verdict_on(member: Member, contents: list[bytes]) -> Verdict | None:
    """Return the verdict on a payload with these entries."""
    return verdict_of(Waiting(gate_of(member), b"payload", None, lambda _: contents))


def test_of_a_payload_so_many_entries_are_verified_ahead() -> None:
    ann, ahead = Author("ann"), foreseeing("newcomer")
    contents = [ann.write(f"{number}").entry.content for number in range(ENTRIES_MAX + 1)]

    verdict = verdict_on(ahead, contents)

    assert isinstance(verdict, Entries)
    assert [content for content, _ in verdict.opened] == contents[:ENTRIES_MAX]
    assert counts(ahead).total() == ENTRIES_MAX


@pytest.mark.parametrize("contents", [[], [b"no entry"]])
def test_of_a_payload_without_an_entry_nothing_is_found(contents: list[bytes]) -> None:
    assert verdict_on(foreseeing("newcomer"), contents) is None


def test_payloads_of_no_session_are_not_looked_at() -> None:
    ahead, foresight = foreseeing("newcomer"), Foresight(lambda: NOW)

    foresight.look(ahead.group, values.SessionPayload(7, LINES[0].entry.content))

    assert foresight.waiting == []


@pytest.mark.parametrize("encode", [encode_delta, encode_sketch])
def test_delta_sync_and_sketches_tell_which_entries_they_bring(encode: Encode) -> None:
    contents = tuple([line.entry.content for line in LINES])
    protocol = WITH_CALIMERO.named("log")
    assert protocol is not None
    assert protocol.entries_in is not None

    assert protocol.entries_in(encode(contents)) == contents
    assert protocol.entries_in(delta_messages.encode(delta_messages.Want())) == ()
    assert protocol.entries_in(b"") == ()
