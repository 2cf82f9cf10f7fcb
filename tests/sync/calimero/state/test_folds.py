"""Topic, pins, names and marks: the newest of those who have the right now."""

from sync.calimero.governance.ops import Key
from sync.calimero.state.contents import Held, Profile, Read, StateKind, Topic
from sync.calimero.state.folds import held_marks, pins, profile, read_marks, topic
from sync.calimero.state.registers import Registers
from tests.support.sync.states import deletion_of, entry_of, person, pin_of


def everybody(_: Key) -> bool:
    return True


def key(number: int) -> Key:
    return Key(person(number).public_key)


def line(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_the_newest_topic_counts_and_its_author_is_named() -> None:
    registers = Registers([entry_of(1, Topic("plans"), 5), entry_of(2, Topic("later"), 6)])
    found = topic(registers, everybody)
    assert found is not None
    text, by = found
    assert (text, by.by) == ("later", key(2))


def test_whoever_lost_the_right_leaves_no_topic_and_no_pin_behind() -> None:
    registers = Registers(
        [entry_of(1, Topic("plans"), 5), entry_of(2, Topic("spam"), 6), pin_of(2, 9, 6)]
    )

    def not_two(author: Key) -> bool:
        return author != key(2)

    found = topic(registers, not_two)
    assert found is not None
    assert found[0] == "plans"
    assert pins(registers, not_two) == ()


def test_a_topic_that_was_taken_back_is_none_though_others_set_one_before() -> None:
    registers = Registers([entry_of(1, Topic("plans"), 5), deletion_of(2, StateKind.TOPIC, 6)])
    assert topic(registers, everybody) is None
    assert topic(Registers(), everybody) is None


def test_a_line_is_pinned_by_the_newest_word_about_it() -> None:
    registers = Registers(
        [
            pin_of(1, 1, 5),
            pin_of(2, 2, 9),
            pin_of(1, 3, 6),
            deletion_of(2, StateKind.PIN, 7, line(3)),
            deletion_of(1, StateKind.PIN, 7, line(4)),
            pin_of(2, 4, 8),
        ]
    )
    found = pins(registers, everybody)
    assert [(name, by.by) for name, by in found] == [
        (line(2), key(2)), (line(4), key(2)), (line(1), key(1)),
    ]  # fmt: skip


def test_names_and_marks_are_those_of_each_author() -> None:
    registers = Registers(
        [
            entry_of(1, Profile("alice", "teal"), 5),
            entry_of(2, Read(7, line(3)), 5),
            entry_of(2, Held((line(3),), 1), 5),
            deletion_of(1, StateKind.READ, 6),
        ]
    )
    assert profile(registers, key(1)) == Profile("alice", "teal")
    assert profile(registers, key(2)) is None
    assert read_marks(registers) == {key(2): Read(7, line(3))}
    assert held_marks(registers) == {key(2): Held((line(3),), 1)}
