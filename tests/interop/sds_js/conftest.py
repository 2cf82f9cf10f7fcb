"""One node process for all tests here; each test finds it with nobody in it."""

from collections.abc import Iterator

import pytest

from tests.interop.sds_js.install import UnavailableError, installed
from tests.interop.sds_js.node import PACKAGE_VERSION, SdsNode


@pytest.fixture(scope="session")
def node_process() -> Iterator[SdsNode]:
    """Starting it takes half a second; installing the package 5 s, once a computer."""
    try:
        installation = installed()
    except UnavailableError as reason:
        pytest.skip(str(reason))
    with SdsNode(installation) as running:
        assert running.request("versions")["package"] == PACKAGE_VERSION
        yield running


@pytest.fixture
def node(node_process: SdsNode) -> SdsNode:
    node_process.request("reset", {"seed": 0})
    return node_process
