"""Values of a test that each run takes, and the whole grid, which `make test-full` takes."""

from collections.abc import Iterable
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

T = TypeVar("T")


def with_grid(sample: Iterable[T], more: Iterable[T]) -> list[T | ParameterSet]:
    """Return the values of each run, and after them those that only the whole grid has."""
    return [*sample, *(pytest.param(one, marks=pytest.mark.grid) for one in more)]
