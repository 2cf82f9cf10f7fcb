"""SDS, Scalable Data Sync: reliable causal delivery over an unreliable broadcast.

Where each section of the specification is:

| section | function |
|---|---|
| Wire protocol | `message.Message`, `wire.encode`, `wire.decode` |
| Participant state | `channel.Channel`, `history.Log`, `acknowledge.Outgoing`, `incoming` |
| Send Message | `channel.Channel._on_send`, `history.Log.content_history` |
| Receive Message | `channel.Channel._on_received`, `channel.Channel._admit`, `incoming.Incoming` |
| Deliver Message | `channel.Channel._deliver` |
| Resolve Conflicts | `history.Log.insert` |
| Review ACK Status | `channel.Channel._review_acks`, `acknowledge.Outgoing` |
| Periodic Incoming Buffer Sweep | `channel.Channel._sweep_incoming`, `incoming.Incoming.give_up` |
| Periodic Outgoing Buffer Sweep | `channel.Channel._sweep_outgoing`, `acknowledge.Outgoing.sweep` |
| Periodic Sync Message | `timing.SyncTimer`, `history.Log.sync_history` |
| Ephemeral Messages | `events.SendEphemeral`, `events.EphemeralArrived` |

Deviations, with their reasons in DECISIONS.md: `lamport_timestamp` is uint64 and milliseconds; a
filter never acknowledges; sync messages name up to 16 messages, those owed an acknowledgement first
or else the newest, and are accepted only on their sender's own link; a message is delivered after a
gap when its dependencies stay away. SDS-R, the repair extension, is not built yet: what is missing
is fetched by Waku Sync.
"""
