"""One SDS channel against a plain model, whatever happens to it and in whatever order."""

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from sync.machine import SECOND, MessageId, Tick
from sync.sds.events import (
    Admit,
    Answer,
    Connected,
    Delivered,
    DeliveryChanged,
    Effect,
    Found,
    HeardCopy,
    Held,
    Missing,
    Rebroadcast,
    SendAgain,
)
from sync.sds.incoming import Content
from sync.sds.message import Delivery, HistoryEntry, Message
from sync.sds.parameters import LAN
from sync.structures.bloom import RollingBloomFilter
from tests.support.sync.channels import (
    NOW,
    channel,
    message,
    only,
    peer,
    received,
    say,
    sync_message,
)

OTHERS = ("bob", "carol", "dave")


class OneChannel(RuleBasedStateMachine):
    """`written` is all that exists; what alice should make of it is worked out the slow way."""

    def __init__(self) -> None:
        super().__init__()
        self.alice = channel("alice", peers=0)
        self.now = NOW
        self.written: dict[MessageId, Message] = {}
        self.here: set[MessageId] = set()
        self.delivered: list[MessageId] = []
        self.gaps: set[MessageId] = set()
        self.acknowledged: set[MessageId] = set()
        self.mine: set[MessageId] = set()
        self.missing: set[MessageId] = set()

    def apply(self, effects: list[Effect]) -> None:
        """Note what alice did, as the application would."""
        for effect in effects:
            match effect:
                case Delivered(message_id, after_gap):
                    assert message_id not in self.delivered, "delivered twice"
                    unmet = self.parents(message_id) - set(self.delivered)
                    assert bool(unmet) == after_gap
                    self.delivered.append(message_id)
                    self.gaps |= {message_id} if after_gap else set()
                case Held(message_id):
                    assert message_id not in self.delivered
                case DeliveryChanged(message_id, Delivery.ACKNOWLEDGED):
                    assert message_id in self.mine
                    assert message_id not in self.acknowledged
                    self.acknowledged.add(message_id)
                case Missing(message_id):
                    assert message_id not in self.here
                    self.missing.add(message_id)
                case Found(message_id, lost):
                    assert lost or message_id in self.delivered
                    self.missing.discard(message_id)
                case Answer(message_id):
                    assert message_id in self.here
                case Rebroadcast(message_id):
                    assert message_id in self.mine - self.acknowledged
                case _:
                    pass

    def parents(self, message_id: MessageId) -> set[MessageId]:
        return {entry.message_id for entry in self.written[message_id].causal_history}

    # --- What happens --------------------------------------------------------------------------

    @rule()
    def alice_writes(self) -> None:
        sent = say(self.alice, f"line {len(self.written)}", self.now)
        self.written[sent.message_id] = sent
        self.here.add(sent.message_id)
        self.mine.add(sent.message_id)
        self.delivered.append(sent.message_id)

    @rule(data=st.data(), who=st.sampled_from(OTHERS))
    def somebody_writes(self, data: st.DataObject, who: str) -> None:
        """Others build on anything that exists, alice's messages among it."""
        after = self.some(data, 2)
        lamport = 1 + max((self.written[one.message_id].lamport or 0 for one in after), default=0)
        sent = message(f"line {len(self.written)}", who, after, lamport)
        self.written[sent.message_id] = sent

    @precondition(lambda self: self.foreign())
    @rule(data=st.data(), direct=st.booleans())
    def a_message_arrives(self, data: st.DataObject, *, direct: bool) -> None:
        sent = self.written[data.draw(st.sampled_from(self.foreign()))]
        expected = self.mine & self.parents(sent.message_id)
        self.here.add(sent.message_id)

        self.apply(self.alice.handle(received(sent, from_author=direct), self.now))

        assert expected <= self.acknowledged, "names are proof"

    @precondition(lambda self: self.foreign())
    @rule(data=st.data())
    def a_parked_message_is_admitted(self, data: st.DataObject) -> None:
        sent = self.written[data.draw(st.sampled_from(self.foreign()))]
        if sent.message_id in self.here:
            return
        self.here.add(sent.message_id)
        assert sent.lamport is not None
        content = Content(
            sent.message_id, sent.sender_id, sent.lamport, sent.causal_history, b"hint"
        )

        self.apply(self.alice.handle(Admit(content), self.now))

        assert self.mine & self.parents(sent.message_id) <= self.acknowledged

    @rule(data=st.data(), who=st.sampled_from(OTHERS))
    def a_sync_message_arrives(self, data: st.DataObject, who: str) -> None:
        naming = self.some(data, 3)
        bloom = RollingBloomFilter(LAN.bloom)
        for entry in self.some(data, 3):
            bloom.insert(entry.message_id)
        sent = sync_message(who, naming, bloom.to_bytes())

        self.apply(self.alice.handle(received(sent), self.now))

        assert self.mine & {entry.message_id for entry in naming} <= self.acknowledged

    @rule(data=st.data(), who=st.sampled_from(OTHERS))
    def somebody_asks(self, data: st.DataObject, who: str) -> None:
        """For what alice has, for what she asks for herself, and for what she never heard of."""
        request = self.some(data, 3)
        sent = replace(sync_message(who), repair_request=request)

        self.apply(self.alice.handle(received(sent), self.now))

        asking = self.alice.repairs.asking
        for entry in request:
            if (own := asking.requests.get(entry.message_id)) is not None:
                assert own.t_req > self.now, "we leave it to who asked"

    @precondition(lambda self: self.here)
    @rule(data=st.data())
    def somebody_answers(self, data: st.DataObject) -> None:
        message_id = data.draw(st.sampled_from(sorted(self.here)))

        self.apply(self.alice.handle(HeardCopy(message_id, peer("carol")), self.now))

        assert message_id not in self.alice.repairs.answering.answers

    @rule(peers=st.integers(0, 3))
    def peers_come_and_go(self, peers: int) -> None:
        self.apply(self.alice.handle(Connected(peers), self.now))

    @rule(seconds=st.sampled_from([1, 5, 30, 130, 700]))
    def time_passes(self, seconds: int) -> None:
        until = self.now + seconds * SECOND
        while (due := self.alice.deadline()) is not None and due <= until:
            self.now = max(self.now, due)
            self.apply(self.alice.handle(Tick(), self.now))
        self.now = until

    @precondition(lambda self: self.mine - self.acknowledged)
    @rule(data=st.data())
    def alice_sends_again(self, data: st.DataObject) -> None:
        message_id = data.draw(st.sampled_from(sorted(self.mine - self.acknowledged)))
        effects = self.alice.handle(SendAgain(message_id), self.now)
        assert len(only(Rebroadcast, effects)) == 1

    # --- What always holds ---------------------------------------------------------------------

    @invariant()
    def the_log_is_what_was_delivered_in_its_order(self) -> None:
        order = [(self.written[id_].lamport, id_) for id_ in self.delivered]
        assert list(self.alice.log.order) == sorted(order, key=lambda key: (key[0] or 0, key[1]))
        assert all(id_ in self.alice.log.order for id_ in self.delivered)
        assert not any(id_ in self.alice.log.order for id_ in self.written.keys() - self.delivered)

    @invariant()
    def what_waits_waits_for_something_and_nothing_else_waits(self) -> None:
        waiting = self.here - set(self.delivered)
        assert set(self.alice.incoming.waiting) == waiting
        for message_id in waiting:
            assert self.parents(message_id) - set(self.delivered), "all it waits for is here"

    @invariant()
    def what_waits_for_whom_is_known_from_both_sides(self) -> None:
        incoming = self.alice.incoming
        for message_id, held in incoming.waiting.items():
            unmet = self.parents(message_id) - set(self.delivered)
            looked_for = incoming.unmet(message_id)
            assert looked_for <= unmet
            assert held.lacks == len(looked_for)
            assert all(id_ in incoming.lost for id_ in unmet - looked_for), "not waited for twice"
        assert all(
            waiter in incoming.waiting for sought in incoming.missing.values()
            for waiter in sought.waiters
        )  # fmt: skip

    @invariant()
    def whatever_is_absent_and_looked_for_is_asked_for_and_nothing_else_is(self) -> None:
        absent = {id_ for id_ in self.alice.incoming.missing if id_ not in self.here}
        asking = self.alice.repairs.asking
        assert set(asking.requests) == absent
        assert all(request.asked >= 0 for request in asking.requests.values())

    @invariant()
    def what_is_answered_is_here(self) -> None:
        assert set(self.alice.repairs.answering.answers) <= self.here

    @invariant()
    def own_messages_are_acknowledged_or_wait(self) -> None:
        assert set(self.alice.outgoing.pending) == self.mine - self.acknowledged

    @invariant()
    def what_others_wrote_and_nobody_else_named_is_all_that_is_owed(self) -> None:
        assert all(
            message_id in self.delivered and entry.sender_id != peer("alice")
            for message_id, entry in self.alice.log.owed.items()
        )

    @invariant()
    def tips_are_delivered(self) -> None:
        assert set(self.alice.log.tips) <= set(self.delivered)

    @invariant()
    def the_filter_holds_all_that_was_received(self) -> None:
        assert all(message_id in self.alice.filter for message_id in self.here)

    @invariant()
    def every_gap_that_the_person_sees_is_looked_for(self) -> None:
        assert self.missing <= set(self.alice.incoming.missing)

    # --- Helpers -------------------------------------------------------------------------------

    def some(self, data: st.DataObject, most: int) -> tuple[HistoryEntry, ...]:
        if not self.written:
            return ()
        ids = data.draw(st.lists(st.sampled_from(list(self.written)), max_size=most, unique=True))
        return tuple(HistoryEntry(id_, None, self.written[id_].sender_id) for id_ in ids)

    def foreign(self) -> list[MessageId]:
        return [id_ for id_ in self.written if id_ not in self.mine]


TestOneChannel: Any = OneChannel.TestCase
TestOneChannel.settings = settings(max_examples=40, stateful_step_count=40)
