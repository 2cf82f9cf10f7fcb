"""A group of nodes in one thread: real engines, a virtual clock, a seeded network.

- `timeline`: the time, and what happens when.
- `disk`: a journal in memory that a crash takes back to its last commit.
- `network`, `links`: loss, delay, duplication, reordering, partitions; who hears whom.
- `node`, `streams`: participants, and the reliable streams between them that can be cut.
- `gate`, `signatures`: each frame decoded, and each signature checked, once for all who receive it.
- `outlet`, `inlet`: what nodes let out, carried out; what arrives at them.
- `people`: what they have their programs do.
- `hostile`: members who break the rules, and their acts.
- `clocks`: wall clocks, and how nodes hear of each other's.
- `world`: the nodes, turned by the same runner as live ones, and what happens to them.
- `invariants`, `checks`: I1 to I9 of PROTOCOL 9, asserted while a world runs and at its end.
- `measure`: latency, what was sent, what was lost and how it was repaired.
- `scenario`: a whole run in one value, and what came of it.
- `store`: a node that keeps everything, to fetch from.
- `view`: a participant as the screen sees it.
"""
