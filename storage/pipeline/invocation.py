"""The command that makes results, as they remember it: its words, its exports, and when."""

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

WORDS: Final = f"{__name__}.words"
"""Key, in what the contexts of one command share, of its words."""

SECRET: Final = re.compile(
    r"(?i)^((?:--conf=)?[^=]*(?:secret|passw|token|credential|access.?key)[^=]*=).+"
)
"""A setting whose value no file of results may have; Spark hides the same ones in its logs."""

HIDDEN: Final = "***"

SOURCES_MAX: Final = 1_000
"""Exports that are named with the results of one run."""


class RememberedGroup(click.Group):
    """Group of commands that can be told by which words it was called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See click."""
        words = [ctx.command_path, *map(without_secret, args)]
        ctx.meta[WORDS] = " ".join([words[0], *map(shlex.quote, words[1:])])
        return super().parse_args(ctx, args)


def without_secret(word: str) -> str:
    """Return a word of a command, with a password in it hidden."""
    return SECRET.sub(rf"\1{HIDDEN}", word)


def made_now(sources: Sequence[Path | str]) -> Mapping[str, Any]:
    """Return what is remembered of a run that begins now, as JSON."""
    context = click.get_current_context(silent=True)
    return {
        "command": "" if context is None else str(context.meta.get(WORDS, "")),
        "from": [str(source) for source in sources[:SOURCES_MAX]],
        "sources": len(sources),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
