"""Details of the rows about governance: a plain sentence, then the rule with real values."""

from typing import Final

from chat_tui.debug.section import Detail
from chat_tui.text.safe_text import clean_nick
from chat_tui.text.times import count, size, time_of_day
from chat_tui.wording.sentences import called as called_by
from chat_tui.wording.sentences import name_of, short_id
from sync.machine import MessageId
from sync.view.governance_infos import (
    ActKind,
    CatchUpInfo,
    EpochInfo,
    GovernanceInfo,
    OpInfo,
    Person,
)
from sync.view.view import Snapshot

ACTS: Final = {
    ActKind.FOUNDED: "founded the channel",
    ActKind.INVITED: "made a code",
    ActKind.REVOKED: "ended a code",
    ActKind.JOINED: "joined by a code",
    ActKind.ASKED: "asks to be let in again",
    ActKind.ADDED: "added",
    ActKind.REMOVED: "removed",
    ActKind.LEFT: "left",
    ActKind.ROLE: "set the role of",
    ActKind.POLICY: "set the policy",
    ActKind.ROTATED: "changed the secret",
}
"""Acts in words, after who did them and before whom they are about."""

RANKS: Final = ("0, an owner's", "1, an admin's", "2, everybody else's")

LEVELS: Final = {
    "full": "It is in and has proved an epoch: it gets everything.",
    "governance": "It has proved the newest epoch, and is not known: it gets ops, and may join.",
    "stub": "It was in, and is out: it gets the op that took it out, and what that stands on.",
    "notice": "It has proved an epoch that ended: it is told so, and gets no op.",
    "none": "It has proved nothing: it is told nothing.",
}

PLANES: Final = {
    "membership-cut": "the projection denied what the definition grants: a line is dropped here",
    "membership-cut-grant": "the projection granted what the definition denies: a line is let in",
    "membership-sync": "of a peer that wants to sync, either way",
}


def called(snapshot: Snapshot, person: Person) -> str:
    """Return what somebody is called who may never have been met."""
    known = person.peer == snapshot.me or any(one.peer == person.peer for one in snapshot.peers)
    if known or not person.nick:
        return name_of(snapshot, person.peer)
    return called_by(snapshot, person.peer, clean_nick(person.nick))


def state(governance: GovernanceInfo) -> Detail:
    """Return how membership follows from ops."""
    return Detail(
        "Governance",
        (
            "Who is in follows from signed ops alone, each of which names those that its signer "
            "had seen. Whoever has the same ops says the same, whatever the order in which they "
            "came."
        ),
        (
            "counts(op) = its signer had the right at its own parents, and it is not void",
            (
                "void(op) = a removal or lowering of its signer, by a smaller rank, at once with "
                "it counts; or its right rests on a void op; or its code was ended at once"
            ),
            (
                f"{count(governance.ops, 'op')}, {governance.void_ops:,} of them void, "
                f"{count(len(governance.heads), 'head')}"
            ),
            f"{governance.waiting_ops:,} of at most 1,000 ops wait for parents",
        ),
    )


def head(governance: GovernanceInfo, op_id: str) -> Detail:
    """Return what a head is for."""
    return Detail(
        f"{short_id(MessageId(op_id))}: head",
        (
            "No op has seen this one yet. All heads together name the cut at which we are: each "
            "line that is written here names them, and is judged by who was in there."
        ),
        (
            f"id {op_id}",
            (
                f"cut = {count(len(governance.heads), 'head')} and all their ancestors, "
                f"{count(governance.ops, 'op')}"
            ),
            "an entry names at most 16 heads, a heartbeat 64",
        ),
    )


def op(snapshot: Snapshot, one: OpInfo) -> Detail:
    """Return what an op is at its own parents, and whether it counts now."""
    if one.reason is not None:
        plain = f"It came to nothing: {one.reason.value}."
    elif one.counts:
        plain = "It counts: its signer had the right at its own parents, and nothing undid it."
    else:
        plain = "Somebody who was removed asks to be let in; it lets nobody in by itself."
    facts = [
        f"id {one.op_id}",
        f"signed by {called(snapshot, one.by)}, its op number {one.nonce:,}",
        f"rank {RANKS[one.rank]} at its own parents; Lamport time {one.lamport:,}",
    ]
    if one.because:
        facts.append(f"because of {short_id(MessageId(one.because))}")
    if one.head:
        facts.append("a head: no op has seen it yet")
    return Detail(f"{short_id(MessageId(one.op_id))}: {ACTS[one.kind]}", plain, tuple(facts))


def pending(governance: GovernanceInfo) -> Detail:
    """Return why entries wait, and how that ends."""
    facts = [
        (
            "verdict = may(role of the author, policy) at the cut that the entry names; the same "
            "for ever, and at everybody"
        ),
        f"{governance.pending:,} of at most 10,000 wait, 256 an author",
        "each finished pull that did not bring the ops is a try; after 16 it is forgotten",
    ]
    facts += [f"{outcome.replace('_', ' ')}: {n:,}" for outcome, n in governance.drains]
    return Detail(
        "Entries that wait",
        (
            "Their authors name ops that are not here yet. With the ops comes the verdict: they "
            "are let in, or dropped and never asked for again."
        ),
        tuple(facts),
    )


def epoch(snapshot: Snapshot, one: EpochInfo) -> Detail:
    """Return what an epoch of the channel's secret is."""
    counts = "it counts" if one.counts else "its op is void: it still proves members"
    if one.newest:
        counts = "it is the newest"
    return Detail(
        f"Epoch {one.number}",
        (
            "A removal or a rotation draws a new secret and wraps it for each who stays. The "
            "secret proves that somebody knows of the channel; who may write is decided by key "
            "alone."
        ),
        (
            "newest = the greatest (number, id) of those whose op counts",
            f"begun by {called(snapshot, one.by)} at {time_of_day(one.begun_ns)}; {counts}",
            f"op {one.op_id}",
            "the secret itself is in no snapshot, trace or log",
        ),
    )


def level(name: str, word: str) -> Detail:
    """Return why a link has a level."""
    return Detail(
        f"{name}: {word}",
        LEVELS.get(word, ""),
        tuple(f"{one}: {meaning}" for one, meaning in LEVELS.items() if one != word),
    )


def catch_up(snapshot: Snapshot, one: CatchUpInfo) -> Detail:
    """Return what a pull of ops asked and brought."""
    name = name_of(snapshot, one.peer)
    plain = (
        f"{name} told heads that are not here. We named ours, and they send what we lack, "
        "ancestors first."
        if one.asked
        else f"{name} named its heads, and we sent what it lacks, ancestors first."
    )
    over = "it goes on" if one.ended_at is None else f"over at {time_of_day(one.ended_at)}"
    return Detail(
        f"Catch-up with {name}",
        plain,
        (
            "owed = all ops that are no ancestors of the heads that the asker named",
            (
                f"{count(one.pages, 'page')} of at most 256 KiB: {count(one.ops, 'op')}, "
                f"{size(one.size)}"
            ),
            f"begun at {time_of_day(one.began_at)}, {over}",
        ),
    )


def definition(governance: GovernanceInfo) -> Detail:
    """Return what is checked beside the chat, and what it found."""
    facts = [
        "after each part it rests 99 times as long as the part took: 1 % of a core",
        f"{governance.answers_checked:,} checked, those about each act at its own cut among them",
        f"{governance.answers_skipped:,} skipped: too many at once, or acts that the disk lacks",
    ]
    facts += [f"{plane}: {PLANES.get(plane, '')} ({n:,})" for plane, n in governance.divergences]
    return Detail(
        "Disagreements with the definition",
        (
            "Every answer that let a line in, dropped it, or let a peer near is asked again of the "
            "plain, slow definition. They must agree: a disagreement is a fault of this program."
        ),
        tuple(facts),
    )
