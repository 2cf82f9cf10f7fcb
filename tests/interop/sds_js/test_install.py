"""A package that cannot be had: a test is skipped with the reason; in CI it fails."""

import pytest

from tests.interop.sds_js import install
from tests.interop.sds_js.install import InstallError, UnavailableError

OFFLINE = "npm error code EAI_AGAIN\nnpm error request to the registry failed"
CHANGED = "npm error code EINTEGRITY\nnpm error sha512 is not what the lock says"


def test_without_a_registry_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(UnavailableError, match="EAI_AGAIN"):
        install.refuse(OFFLINE)


def test_in_ci_there_has_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(InstallError, match="EAI_AGAIN"):
        install.refuse(OFFLINE)


def test_a_package_that_is_not_the_pinned_one_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(InstallError, match="EINTEGRITY"):
        install.refuse(CHANGED)


@pytest.mark.parametrize(
    ("said", "major"), [("v18.20.4", 18), ("v22.1.0", 22), ("no version at all", 0)]
)
def test_the_major_version_of_node_is_read_from_what_it_says(said: str, major: int) -> None:
    assert install.major_version(said) == major
