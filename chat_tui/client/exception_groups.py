"""The one error of ours, out of the groups in which tasks hand errors on."""

from collections.abc import Iterator
from contextlib import contextmanager

from sync.errors import ChatError


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise the one error of ours out of a group of them, or that a generator is closed."""
    try:
        yield
    except BaseExceptionGroup as group:
        if group.split(GeneratorExit)[1] is None:
            raise GeneratorExit from None
        ours, others = group.split(ChatError)
        if ours is None or others is not None:
            raise
        error: BaseException = ours
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
