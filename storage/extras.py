"""Install commands for optional parts that are missing: one command each, and one that works.

chat-tui is on no registry, so `pip install 'chat-tui[...]'` finds nothing. The packages of
an extra are on one; they are read from our installed metadata, which cannot get stale.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Final

OURS: Final = "chat-tui"

NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
EXTRA: Final = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
OWN_EXTRA: Final = re.compile(rf"{OURS}\[([^\]]+)\]")


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, for the Python that runs us."""
    wanted = sorted(_of_extra(extra))
    if not wanted:  # run from a copy of the source that nobody installed, or only long ago
        wanted = ["-e", f"{Path(__file__).parents[1]}[{extra}]"]
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])


def how_to_install_elsewhere(*names: str) -> str:
    """Return the command that installs packages on another computer, of versions as we need."""
    known = {_name(requirement): requirement for requirement, _ in _required()}
    return shlex.join(
        ["python3", "-m", "pip", "install", *(known.get(name, name) for name in names)]
    )


def _of_extra(extra: str) -> Iterator[str]:
    for requirement, needed_for in _required():
        if needed_for != extra:
            continue
        if own := OWN_EXTRA.match(requirement):
            yield from _of_extra(own[1])
        else:
            yield requirement


def _required() -> Iterator[tuple[str, str]]:
    """Yield what we need, and for which extra; "" for the chat itself."""
    try:
        lines = requires(OURS) or []
    except PackageNotFoundError:
        return
    for line in lines:
        requirement, _, marker = line.partition(";")
        extra = EXTRA.search(marker)
        yield requirement.strip(), extra[1] if extra else ""


def _name(requirement: str) -> str:
    found = NAME.match(requirement)
    return found[0] if found else requirement
