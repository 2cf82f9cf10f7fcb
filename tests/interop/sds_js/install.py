"""Install the pinned package on demand, with `npm ci`, into a cache outside the tree.

The cache is named after `package-lock.json`, so a new lock makes a new installation, and a second
test run that installs at the same time does no harm: the finished one is moved to its place.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

HERE: Final = Path(__file__).parent
PINNED: Final = ("package.json", "package-lock.json")

NODE_MIN: Final = 18
"""Major version. The package asks for 22, but runs unchanged on 18 (Debian 12), 20 and 22."""

NPM_OPTIONS: Final = (
    "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error",
    "--fetch-retries=1",
)  # fmt: skip
"""No script of a package runs. An unreachable registry is given up after ten seconds."""

INSTALL_WITHIN_S: Final = 120.0
"""An installation takes 5 s."""

UNREACHABLE: Final = (
    "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND",
    "ERR_SOCKET_TIMEOUT", "ETIMEDOUT",
)  # fmt: skip
"""Words of npm when the registry is not there; anything else it says is our fault."""


class UnavailableError(Exception):
    """The package cannot run on this computer; nothing is wrong with us or with it."""


class InstallError(Exception):
    """The package could not be installed, and should have been."""


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation: the command that starts node, and the directory of `node_modules`."""

    node: tuple[str, ...]
    directory: Path


def installed() -> Installation:
    """Return the installation, made now if there is none yet.

    Raises:
        UnavailableError: no node, one that is too old, no npm, or no registry in reach.
        InstallError: npm failed in another way; or in any way, where `CI` is set.
    """
    node = _node()
    directory = _cache() / f"sds_js-{_fingerprint()}"
    if not directory.exists():
        _install(directory)
    return Installation(node, directory)


def _node() -> tuple[str, ...]:
    program = shutil.which("node")
    if program is None:
        raise UnavailableError("node is not installed")
    said = _run([program, "--version"]).stdout.strip()
    major = major_version(said)
    if major < NODE_MIN:
        raise UnavailableError(f"node {said} is too old: {NODE_MIN} is needed")
    # Later ones have CustomEvent, which the package announces everything with, without asking.
    return (program, "--experimental-global-customevent") if major == NODE_MIN else (program,)


def major_version(said: str) -> int:
    """Return the first number of a version like `v20.1.0`; 0 if it is none."""
    major = said.removeprefix("v").partition(".")[0]
    return int(major) if major.isdecimal() else 0


def _install(directory: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is not installed")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sds_js-", dir=directory.parent) as place:
        made = Path(place) / "made"
        made.mkdir()
        for name in PINNED:
            shutil.copy(HERE / name, made)
        finished = _run([npm, "ci", *NPM_OPTIONS], made)
        if finished.returncode:
            refuse(finished.stderr)
        try:
            made.rename(directory)
        except OSError:
            assert directory.exists(), "neither ours nor that of another run"


def _run(command: list[str], directory: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "ETIMEDOUT: npm did not end")


def refuse(said: str) -> NoReturn:
    """Raise the error that fits what npm said before it failed."""
    unreachable = [code for code in UNREACHABLE if code in said]
    if unreachable and not os.environ.get("CI"):
        raise UnavailableError(f"npm cannot reach its registry to install @waku/sds: {unreachable}")
    raise InstallError(f"npm could not install @waku/sds: {said.strip()}")


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "chat-tui-tests"


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for name in PINNED:
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()[:16]
