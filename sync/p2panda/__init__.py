"""p2panda replication.

Where each section of the specification lives. Announcements are sent by `sync.manager.announcing`,
sessions are begun by `sync.manager.schedule` and run by `sync.sessions`.

| section | here |
|---|---|
| CBOR for all replication messages | `cbor.encode`, `cbor.decode` |
| 1 Announcement | `announcements.Announcements`, `announcements.next_counter` |
| Announce, SyncRequest, Entry, SyncDone, Have | `messages`, `messages.encode`, `messages.decode` |
| 2.1 (PublicKey, LogId, SeqNum) in lexical order | `bounds.Place`, `heads.Heads` |
| Range-based set reconciliation | `set_reconciliation.Reconciliation` and its `Policy` |
| lifting monoid | `heads.lift`, `heads.Heads.fingerprint` |
| EmptySet right from the beginning | `set_reconciliation.Reconciliation.begin` |
| 2.2 what to do with a Payload | `set_reconciliation.Reconciliation._on_height` |
| logs that were never mentioned | `set_reconciliation.Reconciliation._end` |
| Log Height Mode | `log_heights.compare` |
| 2 lifetime of a session, SyncDone | `session.Exchange`, by the table of `states` |
| Entry, its header and its operation | `entries.entry_message`, `entries.open_entry` |
| in which order entries are sent | `sending.Sending` |
| live mode | `session.Exchange.stored`, `session.Exchange.leave`; who asks: `sync.group.relays` |

How we read what it leaves open:

- A Have is grouped by author, keys are bytes: as the public node has it, not the flat list of text.
- A fingerprint has 16 bytes: the sum modulo 2**128 of the XXH3 hashes of 128 bits over the CBOR of
  [key, log, height]. Whoever chooses heights can make sums equal; the check afterwards proves.
- Heights begin at 1. Schema ids rise, in announcements too.
- [x, x) is the whole circle. Every batch tiles it; a batch is over with Terminal, EmptySet stands
  alone and is the first message of its side.
- A batch needs an answer if it has a Fingerprint, an EmptyPayload, or a Payload with
  `can_respond`. Neighbouring `Done` become one.
- A codec carries requests of several channels, unknown modes, other versions, and entries without
  operation; the machines and sessions say no to them.

- A stream carries one session of one channel. Who is asked for what it did not announce closes it.
- Entries leave in the order (lamport, id) over all logs, of what is known to be lacking by then.

Where we differ:

- A bound is a place: its key may be cut to what tells neighbours apart (0 to 32 bytes, then log and
  height are 0). Whole keys are understood. It halves the bytes.
- Heights of a range are answered by all of ours there, also by equal ones: otherwise a log that is
  equal on both sides could not be told from one that is not there, and would be sent whole.
- After SyncDone of both, the check of all sessions (`sync.check`) proves what both hold; what it
  finds above holes and of forks is pushed by id, as Waku Sync pushes.
- Pushing to who announced, beside a session, is SDS's broadcast; QUIC and libp2p are TCP and Noise.
- A range without anything of ours is answered by Done, also if heights of it just came.
"""
