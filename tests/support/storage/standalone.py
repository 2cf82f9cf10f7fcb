"""A Spark cluster of our own: a standalone master and workers, all on loopback.

Each is a process that writes its log to a pipe; what it says there is waited for, so nothing
sleeps. They are ended by their own ids, whatever the test does.
"""

import os
import re
import selectors
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyspark

LOOPBACK: Final = "127.0.0.1"
SAYS_WITHIN_S: Final = 90.0
"""A JVM starts in two seconds on a quiet machine, and three of them in a minute on a busy one."""

SHOWN: Final = 4000
"""Characters of what a process said, when it did not say what we wait for."""

SETTINGS: Final = """\
rootLogger.level = warn
logger.deploy.name = org.apache.spark.deploy
logger.deploy.level = info
rootLogger.appenderRef.only.ref = only
appender.only.type = Console
appender.only.name = only
appender.only.target = SYSTEM_ERR
appender.only.layout.type = PatternLayout
appender.only.layout.pattern = %p %c{1}: %m%n
"""


class Daemon:
    """A process that is started on entry, says things, and is ended on exit."""

    def __init__(self, main: str, *arguments: str, environment: Mapping[str, str]) -> None:
        spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        self._command = [str(spark_class), main, *arguments]
        self._environment = {**os.environ, **environment}
        self.said = ""

    def __enter__(self) -> "Daemon":
        self._process = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self.said += self._output.read().decode()  # until it has ended
        self._process.wait()
        self._selector.close()
        self._output.close()

    @property
    def pid(self) -> int:
        """The id of the JVM: `spark-class` becomes it."""
        return self._process.pid

    def waited_for(self, pattern: str) -> "re.Match[str]":
        """Wait until what it says matches.

        Raises:
            AssertionError: it does not in time, or it has ended.
        """
        while not (found := re.search(pattern, self.said)):
            assert self._selector.select(SAYS_WITHIN_S), f"{pattern}: {self.said[-SHOWN:]}"
            some = os.read(self._output.fileno(), 64 * 1024)
            assert some, f"ended without {pattern}: {self.said[-SHOWN:]}"
            self.said += some.decode()
        return found


@dataclass(frozen=True, slots=True)
class Cluster:
    """A Spark cluster: the URL to send jobs to, the master, and the workers."""

    url: str
    master: Daemon
    workers: tuple[Daemon, ...]


@contextmanager
def standalone(workers: int, scratch: Path) -> Iterator[Cluster]:
    """Run a master and workers of one core and 512 MB each, with nothing open to the network."""
    settings = scratch / "log4j2.properties"
    settings.write_text(SETTINGS)
    environment = {
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_DIRS": str(scratch / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": " ".join(
            (
                f"-Dlog4j2.configurationFile={settings.as_uri()}",
                "-Dspark.ui.enabled=false",
                "-Dspark.master.rest.enabled=false",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
            )
        ),
        "PYSPARK_PYTHON": sys.executable,
    }
    where = ("--host", LOOPBACK, "--port", "0", "--webui-port", "0")
    with ExitStack() as stack:
        deploy = "org.apache.spark.deploy"
        master = stack.enter_context(
            Daemon(f"{deploy}.master.Master", *where, environment=environment)
        )
        url = master.waited_for(r"Starting Spark master at (spark://[\d.]+:\d+)")[1]
        master.waited_for(r"I have been elected leader")
        size = ("--cores", "1", "--memory", "512m")
        hands = tuple(
            stack.enter_context(
                Daemon(
                    f"{deploy}.worker.Worker",
                    *(*where, *size, "--work-dir", str(scratch / f"worker-{number}"), url),
                    environment=environment,
                )
            )
            for number in range(workers)
        )
        for worker in hands:
            worker.waited_for(r"Successfully registered with master")
        yield Cluster(url, master, hands)


def listening(pids: set[int]) -> list[str]:
    """Return the addresses at which these processes and their children listen for TCP."""
    said = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout
    tree = with_children(pids)
    return [
        line.split()[3].rpartition(":")[0]
        for line in said.splitlines()
        if tree & {int(pid) for pid in re.findall(r"pid=(\d+)", line)}
    ]


def with_children(pids: set[int]) -> set[int]:
    """Return these processes and all below them."""
    said = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    parents = {int(pid): int(parent) for pid, parent in map(str.split, said.stdout.splitlines())}
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found
