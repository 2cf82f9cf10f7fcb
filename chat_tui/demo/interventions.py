"""Maps the demo's keys to acts on its world: one act each, chosen from what there is now.

Pure functions of a moment and of who is selected; `chat_tui.demo.acts` says what the acts do.
"""

from collections.abc import Callable, Sequence
from typing import Final

from chat_tui.demo import acts
from chat_tui.demo.moment import Air, Shot
from sync.machine import MILLISECOND

LOSSES: Final = (0, 10, 20, 40)
"""Percent of all frames, one after the other by a key."""
DELAYS: Final = (40, 200, 1_000)
"""Milliseconds."""
DUPLICATES: Final = (0, 10, 40)
"""Percent."""


def _lose(_shot: Shot, selected: int) -> acts.Act:
    """Lose the next new message on its way to the selected one."""
    return acts.Lose(None, (selected,))


def _loss(shot: Shot, _selected: int) -> acts.Act:
    """Lose more of all frames, or none."""
    return acts.Loss(_higher(LOSSES, round(_air(shot).loss * 100)))


def _delay(shot: Shot, _selected: int) -> acts.Act:
    """Let frames take longer, or as long as at first."""
    return acts.Delay(_higher(DELAYS, sum(_air(shot).delay) // 2 // MILLISECOND))


def _duplicate(shot: Shot, _selected: int) -> acts.Act:
    """Let more of all frames arrive twice, or none."""
    return acts.Duplicate(_higher(DUPLICATES, round(_air(shot).duplicate * 100)))


def _cut(shot: Shot, selected: int) -> acts.Act:
    """Cut the link to the next one, or mend it."""
    return acts.Cut(selected, (selected + 1) % len(shot.people))


def _divide(shot: Shot, _selected: int) -> acts.Act:
    """Cut the network in two, or mend it."""
    return acts.Divide(() if _air(shot).sides else tuple(range(len(shot.people) // 2)))


def _power(shot: Shot, selected: int) -> acts.Act:
    """Switch the selected one's computer off or on."""
    return acts.Power(selected, not shot.people[selected].up)


MEDDLING: Final[dict[str, Callable[[Shot, int], acts.Act]]] = {
    "lose": _lose,
    "loss": _loss,
    "delay": _delay,
    "duplicate": _duplicate,
    "cut": _cut,
    "divide": _divide,
    "power": _power,
}
"""By the name that the keys have for it."""


def _air(shot: Shot) -> Air:
    """Return the network; whatever can be meddled with has one."""
    assert shot.air is not None
    return shot.air


def _higher(steps: Sequence[int], now: int) -> int:
    """Return the next step above `now`; above the last comes the first."""
    return next((step for step in steps if step > now), steps[0])
