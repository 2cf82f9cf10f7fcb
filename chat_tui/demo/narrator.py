"""Tells what happened, in two registers: one plain sentence, and the formula with its values.

Rule: every sentence comes from an effect, an input or a frame of the engines, and every number in
it from their state then. Nothing is told because a script expects it.
"""

from collections.abc import Sequence
from typing import Final

from chat_tui.debug.explanations import percent
from chat_tui.demo.acts import Act, Cut, Divide, Expel, GiveCode, PinLine, ReadAll, SetTopic, Write
from chat_tui.demo.cast import Said, Voice, Weight
from chat_tui.demo.governance_story import GovernanceStory
from chat_tui.demo.phrases import ID_SHOWN, what_happens
from chat_tui.demo.repair_story import RepairStory
from chat_tui.demo.session_story import SessionStory
from chat_tui.demo.state_story import STATE_PROTOCOLS, StateStory
from chat_tui.text.listing import listed
from chat_tui.text.times import count, size
from sync.group import values
from sync.machine import MessageId
from sync.runner.batch import Release
from sync.sds.message import Delivery, Kind, Message
from sync.sessions.values import Plane
from sync.sim.node import Node
from sync.sim.watch import Cause, Flight, Step
from sync.sim.world import World

MANY: Final = 3
"""Messages shown at once from which on they are counted instead of named."""

TOLD_BY_EFFECT: Final = (Write, Expel, GiveCode, SetTopic, PinLine, ReadAll)
"""Acts that are not told themselves: their effects are."""


class Narrator:
    """Tells of the first participants of `world`, who are called `names`.

    `told`: whether each line written and shown is told; else only what is lost and repaired.
    """

    def __init__(self, world: World, names: tuple[str, ...], *, told: bool) -> None:
        self._voice, self._told = Voice(world, names), told
        self._repairs = RepairStory(self._voice, told=told)
        self._sessions = SessionStory(self._voice)
        self._governance = GovernanceStory(self._voice)
        self._state = StateStory(self._voice)
        self._cut_off: set[int] = set()
        """Those of whom it was told that nothing crosses the cut; the chart shows the rest."""

    @property
    def said(self) -> list[Said]:
        """Everything told until now."""
        return self._voice.said

    def tell_act(self, act: Act) -> None:
        """Tell what the script or the person did; a line is told once it is written."""
        if isinstance(act, Cut | Divide):
            self._cut_off.clear()
        if not isinstance(act, TOLD_BY_EFFECT):
            sentence = what_happens(act, self._voice.names)
            if isinstance(act, Cut) and not self._voice.world.network.cuts & {act.ends}:
                sentence = sentence.replace("is cut", "is mended and comes back within 5 s")
            told = f"{sentence[0].upper()}{sentence[1:]}."
            self._voice.say(-1, told, "(done to the network)", Weight.TURN)

    def tell(
        self, steps: Sequence[Step], released: Sequence[tuple[int, Release]], lost: Sequence[Flight]
    ) -> None:
        """Tell of one event of the world."""
        for step in steps:
            self._tell_step(step)
        shown: dict[int, list[values.Deliver]] = {}
        for number, release in released:
            if isinstance(release.effect, values.Deliver):
                shown.setdefault(number, []).append(release.effect)
        for number, delivered in shown.items():
            self._tell_shown(number, delivered)
        for number, release in released:
            self._tell_release(self._voice.world.nodes[number], release.effect)
        for flight in lost:
            self._tell_lost(flight)

    # --- What machines did ---------------------------------------------------------------------

    def _tell_step(self, step: Step) -> None:
        node = self._voice.world.nodes[step.node]
        event = step.event
        if isinstance(event, values.PeerJoined | values.PeerGone):
            self._tell_link(node, event)
        elif isinstance(event, values.StartSession) and event.protocol in STATE_PROTOCOLS:
            self._state.tell_begins(node, event)
        elif isinstance(event, values.StartSession):
            self._sessions.tell_begins(node, event)
        held = [
            effect.message.entry.message_id
            for effect in step.effects
            if isinstance(effect, values.StoreMessage) and effect.status is values.Status.WAITING
        ]
        lacked = [effect for effect in step.effects if isinstance(effect, values.Missing)]
        if held and lacked:
            self._repairs.tell_held(node, step, held[0], [one.message_id for one in lacked])
        elif lacked and isinstance(event, values.Arrived):
            self._repairs.tell_lacking(node, step, lacked)
        elif held:
            self._repairs.tell_waiting(node, held[0])
        for effect in step.effects:
            if isinstance(effect, values.DeliveryChanged):
                self._tell_mark(node, step, effect)
            elif isinstance(effect, values.LiveBegan):
                self._sessions.tell_live(node, effect)
        if isinstance(event, values.Arrived):
            self._repairs.tell_repairs(node, step, event)
        elif isinstance(event, values.AuthorsLoaded):
            self._repairs.tell_answering(node, step, event)

    def _tell_link(self, node: Node, event: values.PeerJoined | values.PeerGone) -> None:
        other = self._voice.world.nodes[self._voice.numbers[event.peer]]
        if other.number >= len(self._voice.names):
            return
        if self._voice.world.levels is not None:
            joined = isinstance(event, values.PeerJoined)
            self._governance.tell_link(node, other, joined=joined)
            return
        if other.runner is not None and other.number < node.number:
            return  # the other one says it
        pair = f"{self._voice.name(node)} and {self._voice.name(other)}"
        if isinstance(event, values.PeerJoined):
            self._voice.say(
                node.number,
                f"{pair} have found each other.",
                f"PeerJoined {event.peer[:ID_SHOWN]}: connected peers {len(node.joined)}",
            )
        else:
            self._voice.say(
                node.number,
                f"{self._voice.name(node)} notices that {self._voice.name(other)} is gone.",
                f"PeerGone {event.peer[:ID_SHOWN]}: connected peers {len(node.joined)}",
                Weight.ROUTINE,
            )

    def _tell_mark(self, node: Node, step: Step, effect: values.DeliveryChanged) -> None:
        if not self._told:
            return
        title, me = self._voice.title(effect.message_id), self._voice.name(node)
        by, how = self._evidence(node, step, effect)
        weight = Weight.TURN
        match effect.delivery:
            case Delivery.ACKNOWLEDGED:
                plain, weight = f"{me} knows that {title} was received: {by}.", Weight.EVENT
            case Delivery.POSSIBLY_ACKNOWLEDGED:
                plain = f"{title} was perhaps received: {by}. {me} waits for proof."
            case Delivery.FAILED:
                plain = f"Nobody answers: {me} sends {title} no more by itself."
            case _:
                return
        self._voice.say(node.number, plain, how, weight)

    def _evidence(self, node: Node, step: Step, effect: values.DeliveryChanged) -> tuple[str, str]:
        """Return what shows how far a message came, in both registers."""
        id_ = effect.message_id[:ID_SHOWN]
        if not isinstance(step.event, values.Arrived):
            proved = "both have proved to hold the same"
            return proved, f"{id_} is in the set that a verified session proved"
        message = self._voice.world.gate.read(step.event.payload)
        name = self._voice.name_of(self._voice.numbers[message.sender_id])
        kind = "sync message" if message.kind is Kind.SYNC else "message"
        if effect.delivery is Delivery.ACKNOWLEDGED:
            ids = ", ".join(one.message_id[:ID_SHOWN] for one in message.causal_history)
            return f"{name}'s {kind} names it", f"causal history of {name}'s {kind}: {ids}"
        assert node.runner is not None
        rate = node.runner.groups[self._voice.world.channel].sds.filter.false_positive_rate
        return (
            f"{name}'s filter seems to hold it",
            f"all bits of {id_} are set in {name}'s filter; a false maybe: {percent(rate)}",
        )

    # --- What went out -------------------------------------------------------------------------

    def _tell_release(self, node: Node, effect: values.Effect) -> None:
        match effect:
            case values.Written(_, message_id):
                self._tell_written(node, message_id)
            case values.Broadcast(payload):
                self._tell_broadcast(node, self._voice.world.gate.read(payload))
            case values.BroadcastStored(message_id, None):
                self._voice.say(
                    node.number,
                    f"{self._voice.name(node)} answers: {self._voice.title(message_id)} goes out "
                    "to everybody again.",
                    f"T_resp of {message_id[:ID_SHOWN]} is over and nobody was faster; "
                    f"{size(len(node.disk.rows[message_id].message.payload))} as stored",
                    Weight.TURN,
                )
            case values.BroadcastStored(message_id, _):
                self._voice.say(
                    node.number,
                    f"{self._voice.name(node)} sends {self._voice.title(message_id)} again: nobody "
                    "has named it yet.",
                    f"unacknowledged {message_id[:ID_SHOWN]}, resent with the filter of now",
                    Weight.TURN,
                )
            case values.SendPayload(session, payload) if session > 0:
                self._sessions.tell_payload(node, session, payload)
            case values.TellState(contents) if self._told:
                self._state.tell_set(node, contents)
            case values.SessionEnded(plane=Plane.STATE):
                self._state.tell_over(node, effect)
            case values.SessionEnded():
                self._sessions.tell_over(node, effect)
            case _:
                self._governance.tell(node, effect)

    def _tell_written(self, node: Node, message_id: MessageId) -> None:
        header = node.disk.rows[message_id].message.entry.header
        if not self._told:
            return
        parents = ", ".join(one.message_id[:ID_SHOWN] for one in header.parents) or "nothing"
        levels, nodes = self._voice.world.levels, self._voice.world.nodes
        hearers = sum(levels is None or levels.are_full(node, nodes[n]) for n in node.joined)
        to = f"goes out to {count(hearers, 'other')}" if hearers else "waits: nobody is here"
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} writes {self._voice.title(message_id)}. It is on disk "
            f"and {to}.",
            f"{message_id[:ID_SHOWN]}: Lamport {header.lamport}, causal history {parents}, entry "
            f"{header.seq} of its author's log",
        )

    def _tell_shown(self, number: int, delivered: Sequence[values.Deliver]) -> None:
        node = self._voice.world.nodes[number]
        others = [one for one in delivered if not self._voice.is_author(node, one.message_id)]
        if not self._told:
            others = [one for one in others if (number, one.message_id) in self._repairs.lacked]
        total = len(node.disk.log())
        if len(others) >= MANY:
            self._voice.say(
                number,
                f"{self._voice.name(node)} shows {len(others)} messages, each in its place.",
                f"log of {total}, ordered by (Lamport, id)",
            )
            return
        for one in others:
            self._tell_one_shown(node, one)

    def _tell_one_shown(self, node: Node, deliver: values.Deliver) -> None:
        message_id = deliver.message_id
        me, title = self._voice.name(node), self._voice.title(message_id)
        log = node.disk.log()
        place = next(at for at, (_, id_) in enumerate(log, 1) if id_ == message_id)
        lamport = log[place - 1][0]
        twins = [id_ for time, id_ in log if time == lamport and id_ != message_id]
        weight = Weight.TURN
        if deliver.after_gap:
            plain = f"{me} shows {title} after a gap: what it builds on could not be found."
        elif (node.number, message_id) in self._repairs.lacked:
            self._repairs.lacked.discard((node.number, message_id))
            late = "" if place == len(log) else f", before {count(len(log) - place, 'line')}"
            plain = f"{me} has {title} now and shows it in its place{late}."
        else:
            plain = f"{me} shows {title}: everything it builds on is here."
            weight = Weight.TURN if twins else Weight.ROUTINE
        if twins:
            first = "after" if min(twins) < message_id else "before"
            plain += f" Same time as {self._voice.title(twins[0])}: it stands {first} it, by id."
        order = f"place {place} of {len(log)}: (Lamport {lamport}, {message_id[:ID_SHOWN]})"
        if twins:
            sign = "<" if message_id < twins[0] else ">"
            order += f"; equal Lamport, {message_id[:ID_SHOWN]} {sign} {twins[0][:ID_SHOWN]}"
        self._voice.say(node.number, plain, order, weight)

    def _tell_broadcast(self, node: Node, message: Message) -> None:
        me = self._voice.name(node)
        asked = [entry.message_id for entry in message.repair_request]
        if asked:
            what = listed([self._voice.title(one) for one in asked[:MANY]])
            self._voice.say(
                node.number,
                f"{me} asks everybody: who has {what}?",
                f"repair request in a {message.kind.value} message: T_req is over for "
                f"{', '.join(one[:ID_SHOWN] for one in asked)}",
                Weight.TURN,
            )
        elif message.kind is Kind.SYNC and self._told:
            names = [self._voice.title(one.message_id) for one in message.causal_history]
            newest = listed(names[-MANY:])
            ids = ", ".join(one.message_id[:ID_SHOWN] for one in message.causal_history[-MANY:])
            self._voice.say(
                node.number,
                f"{me} tells everybody what is here: {newest}."
                if names
                else f"{me} says: I am here.",
                f"sync message: Lamport {message.lamport}, causal history of "
                f"{len(message.causal_history)} ids ({ids})",
                Weight.ROUTINE,
            )

    # --- Inside --------------------------------------------------------------------------------

    def _tell_lost(self, flight: Flight) -> None:
        heard = self._voice.world.network.hears(flight.sender, flight.receiver)
        what, weight = "A sync message", Weight.TURN if heard else Weight.EVENT
        if flight.message_id is not None:
            what = self._voice.title(flight.message_id)
        elif flight.asks:
            what = "The question"
        elif flight.cause is not Cause.SYNC or (not heard and flight.sender in self._cut_off):
            return
        else:
            weight = Weight.ROUTINE
            self._cut_off |= set() if heard else {flight.sender}
        if not self._told and flight.message_id is None:
            return
        sender, receiver = self._voice.name_of(flight.sender), self._voice.name_of(flight.receiver)
        self._voice.say(
            flight.receiver,
            f"{what} of {sender} is lost on its way to {receiver}.",
            f"frame ({flight.cause.value}) {sender} to {receiver} dropped",
            weight,
        )
