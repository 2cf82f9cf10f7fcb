"""An export of format 1.3, the first with replies, as it was written then: import reads it."""

import random
from pathlib import Path

from storage.archive.importer import Importer
from storage.archive.reader import Archive
from sync.entries.identity import verify
from sync.group import writer
from sync.machine import MILLISECOND, ChannelId
from tests.support.storage.stores import OWN_LOG, membership, opened
from tests.support.sync.entries import identity

FROZEN = Path("tests/vectors/exports/1.3-replies")
CHANNEL = ChannelId("4bd7ba79d4cbf16da21c07a16e41fddc")
NOW = 1_800_000_000_000 * MILLISECOND

ANSWERED = {
    "who brings the cable?": None,
    "I do": "who brings the cable?",
    "and I the table": "who brings the cable?",
    "thank you": "I do",
    "when?": None,
    "at three": "thank you",
    "all of it is on paper": None,
    "yes": "who brings the cable?",
    "good": None,
}


async def test_what_answers_what_is_imported(tmp_path: Path) -> None:
    me, ours = identity("me"), membership(CHANNEL, "sim")
    author = writer.Author(me.peer_id, me.sign, verify, lambda: 77)
    async with opened(tmp_path / "chat.db") as store:
        await store.members.add_channel(ours, OWN_LOG)
        importer = Importer(author, store.journal, random.Random(0), NOW)
        came = await importer.import_rows(Archive.find(FROZEN), [ours], lambda _: None)
        lines = await store.history.page(CHANNEL, before=None, limit=20)
        asked = next(line for line in lines if line.text == "who brings the cable?")
        answers = await store.history.answers(CHANNEL, asked.message_id, limit=20)

    texts = {line.message_id: line.text for line in lines}
    told = {line.text: line.reply_to and texts[line.reply_to] for line in lines}
    assert (came.new, came.refused.total()) == (9, 0)
    assert told == ANSWERED
    assert sorted((line.text, depth) for line, depth in answers.lines) == [
        ("I do", 1),
        ("and I the table", 1),
        ("at three", 3),
        ("thank you", 2),
        ("yes", 1),
    ]
