"""Imports an archive into a profile, by the one way in that everything takes (PROTOCOL 3).

Rules:
1. Nothing is checked here, and nothing stored: each row becomes the SDS message it was exported
   from, and is fed to the channel's machines as what a retriever fetched; they judge it.
2. Each page of messages is committed before the next one is read, so an import that was cut off is
   simply begun again: what is here already is not stored twice.
3. Of a governed channel the signed ops go before its messages, through the group's own ingress, so
   that each message is judged by them; what waited for an op is let in or dropped then.
4. The machines' time stands still meanwhile. Nobody is there to answer, so nothing is asked, sent
   again or given up; the next chat goes on where the disk left off.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from storage.archive.reader import Archive, Row
from sync.entries.entry import Entry, encode_content, open_content
from sync.entries.membership import Membership
from sync.errors import DecodeError
from sync.group import values
from sync.group.ingest import message_of
from sync.group.writer import Author
from sync.machine import ChannelId, Nanos
from sync.runner.batch import BATCH_MAX, Release
from sync.runner.journal import Journal
from sync.runner.runner import Runner
from sync.sds.wire import encode_canonical
from sync.sessions.protocol import Protocols

REASONS_MAX: Final = 20
"""Reasons told apart; a row may be wrong in as many ways as somebody likes to make up."""

OTHERWISE: Final = "wrong in other ways"

AHEAD: Final = (
    "Messages stamped in the future were set aside until their time: the clocks of their authors "
    "were wrong, or this computer's is."
)

NO_ROW: Final = "not a row of an export"
MISPLACED: Final = "it lies among the messages of another channel"
OTHER_ID: Final = "its id is not that of its header"


@dataclass(slots=True)
class Imported:
    """Outcome of an import, counted in rows."""

    new: int = 0
    known: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """By reason."""
    acts: int = 0
    """Signed ops of governed channels that are new here."""
    not_let_in: int = 0
    """Rows that governance dropped, or that wait for ops."""
    elsewhere: Counter[ChannelId] = field(default_factory=Counter)
    """Of channels that were left out."""
    warnings: dict[str, None] = field(default_factory=dict)
    """Remarks of the machines for the person, each once."""

    @property
    def total(self) -> int:
        """All rows so far."""
        here = self.new + self.known + self.not_let_in
        return here + self.refused.total() + self.elsewhere.total()

    def refuse(self, reason: str) -> None:
        """Count a row that is not taken in."""
        full = len(self.refused) >= REASONS_MAX and reason not in self.refused
        self.refused[OTHERWISE if full else reason] += 1


class Importer:
    """Takes archives into one profile.

    Args:
        author: whose profile it is.
        journal: its disk, which nobody else writes to meanwhile.
        rng: for the machines.
        now: the time, which stands still.
    """

    def __init__(self, author: Author, journal: Journal, rng: random.Random, now: Nanos) -> None:
        self._author = author
        self._journal = journal
        self._rng = rng
        self._now = now

    async def import_rows(
        self,
        archive: Archive,
        memberships: list[Membership],
        progress: Callable[[Imported], None],
    ) -> Imported:
        """Take in what an archive holds of some channels; `progress` is told after each page.

        Raises:
            LocalError: a file cannot be read, or the disk refused; what came before is here.
        """
        ours = {membership.channel: membership for membership in memberships}
        imported = Imported()
        for channel in archive.files:
            if channel in ours:
                await self._take_channel(archive, ours[channel], imported, progress)
            else:
                imported.elsewhere[channel] += archive.count(channel)
        return imported

    async def _take_channel(
        self,
        archive: Archive,
        membership: Membership,
        imported: Imported,
        progress: Callable[[Imported], None],
    ) -> None:
        """Take in one channel, with machines of its own."""
        channel = membership.channel
        runner = Runner(self._author, self._rng, protocols=Protocols())
        runner.add_channel(membership, await self._journal.restore(channel))
        if membership.governed:
            await self._take_ops(archive, channel, runner, imported)
        rows = archive.rows(channel)
        while page := list(islice(rows, BATCH_MAX)):
            entries = list(_entries(page, channel, imported))
            # the machines wait for what is named and not here yet; this spares them most of it
            entries.sort(key=lambda entry: (entry.header.lamport, entry.message_id))
            for entry in entries:
                runner.queue_input(channel, values.Retrieved(encode_canonical(message_of(entry))))
            while runner.busy:
                await self._turn(runner, imported)
            progress(imported)

    async def _take_ops(
        self, archive: Archive, channel: ChannelId, runner: Runner, imported: Imported
    ) -> None:
        """Take in the signed ops of a channel, as if we had them of ourselves."""
        ops = (op for op in archive.ops(channel) if isinstance(op, bytes))
        while page := tuple(islice(ops, BATCH_MAX)):
            runner.queue_input(channel, values.OpsArrived(self._author.me, page))
            while runner.busy:
                await self._turn(runner, imported)

    async def _turn(self, runner: Runner, imported: Imported) -> None:
        """Handle what waits, commit it, and count."""
        batch = runner.turn(self._now)
        if batch.records:
            await self._journal.commit(batch.records)
        fed = sum(isinstance(one.event, values.Retrieved) for one in batch.inputs)
        kinds = Counter(type(record) for record in batch.records)
        new = kinds[values.StoreMessage]
        kept_out = kinds[values.SetDropped] + kinds[values.StorePending] - kinds[values.EndPending]
        reasons = [str(failure.error) for failure in batch.failures]
        reasons += [effect.reason for effect in _refusals(batch.releases)]
        imported.acts += kinds[values.StoreOp]
        imported.new += new
        imported.not_let_in += kept_out
        if fed:  # else it was a turn of ops, and what was refused of these is no row
            imported.known += fed - new - kept_out - len(reasons)
        for reason in reasons:
            imported.refuse(reason)
        for release in batch.releases:
            if isinstance(release.effect, values.Warned):
                imported.warnings[release.effect.text] = None
            elif isinstance(release.effect, values.AuthorAhead):
                imported.warnings[AHEAD] = None


def _refusals(releases: list[Release]) -> Iterator[values.Refused]:
    for release in releases:
        if isinstance(release.effect, values.Refused):
            yield release.effect


def _entries(page: list[Row], channel: ChannelId, imported: Imported) -> Iterator[Entry]:
    """Yield the entries of rows that are in order as rows; count the others."""
    for row in page:
        try:
            yield entry_of(row, channel)
        except DecodeError as error:
            imported.refuse(str(error))


def entry_of(row: Row, channel: ChannelId) -> Entry:
    """Return the entry that a row of a channel was made from; its signature is not checked yet.

    Raises:
        DecodeError: there is no entry in it, or it says other things than the entry.
    """
    match row:
        case Row(
            _, str(), bytes() as message_id, bytes() as header, bytes() as sig, bytes() as body
        ):
            entry = open_content(encode_content(header, sig, body))
        case _:
            raise DecodeError(NO_ROW)
    if row.channel != channel:
        raise DecodeError(MISPLACED)
    if entry.message_id != message_id.hex():
        raise DecodeError(OTHER_ID)
    return entry
