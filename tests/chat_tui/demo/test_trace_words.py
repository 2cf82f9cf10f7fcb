"""Sentences about a trace that is played again."""

from typing import get_args

from chat_tui.demo.trace_story import IN_WORDS
from sync.group import values as group_values
from sync.manager import announcing
from sync.manager import values as manager_values


def test_each_input_of_a_machine_has_a_sentence() -> None:
    machines = (group_values.Input, manager_values.Input, announcing.Input)
    kinds = [kind for machine in machines for kind in get_args(machine)]

    assert len(kinds) > 50
    assert [kind.__name__ for kind in kinds if kind.__name__ not in IN_WORDS] == []
