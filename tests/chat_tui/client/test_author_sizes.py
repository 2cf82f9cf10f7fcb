"""Disk usage per author: counted, shown, and asked about once."""

from pathlib import Path

import pytest

from chat_tui.client.author_sizes import AuthorSizes
from chat_tui.client.trust_book import TrustBook
from chat_tui.settings.preferences import Preferences, Wishes
from chat_tui.settings.schema import ASK_ABOVE_MB
from chat_tui.wording import person as dossier
from storage.sqlite.authors import AuthorStore, Taken
from sync.group.records import Discard
from sync.machine import SECOND, Nanos
from sync.view.view import Event, Notice, PeerInfo, PeerState, Snapshot
from tests.support.storage.stores import delivered, opened
from tests.support.sync.entries import CHANNEL, Author

NOW: Nanos = 1_763_700_000 * SECOND
ME = Author("alice").peer_id


async def test_what_comes_and_goes_is_counted_an_author(tmp_path: Path) -> None:
    bob, carol = Author("bob"), Author("carol")
    async with opened(tmp_path / "chat.db") as one:
        lines = [bob.write(text) for text in ("one", "two", "three")]
        lines.append(carol.write("four"))
        lines.append(bob.write("five"))
        await one.journal.commit(delivered(*lines[:3]))
        await AuthorStore(one.database).heaviest()  # what is counted already, and what is not
        await one.journal.commit(delivered(*lines[3:]))
        gone = [lines[0].entry.message_id, lines[4].entry.message_id]
        await one.journal.commit([Discard(CHANNEL, message_id) for message_id in gone])

        taken = await AuthorStore(one.database).heaviest()

    left = sum(len(line.payload) for line in lines[1:3])
    assert taken == {
        bob.peer_id: Taken(2, left, asked=False),
        carol.peer_id: Taken(1, len(lines[3].payload), asked=False),
    }
    assert list(taken) == [bob.peer_id, carol.peer_id], "who takes most stands first"


async def test_a_person_is_asked_once_about_who_takes_more_than_they_have_set(
    tmp_path: Path,
) -> None:
    bob, mallory = Author("bob"), Author("mallory")
    told: list[Event] = []
    settings = Preferences.of_profile(tmp_path, Wishes())
    settings.change(ASK_ABOVE_MB, 1)
    book = TrustBook(ME)
    async with opened(tmp_path / "chat.db") as one:
        huge = "x" * 14_000
        lines = [mallory.write(huge) for _ in range(75)] + [bob.write("hello")]
        await one.journal.commit(delivered(*lines))

        await AuthorSizes(ME, one.database, settings, book, told.append).look()
        sizes = AuthorSizes(ME, one.database, settings, book, told.append)  # as after a start
        await sizes.look()
        person = PeerInfo(mallory.peer_id, "mallory", PeerState.UP, "")
        shown = sizes.dress(Snapshot(ME, "alice", NOW, None, "", "", (), (person,)))

    [asked] = told
    assert isinstance(asked, Notice)
    assert "has 75 messages and changes here, 1.1 MB. /block" in asked.text
    whois = dossier.whois(shown, shown.peers[0])
    assert "on disk   75 messages and changes of theirs, 1.1 MB" in whois


@pytest.mark.parametrize("why", ["off", "mine", "blocked"])
async def test_nobody_is_asked_about_what_needs_no_answer(tmp_path: Path, why: str) -> None:
    mallory = Author("mallory")
    told: list[Event] = []
    settings = Preferences.of_profile(tmp_path, Wishes())
    settings.change(ASK_ABOVE_MB, 0 if why == "off" else 1)
    book = TrustBook(ME)
    if why == "blocked":
        book.block(mallory.peer_id, "mallory", NOW)
    async with opened(tmp_path / "chat.db") as one:
        lines = [mallory.write("x" * 14_000) for _ in range(75)]
        await one.journal.commit(delivered(*lines))

        me = mallory.peer_id if why == "mine" else ME
        await AuthorSizes(me, one.database, settings, book, told.append).look()

    assert told == []
