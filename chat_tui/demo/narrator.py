"""Tells what happened, in two registers: one plain sentence, and the formula with its values.

Rule: every sentence comes from an effect, an input or a frame of the engines, and every number in
it from their state then. Nothing is told because a script expects it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from chat_tui.demo import formulas
from chat_tui.demo.acts import Act, Write
from chat_tui.demo.words import ID_SHOWN, clock_tenths, listed, quoted, waits, what_happens
from chat_tui.pane.details import percent
from chat_tui.text import count, size, times
from sync.group import values
from sync.machine import MessageId, Nanos, PeerId
from sync.runner import Release
from sync.sds.message import Delivery, Kind, Message
from sync.show import session_infos, text_of
from sync.sim.node import Node
from sync.sim.watch import Cause, Flight, Step
from sync.sim.world import World
from sync.view import RepairInfo, RequestInfo, RoundInfo

MANY: Final = 3
"""Messages shown at once from which on they are counted instead of named."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that happened at `at`; `who` is the participant it is about, -1 for nobody."""

    at: Nanos
    who: int
    plain: str
    formula: str


class Narrator:
    """Tells of the first participants of `world`, who are called `names`.

    `told`: whether each line written and shown is told; else only what is lost and repaired.
    """

    def __init__(self, world: World, names: tuple[str, ...], *, told: bool) -> None:
        self.said: list[Said] = []
        self._world, self._names, self._told = world, names, told
        self._numbers = {node.identity.peer_id: node.number for node in world.nodes}
        self._lacked: set[tuple[int, MessageId]] = set()

    def tell_act(self, act: Act) -> None:
        """Tell what the script or the person did; a line is told once it is written."""
        if not isinstance(act, Write):
            sentence = what_happens(act, self._names)
            self._say(-1, f"{sentence[0].upper()}{sentence[1:]}.", "(done to the network)")

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
            self._tell_release(self._world.nodes[number], release.effect)
        for flight in lost:
            self._tell_lost(flight)

    # --- What machines did ---------------------------------------------------------------------

    def _tell_step(self, step: Step) -> None:
        node = self._world.nodes[step.node]
        event = step.event
        if isinstance(event, values.PeerJoined | values.PeerGone):
            self._tell_link(node, event)
        elif isinstance(event, values.StartSession):
            self._tell_session_begins(node, event)
        held = [
            effect.message.entry.message_id
            for effect in step.effects
            if isinstance(effect, values.StoreMessage) and effect.status is values.Status.WAITING
        ]
        lacked = [effect for effect in step.effects if isinstance(effect, values.Missing)]
        if held and lacked:
            self._tell_held(node, step, held[0], [one.message_id for one in lacked])
        elif lacked and isinstance(event, values.Arrived):
            self._tell_lacking(node, step, lacked)
        elif held:
            self._tell_waiting(node, held[0])
        for effect in step.effects:
            if isinstance(effect, values.DeliveryChanged):
                self._tell_mark(node, step, effect)
        if isinstance(event, values.Arrived):
            self._tell_repairs(node, step, event)

    def _tell_link(self, node: Node, event: values.PeerJoined | values.PeerGone) -> None:
        other = self._world.nodes[self._numbers[event.peer]]
        if other.number >= len(self._names):
            return
        if other.runner is not None and other.number < node.number:
            return  # the other one says it
        pair = f"{self._name(node)} and {self._name(other)}"
        if isinstance(event, values.PeerJoined):
            self._say(
                node.number,
                f"{pair} have found each other.",
                f"PeerJoined {event.peer[:ID_SHOWN]}: connected peers {len(node.joined)}",
            )
        else:
            self._say(
                node.number,
                f"{self._name(node)} notices that {self._name(other)} is gone.",
                f"PeerGone {event.peer[:ID_SHOWN]}: connected peers {len(node.joined)}",
            )

    def _tell_held(
        self, node: Node, step: Step, message_id: MessageId, lacked: Sequence[MessageId]
    ) -> None:
        self._lacked |= {(node.number, one) for one in (message_id, *lacked)}
        me = self._name(node)
        needs = listed([self._title(one) for one in lacked])
        request = _request(step.after, lacked[0])
        when = "" if request is None else f" {me} asks at {clock_tenths(request.t_req)}."
        self._say(
            node.number,
            f"{me} gets {self._title(message_id)}, which builds on {needs}. That never came, so "
            f"{me} holds {self._title(message_id)} back and starts a random wait.{when}",
            f"causal history of {message_id[:ID_SHOWN]} has "
            f"{', '.join(one[:ID_SHOWN] for one in lacked)}: not in the log. "
            + self._t_req(node, request, step),
        )

    def _tell_waiting(self, node: Node, message_id: MessageId) -> None:
        """Something else is waited for already."""
        if (node.number, message_id) in self._lacked:
            return
        self._lacked.add((node.number, message_id))
        if not self._told:
            return
        assert node.runner is not None
        incoming = node.runner.groups[self._world.channel].sds.incoming
        unmet = sorted(incoming.unmet(message_id)) if message_id in incoming.waiting else []
        needs = listed([self._title(one) for one in unmet])
        self._say(
            node.number,
            f"{self._name(node)} gets {self._title(message_id)} and holds it back too: "
            f"{needs} must come first.",
            f"incoming buffer: {len(incoming.waiting)} waiting, {len(incoming.missing)} missing",
        )

    def _tell_lacking(self, node: Node, step: Step, lacked: Sequence[values.Missing]) -> None:
        """Somebody's sync message, or a link to what its author wrote before, named them."""
        self._lacked |= {(node.number, one.message_id) for one in lacked}
        me, request = self._name(node), _request(step.after, lacked[0].message_id)
        what = listed([self._title(one.message_id) for one in lacked])
        by = self._numbers.get(PeerId(lacked[0].named_by))
        namer = "A message" if by is None else f"A sync message of {self._name_of(by)}"
        when = "" if request is None else f" {me} asks at {clock_tenths(request.t_req)}."
        self._say(
            node.number,
            f"{namer} names {what}, which {me} lacks.{when}",
            f"Missing {', '.join(one.message_id[:ID_SHOWN] for one in lacked)}. "
            + self._t_req(node, request, step),
        )

    def _tell_mark(self, node: Node, step: Step, effect: values.DeliveryChanged) -> None:
        if not self._told:
            return
        title, me = self._title(effect.message_id), self._name(node)
        by, how = self._evidence(node, step, effect)
        match effect.delivery:
            case Delivery.ACKNOWLEDGED:
                plain = f"{me} knows that {title} was received: {by}."
            case Delivery.POSSIBLY_ACKNOWLEDGED:
                plain = f"{title} was perhaps received: {by}. {me} waits for proof."
            case Delivery.FAILED:
                plain = f"Nobody answers: {me} sends {title} no more by itself."
            case _:
                return
        self._say(node.number, plain, how)

    def _evidence(self, node: Node, step: Step, effect: values.DeliveryChanged) -> tuple[str, str]:
        """Return what shows how far a message came, in both registers."""
        id_ = effect.message_id[:ID_SHOWN]
        if not isinstance(step.event, values.Arrived):
            proved = "both have proved to hold the same"
            return proved, f"{id_} is in the set that a verified session proved"
        message = self._world.gate.read(step.event.payload)
        name = self._name_of(self._numbers[message.sender_id])
        kind = "sync message" if message.kind is Kind.SYNC else "message"
        if effect.delivery is Delivery.ACKNOWLEDGED:
            ids = ", ".join(one.message_id[:ID_SHOWN] for one in message.causal_history)
            return f"{name}'s {kind} names it", f"causal history of {name}'s {kind}: {ids}"
        assert node.runner is not None
        rate = node.runner.groups[self._world.channel].sds.filter.false_positive_rate
        return (
            f"{name}'s filter seems to hold it",
            f"all bits of {id_} are set in {name}'s filter; a false maybe: {percent(rate)}",
        )

    def _tell_repairs(self, node: Node, step: Step, event: values.Arrived) -> None:
        """Somebody asked, or answered: who leaves it to whom."""
        before, after = step.before, step.after
        if before is None or after is None:
            return
        message = self._world.gate.read(event.payload)
        if message.repair_request:
            self._tell_heard_request(node, message, before, after)
        if message.content:
            gone = {one.message_id for one in before.answers}
            gone -= {one.message_id for one in after.answers}
            if message.message_id in gone:
                name = self._name_of(self._numbers[event.peer])
                self._say(
                    node.number,
                    f"{self._name(node)} hears {name}'s answer and drops the own one.",
                    f"{message.message_id[:ID_SHOWN]} leaves the incoming repair buffer "
                    f"({after.answers_count} left)",
                )

    def _tell_heard_request(
        self, node: Node, message: Message, before: RepairInfo, after: RepairInfo
    ) -> None:
        asker = self._name_of(self._numbers[message.sender_id])
        me = self._name(node)
        planned = {one.message_id: one for one in after.answers}
        for one in before.answers:
            planned.pop(one.message_id, None)
        old = {one.message_id: one.asked for one in before.requests}
        for answer in planned.values():
            now = self._world.now + node.machine_offset
            wait = answer.t_resp - now
            pause = "answers at once: the author need not wait"
            if not self._is_author(node, answer.message_id):
                pause = f"waits {waits(wait)}: another may answer first"
            self._say(
                node.number,
                f"{me} has {self._title(answer.message_id)} for {asker} and {pause}.",
                self._t_resp(node, answer.message_id, after, answer.t_resp - now),
            )
        for entry in message.repair_request:
            message_id = entry.message_id
            request = _request(after, message_id)
            if message_id in old and request is not None and request.asked > old[message_id]:
                self._say(
                    node.number,
                    f"{me} lacks {self._title(message_id)} too, hears {asker} ask and leaves it "
                    f"to {asker}; else {me} asks at {clock_tenths(request.t_req)}.",
                    f"asked {times(request.asked)}: pause (2^min(asked, 2) - 1) · T_max, "
                    f"T_req {clock_tenths(request.t_req)}",
                )
            elif message_id not in planned:
                self._tell_silence(node, message_id, after)

    def _tell_silence(self, node: Node, message_id: MessageId, after: RepairInfo) -> None:
        row = node.disk.rows.get(message_id)
        if row is None or after.groups == 1:
            return
        author = row.message.entry.header.author
        mine, theirs = formulas.groups_of(node.identity.peer_id, author, message_id, after.groups)
        if mine != theirs:
            self._say(
                node.number,
                f"{self._name(node)} has {self._title(message_id)} too, but is in the other half "
                "and stays silent.",
                f"response group {mine} of {after.groups}, its author's is {theirs}: "
                f"H(participant, {message_id[:ID_SHOWN]}) mod {after.groups}",
            )

    # --- What went out -------------------------------------------------------------------------

    def _tell_release(self, node: Node, effect: values.Effect) -> None:
        match effect:
            case values.Written(_, message_id):
                self._tell_written(node, message_id)
            case values.Broadcast(payload):
                self._tell_broadcast(node, self._world.gate.read(payload))
            case values.BroadcastStored(message_id, None):
                self._say(
                    node.number,
                    f"{self._name(node)} answers: {self._title(message_id)} goes out to everybody "
                    "again.",
                    f"T_resp of {message_id[:ID_SHOWN]} is over and nobody was faster; "
                    f"{size(len(node.disk.rows[message_id].message.payload))} as stored",
                )
            case values.BroadcastStored(message_id, _):
                self._say(
                    node.number,
                    f"{self._name(node)} sends {self._title(message_id)} again: nobody has named "
                    "it yet.",
                    f"unacknowledged {message_id[:ID_SHOWN]}, resent with the filter of now",
                )
            case values.SendPayload(session, _) if session > 0:
                self._tell_payload(node, session)
            case values.SessionEnded():
                self._tell_session_over(node, effect)
            case _:
                pass

    def _tell_written(self, node: Node, message_id: MessageId) -> None:
        header = node.disk.rows[message_id].message.entry.header
        if not self._told:
            return
        parents = ", ".join(one.message_id[:ID_SHOWN] for one in header.parents) or "nothing"
        hearers = len(node.joined)
        to = f"goes out to {count(hearers, 'other')}" if hearers else "waits: nobody is here"
        self._say(
            node.number,
            f"{self._name(node)} writes {self._title(message_id)}. It is on disk and {to}.",
            f"{message_id[:ID_SHOWN]}: Lamport {header.lamport}, causal history {parents}, entry "
            f"{header.seq} of its author's log",
        )

    def _tell_shown(self, number: int, delivered: Sequence[values.Deliver]) -> None:
        node = self._world.nodes[number]
        others = [one for one in delivered if not self._is_author(node, one.message_id)]
        if not self._told:
            others = [one for one in others if (number, one.message_id) in self._lacked]
        total = len(node.disk.log())
        if len(others) >= MANY:
            self._say(
                number,
                f"{self._name(node)} shows {len(others)} messages, each in its place.",
                f"log of {total}, ordered by (Lamport, id)",
            )
            return
        for one in others:
            self._tell_one_shown(node, one)

    def _tell_one_shown(self, node: Node, deliver: values.Deliver) -> None:
        message_id = deliver.message_id
        me, title = self._name(node), self._title(message_id)
        log = node.disk.log()
        place = next(at for at, (_, id_) in enumerate(log, 1) if id_ == message_id)
        lamport = log[place - 1][0]
        twins = [id_ for time, id_ in log if time == lamport and id_ != message_id]
        if deliver.after_gap:
            plain = f"{me} shows {title} after a gap: what it builds on could not be found."
        elif (node.number, message_id) in self._lacked:
            self._lacked.discard((node.number, message_id))
            late = "" if place == len(log) else f", before {count(len(log) - place, 'line')}"
            plain = f"{me} has {title} now and shows it in its place{late}."
        else:
            plain = f"{me} shows {title}: everything it builds on is here."
        if twins:
            first = "after" if min(twins) < message_id else "before"
            plain += f" Same time as {self._title(twins[0])}: it stands {first} it, by id."
        order = f"place {place} of {len(log)}: (Lamport {lamport}, {message_id[:ID_SHOWN]})"
        if twins:
            sign = "<" if message_id < twins[0] else ">"
            order += f"; equal Lamport, {message_id[:ID_SHOWN]} {sign} {twins[0][:ID_SHOWN]}"
        self._say(node.number, plain, order)

    def _tell_broadcast(self, node: Node, message: Message) -> None:
        me = self._name(node)
        asked = [entry.message_id for entry in message.repair_request]
        if asked:
            what = listed([self._title(one) for one in asked[:MANY]])
            self._say(
                node.number,
                f"{me} asks everybody: who has {what}?",
                f"repair request in a {message.kind.value} message: T_req is over for "
                f"{', '.join(one[:ID_SHOWN] for one in asked)}",
            )
        elif message.kind is Kind.SYNC and self._told:
            names = [self._title(one.message_id) for one in message.causal_history]
            newest = listed(names[-MANY:])
            ids = ", ".join(one.message_id[:ID_SHOWN] for one in message.causal_history[-MANY:])
            self._say(
                node.number,
                f"{me} tells everybody what is here: {newest}."
                if names
                else f"{me} says: I am here.",
                f"sync message: Lamport {message.lamport}, causal history of "
                f"{len(message.causal_history)} ids ({ids})",
            )

    # --- Reconciliation ------------------------------------------------------------------------

    def _tell_session_begins(self, node: Node, event: values.StartSession) -> None:
        peer = self._name_of(self._numbers[event.peer])
        span = "everything" if event.span is None else f"the last {waits(event.span)}"
        self._say(
            node.number,
            f"{self._name(node)} compares histories with {peer}: {event.why}.",
            f"Waku Sync session {event.session}: {span}, "
            f"{count(len(node.disk.log()), 'message')} here",
        )

    def _tell_payload(self, node: Node, session: int) -> None:
        assert node.runner is not None
        groups = [node.runner.groups[self._world.channel]]
        info = next((one for one in session_infos(groups) if one.number == session), None)
        if info is None or not info.rounds or not info.rounds[-1].sent:
            return
        one = info.rounds[-1]
        peer = self._name_of(self._numbers[info.peer])
        trip = (len(info.rounds) + 1) // 2
        self._say(
            node.number,
            f"{self._name(node)} to {peer}: {_contents(one)}.",
            f"round trip {trip}: {size(one.size)}, {one.skips} skips, {one.fingerprints} "
            f"fingerprints, {one.item_sets} item sets with {one.items} ids",
        )

    def _tell_session_over(self, node: Node, ended: values.SessionEnded) -> None:
        peer = self._name_of(self._numbers[ended.peer])
        proof = "proved to agree" if ended.converged else "not proved"
        need = f"lacked {ended.need:,}, got {ended.got:,}, gave {ended.have:,}"
        if not ended.need and not ended.have:
            need = "nothing differed"
        self._say(
            node.number,
            f"{self._name(node)} has compared with {peer}: {need}; {proof}.",
            f"session {ended.session}: {ended.result}, "
            f"{count(ended.rounds, 'payload')}, need {ended.need}, got {ended.got}, "
            f"have {ended.have}",
        )

    # --- Inside --------------------------------------------------------------------------------

    def _tell_lost(self, flight: Flight) -> None:
        what = "A sync message"
        if flight.message_id is not None:
            what = self._title(flight.message_id)
        elif flight.asks:
            what = "The question"
        elif flight.cause is not Cause.SYNC:
            return
        if not self._told and flight.message_id is None:
            return
        sender, receiver = self._name_of(flight.sender), self._name_of(flight.receiver)
        self._say(
            flight.receiver,
            f"{what} of {sender} is lost on its way to {receiver}.",
            f"frame ({flight.cause.value}) {sender} to {receiver} dropped",
        )

    def _t_req(self, node: Node, request: RequestInfo | None, step: Step) -> str:
        if request is None or step.after is None:
            return "T_req is set once somebody is here"
        now = step.at + node.machine_offset
        return formulas.t_req(node.identity.peer_id, self._name(node), request, step.after, now)

    def _t_resp(self, node: Node, message_id: MessageId, info: RepairInfo, wait: Nanos) -> str:
        author = node.disk.rows[message_id].message.entry.header.author
        names = self._name(node), self._name_of(self._numbers[author])
        who = (node.identity.peer_id, author)
        return formulas.t_resp(who, names, message_id, info, wait)

    def _is_author(self, node: Node, message_id: MessageId) -> bool:
        row = node.disk.rows.get(message_id)
        return row is not None and row.message.entry.header.author == node.disk.me

    def _title(self, message_id: MessageId) -> str:
        """Return the text of a message, whoever holds it: the narrator sees everything."""
        for node in self._world.nodes:
            row = node.disk.rows.get(message_id)
            if row is not None:
                return quoted(text_of(row.message.entry).text)
        return message_id[:ID_SHOWN]

    def _name(self, node: Node) -> str:
        return self._name_of(node.number)

    def _name_of(self, number: int) -> str:
        if number < len(self._names):
            return self._names[number]
        return f"participant {number + 1}"

    def _say(self, who: int, plain: str, formula: str) -> None:
        self.said.append(Said(self._world.now, who, plain, formula))


def _request(info: RepairInfo | None, message_id: MessageId) -> RequestInfo | None:
    if info is None:
        return None
    return next((one for one in info.requests if one.message_id == message_id), None)


def _contents(one: RoundInfo) -> str:
    """Return what a payload says in plain words."""
    words: list[str] = []
    if one.skips:
        words.append(f"{count(one.skips, 'part')} equal")
    if one.fingerprints:
        words.append(f"{count(one.fingerprints, 'part')} to compare")
    if one.item_sets:
        words.append(f"{count(one.items, 'message')} listed")
    return ", ".join(words) or "nothing differs"
