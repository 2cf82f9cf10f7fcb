"""`chat-tui export` and `sim --export`: what the command line does around them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

from sync.errors import LocalError

if TYPE_CHECKING:
    from storage.simulated import SimulatedExport

T = TypeVar("T")

NOT_INSTALLED: Final = (
    "Exports need pyarrow, which is not installed: pip install 'chat-tui[export]'"
)


class ExportError(click.ClickException):
    """The export cannot be made as asked; exit status 2."""

    exit_code = 2


def simulated_export(directory: Path, seed: int) -> "SimulatedExport":
    """Return what writes the export of a simulated group.

    Raises:
        ExportError: pyarrow is missing, or the directory will not do.
    """
    try:
        from storage.simulated import SimulatedExport  # noqa: PLC0415  # most runs export nothing
    except ImportError as error:
        raise ExportError(NOT_INSTALLED) from error
    return explained(lambda: SimulatedExport(directory, seed))


def explained(make: Callable[[], T]) -> T:
    """Return what `make` makes.

    Raises:
        ExportError: with the sentence of the `LocalError` that it raised.
    """
    try:
        return make()
    except LocalError as error:
        raise ExportError(str(error)) from error
