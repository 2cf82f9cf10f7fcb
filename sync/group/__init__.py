"""One channel: one ingest path, the machines of that channel, their effects mapped together.

- `records`: what a journal keeps, and the state it gives back.
- `values`: inputs and effects, the records among them.
- `ingest`: from bytes to a checked entry (DESIGN 4, "One way in").
- `parked`: entries stamped in the future, until their time.
- `author_log`: our own log in the channel: seq, backlink, skiplink.
- `writer`: who writes here, and our own entries until others have them.
- `typists`: who is typing.
- `mapping`: the effects of SDS, as effects of the group.
- `holdings`: what the channel holds, as reconciliation sees it.
- `loading`: history on its way, and what waits for it.
- `session_values`: inputs and effects of sessions.
- `rounds`: payloads of a session, as they are shown.
- `session`: one Waku Sync session.
- `grace`: sessions that are over, and may still receive.
- `sessions`: the Waku Sync sessions of the channel.
- `group`: the machine.
"""
