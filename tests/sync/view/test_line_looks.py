"""Reactions of a line: ours are always told, and what is left out is counted."""

from sync.entries.changes import REACTORS_MAX, Look
from sync.machine import PeerId
from sync.view.line_looks import KINDS_MAX, reactions_of

ME = PeerId("ff" * 32)


def test_of_hundreds_of_kinds_the_most_frequent_and_ours_are_told() -> None:
    """A few made-up authors can have eight each: all would be told with each further one."""
    kinds = [chr(0x1F300 + number) for number in range(400)]
    others = [
        (PeerId(f"{number:064x}"), (kinds[0], *kinds[1 + 7 * number : 8 + 7 * number]))
        for number in range(50)
    ]
    look = Look(reactions=(*others, (ME, (kinds[399],))))

    told, more = reactions_of(look, ME)

    assert (told[0].emoji, told[0].count) == (kinds[0], 50)
    assert [one.emoji for one in told if one.mine] == [kinds[399]]
    assert (len(told), len(told) + more) == (KINDS_MAX + 1, 352)


def test_nothing_is_left_out_of_what_a_few_people_say() -> None:
    look = Look(reactions=tuple((PeerId(f"{n:064x}"), ("👍", "🍰")) for n in range(REACTORS_MAX)))

    told, more = reactions_of(look, ME)

    assert ([one.count for one in told], more) == ([REACTORS_MAX, REACTORS_MAX], 0)
