"""Places as jobs use them: a local `Path`, or what has its verbs and lies behind a URI.

Rules:
1. Everything that a job opens, lists or writes itself is a `Path` to it; what is behind a URI only
   has the verbs that jobs need (`HadoopPath`).
2. Text becomes a place here and nowhere else: no directory is ever called `s3a:`.
"""

import os
import shutil
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import click

from storage.pipeline.errors import PipelineError
from storage.pipeline.places.hadoop import HadoopPath
from storage.uris import NO_NAME, is_uri


def place_of(text: str) -> Path:
    """Return the place that a text names."""
    if not is_uri(text):
        return Path(text)
    if text.startswith("file:/"):
        return Path(unquote(urlsplit(text).path))
    return cast("Path", HadoopPath(text))


def checked_name(place: Path) -> Path:
    """Return a place whose name Java can say, too.

    Raises:
        PipelineError: its name, or one above it, is no text.
    """
    try:
        str(place.absolute()).encode()
    except UnicodeEncodeError as error:
        name = click.format_filename(str(place.absolute()))
        raise PipelineError(
            f"{name} has a name that is not UTF-8, which Spark cannot open: rename it."
        ) from error
    return place


def is_local(place: Path) -> bool:
    """Return whether a place is on this computer."""
    return isinstance(place, Path)


def one_name(place: Path) -> Path:
    """Return the name that a place has whatever way leads to it: absolute, and without links.

    A URI is its own.
    """
    return place.resolve() if is_local(place) else place


def source(file: Path) -> Any:  # noqa: ANN401  # pyarrow has no types
    """Return a file as pyarrow reads it: what is far away as an open file.

    To pyarrow, a relative name with a colon is a URI.
    """
    return file.absolute() if is_local(file) else file.open("rb")


def sink(file: Path) -> AbstractContextManager[Any]:
    """Open a new file as pyarrow writes it."""
    return file.open("wb")


def remove_tree(directory: Path) -> None:
    """Remove a directory and all in it, as far as that can be done."""
    if is_local(directory):
        shutil.rmtree(directory, ignore_errors=True)
    else:
        cast("HadoopPath", directory).remove_tree()


def same_file(file: Path, to: Path) -> None:
    """Give a file that stays as it is another name; make a copy where that cannot be done."""
    if not is_local(file):
        cast("HadoopPath", file).copy(cast("HadoopPath", to))
        return
    try:
        os.link(file, to)
    except OSError:  # another disk, or one without links
        shutil.copyfile(file, to)


class Place(click.ParamType):  # type: ignore[type-arg]  # older ones are not generic
    """Directory on this computer, or a URI."""

    name = "directory"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """See click.

        Raises:
            PipelineError: its name is no text.
        """
        if not isinstance(value, str):
            return cast("Path", value)
        if not value:
            self.fail(NO_NAME, param, ctx)
        place = checked_name(place_of(value))
        if is_local(place) and place.exists() and not place.is_dir():
            self.fail(f"Directory {value!r} is a file.", param, ctx)
        return place


class LocalPlace(Place):
    """Directory on this computer alone."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path:
        """See click."""
        place = super().convert(value, param, ctx)
        if not is_local(place):
            self.fail(f"{value} is no directory of this computer, which this needs.", param, ctx)
        return place
