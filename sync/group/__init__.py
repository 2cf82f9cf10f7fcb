"""One channel: one ingest path, the machines of that channel, their effects mapped together.

- `values`: inputs, effects, the records a journal keeps, the state it gives back.
- `ingest`: from bytes to a checked entry (DESIGN 4, "One way in").
- `author_log`: our own log in the channel: seq, backlink, skiplink.
- `sessions`: the Waku Sync sessions of the channel.
- `group`: the machine.
"""
