"""A runner over a simulated disk that may fail, turned by hand."""

import random

from sync.entries.entry import Kind, Text, encode_text
from sync.entries.identity import verify
from sync.entries.membership import Membership
from sync.errors import StorageError
from sync.group import values
from sync.group.writer import Author
from sync.manager.registry import WAKU_ONLY
from sync.runner.batch import Batch
from sync.runner.runner import Runner
from sync.sim.disk import Disk
from tests.support.sync.entries import CHANNEL
from tests.support.sync.entries import Author as Writer
from tests.support.sync.groups import NOW

LOBBY = Membership(CHANNEL, "lobby", b"", open=True, profile="lan", joined_ns=NOW)


class Driver:
    """Turns a runner over a disk that may fail, as every driver does."""

    def __init__(self) -> None:
        self.writer = Writer("alice")
        self.disk = Disk(self.writer.peer_id, log_number=1)
        self.runner = Runner(self.author(), random.Random(0), protocols=WAKU_ONLY)
        self.runner.add_channel(LOBBY, self.disk.restore())
        self.released: list[values.Effect] = []
        self.reported: list[int] = []
        self.turn()

    def author(self) -> Author:
        me = self.writer
        return Author(me.peer_id, me.identity.sign, verify, lambda: 2)

    def turn(self, now: int = NOW) -> Batch:
        batch = self.runner.turn(now)
        try:
            if batch.records:
                self.disk.commit(batch.records)
        except StorageError:
            self.reported += [
                addressed.event.token
                for addressed in batch.inputs
                if isinstance(addressed.event, values.Write)
            ]
            self.runner.rebuild({CHANNEL: self.disk.restore()})
        else:
            self.released += [release.effect for release in batch.releases]
        return batch

    def write(self, token: int) -> None:
        body = encode_text(Text("alice", f"line {token}"))
        self.runner.queue_input(CHANNEL, values.Write(token, Kind.TEXT, body))

    def written(self) -> list[int]:
        return [effect.token for effect in self.released if isinstance(effect, values.Written)]
