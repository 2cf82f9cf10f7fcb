"""Daemon that Spark forks its Python workers from on this computer: Spark's own, started faster.

Spark puts its Python first in the path, as a zip; from a zip, each worker compiles everything again
when it starts. Packages that pip has installed are compiled.
"""

import sys
from typing import Final

ZIPS: Final = (".zip", ".jar")


def zips_last(path: list[str]) -> list[str]:
    """Return where Python looks for modules: in directories first, each kind in the same order."""
    return sorted(path, key=lambda place: place.endswith(ZIPS))


if __name__ == "__main__":
    sys.path[:] = zips_last(sys.path)
    from pyspark.daemon import manager

    manager()
