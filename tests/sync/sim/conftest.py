"""Settings that several files of tests over simulated groups share."""

import pytest

from sync.manager.schedule import Manager


@pytest.fixture
def logs_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bring what was not compared for a day by author logs, on every link."""
    defaults = Manager.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "logs_first", True)
