"""A whole group of nodes in one thread: real engines, a virtual clock, a seeded network.

- `disk`: a journal in memory that a crash takes back to its last commit.
- `network`: loss, delay, duplication, reordering, partitions.
- `node`, `streams`: participants, and the reliable streams between them that can be cut.
- `world`: the nodes, turned by the same runner as live ones, and what happens to them.
- `invariants`: I1 to I7 of DESIGN 8, asserted while a world runs and at its end.
- `scenario`: a whole run in one value, and what came of it.
"""
