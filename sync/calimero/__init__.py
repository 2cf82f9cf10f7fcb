"""Calimero: governance, and the state of a channel.

Governance is a signed history of who is in; state is what a channel knows besides its lines. Where
each section of the specification lives: machines and functions without IO.

| section | here |
|---|---|
| Group Governance Sync: SignedGroupOpV1 | `governance.ops`, `governance.wire` |
| ingress: signature | `governance.signing.open_op` |
| ingress: capability | `governance.rights.judge` |
| ingress: parent hashes | `governance.governance.Governance.receive`, `governance.waiting` |
| DagStore, DagState, dag_heads | `governance.dag.Dag` |
| OpLog, in RocksDB there | `storage.sqlite.governance` |
| Projection-Authoritative Membership | `governance.projection.Projection` |
| handle_state_delta, MembershipReject | `sync.group.inputs.admission.judge` |
| DeltaContext; Cut: the heads that an entry names | `governance.projection.Heads` |
| refresh_projection_for_cut | `governance.verdicts.refresh_projection_for_cut` |
| projection_member_at_cut | `governance.verdicts.projection_member_at_cut` |
| the same, authoritative | `governance.verdicts.projection_member_at_cut_authoritative` |
| Divergence Cross-check | `governance.acl_view.Definition`, `governance.cross_check.CrossCheck` |
| Inbound-Sync Peer Authorization | `governance.verdicts.peer_is_group_member` |
| unified_projection_divergence | `governance.cross_check.Divergence` |
| its planes | `governance.verdicts.Plane` |
| drain_governance_pending | `governance.pending.Pending.drain_governance_pending` |
| member_at_cut_authoritative | `governance.verdicts.projection_member_at_cut_authoritative` |
| Metric Changes: removed, never_member, not_member | `governance.outcomes.Dropped` |
| Heartbeat Comparison | `governance.catch_up.heartbeat`, `governance.catch_up.lacking` |
| GroupStateHeartbeat: group_id, dag_heads, op_count | `governance.catch_up.GroupStateHeartbeat` |
| when to tell, and when to ask | `sync.group.heartbeats.Heartbeats` |
| Stream Catch-Up | `governance.catch_up.owed`, `governance.catch_up.page` |
| GroupDeltaRequest: group_id, known_heads | `governance.catch_up.GroupDeltaRequest` |
| GroupDeltaResponse: ops, has_more | `governance.catch_up.GroupDeltaResponse` |
| the ops that a peer may have | `sync.group.governing.Governing.on_request` |
| Transport: StreamMessage, InitPayload, OpaqueError | `message`, `wire` |
| MessagePayload: the kinds of messages | `message.Payload` |
| Borsh | `sync.structures.borsh` |
| handle_opened_stream, the streams of catch-ups | `sync.net.links.catch_ups.CatchUps` |
| namespace_current_heads, MembershipRepository::is_member | `governance.governance.Governance` |
| verify_inbound_member | `sync.net.links.levels.Levels` |
| materialization wait | `message.NotMaterialized` |
| Startup Recovery: reload_group_dags | `sync.group.governing.Governing.reload_group_dags` |
| publish_group_op | `sync.group.governing.Governing.publish` |
| GroupTopic | `sync.net.links.mesh.Mesh.send_op` |
| secrets: wrapped, opened | `governance.acts`, `governance.opening`, `sync.net.governance.epochs` |
| joining by a code | `governance.tickets`, `sync.net.governance.entering` |
| observe_peer_identity | `sync.group.governing.Governing.observe_peer_identity` |
| DeltaAuthOutcome: the verdict on a delta | `sync.group.governing.Governing.judge` |
| Protocol Selection | `sync.sessions.selection` |
| SyncHandshake, SyncProtocol | `sync.sessions.handshake`, `handshake` |
| state tree, root_hash, depth | `state.tree.Tree` |
| entities | `state.entry`, `state.contents`, `state.registers.Registers` |
| Hash Comparison: Level Descent, Leaf Transfer | `state.comparing`, `state.exchange` |
| Level-wise: Level Exchange, Batch Diff | `state.comparing.LevelComparison` |
| HashNodes, HashNode; LevelData, LevelBatch | `state.messages` |
| a session of these two | `state.session.Exchange` |
| the same where one side has a floor | `state.common.Introductions`, `state.common.Part` |
| Delta Sync: Bloom Filter Exchange | `log.delta_filter.IdFilter`, `log.delta_asking.DeltaAsking` |
| BloomFilter, BloomData | `log.delta_messages.BloomFilter` |
| Delta Request, DeltaEntries | `log.delta_messages`, `log.delta.DeltaExchange` |
| Subtree Prefetch | `log.delta_messages.Stretch`, `log.delta_sending.DeltaSending` |
| CausalDelta | `sync.entries.entry.Entry` |
| Snapshot: Begin, the source's read snapshot | `log.snapshot.SnapshotSource` |
| Snapshot: Page Streaming | `log.snapshot.SnapshotReceiver`, `log.snapshot_pages.check_page` |
| Chunk Transfer: the staging area | `sync.group.snapshots.values.StageSnapshot` |
| SnapshotChunk, PageData | `log.snapshot_messages` |
| DeltaBuffer, at the receiver | `log.delta_buffer.DeltaBuffer` |
| Snapshot: Replay | `sync.group.snapshots.replay.Replay` |
| Snapshot: Atomic Swap | `sync.group.snapshots.values.SwapSnapshot` |
| the same on the disk | `storage.sqlite.writes.swapping.SqliteSwap` |
| when what arrives waits, and for how long | `sync.group.snapshots.staging.Snapshots` |
| the same for messages | `log.session.Exchange` |
| the messages of a channel, as sessions see them | `log.view.LogView` |
| SyncManager, start | `sync.manager.schedule.Manager` |
| SyncConfig | `sync.sessions.sync_config.SyncConfig` |
| Periodic Tick | `sync.manager.periodic.Periodic` |
| SyncState: root, heads, count, told as a session begins | `log.session`, `state.session` |
| Peer Selection | `sync.manager.peer_selection.PeerSelection` |
| Concurrent Futures, FuturesUnordered, max_concurrent | `sync.manager.slots.Slots` |
| handle_opened_stream, of sessions | `sync.sessions.sessions.Sessions._handle_opened_stream` |
| the next kind after one that failed | `sync.manager.failed_kinds.FailedKinds` |
| back-off; what follows an outcome | `sync.manager.ends.Ends` |
| timeout, and the watchdog | `sync.sessions.session.Session.watched_until` |
| SyncTransport: Framed, LengthCodec, AsyncWrite | `sync.net.links.stream.SecureStream` |
| EncryptionState::Encrypted: cipher, nonce_counter | `sync.net.links.noise.CipherState` |
| EncryptionState::Plaintext | `sync.sim.streams` |
| Challenge Domain | `sync.entries.membership` |
| heartbeats with root hashes | `sync.group.state_beats.StateBeats` |

How we read what it leaves open:

- An op is refused if its signer lacks the right at the op's own parents. That is a function of its
  ancestors alone, so every node refuses the same. A join of somebody who was removed is kept: it
  asks, and lets nobody in.
- What happens at once is decided by rank (owner, admin, others), each op's at its own parents.
- Nonces follow those of a signer's ops among the ancestors; two ops with one nonce are a fork.
  Lamport rises above every parent's, by 557 years of milliseconds at most: nobody can use up the
  numbers, after which no op of others could follow.
- The number of an epoch is one more than the newest the op has seen: nobody begins a last epoch.
- Only admins revoke an invitation, so nothing a member signs at an old cut undoes a join.
- A leave ends no code and threatens no op of its signer. Otherwise somebody removed could sign one
  at an old cut, and put out whom they had invited.
- An ended or lowered right to invite is that of its maker, or that of the policy.
- If each op about somebody lost against one at once with it, which is so after two removals and two
  additions on both sides of a cut, the negative ones decide.
- A tag of a wrapped secret is the beginning of the member's key; each older secret has a key of its
  own, by its place, under the new one (`governance.keys`). The page leaves keys to an "encryption
  domain".
- A void op's epoch is wrapped on with the others, and asks for no rotation: otherwise somebody
  removed could have the channel rotate for ever (`governance.epochs`).
- What somebody removed sent with an older cut is delivered everywhere, and marked beyond what the
  removal sealed (`governance.late`). The page is silent on it.

- A node of the tree has no value of its own: entries lie in leaf nodes, and the shape of the tree
  follows from the set of its keys. So no order of arrival changes a root.
- Of the causal graph a hole is known by its id, which later messages name. So a Bloom filter tells
  what is above the lowest head that both know and, where few ids are wanted, what is below each.
- Root Compare is part of the handshake, and the first level too (`spread`): a descent begins below.

Where we differ:

- One verdict on every path, at the cut that an entry names. With "sync delta-request and
  parent-fetch remain live-only", the order of arrival would change verdicts.
- There is no live resolver beside the projection, so no migration window: `acl_view_at` is the
  definition, slow and without shared code, and only checks.
- A peer is judged at our heads. They are complete whenever there are any, so nothing is fallen back
  to; before the genesis is here, nobody is in.
- The deny arm looks at the part of a cut that is here; the grant arm has no answer there.
- `lookup_error` and `needed_count` are gone from the page, and are not built.
- A snapshot is for whoever has nothing. Whoever has something keeps it: log heights serve a long
  absence, which is the page's second use.
- The DeltaBuffer is at the receiver alone: the next session finds what the source stores meanwhile.
- The source's root is never adopted. What is swapped in was judged here, entry by entry.
"""
