"""`chat-tui import`: an archive into a profile, told as it goes and summed up in words."""

import random
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final

from chat_tui.client.setup import Setup
from chat_tui.text.safe_text import clean_text
from storage.archive.importer import Imported, Importer
from storage.archive.reader import Archive
from storage.profile.members import Members
from storage.profile.profile import Profile, ProfileInUseError
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.entries.identity import Identity, verify
from sync.entries.membership import Membership
from sync.errors import LocalError
from sync.group.writer import Author
from sync.net import clock
from sync.net.engine.loop_watch import run_watched

SEED_SIZE: Final = 32
CHANNELS_TOLD: Final = 10
"""Channels we are not in that are named; an archive may hold thousands."""

ID_SHOWN: Final = 8

Say = Callable[[str], None]


def run(setup: Setup, directory: Path, say: Say, tell: Say) -> int:
    """Import what is in and below `directory`; returns the exit status.

    Args:
        setup: which profile, and perhaps which channel alone.
        directory: an export, or several below, or what `diff` or `consolidate` wrote.
        say: is given the lines of the summary.
        tell: is given a line for each step, for whoever waits.

    Returns:
        0, or 1 if something was refused, or was not there.

    Raises:
        LocalError: there is no such profile, channel or archive, or the chat is open; or as
            `Importer.take`.
    """
    archive = Archive.find(directory)
    if not setup.exists:
        raise LocalError(
            f"There is no profile {setup.profile} in {setup.data_dir} yet: start the chat with it "
            "once, and join the channels that you want to import."
        )
    try:
        profile = Profile.open(setup.data_dir, setup.profile, clock.draw)
    except ProfileInUseError as error:
        raise LocalError(
            f"The chat or another import uses this profile (pid {error.pid}): close it, "
            "then import again."
        ) from error
    try:
        imported, joined, lost = run_watched(_taken(profile, archive, setup.channel, tell))
    finally:
        profile.close()
    for line in [*summary(imported, archive, joined), *told_lost(lost)]:
        say(line)
    return 1 if imported.refused or lost else 0


async def _taken(
    profile: Profile, archive: Archive, channel: str | None, tell: Say
) -> tuple[Imported, frozenset[str], Sequence[str]]:
    """Import; returns what came of it, the names of all joined channels, and what was not there."""
    identity = Identity.from_seed(profile.keys.signing_seed, profile.keys.noise_seed)
    author = Author(identity.peer_id, identity.sign, verify, clock.draw_log)
    rng = random.Random(clock.draw(SEED_SIZE))  # noqa: S311  # for machines that nobody hears
    database = await Database.open(profile.database)
    try:
        joined = await Members(database).channels()
        memberships = _chosen(joined, channel)
        if channel is not None:
            archive = archive.only([one.channel for one in memberships])
        journal = SqliteJournal(database, identity.peer_id)
        importer = Importer(author, journal, rng, clock.Clock().now())
        total = sum(archive.count(one) for one in archive.files)
        imported = await importer.import_rows(
            archive, memberships, lambda done: tell(f"{done.total} of {total}")
        )
        lost = archive.only([one.channel for one in memberships]).lost
        return imported, frozenset([one.name for one in joined]), lost
    finally:
        await database.close()


def _chosen(memberships: list[Membership], name: str | None) -> list[Membership]:
    """Return the channels to import: all, or the one that was named."""
    if name is None:
        return memberships
    chosen = [one for one in memberships if name in {one.title, one.name}]
    if not chosen:
        raise LocalError(f"You are not in {name}: start the chat and /join it, then import again.")
    return chosen


def summary(
    imported: Imported, archive: Archive, joined: Collection[str] = frozenset()
) -> list[str]:
    """Return what came of an import, as lines; `joined` has the names of our channels."""
    refused = imported.refused.total()
    lines = [f"{imported.new} new, {imported.known} already here, {refused} refused."]
    if imported.acts:
        lines.append(f"Acts of governance that are new: {imported.acts}.")
    if imported.not_let_in > 0:
        lines.append(
            f"Not let in: {imported.not_let_in}, whose authors might not write them, or that wait "
            "until it is known here who let their authors in."
        )
    lines += [f"Refused: {count}: {reason}." for reason, count in imported.refused.most_common()]
    for channel, count in imported.elsewhere.most_common(CHANNELS_TOLD):
        known = archive.names.get(channel, "")
        name = clean_text(known) or clean_text(channel)
        if known in joined:
            lines.append(
                f"Left out: {count} of another channel called #{name} ({channel[:ID_SHOWN]}) than "
                "the one that you are in. To have them, join that one by its invite code, then "
                "import again."
            )
        else:
            lines.append(
                f"Left out: {count} of #{name}. To have them, join that channel, then import again."
            )
    others = len(imported.elsewhere) - CHANNELS_TOLD
    if others > 0:
        lines.append(f"Left out: {others} more channels that you are not in.")
    return [*lines, *imported.warnings]


def told_lost(lost: Sequence[str]) -> list[str]:
    """Return what to say of files that an export notes and does not have."""
    if not lost:
        return []
    first = clean_text(lost[0])
    again = "Copy it again, or export into it again; then import again."
    return [f"Lacking: {len(lost)} of the export's files, the first in {first}. {again}"]
