"""The command suggested for a missing optional dependency works."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from storage.extras import how_to_install, how_to_install_elsewhere

ROOT = Path(__file__).parents[2]

PACKAGES = {
    "export": {"pyarrow"},
    "pipeline": {"pyarrow", "pyspark", "pandas", "matplotlib"},
}


def parts(requirement: str) -> tuple[str, set[str]]:
    """The name, and what its version must be, in whatever order that was written."""
    name = re.split("[<>=]", requirement, maxsplit=1)[0]
    return name, set(requirement[len(name) :].split(",")) - {""}


def asked_for() -> dict[str, set[str]]:
    """All that pyproject.toml asks for, and in which versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    return dict(parts(requirement) for requirement in [*project["dependencies"], *extras])


@pytest.mark.parametrize("extra", PACKAGES)
def test_an_extra_is_installed_by_its_packages_for_this_python(extra: str) -> None:
    words = shlex.split(how_to_install(extra))
    named = dict(parts(requirement) for requirement in words[4:])

    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    assert named == {name: asked_for()[name] for name in PACKAGES[extra]}


def test_on_another_computer_packages_have_the_same_versions() -> None:
    *command, protobuf, pandas = shlex.split(how_to_install_elsewhere("protobuf", "pandas"))

    assert command == ["python3", "-m", "pip", "install"]
    assert parts(protobuf) == ("protobuf", asked_for()["protobuf"])
    assert parts(pandas) == ("pandas", asked_for()["pandas"])


def test_pip_takes_the_command() -> None:
    command = shlex.split(how_to_install("export"))
    dry = [*command, "--dry-run", "--no-index", "--quiet"]

    done = subprocess.run(dry, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_a_copy_that_nobody_installed_names_itself(tmp_path: Path) -> None:
    package = tmp_path / "my copy" / "storage"
    package.mkdir(parents=True)
    source = (ROOT / "storage" / "extras.py").read_text()
    (package / "extras.py").write_text(source)
    # without what is installed in this Python: nobody knows of chat-tui
    program = "import extras; print(extras.how_to_install('pipeline'))"

    said = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=package,
    ).stdout

    assert shlex.split(said)[4:] == ["-e", f"{tmp_path / 'my copy'}[pipeline]"]
