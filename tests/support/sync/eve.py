"""Eve: a peer whose link does what it is told, and who keeps what she receives."""

from sync.machine import MessageId
from sync.sds.message import HistoryEntry, Message
from sync.sds.wire import decode, encode
from tests.support.sync.entries import Author
from tests.support.sync.nodes import HOST, TEA, Host, Station, until


class Eve(Station):
    """A member without machines: says what a test wants, and keeps all that it hears."""

    def __init__(self) -> None:
        super().__init__("eve", "tea")
        self.author = Author("eve", TEA)

    def heard(self) -> list[Message]:
        return [decode(payload) for _, _, payload in self.frames]

    def say(self, payload: bytes) -> None:
        self.mesh.broadcast(TEA, payload)
        self.mesh.flush()

    def ask_for(self, message_id: MessageId, sender: Host) -> None:
        """Send a sync message that asks for a message of `sender`."""
        wanted = HistoryEntry(message_id, None, sender.me)
        asking = Message(self.me, MessageId("e5" * 32), TEA, self.clock.now(), (), None, (wanted,))
        self.say(encode(asking))


async def joined(eve: Eve, other: Host) -> None:
    await eve.mesh.connect(HOST, other.port)
    await until(lambda: eve.shared, "eve is in the channel")
