"""A member of a world who is hostile in its governed channel, beside what its engine does."""

import hashlib
import random
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from sync.entries.entry import Entry, Header, Kind, Text, encode_text, seal
from sync.group import values
from sync.group.ingest import message_of
from sync.machine import MILLISECOND
from sync.sds.wire import encode
from sync.sim.governance.codes import governing_of
from sync.sim.governance.hostile_acts import ACTS, Mind, SayHeartbeat, SayLine, SayOp
from sync.sim.world import World


@dataclass(slots=True)
class HostileMember:
    """Says what `hostile_acts` draw, on the links that a node has; `done` counts its acts."""

    world: World
    number: int
    rng: random.Random
    done: Counter[str] = field(default_factory=Counter)
    last: Entry | None = None
    """The line that it signed last."""

    def act(self, name: str) -> None:
        """Do one of its acts now, if it is up and knows the channel."""
        world, node = self.world, self.world.nodes[self.number]
        if node.runner is None or world.governed is None:
            return
        governance = governing_of(world, self.number).governance
        if not governance.dag.acts:
            return
        known = [act.id for act in governance.dag.acts]
        contents = node.disks[world.governed].load_ops(known)
        self.done[name] += 1
        for deed in list(ACTS[name](Mind(self.rng, node.identity, governance, contents))):
            match deed:
                case SayOp(content):
                    world.say_of_governance(self.number, values.SendOp(content))
                case SayHeartbeat(payload):
                    peers = tuple(world.nodes[one].identity.peer_id for one in sorted(node.joined))
                    world.say_of_governance(self.number, values.SendHeartbeat(peers, payload))
                case SayLine():
                    world.send(self.number, self._line(deed), sorted(node.joined), world.governed)

    def _line(self, deed: SayLine) -> bytes:
        """Return a line that is rightly signed, in a log of its own or after the last one."""
        world, identity = self.world, self.world.nodes[self.number].identity
        assert world.governed is not None
        body = encode_text(Text("mallory", f"hostile {self.rng.random()}"))
        before = self.last if deed.follows else None
        header = Header(
            author=identity.peer_id,
            channel_id=world.governed,
            log=self.rng.getrandbits(63) if before is None else before.header.log,
            seq=1 if before is None else before.header.seq + 1,
            backlink=None if before is None else before.message_id,
            skiplink=None,
            created_ns=world.now,
            lamport=world.now // MILLISECOND + (before is not None),
            parents=(),
            kind=Kind.TEXT,
            body_size=len(body),
            body_hash=hashlib.sha256(body).digest(),
            governance=deed.heads,
        )
        self.last = seal(header, body, partial(world.sign, self.number))
        return encode(message_of(self.last))
