"""Opening a profile for a first paint: history is read, and little is imported for it."""

import asyncio
import subprocess
import sys
from pathlib import Path

from chat_tui.client.live import Client
from chat_tui.client.setup import Setup
from storage.sqlite.journal import SqliteJournal
from tests.support.storage.stores import delivered
from tests.support.sync.entries import Author

OPENS = """
import asyncio, sys
from pathlib import Path
from chat_tui.client.live import Client
from chat_tui.client.setup import Setup

async def read():
    client = await Client.open(Setup(Path(sys.argv[1]), "reader"))
    try:
        lines = await client.history.page(client.first_channel, before=None, limit=50)
        print(*[line.text for line in lines])
    finally:
        await client.close()

asyncio.run(read())
print("\\n".join(sys.modules))
"""
NOT_LOADED = {
    "google.protobuf.descriptor",
    "cryptography.hazmat.backends.openssl.backend",
    "sync.sds.wire",
    "tomllib",
}


async def keep_lines(place: Path) -> None:
    """Make a profile that has lines of somebody else."""
    client = await Client.open(Setup(place, "reader"))
    channel = client.first_channel
    assert channel is not None
    bob = Author("bob", channel)
    journal = SqliteJournal(client._database, client.identity.peer_id)
    await journal.commit(delivered(bob.write("one"), bob.write("t\u0171\u0151")))
    await client.close()


def test_plain_lines_are_read_without_protobuf_and_without_the_key_of_links(
    tmp_path: Path,
) -> None:
    asyncio.run(keep_lines(tmp_path))

    output = subprocess.run(
        [sys.executable, "-c", OPENS, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert output[0] == "one t\u0171\u0151"
    assert not NOT_LOADED & set(output)
