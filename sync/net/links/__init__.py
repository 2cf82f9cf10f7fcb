"""Links to peers, from Noise to the mesh of all, and session streams.

From the bottom up: `noise` (the cipher), `handshake` (proves identities), `stream` (TCP), `frames`
(contents of a link), `channel_proofs` (the channels both ends share), `link`, `mesh`.
"""
