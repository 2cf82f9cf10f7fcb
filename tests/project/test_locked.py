"""`make check-lock` finds what was changed on one side only."""

import shutil
from pathlib import Path

import pytest

from tests.support import locked

HASH = "--hash=sha256:" + "0" * 64


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what is compared."""
    shutil.copy(locked.ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(locked.ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def pinned(copy: Path, file: str, name: str) -> str:
    """The head of a pin, as `click==8.5.1`."""
    pins = locked.read((copy / "requirements" / f"{file}.txt").read_text())
    [one] = [pin for pin in pins if pin.name == name]
    return f"{name}=={one.version}"


def test_what_is_committed_agrees() -> None:
    assert locked.problems() == []


def test_no_file_names_a_place_to_get_packages_from() -> None:
    for path in (locked.ROOT / "requirements").iterdir():
        text = path.read_text()
        assert not [word for word in ("://", "--index", "--find-links", "--extra") if word in text]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"click>=8.1,<9"', '"click>=99"', "click>=99"),
        (
            '"segno>=1.6,<2",',
            '"segno>=1.6,<2",\n  "left-pad",',
            "left-pad of pyproject.toml is not",
        ),
        ('"tomlkit>=0.13,<1",', "", "nobody needs tomlkit"),
        ('"pandas>=2.2,<3"', '"pandas>=3"', "pipeline: pyproject.toml wants pandas>=3"),
        ("setuptools>=77,<90", "setuptools>=990", "build: pyproject.toml wants setuptools>=990"),
    ],
)
def test_another_wish_is_found(copy: Path, before: str, after: str, said: str) -> None:
    change(copy / "pyproject.toml", before, after)

    assert any(said in problem for problem in locked.problems(copy))


def test_a_pin_that_another_one_does_not_allow_is_found(copy: Path) -> None:
    change(copy / "requirements" / "chat.txt", pinned(copy, "chat", "cffi"), "cffi==0.1")

    found = locked.problems(copy)

    assert any("cryptography wants cffi" in problem for problem in found)
    assert any("chat: cffi 0.1, in" in problem or ", in chat 0.1" in problem for problem in found)


def test_what_something_needs_and_nobody_pinned_is_found(copy: Path) -> None:
    path = copy / "requirements" / "chat.txt"
    head = pinned(copy, "chat", "cffi")
    change(path, head, f"unheard-of==1 {HASH}\n# {head}")

    found = locked.problems(copy)

    assert any(
        "cffi" in problem and "of cryptography is not pinned" in problem for problem in found
    )
    assert "chat: nobody needs unheard-of" in found


def test_what_is_installed_in_another_version_is_found() -> None:
    pins = locked.read(f"pluggy==1.99 {HASH}\nunheard-of==1 {HASH}\nfar==1 ; python_version > '9'")

    pluggy, unheard_of = locked.differences(pins)

    assert pluggy.startswith("installed is pluggy 1.")
    assert pluggy.endswith("locked is 1.99")
    assert unheard_of == "installed is unheard-of nothing, locked is 1"


@pytest.mark.parametrize(
    "line",
    [
        "click>=8.1",
        "click",
        f"--index-url http://pypi.example {HASH}",
        f"click @ http://example/click.whl {HASH}",
        f"click==8.5 --no-binary :all: {HASH}",
        f"click==8.* {HASH} ; whatever",
    ],
)
def test_a_line_that_pins_nothing_is_refused(line: str) -> None:
    with pytest.raises(locked.BadLockError):
        locked.read(line)


def test_a_pin_without_hashes_is_found() -> None:
    found = locked.problems_of("chat", locked.read("click==8.5.1"), [])

    assert "chat: click 8.5.1 has no hash" in found
