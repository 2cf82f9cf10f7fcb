"""Directories of this computer on the command line: no address of a store, and not nothing."""

import os
from pathlib import Path

import click

from storage.uris import NO_NAME, is_uri


class LocalDirectory(click.Path):
    """A directory of this computer; without this, `s3a://...` would become one of that name.

    Nothing, as a script's variable that is not set, would be the directory one is in.
    """

    name = "directory"

    def __init__(self, *, exists: bool = False) -> None:
        super().__init__(exists=exists, file_okay=False, path_type=Path)

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """See click."""
        if not os.fspath(value):
            self.fail(NO_NAME, param, ctx)
        if is_uri(os.fspath(value)):
            self.fail(
                f"{value} is an address, and this command knows directories of this computer "
                "alone: name one, and copy it, for example by `hadoop fs -put`.",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)
