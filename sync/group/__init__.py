"""One channel: one ingest path, the machines of that channel, their effects mapped together.

- `records`: what a journal keeps, and the state it gives back.
- `values`: inputs and effects, the records among them.
- `ingest`: from bytes to a checked entry (DESIGN 4, "One way in").
- `parked`: entries stamped in the future, until their time.
- `author_log`: our own log in the channel: seq, backlink, skiplink.
- `mapping`: the effects of SDS, as effects of the group.
- `sessions`: the Waku Sync sessions of the channel.
- `group`: the machine.
"""
