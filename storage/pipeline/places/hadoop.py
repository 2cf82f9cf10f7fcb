"""Paths behind a URI, through the Hadoop file systems of the Spark session that runs.

A path has the verbs of `pathlib.Path` that jobs use, and raises what that raises. Nothing is asked
before the first verb, so that a path can be named before there is a session.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import total_ordering
from pathlib import PurePosixPath
from typing import IO, Any, Final

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkContext

from storage.pipeline.errors import PipelineError

BUFFER: Final = 256 * 1024
"""Bytes that are read at once: the end of a Parquet file, or a small table, whole."""

READ_MAX: Final = 8 * 1024 * 1024
"""Bytes of one answer of Java, which comes as text."""

PACKAGES: Final = {
    "s3a": "org.apache.hadoop:hadoop-aws",
    "abfs": "org.apache.hadoop:hadoop-azure",
    "abfss": "org.apache.hadoop:hadoop-azure",
    "wasb": "org.apache.hadoop:hadoop-azure",
    "wasbs": "org.apache.hadoop:hadoop-azure",
    "oss": "org.apache.hadoop:hadoop-aliyun",
    "cosn": "org.apache.hadoop:hadoop-cos",
}
"""Packages that know a store, by its scheme; each has the version of Hadoop itself."""

ITSELF: Final = False
ALL_BELOW: Final = True
"""The part of a tree that Hadoop deletes."""

NO_SYSTEM: Final = ("ClassNotFoundException", "UnsupportedFileSystemException", "ServiceConfig")
"""Words of Java where nothing knows a scheme."""


@dataclass(frozen=True, slots=True)
class Status:
    """Size in bytes, and the time of the last change."""

    st_size: int
    st_mtime_ns: int


@total_ordering
class HadoopPath:
    """A path behind a URI; see the module docstring."""

    def __init__(self, uri: str, status: Any = None) -> None:  # noqa: ANN401  # py4j tells no types
        self._uri = uri.rstrip("/")
        self._known = status

    def __str__(self) -> str:
        return self._uri

    def __repr__(self) -> str:
        return f"HadoopPath({self._uri!r})"

    def __hash__(self) -> int:
        return hash(self._uri)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HadoopPath) and self._uri == other._uri

    def __lt__(self, other: "HadoopPath") -> bool:
        return self._uri < other._uri

    def __truediv__(self, name: object) -> "HadoopPath":
        return HadoopPath(f"{self._uri}/{name}")

    @property
    def scheme(self) -> str:
        """The part of the URI that says what knows it."""
        return self._uri.partition(":")[0].lower()

    @property
    def name(self) -> str:
        """The last part."""
        return self._uri.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot on."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> "HadoopPath":
        """The directory that it is in."""
        return HadoopPath(self._uri.rpartition("/")[0])

    def with_name(self, name: str) -> "HadoopPath":
        """Return a path beside it."""
        return self.parent / name

    def absolute(self) -> "HadoopPath":
        """Return itself: a URI says all."""
        return self

    def relative_to(self, other: "HadoopPath") -> PurePosixPath:
        """Return its path below another one."""
        return PurePosixPath(self._uri).relative_to(PurePosixPath(str(other)))

    def exists(self) -> bool:
        """Return whether something is there."""
        return self._known is not None or bool(self.ask("exists"))

    def is_dir(self) -> bool:
        """Return whether it is a directory."""
        try:
            return bool(self._status().isDirectory())
        except FileNotFoundError:
            return False

    def is_file(self) -> bool:
        """Return whether it is a file."""
        try:
            return bool(self._status().isFile())
        except FileNotFoundError:
            return False

    def stat(self) -> Status:
        """Return size and time."""
        status = self._status()
        return Status(status.getLen(), status.getModificationTime() * 1_000_000)

    def iterdir(self) -> Iterator["HadoopPath"]:
        """Yield what is in a directory."""
        for status in self.ask("listStatus"):
            yield self / status.getPath().getName()

    def glob(self, pattern: str) -> Iterator["HadoopPath"]:
        """Yield what is below it by a pattern, one part of a path for each of the pattern's."""
        # Hadoop would take signs in our own name for a pattern too
        name, _, below = pattern.partition("/")
        for path in self._listed():
            if PurePosixPath(path.name).match(name):
                if below:
                    yield from path.glob(below)
                else:
                    yield path

    def rglob(self, pattern: str) -> Iterator["HadoopPath"]:
        """Yield what is below it at any level, by the pattern of its name."""
        for below in self._listed():
            if PurePosixPath(below.name).match(pattern):
                yield below
            yield from below.rglob(pattern)

    def _listed(self) -> Iterator["HadoopPath"]:
        """Yield what is in a directory, with what the listing says of each; else nothing."""
        if self.is_dir():
            for status in self.ask("listStatus"):
                yield HadoopPath(f"{self._uri}/{status.getPath().getName()}", status)

    def mkdir(self, mode: int = 0, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Make a directory, and those above it, whatever is asked: stores know no other way."""
        del mode, parents
        if not exist_ok and self.exists():
            raise FileExistsError(str(self))
        self.ask("mkdirs")

    def rename(self, target: "HadoopPath") -> "HadoopPath":
        """Give it another path in the same file system."""
        with _as_python(self):
            done = self._system().rename(self.java(), target.java())
        if not done:
            raise OSError(f"{self} cannot become {target}")
        return target

    def replace(self, target: "HadoopPath") -> "HadoopPath":
        """Put it in place of what is there; for a moment, nothing is."""
        target.unlink(missing_ok=True)
        return self.rename(target)

    def copy(self, target: "HadoopPath") -> None:
        """Make a copy of a file, which Java alone reads and writes."""
        with _as_python(self):
            there = target._system()  # noqa: SLF001  # one of our own
            _jvm(self).org.apache.hadoop.fs.FileUtil.copy(
                self._system(), self.java(), there, target.java(), ITSELF, _conf()
            )

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove a file."""
        with _as_python(self):
            done = self._system().delete(self.java(), ITSELF)
        if not done and not missing_ok:
            raise FileNotFoundError(str(self))

    def remove_tree(self) -> None:
        """Remove it and all below it, if it is there."""
        with _as_python(self):
            self._system().delete(self.java(), ALL_BELOW)

    def open(self, mode: str = "r", *, encoding: str | None = None) -> IO[Any]:
        """Open a file; mode `x` makes one that must not be there."""
        with _as_python(self):
            raw: io.RawIOBase
            if "r" in mode:
                raw = Reading(self._system().open(self.java()), self.stat().st_size)
            else:
                raw = Writing(self._system().create(self.java(), "x" not in mode))
        buffered: Any = (
            io.BufferedReader(raw, BUFFER) if "r" in mode else io.BufferedWriter(raw, BUFFER)
        )
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding or "utf-8")

    def read_text(self, encoding: str | None = None) -> str:
        """Return the text of a file."""
        with self.open(encoding=encoding) as file:
            return str(file.read())

    def write_text(self, text: str, encoding: str | None = None) -> int:
        """Write a text as the file."""
        with self.open("w", encoding=encoding) as file:
            return int(file.write(text))

    def read_bytes(self) -> bytes:
        """Return the content of a file."""
        with self.open("rb") as file:
            return bytes(file.read())

    def write_bytes(self, content: bytes) -> int:
        """Write the content of a file."""
        with self.open("wb") as file:
            return int(file.write(content))

    def ask(self, verb: str) -> Any:  # noqa: ANN401
        """Return what Hadoop says of it."""
        with _as_python(self):
            return getattr(self._system(), verb)(self.java())

    def _status(self) -> Any:  # noqa: ANN401
        return self.ask("getFileStatus") if self._known is None else self._known

    def java(self) -> Any:  # noqa: ANN401
        """Return it as Java has it."""
        return _jvm(self).org.apache.hadoop.fs.Path(self._uri)

    def _system(self) -> Any:  # noqa: ANN401
        return self.java().getFileSystem(_conf())


class Reading(io.RawIOBase):
    """An open file of Hadoop's, read from anywhere."""

    def __init__(self, stream: Any, size: int) -> None:  # noqa: ANN401
        super().__init__()
        self._stream, self._size, self._at = stream, size, 0

    def readable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def seekable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """See `io.RawIOBase`."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        """See `io.RawIOBase`."""
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        """See `io.RawIOBase`."""
        wanted = min(len(buffer), READ_MAX, max(0, self._size - self._at))
        if not wanted:
            return 0
        with _as_python(None):
            self._stream.seek(self._at)
            content = self._stream.readNBytes(wanted)
        buffer[: len(content)] = content
        self._at += len(content)
        return len(content)

    def close(self) -> None:
        """See `io.RawIOBase`."""
        if not self.closed:
            super().close()
            with _as_python(None):
                self._stream.close()


class Writing(io.RawIOBase):
    """A new file of Hadoop's; it is whole when it is closed."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def write(self, content: Any) -> int:  # noqa: ANN401
        """See `io.RawIOBase`."""
        written = bytes(content[:READ_MAX])
        with _as_python(None):
            self._stream.write(written)
        return len(written)

    def close(self) -> None:
        """See `io.RawIOBase`."""
        if not self.closed:
            super().close()
            with _as_python(None):
                self._stream.close()


def _jvm(path: HadoopPath) -> Any:  # noqa: ANN401  # py4j tells no types
    context: Any = SparkContext._active_spark_context  # noqa: SLF001
    if context is None:
        raise PipelineError(
            f"{path} is no directory of this computer, and this reads without Java: copy it here "
            "first."
        )
    return context._jvm  # noqa: SLF001


def _conf() -> Any:  # noqa: ANN401
    """Return Hadoop's configuration."""
    context: Any = SparkContext._active_spark_context  # noqa: SLF001
    return context._jsc.hadoopConfiguration()  # noqa: SLF001


@contextmanager
def _as_python(path: HadoopPath | None) -> Iterator[None]:
    """Raise what Python would where Java raises.

    Raises:
        OSError: the file system refuses.
        PipelineError: nothing knows such a URI.
    """
    try:
        yield
    except Py4JJavaError as error:
        raised: Any = error.java_exception
        said = str(raised.toString()).splitlines()[0]
        if path is not None and any(word in said for word in NO_SYSTEM):
            raise _unknown(path) from None
        kind = said.partition(":")[0].rpartition(".")[2]
        if kind in ("FileNotFoundException", "NoSuchFileException"):
            raise FileNotFoundError(str(path or said)) from None
        if kind == "FileAlreadyExistsException":
            raise FileExistsError(str(path or said)) from None
        raise OSError(0, said.partition(": ")[2] or said, str(path or "")) from None
    except Py4JError as error:
        raise OSError(0, f"Java has ended ({error})", str(path or "")) from None


def _unknown(path: HadoopPath) -> PipelineError:
    version = _jvm(path).org.apache.hadoop.util.VersionInfo.getVersion()
    if package := PACKAGES.get(path.scheme):
        return PipelineError(
            f"{path} needs a Java package that is not here: add --packages {package}:{version}."
        )
    return PipelineError(
        f"Nothing here knows {path.scheme}:// ({path}): name the Java package that does by "
        "--packages."
    )
