"""Room for descriptors, in a program of its own."""

import subprocess
import sys

import pytest

from sync.net.descriptors import WANTED
from tests.support.processes import ROOT

PROGRAM = """
import resource
from sync.net.descriptors import make_room
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
make_room()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "expected"),
    [(256, WANTED + 1, WANTED), (256, 300, 300), (WANTED + 1, WANTED + 1, WANTED + 1)],
)
def test_as_many_as_are_needed_or_allowed(soft: int, hard: int, expected: int) -> None:
    program = PROGRAM.format(soft=soft, hard=hard)
    printed = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True)

    assert printed.split() == [str(expected), str(hard)]
