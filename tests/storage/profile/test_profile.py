"""Profiles: private, one process at a time, whole or refused with a sentence."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from storage.profile.profile import (
    SOCKET_PATH_MAX,
    Profile,
    ProfileInUseError,
    Settings,
    read_keys,
    was_used,
)
from sync.errors import LocalError

ROOT = Path(__file__).parents[3]

HOLD = """
import sys
from pathlib import Path
from storage.profile.profile import Profile

profile = Profile.open(Path(sys.argv[1]), "ann", lambda size: b"k" * size)
print("open", flush=True)
sys.stdin.read()
"""

IMPORT = """
import sys
import storage.profile.profile

print(sorted({name.partition(".")[0] for name in sys.modules}))
"""


def drawing() -> Callable[[int], bytes]:
    """A source of seeds that differ."""
    drawn = iter(range(256))
    return lambda size: bytes([next(drawn)]) * size


def never(size: int) -> bytes:
    raise AssertionError(f"{size} bytes were drawn for a profile that exists")


def made(data_dir: Path, name: str = "ann") -> Path:
    """The directory of a profile that was opened once, and closed."""
    profile = Profile.open(data_dir, name, drawing())
    profile.close()
    return profile.directory


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_first_use_draws_two_seeds_and_later_uses_read_them(tmp_path: Path) -> None:
    first = Profile.open(tmp_path, "ann", drawing())
    first.close()

    again = Profile.open(tmp_path, "ann", never)
    again.close()

    assert (first.keys.signing_seed, first.keys.noise_seed) == (bytes(32), b"\x01" * 32)
    assert again.keys == first.keys


def test_only_the_owner_can_get_at_a_profile_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        profile = Profile.open(tmp_path / "data", "ann", drawing())
        profile.save(Settings("Ann"))
        profile.close()
    finally:
        os.umask(before)

    files = {path.name: mode(path) for path in profile.directory.iterdir()}
    assert files == {"identity": 0o600, "lock": 0o600, "settings.json": 0o600}
    assert mode(profile.directory) == mode(tmp_path / "data") == 0o700


def test_an_identity_that_others_can_read_is_refused(tmp_path: Path) -> None:
    identity = made(tmp_path) / "identity"
    identity.chmod(0o640)

    with pytest.raises(LocalError, match=f"chmod go-rwx {identity}"):
        Profile.open(tmp_path, "ann", never)


def test_a_directory_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    made(tmp_path).chmod(0o750)

    with pytest.raises(LocalError, match="Other users can get at"):
        Profile.open(tmp_path, "ann", never)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_an_identity_of_another_user_is_refused(tmp_path: Path) -> None:
    os.chown(made(tmp_path) / "identity", 65534, 65534)

    with pytest.raises(LocalError, match="belongs to another user"):
        Profile.open(tmp_path, "ann", never)


def test_any_changed_byte_of_an_identity_is_noticed(tmp_path: Path) -> None:
    identity = made(tmp_path) / "identity"
    good = identity.read_bytes()

    for position, byte in enumerate(good):
        identity.write_bytes(good[:position] + bytes([byte ^ 1]) + good[position + 1 :])
        with pytest.raises(LocalError, match=r"is damaged|has version"):
            Profile.open(tmp_path, "ann", never)


@pytest.mark.parametrize("keep", [0, 1, 90, -1])
def test_an_identity_cut_short_is_noticed(tmp_path: Path, keep: int) -> None:
    identity = made(tmp_path) / "identity"
    identity.write_bytes(identity.read_bytes()[:keep])

    with pytest.raises(LocalError, match="is damaged"):
        Profile.open(tmp_path, "ann", never)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("elsewhere")])
def test_an_identity_that_is_no_file_is_explained(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    identity = made(tmp_path) / "identity"
    identity.rename(identity.with_name("elsewhere"))
    make(identity)

    for read in (lambda: Profile.open(tmp_path, "ann", never), lambda: read_keys(tmp_path / "ann")):
        with pytest.raises(LocalError, match="is no file but a link, a pipe or a folder"):
            read()


def test_an_identity_of_a_newer_version_is_not_called_damaged(tmp_path: Path) -> None:
    identity = made(tmp_path) / "identity"
    identity.write_text("chat-tui identity 2\nwrapped 00\n")

    with pytest.raises(LocalError, match="version 2, made by a newer"):
        Profile.open(tmp_path, "ann", never)


def test_history_without_an_identity_gets_no_new_one(tmp_path: Path) -> None:
    directory = made(tmp_path)
    (directory / "chat.db").touch()
    (directory / "identity").unlink()

    with pytest.raises(LocalError, match="is gone, but its history is there"):
        Profile.open(tmp_path, "ann", never)


def test_a_history_without_an_identity_is_a_profile_that_says_so(tmp_path: Path) -> None:
    directory = made(tmp_path)
    (directory / "chat.db").touch()
    (directory / "identity").unlink()

    assert was_used(directory)
    with pytest.raises(LocalError, match="is gone, but its history is there"):
        read_keys(directory)


def test_where_nobody_may_look_whoever_opens_it_says_why(tmp_path: Path) -> None:
    unreachable = tmp_path / ("x" * 300)  # an error of the system, as for a folder of somebody else

    assert was_used(unreachable / "ann")
    with pytest.raises(LocalError, match="File name too long"):
        Profile.open(unreachable, "ann", never)


def test_a_first_start_that_was_cut_off_is_simply_begun_again(tmp_path: Path) -> None:
    directory = made(tmp_path)
    (directory / "identity").rename(directory / "identity.new")
    (directory / "identity.new").write_text("chat-tui ident")

    profile = Profile.open(tmp_path, "ann", drawing())
    profile.close()

    assert profile.keys.noise_seed == b"\x01" * 32
    assert not (directory / "identity.new").exists()


@pytest.mark.net
def test_a_second_process_is_told_which_one_to_close(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"

        with pytest.raises(ProfileInUseError) as refused:
            Profile.open(tmp_path, "ann", never)

        holder.send_signal(signal.SIGKILL)

    assert str(refused.value) == (
        f"Another copy uses this profile (pid {holder.pid}). "
        "Close it, or start this one with --profile other."
    )
    assert refused.value.socket == tmp_path / "ann" / "control.sock"
    Profile.open(tmp_path, "ann", never).close()


def test_a_profile_is_locked_until_it_is_closed(tmp_path: Path) -> None:
    profile = Profile.open(tmp_path, "ann", drawing())

    with pytest.raises(ProfileInUseError, match=f"pid {os.getpid()}"):
        Profile.open(tmp_path, "ann", never)
    Profile.open(tmp_path, "bob", drawing()).close()
    profile.close()
    profile.close()

    Profile.open(tmp_path, "ann", never).close()


def test_a_refused_profile_is_not_left_locked(tmp_path: Path) -> None:
    identity = made(tmp_path) / "identity"
    identity.chmod(0o604)
    with pytest.raises(LocalError, match="chmod"):
        Profile.open(tmp_path, "ann", never)
    identity.chmod(0o600)

    Profile.open(tmp_path, "ann", never).close()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "-x", ".x", "é", "a b", "a\n", "a" * 65])
def test_a_name_that_could_be_another_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LocalError, match="cannot name a profile"):
        Profile.open(tmp_path, name, never)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a", "Ann-2_x.y", "0", "a" * 64])
def test_plain_names_are_taken(tmp_path: Path, name: str) -> None:
    assert made(tmp_path, name) == tmp_path / name


def test_a_data_directory_that_is_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(LocalError, match=r"Cannot use the profile in .*--data-dir"):
        Profile.open(tmp_path / "file", "ann", never)


def test_settings_are_remembered(tmp_path: Path) -> None:
    profile = Profile.open(tmp_path, "ann", drawing())
    assert profile.settings == Settings(nick=None, port=None)

    profile.save(replace(profile.settings, nick='Änn "x" \udcff'))
    profile.save(replace(profile.settings, port=46021))
    profile.close()

    again = Profile.open(tmp_path, "ann", never)
    again.close()
    assert again.settings == profile.settings == Settings('Änn "x" \udcff', 46021)


def test_settings_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    settings = made(tmp_path) / "settings.json"
    settings.write_text('{"nick": "ann", "port": 46021}')

    profile = Profile.open(tmp_path, "ann", never)
    profile.close()

    assert profile.settings == Settings("ann", 46021, typing_notices=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"nick": 1, "port": null}',
        '{"nick": "a"}',
        '{"nick": "a", "port": null, "typing_notices": "no"}',
        '{"nick": "a", "port": 99999999}',
        pytest.param("[" * 20_000, id="deep"),
        pytest.param("{" + '"a":{' * 5_000, id="deep object"),
    ],
)
def test_settings_that_make_no_sense_are_set_aside_and_the_profile_opens(
    tmp_path: Path, text: str
) -> None:
    settings = made(tmp_path) / "settings.json"
    settings.write_text(text)

    profile = Profile.open(tmp_path, "ann", never)
    profile.close()

    assert profile.settings == Settings()
    assert f"{settings} cannot be read" in profile.problem
    assert "settings.json.damaged beside it" in profile.problem
    assert settings.with_name("settings.json.damaged").read_text() == text
    assert not settings.exists()


def test_settings_that_are_no_file_are_set_aside_too(tmp_path: Path) -> None:
    settings = made(tmp_path) / "settings.json"
    settings.unlink(missing_ok=True)
    os.mkfifo(settings)

    profile = Profile.open(tmp_path, "ann", never)
    profile.close()

    assert profile.problem
    assert not settings.exists()


def test_files_are_in_the_profile(tmp_path: Path) -> None:
    profile = Profile.open(tmp_path, "ann", drawing())
    profile.close()

    paths = [profile.database, profile.log_file, profile.socket]
    assert {path.parent for path in paths} == {tmp_path / "ann"}


def test_a_socket_too_deep_for_its_address_moves_to_a_private_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    deep = tmp_path / ("d" * SOCKET_PATH_MAX)

    profiles = [Profile.open(deep, name, drawing()) for name in ("ann", "bob")]

    for profile in profiles:
        profile.close()
    runtime = tmp_path / f"chat-tui-{os.geteuid()}"
    assert {profile.socket.parent for profile in profiles} == {runtime}
    assert profiles[0].socket != profiles[1].socket
    assert mode(runtime) == 0o700


def test_seeds_do_not_show_in_a_text_about_them(tmp_path: Path) -> None:
    profile = Profile.open(tmp_path, "ann", lambda size: b"K" * size)
    profile.close()

    assert "K" not in repr(profile.keys).removeprefix("Keys")


@pytest.mark.net
def test_nothing_heavy_is_imported_with_it() -> None:
    run = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=ROOT, capture_output=True, text=True, check=True
    )

    loaded = set(eval(run.stdout))
    assert "storage" in loaded
    assert not loaded & {"asyncio", "aiosqlite", "sqlite3", "numpy", "google", "cryptography"}
