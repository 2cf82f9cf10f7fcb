"""Signatures that the nodes of a world make, remembered so that none is worked out again."""

from dataclasses import dataclass, field

from sync.entries import identity
from sync.machine import PeerId


@dataclass(slots=True)
class Signatures:
    """All that were made, by signer and signed bytes."""

    _made: dict[tuple[PeerId, bytes], bytes] = field(default_factory=dict)

    def sign(self, who: identity.Identity, data: bytes) -> bytes:
        """Sign, and remember who signed what."""
        signature = who.sign(data)
        self.remember(who.peer_id, signature, data)
        return signature

    def remember(self, peer: PeerId, signature: bytes, data: bytes) -> None:
        """Take a signature for one that was made here."""
        self._made[peer, data] = signature

    def knows(self, peer: PeerId, signature: bytes, data: bytes) -> bool:
        """Return whether a signature over these bytes was made here."""
        return self._made.get((peer, data)) == signature

    def verify(self, peer: PeerId, signature: bytes, data: bytes) -> bool:
        """Check a signature; one that was made here over these bytes needs no arithmetic.

        A key makes one signature over the same bytes, and checking one takes 100 us, half of what
        a message takes otherwise.
        """
        return self.knows(peer, signature, data) or identity.verify(peer, signature, data)
