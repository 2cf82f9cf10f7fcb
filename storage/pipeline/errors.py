"""Problems with the work that was asked for, each as one sentence with the fix."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

import click

from sync.errors import LocalError

FULL: Final = (errno.ENOSPC, errno.EDQUOT)
"""The system's message for a full disk."""


class PipelineError(click.ClickException):
    """The job cannot be done as asked; exit status 2, and nothing is half-written."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence on stderr."""
        click.echo(f"chat-tui pipeline: {self.message}", file=file, err=file is None)


@contextmanager
def as_problems() -> Iterator[None]:
    """Turn the sentences of what the pipeline shares with the chat into its own.

    Raises:
        PipelineError: the block raised a `LocalError`.
    """
    try:
        yield
    except LocalError as error:
        raise PipelineError(str(error)) from error
