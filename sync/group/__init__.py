"""One channel: the one way in, its machines, their effects mapped together.

- `records`: what a journal keeps, and the state it gives back.
- `values`: inputs and effects, the records among them; `op_values`: those about governance.
- `ingest`: from bytes to a checked entry (PROTOCOL 3, "One way in").
- `reference`, `clock_values`: the channel's reference clock.
- `aside`, `future_entries`: entries stamped in the future, until their time.
- `author_log`: our own log in the channel: seq, backlink, skiplink.
- `writer`: who writes here, and our own entries until others have them.
- `typing_notices`: who is typing.
- `sds_mapping`: the effects of SDS, as effects of the group.
- `history_loading`: history on its way, and what waits for it.
- `machines`: the machines of a channel, held together.
- `inputs`: how each kind of input is taken in, by subject.
- `group`: the machine: every input, and what follows from it.
"""
