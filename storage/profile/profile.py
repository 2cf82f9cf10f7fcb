"""A profile: one person's directory, with their keys, settings and database in it.

Rules:
1. One process at a time: the directory is locked before anything in it is read or made.
2. A file is written beside its place, flushed, and renamed: it is whole or it is not there.
3. Nobody but its owner can read the directory or the keys, or the profile is not opened.

Nothing heavy is imported here: a start shows its screen while the rest is still loading.
"""

import fcntl
import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self

from msgspec import Struct
from msgspec.structs import asdict

from sync.errors import LocalError

SEED_SIZE: Final = 32
"""Bytes of a seed: the private keys of Ed25519 and X25519 have this size."""

NAME_MAX: Final = 64
"""Characters of a profile's name; it becomes part of a path."""

SOCKET_PATH_MAX: Final = 100
"""Bytes of a unix socket's path: the kernel takes 108 on Linux and 104 elsewhere."""

SETTINGS: Final = "settings.json"

SETTINGS_MAX: Final = 64 * 1024
"""Bytes read of what is remembered, which takes some 100."""

PORT_MAX: Final = 65_535

IDENTITY_TITLE: Final = "chat-tui identity "
IDENTITY_VERSION: Final = "1"
NAME_FORM: Final = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._-]{{0,{NAME_MAX - 1}}}")
IDENTITY_FORM: Final = re.compile(r"signing ([0-9a-f]{64})\nnoise ([0-9a-f]{64})\n")


def checked_name(name: str) -> str:
    """Return a profile's name; it becomes part of a path.

    Raises:
        LocalError: it cannot be one; says what may.
    """
    if not NAME_FORM.fullmatch(name):
        raise LocalError(
            f"{name!r} cannot name a profile: take up to {NAME_MAX} letters, digits and "
            "- _ . and begin with a letter or digit."
        )
    return name


class ProfileInUseError(LocalError):
    """Another process has this profile open; it listens at `socket`."""

    def __init__(self, pid: str, socket: Path) -> None:
        super().__init__(
            f"Another copy uses this profile (pid {pid}). "
            "Close it, or start this one with --profile other."
        )
        self.pid = pid
        self.socket = socket


class Settings(Struct, frozen=True):
    """Settings kept from one start to the next; None where nothing was chosen yet."""

    nick: str | None = None
    port: int | None = None
    typing_notices: bool = True
    """Whether others see that we type; only read, from profiles that had no settings file yet."""
    told_of_read_marks: bool = False
    """Whether the person was told that others see up to where they have read."""


class Keys(Struct, frozen=True):
    """The two seeds of an identity, 32 bytes each (see `Identity.from_seed`)."""

    signing_seed: bytes
    noise_seed: bytes

    def __repr__(self) -> str:
        return "Keys(...)"


class Profile:
    """An open, locked profile; see `open`. Close it when done."""

    def __init__(
        self, directory: Path, keys: Keys, settings: Settings, lock: int, *, is_old: bool = False
    ) -> None:
        self.directory = directory
        self.is_old = is_old
        """Whether a chat was open with it before: settings are kept from the first one on."""
        self.keys = keys
        self.settings = settings
        self.problem = ""
        """A problem of the profile that was put right, as a sentence; empty if there was none."""
        self.database = directory / "chat.db"
        self.log_file = directory / "chat.log"
        self.socket = socket_path(directory)
        """Where the running chat takes commands from `send`, `tail` and `status`."""
        self._lock = lock

    @classmethod
    def open(cls, data_dir: Path, name: str, draw: Callable[[int], bytes]) -> Self:
        """Open the profile `name` in `data_dir`; the first time, make it.

        Args:
            data_dir: where profiles are kept; made if it is not there.
            name: letters, digits and - _ . only.
            draw: gives that many secret random bytes; only called for a new profile.

        Raises:
            ProfileInUseError: another process has it open.
            LocalError: a bad name, or a directory or file that cannot be used; says what to do.
        """
        directory = data_dir.absolute() / checked_name(name)
        with _explained(directory):
            _make_private(directory)
            lock = _lock(directory)
            try:
                keys = _keys(directory, draw)
                is_old = os.path.lexists(directory / SETTINGS)
                settings, problem = _settings(directory / SETTINGS)
                socket = socket_path(directory)
                if socket.parent != directory:
                    _make_private(socket.parent)
            except BaseException:
                os.close(lock)
                raise
        profile = cls(directory, keys, settings, lock, is_old=is_old)
        profile.problem = problem
        return profile

    def save(self, settings: Settings) -> None:
        """Remember `settings` for the next start.

        Raises:
            LocalError: they could not be written; the old ones are still there.
        """
        with _explained(self.directory):
            write_whole(self.directory / SETTINGS, json.dumps(asdict(settings)) + "\n")
        self.settings = settings

    def close(self) -> None:
        """Let another process open the profile. Closing twice does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def was_used(directory: Path) -> bool:
    """Return whether there is a profile in `directory`, whichever file of it.

    True as well where nobody may look: whoever opens it says why it cannot be used.
    """
    try:
        return any((directory / name).exists() for name in ("identity", "chat.db"))
    except OSError:
        return True


def read_keys(directory: Path) -> Keys:
    """Read the keys of a profile that another process may have open.

    Raises:
        LocalError: they are not there, or cannot be used; says what to do.
    """
    with _explained(directory):
        path = directory / "identity"
        if not path.exists():
            raise _gone(path)
        return _read_identity(path)


def in_use(directory: Path) -> bool:
    """Return whether a process has the profile in `directory` open."""
    path = directory / "lock"
    if not path.exists():
        return False  # a copy of a profile, which nobody has opened yet
    with _explained(directory), path.open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def socket_path(directory: Path) -> Path:
    """Return where the control socket of the profile in `directory` is.

    A directory too deep for a socket's address gets a name of its own in the user's runtime
    directory instead.
    """
    beside = directory / "control.sock"
    if len(os.fsencode(beside)) <= SOCKET_PATH_MAX:
        return beside
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()
    return runtime / f"chat-tui-{os.geteuid()}" / f"{digest[:16]}.sock"


@contextmanager
def _explained(directory: Path) -> Iterator[None]:
    """Turn what the system says about a file into a sentence for the person."""
    try:
        yield
    except OSError as error:
        raise LocalError(
            f"Cannot use the profile in {directory}: {error.strerror or error}. "
            "Put that right, or choose another place with --data-dir."
        ) from error


def _make_private(directory: Path) -> None:
    """Make `directory` if it is not there; nobody else may have any right to it."""
    if not directory.is_dir():
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory.mkdir(mode=0o700, exist_ok=True)
        _flush_directory(directory.parent)
    _require_private(directory, directory.stat())


def _require_private(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise LocalError(
            f"{path} belongs to another user (uid {status.st_uid}). "
            "Start as that user, or choose another place with --data-dir."
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise LocalError(
            f"Other users can get at {path}. Keep them out with `chmod go-rwx {path}`, "
            "or choose another place with --data-dir."
        )


def _lock(directory: Path) -> int:
    """Return the descriptor that holds the lock; the system releases it when the process ends."""
    path = directory / "lock"
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        if not path.exists():
            raise
        lock = os.open(path, os.O_RDONLY)  # on a disk that cannot be written it locks as well
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(OSError):  # who holds it is only said to whoever comes second
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    except BlockingIOError as error:
        holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip()
        os.close(lock)
        raise ProfileInUseError(holder or "unknown", socket_path(directory)) from error
    except BaseException:
        os.close(lock)
        raise
    return lock


def _keys(directory: Path, draw: Callable[[int], bytes]) -> Keys:
    """Read the identity file; the first time, draw one. Needs the lock."""
    path = directory / "identity"
    if path.exists():
        return _read_identity(path)
    if (directory / "chat.db").exists():
        # A new key would make a stranger of the person, in the midst of their own history.
        raise _gone(path)
    keys = Keys(draw(SEED_SIZE), draw(SEED_SIZE))
    assert len(keys.signing_seed) == len(keys.noise_seed) == SEED_SIZE
    write_whole(path, _identity_text(keys))
    return keys


def _gone(identity: Path) -> LocalError:
    return LocalError(
        f"The identity file {identity} is gone, but its history is there. "
        "Put the file back from a backup, or choose another profile with --profile."
    )


def _read_identity(path: Path) -> Keys:
    if not stat.S_ISREG(path.lstat().st_mode):  # whoever reads a pipe waits for ever
        raise LocalError(
            f"The identity file {path} is no file but a link, a pipe or a folder: put the file "
            "itself there, or choose another profile with --profile."
        )
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as file:
        _require_private(path, os.fstat(descriptor))
        text = file.read()
    title = text.partition("\n")[0]
    version = title.removeprefix(IDENTITY_TITLE)
    if title.startswith(IDENTITY_TITLE) and version.isdecimal() and version != IDENTITY_VERSION:
        raise LocalError(
            f"The identity file {path} has version {version}, made by a newer chat-tui. "
            "Update this one, or choose another profile with --profile."
        )
    seeds = IDENTITY_FORM.search(text)
    if seeds is not None:
        keys = Keys(bytes.fromhex(seeds[1]), bytes.fromhex(seeds[2]))
        if _identity_text(keys) == text:
            return keys
    raise LocalError(
        f"The identity file {path} is damaged. Put it back from a backup, "
        "or choose another profile with --profile and be somebody new."
    )


def _identity_text(keys: Keys) -> str:
    """Return the identity file: title and version, both seeds in hex, SHA-256 of the lines above.

    Reading compares the whole text with this, so that any change to it is noticed.
    """
    lines = (
        f"{IDENTITY_TITLE}{IDENTITY_VERSION}\n"
        f"signing {keys.signing_seed.hex()}\nnoise {keys.noise_seed.hex()}\n"
    )
    return f"{lines}check {hashlib.sha256(lines.encode()).hexdigest()}\n"


def _settings(path: Path) -> tuple[Settings, str]:
    """Read what is remembered; what cannot be read is set aside, and a sentence says so."""
    if not os.path.lexists(path):
        return Settings(), ""
    settings = _read_settings(path)
    if settings is not None:
        return settings, ""
    aside = path.with_name(f"{path.name}.damaged")
    became = f"It is {aside.name} beside it now"
    try:
        path.rename(aside)
    except OSError as error:  # a disk that takes no change
        became = f"It cannot be set aside ({error.strerror})"
    return Settings(), (
        f"{path} cannot be read: it is damaged. {became}. It only held your name and your port: "
        "look whether they are right (/nick and a name changes yours)."
    )


def _read_settings(path: Path) -> Settings | None:
    """Return what is remembered; None if that is no JSON of ours."""
    try:
        values = json.loads(path.read_bytes()[:SETTINGS_MAX]) if path.is_file() else None
    except (ValueError, RecursionError):
        return None
    match values:
        case {"nick": str() | None as nick, "port": int() | None as port, **more}:
            notices = more.get("typing_notices", True)  # profiles of before say nothing of them
            told = more.get("told_of_read_marks", False)
            is_port = port is None or (0 < port <= PORT_MAX and not isinstance(port, bool))
            if isinstance(notices, bool) and isinstance(told, bool) and is_port:
                return Settings(nick, port, notices, told)
        case _:
            pass
    return None


def write_whole(path: Path, text: str) -> None:
    """Put `text` at `path`, readable by its owner alone: after a power cut, all of it or nothing.

    The lock is held, so a file left half-written beside `path` is from a start that was cut off.
    """
    unfinished = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        unfinished.unlink()
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)
    unfinished.rename(path)
    _flush_directory(path.parent)


def read_small(path: Path, size_max: int) -> dict[str, Any]:
    """Return the JSON object in a small file; an empty one if it is not there, or damaged."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(size_max))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _flush_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
