"""The live driver: sockets, discovery and the clock of the running node.

One secure stream from bottom to top: `noise` (the cipher), `handshake` (who is it), `stream` (TCP),
`frames` (what is said on it), `membership` (which channels both sides share).
"""
