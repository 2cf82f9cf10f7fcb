"""Links to peers: from the Noise cipher up to the mesh of all links, and the streams of sessions.

From the bottom up: `noise` (the cipher), `handshake` (proves identities), `stream` (TCP), `frames`
(contents of a link), `channel_proofs` (the channels both ends share), `link`, `mesh`.
"""
