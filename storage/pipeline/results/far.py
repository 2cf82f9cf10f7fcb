"""Publication of results behind a URI, where no lock of this computer is seen by others.

    OUT/manifest.json                   as everywhere; `replaces` is the digest of the one before
    OUT/runs/.replaces-<digest>.json    the manifest that is about to take the place of that one

Rules:
1. A run's directory has a name of its own, and nobody removes one that may be another command's.
2. A manifest is written last. It first claims the place of the one before, by a file that only one
   command can make; whoever finds that one changed, or claimed, is refused, and changed nothing.
3. Where a store cannot make a file for one alone (S3 before conditional writes), two commands that
   publish within the same moment may not see each other: the later one wins. All else holds.
4. A command that died between claim and manifest has said what it wanted: the next one finishes it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from storage.pipeline.errors import PipelineError
from storage.pipeline.places.place import is_local, remove_tree
from storage.pipeline.results.publishing import Results
from storage.results import MANIFEST, MANIFEST_MAX, RUNS, Published, small_text

LEFT_AFTER_S: Final = 7 * 24 * 3600
"""A run that nobody published within a week was left by a command that died."""

CLAIMS_MAX: Final = 10
"""Claims finished one after the other; each is of a command that died."""

HALF_AFTER_S: Final = 3600
"""Half a claim of that age is of a command that died."""

ATOMIC: Final = frozenset({"hdfs", "webhdfs", "viewfs", "ofs", "o3fs"})
"""Schemes known to make a file for one command alone."""


class FarResults(Results):
    """Results behind a URI; see the module docstring."""

    def __init__(self, out: Path) -> None:
        super().__init__(out)
        self._seen = ""

    @property
    def best_effort(self) -> bool:
        """True where two commands that publish at once may not see each other."""
        return str(self.out).partition(":")[0].lower() not in ATOMIC

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Remember which manifest is there, as the one to replace, and tidy up.

        Raises:
            PipelineError: nobody can write here.
        """
        try:
            (self.out / RUNS).mkdir(parents=True, exist_ok=True)
            self._finish()
        except OSError as error:
            raise self._unusable(error) from error
        self._seen = self._digest()
        self._tidy()
        yield

    def _finish(self) -> None:
        """Write the manifest of a command that died right before it could."""
        for _ in range(CLAIMS_MAX):
            claim = self._claim(self._digest())
            if not claim.is_file():
                return
            text = small_text(claim, MANIFEST_MAX)
            if _is_whole(text):
                (self.out / MANIFEST).write_text(text)
            elif _now_us() / 1_000_000 - claim.stat().st_mtime_ns / 1e9 < HALF_AFTER_S:
                return  # it may just be written
            claim.unlink(missing_ok=True)

    def _write_manifest(self, manifest: dict[str, Any]) -> None:
        """Put a manifest in the place of the one we saw, or of none.

        Raises:
            PipelineError: another one is there by now.
        """
        text = json.dumps({**manifest, "replaces": self._seen}, indent=1) + "\n"
        claim = self._claim(self._seen)
        if self._digest() != self._seen:
            raise self._overtaken()
        try:
            with claim.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise self._overtaken() from None
        # somebody may have published, and taken the claim away, since we looked
        if self._digest() != self._seen:
            claim.unlink(missing_ok=True)
            raise self._overtaken()
        (self.out / MANIFEST).write_text(text)
        claim.unlink(missing_ok=True)
        self._seen = _digest_of(text)

    def _overtaken(self) -> PipelineError:
        return PipelineError(
            f"Another command has published in {self.out} meanwhile: its results stay; run this "
            "again."
        )

    def _digest(self) -> str:
        """Return the digest of the manifest that is there, nothing where there is none."""
        try:
            return _digest_of(small_text(self.out / MANIFEST, MANIFEST_MAX))
        except FileNotFoundError:
            return ""

    def _claim(self, digest: str) -> Path:
        return self.out / RUNS / f".replaces-{digest or 'nothing'}.json"

    def _tidy(self) -> None:
        """Remove what nobody has published for long."""
        kept = {self.out / run["directory"] for run in self._manifest().values()}
        for path in (self.out / RUNS).iterdir():
            began = path.name.rpartition("-")[2]
            if began.isdecimal() and path not in kept:
                age_s = _now_us() / 1_000_000 - int(began) / 1_000_000
                if age_s > LEFT_AFTER_S:
                    remove_tree(path)

    def _number(self, job: str) -> int:
        """Return the time in microseconds: two commands hardly begin in the same one."""
        del job
        return _now_us()

    def _outdated(self, job: str, before: Published | None) -> list[Path]:
        """Return the run that was published before."""
        del job
        return [] if before is None else [before.directory]


def results_in(out: Path) -> Results:
    """Return the results in a place.

    Raises:
        PipelineError: it cannot be read, or holds something else.
    """
    return Results(out) if is_local(out) else FarResults(out)


def _is_whole(text: str) -> bool:
    try:
        return "jobs" in json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return False


def _now_us() -> int:
    return int(datetime.now(UTC).timestamp() * 1_000_000)


def _digest_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()
