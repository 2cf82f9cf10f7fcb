"""The network side of a live chat: all that a first paint does without (machines, numpy, mDNS).

Rule: whoever is needed for a first paint imports this only where the network is really needed.
"""

from collections.abc import Callable
from pathlib import Path

from storage.profile.channel_keys import ChannelKeys
from storage.sqlite.database import Database
from storage.sqlite.journal import SqliteJournal
from sync.entries.identity import Identity
from sync.net.clock import Clock
from sync.net.node import Node
from sync.net.options import Options
from sync.net.trace import Trace
from sync.view.view import Event


def node_of(  # all that a node is made of
    identity: Identity,
    database: Database,
    options: Options,
    listener: Callable[[Event], None],
    trace: Path | None,
    clock: Clock,
) -> Node:
    """Return the node of a profile, which is not on the network yet.

    Raises:
        LocalError: the trace cannot be written.
    """
    journal = SqliteJournal(database, identity.peer_id)
    keys = ChannelKeys(database)
    return Node(identity, journal, options, listener, Trace(trace), clock, keys=keys)
