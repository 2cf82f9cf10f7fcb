"""Exports, the pipeline and copies on a disk that gets full: real ones on a real, small disk.

Run as a program by `test_full_disk`, in a mount namespace of its own, where `argv[2]` is a disk of
a few megabytes; `argv[3]` is a directory on a large one. Each scene: the disk gets full, the
command says so in one sentence and leaves nothing half-written, and what was there before is
intact; there is room again, and the same command does it. A scene that goes wrong raises.
"""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from storage.sqlite.damage.copying import replace_by_copy
from sync.errors import StorageError
from sync.machine import DAY
from tests.support.processes import ROOT
from tests.support.storage.archived import export
from tests.support.storage.archives import archive, scattered
from tests.support.storage.exports import Owner
from tests.support.storage.small_disk import BALLAST, fill, make_room
from tests.support.storage.stores import delivered
from tests.support.sync.entries import CHANNEL

SMALL: Final = ("--master", "local[1]", "--memory", "512m")
ENDS_WITHIN_S: Final = 150.0


def run(*words: str | Path, **environment: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run `chat-tui` with these words."""
    return subprocess.run(
        [sys.executable, "-m", "chat_tui", *map(str, words)],
        cwd=ROOT,
        env=os.environ | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
        timeout=ENDS_WITHIN_S,
    )


def refused(*words: str | Path, **environment: str | Path) -> None:
    """Run a command for which there is no room."""
    ended = run(*words, **environment)
    assert ended.returncode == 2, ended
    lines = [line for line in ended.stderr.splitlines() if not line.startswith("signed ")]
    assert len(lines) == 1, ended.stderr
    assert "No space left" in lines[0], ended.stderr
    assert ended.stdout == ""


def done(*words: str | Path, **environment: str | Path) -> None:
    """Run a command for which there is room; audits find nothing in what is used here."""
    ended = run(*words, **environment)
    assert ended.returncode == 0, ended


def state(disk: Path) -> dict[str, bytes]:
    """All files of the disk, without what only says how it went."""
    return {
        str(path.relative_to(disk)): path.read_bytes()
        for path in disk.rglob("*")
        if path.is_file() and path.name not in (BALLAST, "spark.log", ".lock")
    }


def leave(disk: Path, size: int) -> None:
    """Leave room for `size` bytes only."""
    fill(disk)
    path = disk / BALLAST
    os.truncate(path, path.stat().st_size - size)


def export_of_a_profile(disk: Path, other: Path) -> None:
    """Days that were finished stay, and are not written again."""
    owner, out = Owner(other), disk / "out"
    messages = list(archive("ann", 2000, 20_000 * DAY, DAY // 500, CHANNEL))
    asyncio.run(owner.hold(delivered(*messages)))
    command = ("export", out, "--data-dir", other, "--profile", owner.name)
    done(*command)
    before = state(disk)
    later = list(archive("ben", 900, 20_010 * DAY, DAY // 500, CHANNEL))
    asyncio.run(owner.hold(delivered(*later)))
    leave(disk, 48 * 1024)

    refused(*command)

    after = state(disk)
    assert {name: after[name] for name in before} == before
    assert not [name for name in after if name.endswith(".new")]
    make_room(disk)
    done(*command)
    assert len(state(disk)) == len(before) + 2


def export_of_a_simulation(disk: Path, _other: Path) -> None:
    command = ("sim", "--peers", "3", "--messages", "60", "--seeds", "1", "--export", disk / "out")
    fill(disk)

    refused(*command)

    assert not (disk / "out").exists()
    make_room(disk)
    done(*command)


def made_faults(disk: Path, _other: Path) -> None:
    command = ("pipeline", "synthesize", disk / "made", "--messages", "400")
    leave(disk, 100 * 1024)

    refused(*command)

    assert not (disk / "made").exists()
    make_room(disk)
    done(*command)


def made_exports_of_nodes(disk: Path, _other: Path) -> None:
    size = ("--nodes", "4", "--members", "4", "--messages", "200", "--layout", "nodes")
    command = ("pipeline", "synthesize", disk / "made", *size)
    leave(disk, 100 * 1024)

    refused(*command)

    assert not (disk / "made").exists()
    make_room(disk)
    done(*command)


def results_and_their_report(disk: Path, other: Path) -> None:
    exports, out = export(other / "in", scattered(3000, DAY, channel=CHANNEL)), disk / "out"
    told = {"XDG_DATA_HOME": other}
    # what is taken over from the results before needs no room
    command = ("pipeline", "consolidate", exports, "--full", "--out", out, *SMALL)
    report = ("pipeline", "report", "--out", out)
    done(*command)
    before = state(disk)
    leave(disk, 200 * 1024)

    refused(*command)
    fill(disk)
    refused(*report, **told)

    assert state(disk) == before
    make_room(disk)
    done(*command)
    done(*report, **told)


def what_spark_keeps_aside(disk: Path, other: Path) -> None:
    """The results lie on the large disk, and only what is sorted on the way on the small one."""
    held = scattered(20_000, DAY, channel=CHANNEL)
    exports, out = export(other / "in", held, ["a", "b"]), other / "out"
    command = ("pipeline", "fingerprints", exports, "--out", out, *SMALL)
    leave(disk, 500 * 1024)

    refused(*command, TMPDIR=disk)

    assert not (out / "manifest.json").exists()
    assert state(disk) == {}
    make_room(disk)
    done(*command, TMPDIR=disk)


def copy_of_a_damaged_history(disk: Path, other: Path) -> None:
    """Wherever room ends, a copy takes the history's place only if all of it is on the disk."""
    owner, path = Owner(other), disk / "chat.db"
    messages = list(archive("ann", 500, 20_000 * DAY, DAY // 500, CHANNEL))
    asyncio.run(owner.hold(delivered(*messages)))
    shutil.copyfile(owner.directory / "chat.db", path)
    before, room, is_replaced = path.read_bytes(), 0, False
    while not is_replaced:
        room += 64 * 1024
        leave(disk, room)
        try:
            replace_by_copy(path)
            is_replaced = True
        except StorageError as error:
            if "The disk is full" not in str(error):
                raise
            assert path.read_bytes() == before
            assert not [*disk.glob("*copy*")], "what there is no room for takes none"
        make_room(disk)

    assert state(disk)["chat.db.damaged"] == before
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM messages").fetchone() == (len(messages),)


SCENES: Final[dict[str, Callable[[Path, Path], None]]] = {
    one.__name__: one
    for one in (
        export_of_a_profile,
        export_of_a_simulation,
        made_faults,
        made_exports_of_nodes,
        results_and_their_report,
        what_spark_keeps_aside,
        copy_of_a_damaged_history,
    )
}


if __name__ == "__main__":
    SCENES[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
