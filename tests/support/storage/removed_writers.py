"""A governed channel whose writer mallory was removed, as profiles of two people hold it."""

from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from sync.calimero.governance.pending import Dropped
from sync.entries.membership import Membership
from sync.group.records import SetDropped, StorePending
from sync.group.values import StoredMessage
from sync.machine import ChannelId
from tests.support.storage.exports import Owner
from tests.support.storage.governed_stores import author, channel_of, kept
from tests.support.storage.stores import delivered, membership
from tests.support.sync.governed import History


@dataclass
class RemovedWriter:
    """Lines of bob and of mallory, who was removed after her first one."""

    history: History = field(default_factory=lambda: History("alice", signing=True))

    def __post_init__(self) -> None:
        history = self.history
        history.add("alice", "bob")
        history.add("alice", "mallory")
        before = list(history.governance.heads)
        history.remove("alice", "mallory")
        after = list(history.governance.heads)
        bob, mallory = author("bob", history), author("mallory", history)
        self.channel: ChannelId = channel_of(history)
        self.first = bob.write("one", lamport=1, governance=before)
        self.hers = mallory.write("in time", lamport=2, governance=before)
        self.lost = bob.write("two", lamport=3, governance=after)
        self.refused = mallory.write("after it", lamport=4, governance=after)
        self.unknown = mallory.write("of nowhere", lamport=5, governance=[b"?" * 32])
        self.last = bob.write("three", lamport=6, governance=after)
        self.end = mallory.write("at the end", lamport=7, governance=after)

    @property
    def room(self) -> Membership:
        return replace(membership(self.channel, "friends"), genesis=self.history.founded.id)

    async def alice(self, data_dir: Path, *lines: StoredMessage) -> Owner:
        """A profile that holds these lines, and let in none of those that mallory might not write.

        One of them waits for its cut.
        """
        owner = Owner(data_dir, "alice")
        dropped = [
            SetDropped(self.channel, one.entry.message_id, Dropped.REMOVED)
            for one in (self.refused, self.end)
        ]
        waiting = StorePending(self.unknown)
        records = [*kept(self.history), *delivered(*lines), *dropped, waiting]
        await owner.hold(records, [self.room])
        return owner

    async def mallory(self, data_dir: Path) -> Owner:
        """The profile of mallory, who has all lines."""
        owner = Owner(data_dir, "mallory")
        lines = [self.first, self.hers, self.lost, self.refused, self.unknown, self.last, self.end]
        await owner.hold([*kept(self.history), *delivered(*lines)], [self.room])
        return owner
