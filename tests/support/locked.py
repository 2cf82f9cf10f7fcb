"""Checks `requirements/*.txt` against pyproject.toml, each other, and what is installed.

Nothing here asks the network. The needs of a package are read from what is installed, so packages
that only other systems need are known by name alone.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Final

from packaging.markers import Marker, default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[2]
OURS: Final = "chat-tui"

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "chat": (),
    "pipeline": ("pipeline",),
    "dev": ("dev",),
}
"""The files, and the extras of ours that each is for."""

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS: Final = (("linux", "Linux", "posix"), ("darwin", "Darwin", "posix"))

RENEW: Final = "`make lock` writes them anew."

_HASH: Final = re.compile(r"--hash=sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Pin:
    """One line of a file: a package in exactly one version, where `marker` holds."""

    name: str
    version: str
    marker: Marker | None
    hashes: int

    def holds(self, environment: Mapping[str, str]) -> bool:
        """Return whether it is installed there."""
        return self.marker is None or self.marker.evaluate(dict(environment))


class BadLockError(Exception):
    """A line that does not pin what it names, or names a place to get it from."""


def read(text: str) -> list[Pin]:
    """The pins of one file.

    Raises:
        BadLockError: a line is something else.
    """
    joined = text.replace("\\\n", " ")
    lines = [
        line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]
    return [_pin(line) for line in lines]


def _pin(line: str) -> Pin:
    words = line.split(" --hash=", maxsplit=1)[0].strip()
    try:
        requirement = Requirement(words)
    except InvalidRequirement:
        raise BadLockError(f"{words!r} pins nothing") from None
    versions = list(requirement.specifier)
    if requirement.url or len(versions) != 1 or versions[0].operator != "==":
        raise BadLockError(f"{words!r} does not name one version")
    left = _HASH.sub("", line.replace(words, "", 1)).split("#")[0].strip()
    if left:
        raise BadLockError(f"{left!r} has no place beside {words!r}")
    hashes = len(_HASH.findall(line))
    return Pin(canonicalize_name(requirement.name), versions[0].version, requirement.marker, hashes)


def environments() -> Iterator[dict[str, str]]:
    """The Pythons and systems that a file must be good for."""
    for python in PYTHONS:
        for platform, system, name in SYSTEMS:
            usual = {key: str(value) for key, value in default_environment().items()}
            yield usual | {
                "python_version": python,
                "python_full_version": f"{python}.0",
                "sys_platform": platform,
                "platform_system": system,
                "os_name": name,
            }


def asked(project: Mapping[str, Any], extras: Iterable[str]) -> list[Requirement]:
    """Return the requirements of pyproject.toml with these extras of ours."""
    wanted = [Requirement(one) for one in project["dependencies"]]
    for extra in extras:
        for requirement in map(Requirement, project["optional-dependencies"][extra]):
            if canonicalize_name(requirement.name) == OURS:
                wanted += asked({**project, "dependencies": []}, requirement.extras)
            else:
                wanted.append(requirement)
    return wanted


def problems_of(title: str, pins: Sequence[Pin], wanted: Sequence[Requirement]) -> list[str]:
    """Return the problems of one file that should pin `wanted` with all that this needs."""
    problems = [f"{title}: {pin.name} {pin.version} has no hash" for pin in pins if not pin.hashes]
    for environment in environments():
        where = f"Python {environment['python_version']}, {environment['sys_platform']}"
        here = {pin.name: pin.version for pin in pins if pin.holds(environment)}
        unmet = _unmet(here, wanted, environment)
        problems += [f"{title}: {problem} ({where})" for problem in unmet]
    needed = _needed(wanted)
    problems += [
        f"{title}: nobody needs {name}" for name in sorted({pin.name for pin in pins} - needed)
    ]
    return list(dict.fromkeys(problems))


def _unmet(
    here: Mapping[str, str], wanted: Iterable[Requirement], environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield what `wanted` and all that it needs lack among the versions `here`."""
    waiting, seen = [(one, "pyproject.toml") for one in wanted], set()
    while waiting:
        requirement, by = waiting.pop()
        if requirement.marker and not _wanted_at(requirement.marker, environment):
            continue
        name = canonicalize_name(requirement.name)
        if name not in here:
            yield f"{requirement} of {by} is not pinned"
        elif not requirement.specifier.contains(here[name], prereleases=True):
            yield f"{by} wants {requirement}, pinned is {here[name]}"
        for one in _needs(name, requirement.extras):
            if (name, str(one)) not in seen:
                seen.add((name, str(one)))
                waiting.append((one, name))


def _wanted_at(marker: Marker, environment: Mapping[str, str]) -> bool:
    """Return whether a marker holds, once `_needs` has decided the extras in it."""
    return marker.evaluate({**environment, "extra": ""})


def _needs(name: str, extras: Iterable[str] = ()) -> list[Requirement]:
    """Return an installed package's requirements, extras decided; none of one not installed."""
    needs: list[Requirement] = []
    for requirement in map(Requirement, _required(name)):
        marker = str(requirement.marker or "")
        if "extra" not in marker:
            needs.append(requirement)
        elif any(
            re.search(rf"""extra == ["']{re.escape(extra)}["']""", marker) for extra in extras
        ):
            requirement.marker = None
            needs.append(requirement)
    return needs


@cache
def _required(name: str) -> tuple[str, ...]:
    try:
        return tuple(requires(name) or ())
    except PackageNotFoundError:
        return ()


def _needed(wanted: Iterable[Requirement]) -> set[str]:
    """The names of all that is needed, on whatever system."""
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = list(wanted)
    while waiting:
        requirement = waiting.pop()
        one = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if one not in seen:
            seen.add(one)
            waiting += _needs(*one)
    return {name for name, _ in seen}


def disagreements(files: Mapping[str, Sequence[Pin]]) -> list[str]:
    """Packages that two files pin in different versions: one environment holds both files."""
    known: dict[tuple[str, str], tuple[str, str]] = {}
    problems: list[str] = []
    for title, pins in files.items():
        for pin in pins:
            key = (pin.name, str(pin.marker or ""))
            other, pinned = known.setdefault(key, (title, pin.version))
            if pinned != pin.version:
                problems.append(f"{title}: {pin.name} {pin.version}, in {other} {pinned}")
    return problems


def differences(pins: Iterable[Pin]) -> list[str]:
    """Packages that are installed here in another version than the pinned one."""
    here = {key: str(value) for key, value in default_environment().items()}
    problems: list[str] = []
    for pin in pins:
        if not pin.holds(here):
            continue
        try:
            found = version(pin.name)
        except PackageNotFoundError:
            found = "nothing"
        if found != pin.version:
            problems.append(f"installed is {pin.name} {found}, locked is {pin.version}")
    return problems


def problems(root: Path = ROOT) -> list[str]:
    """All that is wrong with the files of a copy of the source, as sentences."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text())
    directory = root / "requirements"
    try:
        files = {
            title: read((directory / f"{title}.txt").read_text()) for title in ("build", *EXTRAS)
        }
    except (OSError, BadLockError) as error:
        return [str(error)]
    found = disagreements(files)
    for title, extras in EXTRAS.items():
        found += problems_of(title, files[title], asked(pyproject["project"], extras))
    builds = [Requirement(one) for one in pyproject["build-system"]["requires"]]
    return found + [f"build: {one}" for one in _unmet_by(files["build"], builds)]


def _unmet_by(pins: Sequence[Pin], wanted: Iterable[Requirement]) -> list[str]:
    here = {pin.name: pin.version for pin in pins if pin.hashes}
    return list(_unmet(here, wanted, next(environments())))


def main() -> None:
    """Print what is wrong, also with what is installed here; exit 1 if anything is."""
    found = problems()
    if not found:
        found = differences(read((ROOT / "requirements" / "dev.txt").read_text()))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        print(f"requirements/*.txt and pyproject.toml disagree. {RENEW}", file=sys.stderr)
        sys.exit(1)
    print("requirements/*.txt hold what pyproject.toml asks for, by hashes.")


if __name__ == "__main__":
    main()
