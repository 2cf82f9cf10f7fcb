"""`chat-tui export`: writes the history and the protocol log of one profile.

Rules:
1. Only what changed is written: a file a channel and day, new ones by renaming. Exported rows of a
   log stay, also when the log itself has forgotten them.
2. Each finished day is noted at once, so an interrupted export goes on; `export.json` comes last.
3. The profile is only read, a day at a time; its chat may be running.
"""

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import Struct

from storage.archive import about
from storage.archive.export_state import State
from storage.archive.parquet import TableFile, history_row, log_row, writable
from storage.archive.seq_ranges import STRETCHES_MAX, together
from storage.archive.stored_days import LAST_DAY, HistoryReader, StoredDay
from storage.archive.stored_governance import GovernanceReader, digest_of
from storage.archive.tables import (
    CLOCK,
    HISTORY,
    HISTORY_DIR,
    HISTORY_FILE,
    KEPT,
    LOG,
    LOG_DIR,
    NOT_LET_IN,
    NOT_LET_IN_DIR,
    NOT_LET_IN_FILE,
    OPS,
    OPS_DIR,
    OPS_FILE,
    Note,
    channel_of,
    day_of,
    of_channel,
    partition,
)
from storage.profile.profile import in_use, read_keys, was_used
from storage.sqlite.clock_id import clock_id
from storage.sqlite.protocol_log import FILE_NAME, LogDay, LogReader
from sync.entries.identity import Identity
from sync.errors import LocalError
from sync.machine import DAY, SECOND, ChannelId, Nanos

TOLD_EVERY: Final = 1024
"""Rows between two times that progress is told."""

Tell: TypeAlias = Callable[[int, int], None]
"""(rows written so far, rows to write)."""


class Wanted(Struct, frozen=True):
    """Scope of an export: everything, or one channel's, or from a day on."""

    channel: str | None = None
    since: Nanos | None = None
    log: bool = True


class Summary(Struct, frozen=True):
    """Counts of a finished export."""

    messages: int
    log_rows: int
    days: int
    """Days of a channel that were written, of history and of log."""
    unchanged: int
    damaged: int = 0
    """Messages that were left out: the disk no longer has what was stored."""
    acts: int = 0
    """Signed ops of governed channels."""


class _Job(Struct, frozen=True):
    """One file to be written; `done` is noted of its day then."""

    table: str
    where: Path
    file: str
    rows: Callable[[], Iterator[tuple[Any, ...]]]
    count: int
    done: Callable[[], dict[str, Any]]


class Exporter:
    """Exports the profile in `directory` into `out`.

    Raises:
        LocalError: there is no such profile, or `out` is something else's.
    """

    def __init__(self, directory: Path, out: Path, wanted: Wanted) -> None:
        if not was_used(directory):
            raise LocalError(f"There is no profile in {directory}: name another one by --profile.")
        keys = read_keys(directory)
        self._me = Identity.from_seed(keys.signing_seed, keys.noise_seed).peer_id
        self._directory = directory
        self._out = out
        self._wanted = wanted

    def run(self, tell: Tell = lambda _done, _all: None) -> Summary:
        """Write what changed; `tell` hears how far it is.

        Raises:
            LocalError: something cannot be read or written; says what to do. Finished days stay.
        """
        with ExitStack() as stack:
            # before the history: what is let in meanwhile is in both, and never in neither
            governance = stack.enter_context(
                GovernanceReader(self._directory / "chat.db", self._me)
            )
            history = stack.enter_context(HistoryReader(self._directory / "chat.db", self._me))
            log_path = self._directory / FILE_NAME
            log: LogReader | None = None
            if self._wanted.log and log_path.is_file():
                reader = stack.enter_context(LogReader(log_path, self._me))
                log = reader if reader.run else None
            channels = self._channels(history)  # before a directory is made for them
            stack.enter_context(writable(self._out))
            state = stack.enter_context(State(self._out, self._me))
            stored = [day for one in channels for day in history.days(one, self._wanted.since)]
            logged = self._logged(log, channels)
            jobs = [*self._history_jobs(history, stored, state)]
            if log is not None:
                jobs += self._log_jobs(log, logged, state)
            governed = [job for one in channels for job in _governance(governance, one)]
            jobs += [job for job in governed if state.of(job.where) != job.done()]
            written = self._write(jobs, state, tell)
            self._remove_gone(stored, channels, state)
            self._remove_let_in(governed, channels, state)
            if log is not None:
                self._note_boots(log, state)
            self._note_left_out(history, channels, log, state)
            state.finish(self._note(history, state))
        unchanged = len(stored) + len(logged) + len(governed) - len(jobs)
        rows = written[HISTORY_DIR], written[LOG_DIR]
        return Summary(*rows, len(jobs), unchanged, history.damaged, written[OPS_DIR])

    # --- What there is to do -------------------------------------------------------------------

    def _channels(self, history: HistoryReader) -> list[ChannelId]:
        wanted = self._wanted.channel
        if wanted is None:
            return list(history.channels)
        titles = {
            channel: f"{'@' if channel in history.direct else '#'}{name}"
            for channel, name in history.channels.items()
        }
        found = [channel for channel, title in titles.items() if wanted in {title, title[1:]}]
        if not found:
            names = ", ".join(sorted(set(titles.values())))
            raise LocalError(f"There is no channel {wanted} in this profile; there are: {names}.")
        return found

    def _logged(self, log: LogReader | None, channels: Sequence[ChannelId]) -> list[LogDay]:
        since = self._wanted.since or 0
        days = [] if log is None else log.days()
        return [day for day in days if day.channel in channels and day.begins >= since]

    def _history_jobs(
        self, history: HistoryReader, days: Sequence[StoredDay], state: State
    ) -> Iterator[_Job]:
        """Yield a job for each day of which something else is on the disk than was exported."""

        def job(day: StoredDay, where: Path) -> _Job:
            def rows() -> Iterator[tuple[Any, ...]]:
                for entry, waku_hash, delivered in history.entries(day):
                    yield history_row(self._me, entry, waku_hash, delivered=delivered)

            def done() -> dict[str, Any]:
                return {"mark": list(day.mark)}

            return _Job(HISTORY_DIR, where, HISTORY_FILE, rows, day.count, done)

        for day in days:
            where = partition(HISTORY_DIR, day.channel, day_of(day.begins))
            if state.of(where).get("mark") != list(day.mark):
                yield job(day, where)

    def _log_jobs(self, log: LogReader, days: Sequence[LogDay], state: State) -> Iterator[_Job]:
        """Yield a job for each day with new rows.

        A day whose first rows the log has forgotten gets a further file with the new ones.
        """

        def job(day: LogDay, where: Path, first: int, after: int) -> _Job:
            def rows() -> Iterator[tuple[Any, ...]]:
                return (log_row(row) for row in log.rows(day, after))

            def done() -> dict[str, Any]:
                return {log.run: [first, day.last]}

            name = f"{log.run}-{after + 1}" if after else log.run
            count = min(day.count, day.last - after)
            return _Job(LOG_DIR, where, f"{name}.parquet", rows, count, done)

        for day in days:
            where = partition(LOG_DIR, day.channel, day_of(day.begins))
            first, last = state.of(where).get(log.run, (day.first, 0))
            if day.last > last:
                forgotten = day.first > first
                yield job(day, where, min(first, day.first), last if forgotten else 0)

    # --- Doing it ------------------------------------------------------------------------------

    def _write(self, jobs: Sequence[_Job], state: State, tell: Tell) -> dict[str, int]:
        """Write every file; returns how many rows each table got."""
        schemas = {HISTORY_DIR: HISTORY, LOG_DIR: LOG, OPS_DIR: OPS, NOT_LET_IN_DIR: NOT_LET_IN}
        written = dict.fromkeys(schemas, 0)
        total = sum(job.count for job in jobs)
        before = 0
        for job in jobs:
            with TableFile(self._out / job.where / job.file, schemas[job.table]) as file:
                for number, row in enumerate(job.rows(), 1):
                    file.add(row)
                    if number % TOLD_EVERY == 0:
                        tell(before + number, total)
            written[job.table] += file.rows
            before += job.count
            state.note_mark(job.where, state.of(job.where) | job.done())
            tell(before, total)
        return written

    def _remove_gone(
        self, stored: Sequence[StoredDay], channels: Sequence[ChannelId], state: State
    ) -> None:
        """Remove days of which nothing is held any more: what they held had a wrong clock."""
        held = {partition(HISTORY_DIR, day.channel, day_of(day.begins)) for day in stored}
        since = "" if self._wanted.since is None else day_of(self._wanted.since)
        of_these = [Path(HISTORY_DIR) / f"channel={channel}" for channel in channels]
        for where in state.noted():
            is_meant = where.parent in of_these and where.name >= f"day={since}"
            if is_meant and where not in held:
                (self._out / where / HISTORY_FILE).unlink(missing_ok=True)
                state.note_mark(where, {})

    def _remove_let_in(
        self, governed: Sequence[_Job], channels: Sequence[ChannelId], state: State
    ) -> None:
        """Remove tables of entries of which none waits or was dropped any more."""
        there = {job.where for job in governed}
        for channel in channels:
            where = of_channel(NOT_LET_IN_DIR, channel)
            if where not in there and state.of(where):
                (self._out / where / NOT_LET_IN_FILE).unlink(missing_ok=True)
                state.note_mark(where, {})

    @property
    def _is_part(self) -> bool:
        return self._wanted.channel is not None or self._wanted.since is not None

    def _note_boots(self, log: LogReader, state: State) -> None:
        """Tell of every start which rows were kept of it, and whether a power cut took some."""
        boots = log.boots()
        running = in_use(self._directory)
        for one in boots:
            is_open = running and one is boots[-1]
            key = (log.run, one.boot)
            known = state.boots.get(key, {})
            kept = [(first, last) for first, last in known.get(KEPT, ())]
            if not self._is_part:
                kept.append((one.first, one.last))
            state.boots[key] = {
                "run": log.run,
                "node": self._me,
                "boot": one.boot,
                "first": min(one.first, known.get("first", one.first)),
                "last": one.last,
                "cut_short": not one.closed and not is_open,
                CLOCK: one.clock,
                KEPT: [list(one) for one in together(kept)[-STRETCHES_MAX:]],
            }

    def _note_left_out(
        self,
        history: HistoryReader,
        channels: Sequence[ChannelId],
        log: LogReader | None,
        state: State,
    ) -> None:
        """Tell what an export of a part lacks: an audit would take it for lost."""
        since = self._wanted.since
        if log is not None:
            state.log_in_part = self._is_part
        for channel in channels:
            if since is None:
                state.since.pop(channel, None)
            else:
                state.since[channel] = since // DAY * DAY
        if not self._is_part:
            state.before.clear()
        elif since is not None:
            state.before.update(*(history.named_before(channel, since) for channel in channels))

    def _note(self, history: HistoryReader, state: State) -> Note:
        exported = {channel_of(where) for where in state.noted()}
        channels = {str(one): name for one, name in history.channels.items() if one in exported}
        return Note(
            [self._me],
            channels,
            {self._me: platform.node()},
            state.more(),
            {self._me: clock_id()},
            version=about.version(),
            parameters=about.parameters(
                {one: profile for one, profile in history.profiles.items() if one in exported}
            ),
            capabilities=about.capabilities(),
        )


def _governance(governance: GovernanceReader, channel: ChannelId) -> Iterator[_Job]:
    """Yield a job for each table of governance that has rows of a channel, changed or not."""
    count, last = governance.ops_mark(channel)
    if count:
        where, mark = of_channel(OPS_DIR, channel), {"ops": [count, last]}
        yield _Job(OPS_DIR, where, OPS_FILE, lambda: governance.ops(channel), count, lambda: mark)
    if rows := governance.not_let_in(channel):
        where, digest = of_channel(NOT_LET_IN_DIR, channel), {"rows": digest_of(rows)}
        yield _Job(
            NOT_LET_IN_DIR, where, NOT_LET_IN_FILE, lambda: iter(rows), len(rows), lambda: digest
        )


def day_begins(day: datetime) -> Nanos:
    """Return when a day begins, in UTC: one that times can be of, or the nearest to it."""
    begins = int(day.replace(tzinfo=UTC).timestamp()) * SECOND
    return max(0, min(begins, LAST_DAY * DAY))
