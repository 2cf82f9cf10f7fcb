"""The incoming repair request buffer (SDS-R): what others lack and we have, and when we answer.

A heap by T_resp and a dictionary. An answer is given once in T_max, and not at all where somebody
else gave it first.
"""

import heapq
from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

from sync.machine import MessageId, Nanos, PeerId
from sync.sds.message import HistoryEntry
from sync.sds.repair import Window, is_in_response_group
from sync.structures.token_bucket import Buckets

ANSWERS_MAX: Final = 1000
"""Answers planned at once (SDS-R guide, "Memory Management"); who asks beyond asks again later."""

ROUNDS_MAX: Final = 4096
"""Requested ids remembered, with how often they were asked for again."""

ANSWERS_PER_SECOND: Final = 12.0
ANSWERS_BURST: Final = 64.0
"""Answers one requester may cause, as many as it may ask for: at 96 kB a message, 6 MB at once and
then 1.2 MB/s at most."""

LOOKED_UP_PER_SECOND: Final = 50.0
LOOKED_UP_BURST: Final = 256.0
"""Requests of one peer for which the disk is asked who wrote what; honest ones make 12 a second."""

IN_VAIN: Final = 2
"""Spans of T_max in which a message was asked for in vain, from which on it takes two answers of
others to silence us, then four: the first may come from where the requester hears nothing."""

FORESTALLED_MAX: Final = 10
"""Answers of others that are remembered for whoever looks: a screen of them."""

FORGOTTEN_AFTER: Final = 8
"""T_max after which a request is a new one: who asked before asks again within 4."""


@dataclass(slots=True)
class Answer:
    """One answer that is planned."""

    message_id: MessageId
    requester: PeerId
    t_resp: Nanos
    sender: PeerId
    """Its author."""


class Forestalled(NamedTuple):
    """An answer that was planned, and that somebody else gave first; None if not seen who."""

    message_id: MessageId
    requester: PeerId
    by: PeerId | None
    at: Nanos


@dataclass(slots=True)
class Rounds:
    """Count of the spans of T_max in which an id was asked for in vain."""

    since: Nanos
    count: int = 0
    answered: bool = False
    """Whether it was answered in the span that began at `since`."""
    heard: int = 0
    """Answers of others in that span, while ours was planned."""


class Answering:
    """Incoming repair request buffer of participant `me` (SDS-R)."""

    def __init__(self, me: PeerId) -> None:
        self.answers: dict[MessageId, Answer] = {}
        self.given: dict[MessageId, Answer] = {}
        """The last answers: those that became due together."""
        self.forestalled: deque[Forestalled] = deque(maxlen=FORESTALLED_MAX)
        """The last answers that others gave before us."""
        self.declined = 0
        """Requests beyond what one requester may cause."""
        self._me = me
        self._rounds: dict[MessageId, Rounds] = {}
        self._buckets = Buckets(ANSWERS_PER_SECOND, ANSWERS_BURST)
        self._looked_up = Buckets(LOOKED_UP_PER_SECOND, LOOKED_UP_BURST)
        self._heap: list[tuple[Nanos, MessageId]] = []

    def requested(self, entry: HistoryEntry, requester: PeerId, window: Window, now: Nanos) -> None:
        """`requester` asks for a message that we have: plan the answer, if it is ours to give.

        Each time a message is asked for again after T_max, twice as many may answer: its only
        holder may be outside of the response group.
        """
        message_id, sender = entry.message_id, entry.sender_id
        if sender is None:  # SDS-R guide, "Edge Cases": no sender, no part in its repair
            return
        rounds = self._round(message_id, window, now)
        if rounds.answered or message_id in self.answers or len(self.answers) >= ANSWERS_MAX:
            return
        groups = max(1, window.groups >> rounds.count)
        if not is_in_response_group(self._me, sender, message_id, groups):
            return
        if not self._buckets.take_token(requester, now):
            self.declined += 1
            return
        t_resp = now + window.answer_delay(self._me, sender, message_id)
        self.answers[message_id] = Answer(message_id, requester, t_resp, sender)
        heapq.heappush(self._heap, (t_resp, message_id))

    def is_open(self, message_id: MessageId, requester: PeerId, window: Window, now: Nanos) -> bool:
        """Return whether a request may lead to an answer: none is planned or was given yet."""
        rounds = self._rounds.get(message_id)
        if message_id in self.answers or len(self.answers) >= ANSWERS_MAX:
            return False
        if rounds is not None and rounds.answered and now < rounds.since + window.t_max:
            return False
        return self._looked_up.take_token(requester, now)

    def heard(self, message_id: MessageId, by: PeerId | None, now: Nanos) -> None:
        """`by` sent the message: the answer is given, unless such answers are in vain."""
        if not self.answers or message_id not in self.answers:
            return
        rounds = self._rounds.get(message_id)
        if rounds is not None:
            rounds.heard += 1
            if rounds.heard < 1 << max(0, rounds.count + 1 - IN_VAIN):
                return
        answer = self.answers.pop(message_id)
        self.forestalled.append(Forestalled(message_id, answer.requester, by, now))
        self._note_answered(message_id)

    def forget(self) -> None:
        """Nobody is there to hear an answer; who still lacks a message then asks again."""
        self.answers.clear()
        self._heap.clear()

    def due(self, now: Nanos) -> list[MessageId]:
        """Return what to answer now ("Incoming Repair Request Buffer Sweep")."""
        due: list[MessageId] = []
        self.given.clear()
        while (t_resp := self.deadline()) is not None and t_resp <= now:
            message_id = heapq.heappop(self._heap)[1]
            self.given[message_id] = self.answers.pop(message_id)
            self._note_answered(message_id)
            due.append(message_id)
        return due

    def deadline(self) -> Nanos | None:
        """The lowest T_resp."""
        while self._heap:
            t_resp, message_id = self._heap[0]
            answer = self.answers.get(message_id)
            if answer is not None and answer.t_resp == t_resp:
                return t_resp
            heapq.heappop(self._heap)
        return None

    def _note_answered(self, message_id: MessageId) -> None:
        if (rounds := self._rounds.get(message_id)) is not None:
            rounds.answered = True

    def _round(self, message_id: MessageId, window: Window, now: Nanos) -> Rounds:
        """Return the span of T_max that a request made now belongs to."""
        rounds = self._rounds.pop(message_id, None)
        if rounds is None or now >= rounds.since + FORGOTTEN_AFTER * window.t_max:
            rounds = Rounds(now)
        elif now >= rounds.since + window.t_max:
            rounds = Rounds(now, rounds.count + 1)
        self._rounds[message_id] = rounds
        if len(self._rounds) > ROUNDS_MAX:
            del self._rounds[next(iter(self._rounds))]
        return rounds
