"""SDS, Scalable Data Sync: causal delivery over unreliable broadcast; SDS-R repairs it.

Where each section of the two specifications is, and which `tests/sync/sds/test_*.py` prove it.
Every single rule, with its function and its test, is in `tests/sync/sds/sds_map.md`.

| SDS | function | tests |
|---|---|---|
| Design Assumptions | `Broadcast`, `Retrieve` | scenarios, repair_bounds |
| Wire protocol | `wire.encode`, `wire.decode`, `Message.kind` | wire, channel |
| Participant state | `Channel`, `Outgoing`, `Incoming`, `OrderedLog` | channel, log |
| Protocol Steps | `Channel.handle` | stateful |
| Send Message | `Channel.next_lamport`, `Log.history_with`, `Outgoing.add` | channel |
| Receive Message | `Causal.admit`, `Causal._unknown`, `Incoming.hold` | channel, incoming |
| Deliver Message | `Causal._deliver`, `OrderedLog.insert` | channel, log |
| Resolve Conflicts | `OrderedLog.insert` | log |
| Review ACK Status | `Outgoing.acknowledge`, `Outgoing.hint`, `Probes.hits` | acknowledge |
| Periodic Incoming Buffer Sweep | `Incoming.arrived`, `Incoming.give_up` | incoming |
| Periodic Outgoing Buffer Sweep | `Outgoing.sweep`, `Channel._sweep_outgoing` | acknowledge |
| Periodic Sync Message | `SyncTimer`, `Channel._sync_if_due`, `Log.sync_history` | timing |
| Ephemeral Messages | `SendEphemeral`, `EphemeralArrived` | channel |

| SDS-R | function | tests |
|---|---|---|
| Protobuf Schema Modifications | `HistoryEntry.sender_id`, `Message.repair_request` | wire |
| Additional Participant State | `Asking`, `Answering`, `events.Answer` | asking, answering |
| Global Configuration | `Window.of`, `repair.response_groups`, `Participants.count` | repair |
| Calculate T_req | `Window.request_delay` | repair |
| Calculate T_resp | `Window.response_delay` | repair, answering |
| Determine Response Group Membership | `repair.is_in_response_group` | repair, answering |
| When SENDING a Message | `Repairs.ask`, `Asking.ask` | repairs, asking |
| When RECEIVING a Message | `Asking.want`, `Asking.heard`, `Answering.requested` | repairs |
| Outgoing Repair Request Buffer Sweep | `SyncTimer.ask_at`, `Channel.deadline` | repairs |
| Incoming Repair Request Buffer Sweep | `Answering.due`, `Repairs.answer` | repairs, answering |
| Periodic Sync Messages with SDS-R | `SyncTimer.ask_at`, `Channel._sync_if_due` | repairs |
| Hash Function | `repair.digest` | repair |
| Participant ID Format | `repair.digest`, `Window.response_delay` | repair |
| Memory Management | `asking.REQUESTS_MAX`, `answering.ANSWERS_MAX` | standing_in_line, answering |
| Edge Cases to Handle | `Causal._unknown`, `Incoming.give_up` | repairs, repair_bounds |
| Typo to Fix | D19 | |
| Testing Scenarios | `Repairs` | scenarios, repair_bounds |
| Modified State from Base SDS | `Repairs`, `Log.insert` | stateful, channel |
| Unchanged from Base SDS | `Channel.next_lamport`, `OrderedLog.insert` | channel, stateful |
| Performance Recommendations | `IdTable.find`, `Asking.deadline`, `Asking._back_off` | asking |
| Security Assumptions | `Answering.requested` | answering, repairs |

How we read them and where we differ; the reasons at length are in DECISIONS.md:

- D1 `lamport_timestamp` is a uint64 of milliseconds: an int32 cannot hold the time since the epoch.
- D2 Filters never acknowledge, however many hold a message: false positives coincide.
- D3 A sync message names up to 16 messages, first those whose authors do not know yet that we have
  them. It is accepted only on its sender's own link, and nothing of it is kept.
- D4 Where dependencies stay away a message is delivered after a gap, and marked so. A message given
  up as lost is taken in whenever it comes, and asked for again whenever somebody names it.
- D5 A T_req beyond now + T_max is no reason to forget a request: it is one that was made and waits
  to be made again, ever later. It is dropped when the message comes or is given up.
- D6 Answers come from the whole history, on the disk: who was away for a day lacks what is older
  than T_max. Nothing is cached, so nothing is kept only for those likely to answer.
- D7 Nothing is evicted from a full buffer: the oldest request is the next to be made. A new one
  waits in line for its turn; an answer beyond the limit is not planned, its requester asks again.
- D8 A request that somebody else makes is not forgotten but made later, in case the answer is lost.
- D9 An answer carries neither the filter nor the request its message once had: both are outdated.
- D10 The hash is the first 8 bytes of SHA-256, as the guide recommends and `@waku/sds` does.
- D11 There are `n div 128` response groups and at least one (guide), not one more (later text).
- D12 They are halved for a message each time it is requested again after T_max: its only holder may
  be outside of the group.
- D13 A message that waits for its dependencies is on our disk and is given to whoever requests it.
- D14 Who is in a response group is worked out each time: two SHA-256 take 1.5 us.
- D15 A message is answered once in T_max, and a requester causes so many answers a second at most.
- D16 Filters and requests count only on the link of who made them: anything else may be forged, and
  an old copy says nothing of today.
- D17 Every participant id is hashed to an integer, as in `@waku/sds`; ours are hexadecimal keys.
- D18 Nothing is swept every few seconds: heaps and an index tell when, to the nanosecond.
- D19 The misprint is in a text that is not ours.
- D20 A message stamped in the future is kept aside: it counts as received when its time has come.
- D21 Every conversation is a channel with an id of its own.
- D22 T_min and T_max are the guide's in the `waku` profile. On a LAN they are 1 s and 6 s, and
  T_max grows with those who may answer.
- D23 We answer up to one step after T_resp: it takes only multiples of gcd(H(message id), T_max),
  so for some messages a dozen people would answer in the same millisecond.
- D24 What is unacknowledged is sent again five times, then failed (Reliable Channel API); possibly
  acknowledged ones ever later, up to once a day: some clients name only two messages at a time.
- D25 Who may answer, and when, follows from the author we stored, not from the one that a request
  names. Nobody leaves the asking to a request that names none, nor twice to the same peer.
- D26 From the third asking on it takes more than one answer of others to silence ours: the author's
  may not get through to whoever asks.
- D27 Room for what is missing, and turns in asking for it, are shared by the links names came on.
- D28 Filter and request beside a message that waits (parked, or for history) count when it comes;
  its causal history does when it takes its place.
- D29 Content messages build on nothing that came on one link faster than anybody reads (20 a s)
  until it is over for a minute: they would wait wherever that waits. Sync messages name it. Nor on
  what was delivered for want of room before the time for what it names was over, until it is; on a
  start all that follows a gap may be such.
"""
