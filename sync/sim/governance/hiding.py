"""Redactions by which an admin hides lines of others, by the ops on a simulated disk."""

from collections.abc import Mapping

from sync.calimero.governance.governance import Governance, TakenOp
from sync.calimero.governance.ops import GroupId, Key, OpId, Verdict
from sync.calimero.governance.verdicts import Doing, verdict_at_cut
from sync.calimero.governance.wire import decode
from sync.entries.entry import Entry
from sync.group.records import StoredOp
from sync.machine import ChannelId


def governance_of(channel: ChannelId, ops: Mapping[OpId, StoredOp]) -> Governance:
    """Return the governance of a channel by the ops on a disk."""
    governance = Governance(GroupId(bytes.fromhex(channel)))
    governance.restore(TakenOp(decode(one.content), one.judgement) for one in ops.values())
    return governance


def hides(ops: Mapping[OpId, StoredOp], redaction: Entry) -> bool:
    """Return whether the author of a redaction was an admin at the cut that it names."""
    header = redaction.header
    if not header.governance or not ops:
        return False
    governance = governance_of(ChannelId(header.channel_id), ops)
    heads = tuple([OpId(head) for head in header.governance])
    author = Key(bytes.fromhex(header.author))
    return verdict_at_cut(governance, author, heads, Doing.HIDE) is Verdict.YES
