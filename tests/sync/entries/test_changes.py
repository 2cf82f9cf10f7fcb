"""Edits, reactions and redactions: their bytes, and what they make of a message."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proto import entry_pb2
from sync.entries import changes
from sync.entries.changes import (
    EMOJI_MAX,
    EMOJIS_MAX,
    REACTORS_MAX,
    UNCHANGED,
    Edit,
    Look,
    Reactions,
    Redaction,
    change_of,
    decode,
    encode,
    look_of,
)
from sync.entries.entry import TEXT_MAX, Kind
from sync.errors import DecodeError, LocalError
from sync.group.values import StoredMessage
from sync.machine import MessageId
from tests.support.sync.changed import changed
from tests.support.sync.entries import Author

TARGET = MessageId("ab" * 32)
RAW = bytes.fromhex(TARGET)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
emojis = st.text(
    st.characters(min_codepoint=0x21, exclude_categories=["Cs"], exclude_characters="\x7f"),
    min_size=1,
    max_size=EMOJI_MAX,
)
all_changes = st.one_of(
    st.builds(Edit, st.just(TARGET), texts),
    st.builds(Redaction, st.just(TARGET)),
    st.sets(emojis, max_size=EMOJIS_MAX).map(lambda some: Reactions(TARGET, tuple(sorted(some)))),
)


def look(target: StoredMessage, *stored: StoredMessage) -> Look:
    return look_of(target.entry, [one.entry for one in stored])


# --- Bytes -------------------------------------------------------------------------------------


@given(all_changes)
def test_every_change_comes_back_from_its_bytes(change: changes.Change) -> None:
    assert decode(changes.kind_of(change), encode(change)) == change


@given(st.sampled_from(sorted(changes.CHANGING)), st.binary(max_size=80))
def test_no_bytes_do_more_than_be_refused(kind: int, body: bytes) -> None:
    try:
        change = decode(kind, body)
    except DecodeError:
        return
    assert encode(change) == body


def test_the_bytes_are_those_that_were_agreed_on() -> None:
    assert encode(Redaction(TARGET)) == b"\x0a\x20" + RAW
    assert encode(Edit(TARGET, "tea")) == b"\x0a\x20" + RAW + b"\x12\x03tea"
    assert encode(Reactions(TARGET, ("b", "a"))) == b"\x0a\x20" + RAW + b"\x12\x01a\x12\x01b"
    assert encode(Reactions(TARGET, ())) == b"\x0a\x20" + RAW


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (Kind.REDACTION, b""),
        (Kind.REDACTION, b"\x0a\x1f" + RAW[:31]),
        (Kind.REDACTION, b"\x0a\x21" + RAW + b"\x00"),
        (Kind.REDACTION, b"\x0a\x20" + RAW + b"\x12\x01a"),
        (Kind.REDACTION, b"\x0a\xa0\x00" + RAW),
        (Kind.EDIT, b"\x0a\x20" + RAW),
        (Kind.EDIT, b"\x12\x03tea\x0a\x20" + RAW),
        (Kind.REACTION, b"\x0a\x20" + RAW + b"\x12\x01b\x12\x01a"),
        (Kind.REACTION, b"\x0a\x20" + RAW + b"\x12\x01a\x12\x01a"),
        (Kind.REACTION, b"\x0a\x20" + RAW + b"\x12\x00"),
        (Kind.TEXT, b"\x0a\x20" + RAW),
        (99, b"\x0a\x20" + RAW),
    ],
)
def test_what_is_not_in_its_only_form_changes_nothing(kind: int, body: bytes) -> None:
    with pytest.raises(DecodeError):
        decode(kind, body)


def test_a_text_of_the_limit_fits_and_one_character_more_does_not() -> None:
    longest = encode(Edit(TARGET, "\U0001f600" * TEXT_MAX))

    assert isinstance(decode(Kind.EDIT, longest), Edit)
    with pytest.raises(LocalError, match="15000 fit"):
        encode(Edit(TARGET, "x" * (TEXT_MAX + 1)))
    with pytest.raises(DecodeError):
        decode(
            Kind.EDIT,
            entry_pb2.EditBody(target=RAW, text="x" * (TEXT_MAX + 1)).SerializeToString(),
        )


def test_an_empty_edit_is_no_edit() -> None:
    with pytest.raises(LocalError, match="/delete hides it"):
        encode(Edit(TARGET, ""))


@pytest.mark.parametrize(
    ("emojis", "fits"),
    [
        (["x" * EMOJI_MAX], True),
        (["x" * (EMOJI_MAX + 1)], False),
        ([chr(0x1F600 + number) for number in range(EMOJIS_MAX)], True),
        ([chr(0x1F600 + number) for number in range(EMOJIS_MAX + 1)], False),
        (["a b"], False),
        (["\x1b"], False),
        (["\x7f"], False),
    ],
)
def test_reactions_up_to_their_limits_are_taken(emojis: list[str], fits: bool) -> None:
    body = entry_pb2.ReactionBody(target=RAW, emojis=sorted(emojis)).SerializeToString()

    if fits:
        assert decode(Kind.REACTION, body) == Reactions(TARGET, tuple(sorted(emojis)))
        return
    with pytest.raises(DecodeError):
        decode(Kind.REACTION, body)
    with pytest.raises(LocalError):
        encode(Reactions(TARGET, tuple(emojis)))


def test_half_a_character_is_explained() -> None:
    with pytest.raises(LocalError, match="Unicode"):
        encode(Edit(TARGET, "\ud83d"))


# --- What counts -------------------------------------------------------------------------------


def test_the_newest_edit_counts_whenever_it_comes() -> None:
    ann = Author("ann")
    target = ann.write("first")
    edits = [changed(ann, Edit(target.entry.message_id, text), target) for text in ("b", "c", "d")]

    for seed in range(6):
        random.Random(seed).shuffle(edits)
        assert look(target, *edits) == Look(text="d")


def test_of_two_at_one_lamport_time_the_higher_id_counts() -> None:
    ann = Author("ann")
    target = ann.write("first")
    two = [
        changed(ann, Edit(target.entry.message_id, text), target, lamport=9) for text in ("b", "c")
    ]
    highest = max(two, key=lambda one: one.entry.message_id)

    winner = change_of(highest.entry)

    assert isinstance(winner, Edit)
    assert look(target, *two).text == look(target, *reversed(two)).text == winner.text


def test_a_later_edit_brings_back_what_was_deleted_and_the_other_way_round() -> None:
    ann = Author("ann")
    target = ann.write("first")
    one = target.entry.message_id
    edit = changed(ann, Edit(one, "second"), target, lamport=5)
    gone = changed(ann, Redaction(one), target, lamport=6)
    back = changed(ann, Edit(one, "third"), target, lamport=7)

    assert look(target, gone, edit) == Look(deleted=True)
    assert look(target, back, gone, edit) == Look(text="third")


def test_nobody_else_edits_or_deletes() -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("first")
    one = target.entry.message_id

    forged = [changed(bob, Edit(one, "forged"), target), changed(bob, Redaction(one), target)]

    assert look(target, *forged) == UNCHANGED


def test_who_does_not_name_the_target_among_the_parents_changes_nothing() -> None:
    ann = Author("ann")
    target = ann.write("first")
    one = target.entry.message_id

    unnamed = [
        changed(ann, change, target, named=False)
        for change in (Edit(one, "x"), Redaction(one), Reactions(one, ("x",)))
    ]

    assert [change_of(message.entry) for message in unnamed] == [None] * 3
    assert look(target, *unnamed) == UNCHANGED


def test_a_change_that_its_author_takes_back_has_no_effect() -> None:
    ann, bob = Author("ann"), Author("bob")
    target = ann.write("first")
    one = target.entry.message_id
    ahead = changed(ann, Edit(one, "second"), target, lamport=900)
    liked = changed(bob, Reactions(one, ("x",)), target, lamport=900)
    again = changed(ann, Edit(one, "second"), target, lamport=5)
    third = changed(ann, Edit(one, "third"), target, lamport=7)

    def back(author: Author, change: StoredMessage, lamport: int) -> StoredMessage:
        said = Redaction(change.entry.message_id)
        return changed(author, said, change, lamport=lamport, named=False)

    made = [target, ahead, liked, again, third]
    assert look(*made).text == "second", "the latest time counts"
    assert look(*made, back(ann, ahead, 6)) == Look("third", reactions=((bob.peer_id, ("x",)),))
    assert look(*made, back(ann, ahead, 6), back(bob, liked, 6)) == Look("third")
    for useless in (back(bob, ahead, 6), back(ann, liked, 6), back(ann, ahead, 901)):
        assert look(*made, useless) == look(*made), "another's, or of a later time"
    assert look(*made, back(ann, target, 1)) == look(*made), "and no line is taken back like that"


def test_what_is_sent_anew_says_the_same_and_takes_the_other_back() -> None:
    ann = Author("ann")
    target = ann.write("first")
    ahead = changed(ann, Edit(target.entry.message_id, "second"), target, lamport=900)
    text, *others = changes.anew(target.entry)
    edit, taken_back = changes.anew(ahead.entry)

    assert (others, text.kind, text.about) == ([], Kind.TEXT, None)
    assert (edit.kind, edit.body, edit.about) == (
        Kind.EDIT, ahead.entry.body, target.entry.message_id,
    )  # fmt: skip
    assert (taken_back.kind, taken_back.about) == (Kind.REDACTION, None)
    assert [one.replaces for one in (text, edit, taken_back)] == [
        target.entry.message_id, None, ahead.entry.message_id,
    ]  # fmt: skip


def test_the_newest_reactions_of_each_author_stand_for_all_before() -> None:
    ann, bob, cem = Author("ann"), Author("bob"), Author("cem")
    target = ann.write("first")
    one = target.entry.message_id
    reactions = [
        changed(bob, Reactions(one, ("❤",)), target),
        changed(bob, Reactions(one, ("❤", "👍")), target),
        changed(cem, Reactions(one, ("👍",)), target),
        changed(cem, Reactions(one, ()), target),
        changed(ann, Reactions(one, ("👍",)), target),
    ]

    shown = look(target, *reversed(reactions))

    by = {ann.peer_id: ("👍",), bob.peer_id: ("❤", "👍")}
    assert shown.reactions == tuple(sorted(by.items()))


def test_reactions_of_a_flood_of_authors_are_told_up_to_a_limit_and_the_rest_counted() -> None:
    target = Author("ann").write("first")
    authors = [Author(f"made up {number}") for number in range(REACTORS_MAX + 4)]
    authors.sort(key=lambda one: one.peer_id)
    liking = Reactions(target.entry.message_id, ("👍",))
    *flood, last = [changed(one, liking, target).entry for one in authors]
    back = changed(authors[-2], Reactions(target.entry.message_id, ()), target).entry

    of_others = look_of(target.entry, [*flood, last, back])
    of_ours = look_of(target.entry, [*flood, last, back], me=last.header.author)

    first = tuple((one.peer_id, ("👍",)) for one in authors[:REACTORS_MAX])
    assert (of_others.reactions, of_others.more_reactors) == (first, 3)
    assert of_ours.reactions == (*first, (last.header.author, ("👍",)))
    assert of_ours.more_reactors == 2
