"""Replies: judged by their own bytes, written and read as programs without them expect it."""

import pytest

from proto import entry_pb2
from sync.entries.changes import anew, replaced_in
from sync.entries.entry import Kind, Text, decode_text, encode_text
from sync.entries.replies import answered_by
from sync.errors import LocalError
from sync.machine import MessageId
from tests.support.sync.changed import nowhere, released_body, replied
from tests.support.sync.entries import Author

ID = MessageId("5e" * 32)
RELEASED_PLAIN = "0a05616c696365120568656c6c6f"
"""The body of "hello" by alice, as the released program encodes it."""


def test_a_text_without_a_reply_has_the_bytes_it_always_had() -> None:
    assert encode_text(Text("alice", "hello")).hex() == RELEASED_PLAIN
    assert decode_text(bytes.fromhex(RELEASED_PLAIN)) == Text("alice", "hello")


def test_a_program_without_replies_reads_the_text_of_one_and_keeps_all_its_bytes() -> None:
    data = encode_text(Text("bob", "hello to you", reply_to=ID))

    read = released_body(data)

    assert (read.nick, read.text) == ("bob", "hello to you")  # type: ignore[attr-defined]
    assert read.SerializeToString(deterministic=True) == data
    assert decode_text(data) == Text("bob", "hello to you", reply_to=ID)


def test_a_reply_names_its_target_among_its_parents() -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("tea?")

    assert answered_by(replied(bob, "yes", target).entry) == target.entry.message_id
    assert answered_by(bob.write("no reply", after=[target]).entry) is None


@pytest.mark.parametrize("to", ["", nowhere()], ids=["not-a-parent", "another-than-the-parent"])
def test_what_does_not_name_its_target_is_a_text_like_others(to: str) -> None:
    target = Author("ann").write("tea?")

    entry = replied(Author("bob"), "forged", target, named=bool(to), to=to).entry

    assert answered_by(entry) is None
    assert decode_text(entry.body).text == "forged"


@pytest.mark.parametrize("reply_to", [b"", b"short", bytes(31), bytes(33), bytes(64)])
def test_an_id_of_another_length_is_no_reply(reply_to: bytes) -> None:
    body = entry_pb2.TextBody(nick="eve", text="odd", reply_to=reply_to).SerializeToString()

    assert decode_text(body) == Text("eve", "odd")


def test_what_was_typed_is_never_taken_for_a_reply() -> None:
    target = Author("ann").write("tea?")
    typed = 'mark: "  ' + "a" * 40

    assert answered_by(Author("bob").write(typed, after=[target]).entry) is None


def test_an_id_that_is_none_is_refused_before_it_is_written() -> None:
    with pytest.raises(LocalError):
        encode_text(Text("ann", "hi", reply_to="not hex"))


def test_a_reply_that_is_written_anew_still_answers_its_target() -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("tea?")
    reply = replied(bob, "yes", target).entry

    [again] = anew(reply)

    assert (again.kind, again.about) == (Kind.TEXT, target.entry.message_id)
    assert decode_text(again.body) == Text(
        "bob", "yes", replaces=reply.message_id, reply_to=target.entry.message_id
    )
    assert replaced_in(Kind.TEXT, again.body) == reply.message_id
