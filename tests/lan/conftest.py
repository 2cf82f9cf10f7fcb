"""The network that the tests of this folder run on."""

import os
from collections.abc import Iterator

import pytest

from tests.lan.lab import Lab, obstacle

HOSTS = 5


@pytest.fixture
def lab() -> Iterator[Lab]:
    """Five hosts on one network, gone after the test; skips where that cannot be had."""
    reason = obstacle()
    if reason is not None:
        pytest.skip(reason)
    with Lab(f"chatlab{os.getpid()}", HOSTS) as lab:
        yield lab
