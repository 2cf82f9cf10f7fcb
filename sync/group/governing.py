"""Governance in a channel's group: verdicts on entries, ops in and out, and what waits for them."""

import random
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from typing import Final

from msgspec import Struct

from sync.calimero.governance import limits
from sync.calimero.governance.act_pages import ActPages
from sync.calimero.governance.catch_up import (
    GroupDeltaRequest,
    GroupDeltaResponse,
    decode_heartbeat,
    decode_request,
    decode_response,
    encode_heartbeat,
    encode_request,
    encode_response,
    heartbeat,
    known_heads,
    lacking,
    owed,
    page,
)
from sync.calimero.governance.cross_check import Answer, Answers
from sync.calimero.governance.dag import bits
from sync.calimero.governance.governance import (
    Governance,
    Known,
    Refused,
    Taken,
    TakenOp,
    Waits,
)
from sync.calimero.governance.ops import (
    Add,
    GroupId,
    Join,
    Key,
    Leave,
    Op,
    OpId,
    Remove,
    Role,
    Signable,
    Verdict,
)
from sync.calimero.governance.pending import Dropped, Pending, PendingEntry, dropped_as
from sync.calimero.governance.refusal import OpError, sentence
from sync.calimero.governance.rights import judge
from sync.calimero.governance.signing import open_op, sign
from sync.calimero.governance.verdicts import (
    Doing,
    may,
    peer_is_group_member,
    verdict_at_cut,
)
from sync.calimero.governance.wire import DOMAIN, SIGNATURE_SIZE, decode_stored
from sync.entries.entry import GOVERNANCE_MAX, Header, Kind
from sync.errors import LocalError, RemoteError
from sync.group import values
from sync.group.catch_ups import CatchUps
from sync.group.heartbeats import Heartbeats
from sync.group.records import DROPPED_MAX, StoredMessage, StoredOp
from sync.machine import ChannelId, MessageId, Nanos, PeerId

SHORTEST: Final = 256
"""Bytes that an op has at least, about: no more are loaded for a page than fill it."""

PENDING_SIZE_MAX: Final = 16 * 1024 * 1024
"""Bytes of a channel's waiting entries: an honest line has a few hundred."""

VERDICTS_CACHED: Final = 4_096
"""Verdicts that are kept until they are all let go: people write many lines at one cut."""

APPLIED: Final = "applied"
FORGOTTEN: Final = "forgotten"
"""Outcomes of a wait, beside the labels of what is dropped."""

NOT_FOUNDED: Final = "Who is in here is not known yet: wait until somebody is here who can tell."
NOT_IN: Final = "You are not in this channel (any more): what you write would reach nobody."
MAY_NOT: Final = "Only admins write here; others read and react."
READS_ONLY: Final = "You are a reader here: you can read and react."

DOING: Final = {Kind.REACTION: Doing.REACT, Kind.REDACTION: Doing.REACT}
"""Things that entries of a kind do, where that is not to write; taking back is always allowed."""


class News(Struct, frozen=True):
    """Outcome of ops that came: what is new, what is lacked, and what was refused."""

    taken: tuple[TakenOp, ...] = ()
    missing: tuple[OpId, ...] = ()
    refused: tuple[str, ...] = ()


class Settled(Struct, frozen=True):
    """Entries that wait no longer: those to let in, those dropped, and those forgotten."""

    admitted: tuple[StoredMessage, ...] = ()
    dropped: tuple[tuple[MessageId, Dropped], ...] = ()
    forgotten: tuple[MessageId, ...] = ()


class Governing:
    """Governance of one channel, as one of its members knows it."""

    def __init__(
        self,
        channel: ChannelId,
        me: PeerId,
        signer: Callable[[bytes], bytes],
        rng: random.Random,
    ) -> None:
        self.beats = Heartbeats(rng)
        self.governance = Governance(GroupId(bytes.fromhex(channel)))
        self.pending = Pending()
        self.answers = Answers()
        """Decisive answers of the projection, for the definition to check."""
        self.catch_ups = CatchUps()
        self._pages = ActPages()
        self._observed: set[PeerId] = set()
        """Authors of entries that were let in."""
        self.dropped: dict[MessageId, Dropped] = {}
        self.outcomes: dict[str, int] = {}
        """Entries that waited and do not any more, in this run, by what became of them."""
        self.nearby: set[PeerId] = set()
        """Peers with whom ops are exchanged, and nothing else."""
        self._waiting: dict[MessageId, StoredMessage] = {}
        """The entries of `pending`, whole."""
        self._asked = 0
        """Peers asked for what entries wait for."""
        self._verdicts: dict[tuple[PeerId, tuple[bytes, ...], int], Verdict | Dropped] = {}
        """Verdicts at cuts that are here, by author, cut and kind: they never change."""
        self._me = Key(bytes.fromhex(me))
        self._sign = signer

    def __contains__(self, message_id: MessageId) -> bool:
        """Return whether an entry is known here though it counts nowhere."""
        return message_id in self._waiting or message_id in self.dropped

    # --- Ops -----------------------------------------------------------------------------------

    def reload_group_dags(
        self,
        ops: Sequence[StoredOp],
        pending: Sequence[StoredMessage],
        dropped: Sequence[tuple[MessageId, Dropped]],
    ) -> None:
        """Take up what the disk holds. No signature is checked again, and nothing judged.

        An op without one of its parents, whose bytes have rotted, comes again from others.
        """
        whole: list[TakenOp] = []
        here: set[OpId] = set()
        for stored in ops:
            op = decode_stored(stored.content)
            if here.issuperset(op.signed.parents):
                here.add(op.id)
                whole.append(TakenOp(op, stored.judgement))
        self.governance.restore(whole)
        self.dropped = dict(dropped)
        for message in pending:
            self.wait(message)

    def receive(self, contents: Sequence[bytes], voucher: Key | None = None) -> News:
        """Take in signed ops, in any order; one that is refused does not stop the others.

        `voucher` has taken them in, and gave them to us when we asked.
        """
        taken: list[TakenOp] = []
        missing: dict[OpId, None] = {}
        refused: list[str] = []
        for content in contents:
            try:
                op = open_op(content, self.governance.group)
            except OpError as error:
                refused.append(str(error))
                continue
            match self.governance.receive(op, voucher):
                case Taken(ops, fell):
                    taken += ops
                    refused += [f"a governance op is {refusal.value}" for _, refusal in fell]
                case Waits(lacked):
                    missing.update(dict.fromkeys(lacked))
                case Refused(refusal):
                    refused.append(f"a governance op is {refusal.value}")
                case Known():
                    pass
        lacked = self.governance.dag.missing(missing)
        return News(tuple(taken), lacked, tuple(refused))

    def publish(self, op: Op, lamport: int, now: Nanos) -> TakenOp:
        """Sign an op of ours at our heads, and take it in.

        Args:
            op: the operation; its epoch, if it has one, is drawn and wrapped.
            lamport: the least Lamport time that it may have: its place in the transcript.
            now: the reference clock.

        Raises:
            LocalError: we have no right to that now, or there is no room; says which.
        """
        dag = self.governance.dag
        if not dag.acts:
            raise LocalError(NOT_FOUNDED)
        parents = self.governance.foremost_heads(self._me, limits.PARENTS_MAX)
        before = dag.closure(parents)
        assert before is not None
        latest = max(self.governance.act(parent).lamport for parent in parents)
        signed = Signable(
            self.governance.group,
            parents,
            self._me,
            dag.next_nonce(self._me, before),
            max(lamport, latest + 1),
            now,
            op,
        )
        try:
            made = sign(signed, self._sign)
            judge(self.governance.projection, made, self.governance.projection.state(before))
        except OpError as error:
            raise LocalError(sentence(error.refusal)) from error
        received = self.governance.receive(made)
        if isinstance(received, Refused):
            raise LocalError(sentence(received.refusal))
        assert isinstance(received, Taken), "an op of ours stands on what is here"
        return received.ops[0]

    def cut(self) -> tuple[OpId, ...]:
        """Return the heads that an entry of ours names: at most `GOVERNANCE_MAX`, sorted."""
        return self.governance.foremost_heads(self._me, GOVERNANCE_MAX)

    def observe_peer_identity(self, author: PeerId) -> bool:
        """Take note of somebody whose entry is let in; returns whether they are new here."""
        if author in self._observed or bytes.fromhex(author) == self._me:
            return False
        if len(self._observed) >= limits.MEMBERS_MAX:
            self._observed.clear()
        self._observed.add(author)
        return True

    def is_member(self, key: Key) -> bool:
        """Return whether a peer that wants to sync is in, by what is known here now."""
        member = peer_is_group_member(self.governance, key)
        if self.governance.dag.acts:
            self.answers.note(Answer(key, self.governance.heads, member))
        return member

    def is_caught_up(self, peers: Collection[PeerId]) -> bool:
        """Return whether one of these members has told its heads, and all of what it told is here.

        True where nobody is there who could tell. A profile that was restored from a backup lacks
        ops of its own until then.
        """
        told = [heads for peer in peers if (heads := self.beats.heads_of(peer)) is not None]
        return not peers or any(not self.governance.dag.missing(heads) for heads in told)

    def lets_us_in_again(self, taken: Iterable[TakenOp]) -> bool:
        """Return whether one of these ops lets us in who knows that we were out before."""
        dag, about = self.governance.dag, self.governance.projection.relations.about
        for op, judged in taken:
            act = self.governance.act(op.id)
            if isinstance(op.op, Add | Join) and act.targets == (self._me,) and not judged.asks:
                earlier = (dag.acts[number] for number in bits(about[self._me] & act.before))
                if any(isinstance(one.op, Remove | Leave) for one in earlier):
                    return True
        return False

    # --- What others have ----------------------------------------------------------------------

    def tick(self, peers: Set[PeerId], now: Nanos) -> list[values.Effect]:
        """Tell our heads and ask for ops, if it is time to."""
        beats = self.beats
        if not beats.is_due(now):  # after every input
            return []
        effects: list[values.Effect] = []
        heads = self.governance.heads
        peers = peers | self.nearby
        if beats.beat(now):
            told = sorted(peers)
            if told and self.pending.wanted(self.governance):
                self._asked += 1  # another one each time
                beats.wants(told[self._asked % len(told)], now)
        else:
            told = beats.told_news(heads, peers, now)
        if told:
            beats.turn += 1
            payload = encode_heartbeat(heartbeat(self.governance, turn=beats.turn))
            effects.append(values.SendHeartbeat(tuple(told), payload))
        if (peer := beats.pull(now)) is not None:
            self.catch_ups.began(peer, now)
            effects.append(self._request(peer))
        return effects

    def on_link(
        self,
        event: values.OpsUnanswered | values.OpsOffered | values.GovernanceLinked,
        peers: Set[PeerId],
        now: Nanos,
    ) -> list[values.Effect]:
        """Learn with whom ops can be exchanged; `peers` are those who get everything."""
        match event:
            case values.OpsUnanswered(peer):
                self.catch_ups.unanswered(peer, now)
                self.beats.answered(peer, now, more=False)
            case values.OpsOffered(peer):
                self.beats.wants(peer, now)
            case values.GovernanceLinked(peer, True):
                self.nearby.add(peer)
                self.beats.linked(now)
                if not self.governance.dag.acts:
                    self.beats.wants(peer, now)  # we have a code, and nothing else
            case values.GovernanceLinked(peer, _):
                self.nearby.discard(peer)
                if peer not in peers:
                    self.beats.gone(peer)
        return []

    def is_in(self, peer: PeerId) -> bool | None:
        """Return whether a peer is in at our heads.

        False: was in, or came in by what came to nothing, and is out. None: not as far as is known
        here.
        """
        if not self.governance.dag.acts:
            return None
        key = Key(bytes.fromhex(peer))
        if self.is_member(key):
            return True
        return False if self._took_out(key) else None

    def _took_out(self, key: Key) -> int:
        """Return bits of the ops for which somebody is out who was in, or thinks so; else none.

        Of what let them in and came to nothing, unless an op that took them out knew of it: the op
        that counts among those it came to nothing for.
        """
        governance, state = self.governance, self.governance.now
        acts, about = governance.dag.acts, governance.projection.relations.about.get(key, 0)
        standing = state.people.get(key)
        departure = None if standing is None else acts[standing.act]
        found = 0 if departure is None else departure.bit
        for number in bits(about):
            if number not in state.voids or acts[number].negative:
                continue
            if departure is not None and departure.knew(number):
                continue
            cause = number
            while (loss := state.voids.get(cause)) is not None and loss.because is not None:
                cause = loss.because
            found |= acts[cause].bit
        return found

    def on_heartbeat(self, peer: PeerId, payload: bytes, now: Nanos, *, here: bool) -> None:
        """Compare the heads that a peer tells with ours.

        One with whom nothing is exchanged (not `here`) is only asked for ops that it shows: it is
        out for us and may have come in again, or has gone meanwhile.

        Raises:
            RemoteError: it is none, or of another channel.
        """
        beat = decode_heartbeat(payload)
        self._check_group(beat.group)
        lacks = bool(lacking(self.governance, beat.dag_heads))
        if not here:
            if lacks:
                self.beats.wants(peer, now)
            return
        owes = beat.op_count < len(self.governance.dag)
        self.beats.heard(peer, beat.dag_heads, lacks=lacks, owes=owes, now=now)

    def is_unaware(self, peer: PeerId, payload: bytes) -> bool:
        """Return whether a peer who is out does not know that, by the heads that it tells.

        Raises:
            RemoteError: it is no heartbeat, or of another channel.
        """
        beat = decode_heartbeat(payload)
        self._check_group(beat.group)
        if self.is_in(peer) is not False:
            return False
        dag = self.governance.dag
        known = dag.closure([head for head in beat.dag_heads if head in dag.numbers]) or 0
        return bool(self._took_out(Key(bytes.fromhex(peer))) & ~known)

    def on_request(
        self, peer: PeerId, payload: bytes, now: Nanos, *, newest: bool
    ) -> list[values.Effect]:
        """Have the ops loaded that a peer asks for, of those it may have.

        Members, and whoever has proved the newest epoch (`newest`), may have all. Somebody who was
        in gets the op that took them out and its ancestors, everybody else nothing.

        Raises:
            RemoteError: it is no request, or of another channel.
        """
        request = decode_request(payload)
        self._check_group(request.group)
        owed_ids = owed(self.governance, request.known_heads)
        key = Key(bytes.fromhex(peer))
        strange = bool(lacking(self.governance, request.known_heads))
        if self.is_member(key):
            if strange:
                self.beats.wants(peer, now)
            else:
                self.beats.was_asked(peer)
        elif not newest:
            owed_ids = self._of_departure(key, owed_ids)
        most = self._pages.asked(peer, request.known_heads, now, strange=strange)
        ids = tuple(owed_ids[: most // SHORTEST + 1])
        return [values.LoadOps(peer, ids, more=len(owed_ids) > len(ids))]

    def answer(self, loaded: values.OpsLoaded, now: Nanos) -> list[values.Effect]:
        """Send a page of the ops that were loaded."""
        first = page(loaded.contents, self._pages.most(loaded.peer))
        whole = GroupDeltaResponse(first.ops, first.has_more or loaded.more)
        self._pages.gave(loaded.peer, now, more=whole.has_more)
        payload = encode_response(whole)
        self.catch_ups.gave(
            loaded.peer, now, ops=len(whole.ops), size=len(payload), last=not whole.has_more
        )
        return [values.AnswerOps(loaded.peer, payload)]

    def on_page(self, peer: PeerId, payload: bytes, now: Nanos) -> tuple[News, bool]:
        """Take in a page of ops; returns the news, and whether it was the last.

        Raises:
            RemoteError: it is no page.
        """
        response = decode_response(payload)
        news = self.receive(response.ops, Key(bytes.fromhex(peer)))
        more = response.has_more and bool(news.taken)  # else the same page would come again
        self.beats.answered(peer, now, more=more)
        if news.taken or not more:
            self.beats.told(peer, now, new=bool(news.taken))
        self.catch_ups.page(
            peer,
            now,
            ops=len(response.ops),
            new=len(news.taken),
            size=len(payload),
            last=not more,
        )
        return news, not more

    def _request(self, peer: PeerId) -> values.RequestOps:
        request = GroupDeltaRequest(self.governance.group, known_heads(self.governance))
        return values.RequestOps(peer, encode_request(request))

    def request_on(self, peer: PeerId, now: Nanos) -> list[values.Effect]:
        """Ask for the next page: our heads have grown by the last one. Others may be first."""
        if not self.beats.makes_way(peer, now):
            return [self._request(peer)]
        self.catch_ups.unanswered(peer, now)
        self.beats.answered(peer, now, more=False)
        self.beats.wants(peer, now)
        return []

    def _of_departure(self, key: Key, ids: Sequence[OpId]) -> list[OpId]:
        """Return those of `ids` that took somebody out, or that one that did stands on."""
        dag = self.governance.dag
        if not dag.acts:
            return []
        took_out = bits(self._took_out(key))
        told = dag.closure([dag.acts[number].id for number in took_out]) or 0
        return [one for one in ids if told >> dag.numbers[one] & 1]

    def _check_group(self, group: GroupId) -> None:
        if group != self.governance.group:
            raise RemoteError("governance of another channel")

    # --- Entries -------------------------------------------------------------------------------

    def check_writing(self, kind: int) -> None:
        """Check that an entry of ours of this kind would be let in.

        Raises:
            LocalError: we may not write it now; says why.
        """
        if not self.governance.dag.acts:
            raise LocalError(NOT_FOUNDED)
        state = self.governance.now
        role = state.role(self._me)
        if may(role, state.policy, doing(kind)):
            return
        if role is Role.NONE:
            raise LocalError(NOT_IN)
        raise LocalError(READS_ONLY if role is Role.READER else MAY_NOT)

    def judge(self, header: Header) -> Verdict | Dropped:
        """Return the verdict on an entry at the cut that it names; of a no the reason.

        An entry that builds on one which waits has no verdict yet, either: it follows that one.
        """
        asked = header.author, header.governance, header.kind
        verdict = self._verdicts.get(asked)
        if verdict is None:
            verdict = self._verdict(header)
            if verdict is not Verdict.UNKNOWN:
                if len(self._verdicts) >= VERDICTS_CACHED:
                    self._verdicts.clear()
                self._verdicts[asked] = verdict
        if verdict is Verdict.YES and self._waiting and self._follows(header):
            return Verdict.UNKNOWN
        return verdict

    def verdict(self, author: Key, heads: tuple[OpId, ...], doing: Doing) -> Verdict:
        """Return whether somebody might do something at a cut; decisive answers are checked."""
        verdict = verdict_at_cut(self.governance, author, heads, doing)
        if verdict is not Verdict.UNKNOWN:
            self.answers.note(Answer(author, heads, verdict is Verdict.YES, doing))
        return verdict

    def _verdict(self, header: Header) -> Verdict | Dropped:
        waiting = _pending(MessageId(""), header)
        verdict = self.verdict(waiting.author, waiting.heads, waiting.doing)
        return dropped_as(self.governance, waiting) if verdict is Verdict.NO else verdict

    def _follows(self, header: Header) -> bool:
        """Return whether an entry builds on one that waits."""
        waiting = self._waiting
        return any(parent.message_id in waiting for parent in header.parents)

    def lacking(self, header: Header) -> tuple[OpId, ...]:
        """Return the ops of an entry's cut that are not here."""
        return self.governance.dag.missing([OpId(head) for head in header.governance])

    def wait(self, message: StoredMessage) -> tuple[MessageId, ...]:
        """Keep an entry until there is a verdict; returns those that are forgotten for it."""
        entry, size = message.entry, len(message.payload)
        waiting = _pending(entry.message_id, entry.header)
        stranger = not self.governance.dag.acts or waiting.author not in self.governance.now.people
        self._waiting[entry.message_id] = message
        gone = list(self.pending.add(waiting._replace(size=size, stranger=stranger)))
        while self.pending.size > PENDING_SIZE_MAX:
            gone.append(self.pending.forget_of_largest())
        for one in gone:
            del self._waiting[one.message_id]
            self._count(FORGOTTEN)
        return tuple([one.message_id for one in gone])

    def _count(self, outcome: str) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def drop(self, message_id: MessageId, label: Dropped) -> MessageId | None:
        """Remember an entry that is not let in; returns one that is forgotten for it, or None."""
        self.dropped[message_id] = label
        if len(self.dropped) <= DROPPED_MAX:
            return None
        forgotten = next(iter(self.dropped))
        del self.dropped[forgotten]
        return forgotten

    def drain_governance_pending(self) -> Settled:
        """Judge again what waited for ops that are here now; whoever asks drops what is dropped."""
        drained = self.pending.drain_governance_pending(self.governance)
        for entry, label in drained.dropped:
            self._waiting.pop(entry.message_id)
            self._count(label.value)
        admitted: list[StoredMessage] = []
        for entry in sorted(drained.reapply, key=self._place):  # what others build on first
            if self._follows(self._waiting[entry.message_id].entry.header):
                self.pending.add(entry)
            else:
                admitted.append(self._waiting.pop(entry.message_id))
                self._count(APPLIED)
        return Settled(
            tuple(admitted),
            tuple([(entry.message_id, label) for entry, label in drained.dropped]),
        )

    def _place(self, waiting: PendingEntry) -> tuple[int, MessageId]:
        return self._waiting[waiting.message_id].entry.header.lamport, waiting.message_id

    def on_pull_finished(self) -> Settled:
        """A peer has told all the ops it has: what waits for others still has had one more try."""
        wanted = self.pending.wanted(self.governance)
        gone = self.pending.on_pull_finished(wanted)
        for entry in gone:
            self._waiting.pop(entry.message_id)
            self._count(FORGOTTEN)
        return Settled(forgotten=tuple([entry.message_id for entry in gone]))


def signed_part(content: bytes) -> bytes:
    """Return the bytes that the signer of an op signed, of the op as it is sent."""
    return DOMAIN + content[:-SIGNATURE_SIZE]


def doing(kind: int) -> Doing:
    """Return what an entry of a kind does, for the right to it."""
    return DOING.get(kind, Doing.WRITE)  # type: ignore[call-overload,no-any-return]  # any kind


def _pending(message_id: MessageId, header: Header) -> PendingEntry:
    heads = tuple([OpId(head) for head in header.governance])
    author = Key(bytes.fromhex(header.author))
    return PendingEntry(message_id, author, heads, doing(header.kind))
