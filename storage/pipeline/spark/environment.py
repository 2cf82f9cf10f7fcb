"""Variables of the environment, changed for what is started meanwhile."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Change what a process inherits, for as long as it takes to start it."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
