"""Grid of the runs that a sweep simulates: parameters and seeds, one point a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from storage.pipeline.errors import PipelineError

if TYPE_CHECKING:
    from storage.pipeline.sweep.simulation import Point

POINTS_MAX: Final = 100_000

Value: TypeAlias = int | float

VARIED: Final = ("t_min", "t_max", "filter_size", "resend")
"""Parameters varied for each group and loss; the others are the surroundings."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Lists of values; the first of each is the one that the others are compared with."""

    peers: Sequence[int] = (10, 50, 200)
    loss: Sequence[float] = (10.0,)
    t_min: Sequence[float] = (1.0, 0.25, 3.0)
    t_max: Sequence[float] = (6.0, 3.0, 24.0)
    filter_size: Sequence[int] = (1000, 100, 10_000)
    resend: Sequence[float] = (5.0, 2.0, 20.0)
    messages: int = 60
    seeds: int = 3
    cross: bool = False
    """Whether every combination is run; else each is varied alone, the others being the first."""

    def points(self) -> "list[Point]":
        """Return the runs, the largest groups first: they take longest, and none should be last.

        Raises:
            PipelineError: there are too many, or a T_min is above its T_max.
        """
        # the whole simulator, which no other job needs
        from storage.pipeline.sweep.simulation import Point  # noqa: PLC0415

        surroundings = list(product(sorted(self.peers, reverse=True), self.loss))
        settings = list(self._settings())
        if len(surroundings) * len(settings) * self.seeds > POINTS_MAX:
            raise PipelineError(
                f"A sweep has at most {POINTS_MAX:,} runs; name fewer values, or fewer seeds."
            )
        points = [
            Point(peers=peers, loss=loss, messages=self.messages, seed=seed, **varied)  # type: ignore[arg-type]
            for peers, loss in surroundings
            for varied in settings
            for seed in range(self.seeds)
        ]
        for point in points:
            if point.t_min > point.t_max:
                raise PipelineError(
                    f"T_min {point.t_min:g} s is above T_max {point.t_max:g} s; each --t-min must "
                    "be at most the --t-max it is run with."
                )
        return list(dict.fromkeys(points))

    @property
    def varied(self) -> Sequence[str]:
        """The parameters with several values; if none has, one that stands for the group."""
        return [name for name in VARIED if len(getattr(self, name)) > 1] or VARIED[:1]

    @property
    def base(self) -> Mapping[str, Value] | None:
        """The value of each parameter while another one is varied; None if all are combined."""
        return None if self.cross else {name: getattr(self, name)[0] for name in VARIED}

    def _settings(self) -> Iterator[Mapping[str, Value]]:
        values: dict[str, Sequence[Value]] = {name: getattr(self, name) for name in VARIED}
        if self.cross:
            for chosen in product(*values.values()):
                yield dict(zip(VARIED, chosen, strict=True))
            return
        base = {name: of_it[0] for name, of_it in values.items()}
        yield base
        for name, of_it in values.items():
            for value in of_it[1:]:
                yield base | {name: value}
