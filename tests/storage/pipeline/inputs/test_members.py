"""Clocks of nodes, as the notes of their exports tell."""

from storage.archive.tables import Note
from storage.pipeline.inputs.members import hosts_of

ANN, BOB, CAT = "a" * 64, "b" * 64, "c" * 64
ONE, TWO = "1f" * 16, "2e" * 16


def test_two_computers_of_one_name_are_two_clocks() -> None:
    notes = [
        Note([ANN], {}, {ANN: "laptop"}, {}, {ANN: ONE}),
        Note([BOB], {}, {BOB: "laptop"}, {}, {BOB: TWO}),
    ]

    assert hosts_of(notes) == {ANN: ("laptop (1f1f1f)", ONE), BOB: ("laptop (2e2e2e)", TWO)}


def test_two_names_of_one_computer_are_one_clock() -> None:
    notes = [
        Note([ANN], {}, {ANN: "laptop"}, {}, {ANN: ONE}),
        Note([BOB], {}, {BOB: "container"}, {}, {BOB: ONE}),
    ]

    assert {clock for _, clock in hosts_of(notes).values()} == {ONE}


def test_older_exports_go_by_the_names_of_their_hosts() -> None:
    notes = [Note([ANN, BOB, CAT], {}, {ANN: "laptop", BOB: "laptop"}, {})]

    assert hosts_of(notes) == {ANN: ("laptop", "laptop"), BOB: ("laptop", "laptop")}
