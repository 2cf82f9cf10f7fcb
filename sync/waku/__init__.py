"""Waku Sync: two peers exchange messages that only one has.

Where each section of the specification lives:

| section | here |
|---|---|
| Wire protocol, Range, RangeBounds, RangeType, ItemSet | `message.RangesData`, `ranges.Ranges` |
| SyncID | `sync.structures.sorted_run.SyncId`, `message.sync_id`, `message.deterministic_hash` |
| Fingerprint | `sorted_run.Xor`, `ordered_set.OrderedSet.fingerprint` (`sync.structures`) |
| Payload encoding, Delta encoding for Ranges | `wire.encode_ranges`, `wire.decode_ranges` |
| Varint encoding | `sync.structures.codec.encode_uvarint`, `sync.structures.codec.Reader.uvarint` |
| Delta encoding for sequential SyncIDs | `writing.encode_bound`, `reading.read_bound` |
| Delta encoding for ItemSets | `writing._Sets`, `reading.Walk` |
| Initial Message | `reconcile.Reconciliation._begin` |
| Responding to a `RangesData` payload | `answerer.Answerer`, `together.answered` |
| divide it into subranges | `division.Divider`, `sync.structures.ordered_set.OrderedSet.split` |
| Transfer Protocol | `transfer.Transfer` (what is let in); who holds the messages pushes them |
| Transfer Protocol, Wire specification | `wire.encode_transfer`, `wire.decode_transfer` |
| Cluster & Shards | `message.CLUSTER`, `message.shard`, `reconcile.Reconciliation._matches` |
| Parameters | `division.Parameters` |
| (ours) The check afterwards | `sync.check`, `sync.structures.set_digest` |
| Storage | `sync.structures.ordered_set.OrderedSet` |

How we read what it leaves open:

- R1 The first range always begins at 0, so a window that begins later is a leading `Skip`.
- R2 An empty item set is the count 00 followed by the `reconciled` byte.
- R3 The first bound is encoded against (0, 0): its hash is sent only if its timestamp is 0.
- D7 A delta-encoded hash loses the bytes after the first difference. A bound is therefore
  shortened first and fingerprinted second (`ordered_set.shortened`), and where ranges are merged
  the bounds between them are put back one by one (`ordered_set.rungs`).
- Adjacent `Skip` ranges of an answer are merged. Where only `Skip` would be answered, the payload
  is empty, and ends the session for both; one of `Skip` alone, as others send it, does too. An
  empty first answer with another header, or with no bytes at all, means mismatch.
- The whole channel is [0, 2^63 - 1) ns: timestamps of 14/WAKU2-MESSAGE are signed.
- The shard is taken from the SHA-256 of the channel id's 32 hexadecimal characters.

Where we differ (`division.STRICT` does not do the first two):

- An item set that is not marked `reconciled` is answered around the differences only, by item sets
  that are: what lies between is `Skip`. Whoever answers ranges one by one understands it.
- Item sets next to each other become one.
- A payload stays within 1 MiB and 16,384 ids. A range whose items no longer fit goes back as a
  fingerprint; of an item set that asks for more than fits the beginning is answered, and the rest
  goes back as a fingerprint; a payload with no room for another range ends with one fingerprint
  over all that is left. Any peer that answers ranges one by one copes; we go on there with what it
  had said before (`backlog.Backlog`), and do not begin anew at the top.
- Where both sides have said that they know it (`payloads_max` in the proofs that open the stream),
  an answer may have several payloads: all but the last end before the window does, and the next one
  is `Skip` up to there (`turn.Turn`). A payload without ranges still ends the session.
- Fingerprints are never answered by an item set marked `reconciled`, which other implementations
  do where they hold nothing: it saves a round, but we would not learn what we lack.
- An XOR fingerprint is no proof: 257 hashes always contain a subset that XORs to zero, so who
  chooses messages can make two different sets look equal. After a session, on a stream of its own
  (`/chat-tui/sync-check/1`), both sides therefore compare count and SHA-256 of the set they then
  should hold in common, bound to fresh salts of both; where these differ they descend through time
  buckets to the ids themselves. Retention floors, of which the specification knows nothing, travel
  there too: only what neither side may have dropped is compared. A peer that does not know the
  stream can be synced with as ever, but nothing it says acknowledges a message.
- A bound whose hash is longer than its first difference, and elements outside their range, are
  refused.
"""
