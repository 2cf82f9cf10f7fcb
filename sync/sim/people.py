"""People at the nodes of a world, who have their programs write, change, set and govern."""

from collections.abc import Sequence

from sync.calimero.governance.ops import Op
from sync.calimero.state.contents import Content, StateKind
from sync.entries import changes
from sync.entries.changes import Change
from sync.entries.entry import Kind, Text, encode_text
from sync.errors import LocalError
from sync.group import values
from sync.machine import ChannelId, MessageId
from sync.sim.disk import Disk
from sync.sim.node import Node
from sync.sim.rooms import FeedChannel


class People:
    """All of them; nothing comes of what they do at a node that is down.

    Args:
        feed: gives a node an input of a channel.
    """

    def __init__(self, feed: FeedChannel) -> None:
        self._feed = feed
        self._tokens = 0

    def write_text(
        self, node: Node, text: str, channel: ChannelId, reply_to: MessageId | None
    ) -> None:
        """Write a line, which may answer one on the node's disk.

        Raises:
            LocalError: that one is not there.
        """
        if reply_to is not None and reply_to not in node.disks[channel].rows:
            raise LocalError(changes.NOT_HERE)
        if node.runner is None:
            return
        token = self._next_token()
        body = encode_text(Text(f"node{node.number}", text, reply_to=reply_to or ""))
        about = () if reply_to is None else (node.disks[channel].load(reply_to).named,)
        self._feed(node, values.Write(token, Kind.TEXT, body, about), channel)

    def change(self, node: Node, change: Change, channel: ChannelId) -> None:
        """Edit, hide or react to a message that is on the node's disk.

        Raises:
            LocalError: it is not there, or over a limit.
        """
        body = changes.encode(change)
        disk = node.disks[channel]
        if change.target not in disk.rows:
            raise LocalError(changes.NOT_HERE)
        if node.runner is None:
            return
        about = (disk.load(change.target).named,)
        write = values.Write(self._next_token(), changes.kind_of(change), body, about)
        self._feed(node, write, channel)

    def write_anew(self, node: Node, channel: ChannelId, message_ids: Sequence[MessageId]) -> None:
        """Write again, as messages of now, what was set aside."""
        disk = node.disks[channel]
        for message_id in message_ids:
            for one in changes.anew(disk.load(message_id).entry):
                named = one.about is not None and (
                    one.kind != Kind.TEXT or _is_delivered(disk, one.about)
                )
                about = (disk.load(one.about).named,) if named and one.about else ()
                write = values.Write(self._next_token(), one.kind, one.body, about, one.replaces)
                self._feed(node, write, channel)

    def set_state(
        self, node: Node, kind: StateKind, content: Content | None, name: bytes, channel: ChannelId
    ) -> None:
        """Set a register, or take back what it says."""
        if node.runner is not None:
            told = values.SetState(self._next_token(), kind, content, name)
            self._feed(node, told, channel)

    def act(self, node: Node, op: Op, channel: ChannelId) -> None:
        """Govern; without the right, nothing comes of it."""
        if node.runner is not None:
            self._feed(node, values.Act(self._next_token(), op), channel)

    def _next_token(self) -> int:
        self._tokens += 1
        return self._tokens


def _is_delivered(disk: Disk, message_id: MessageId) -> bool:
    row = disk.rows.get(message_id)
    return row is not None and row.status is values.Status.DELIVERED
