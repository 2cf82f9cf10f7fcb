"""Tells how a message that was lost is noticed, asked for, and answered: SDS-R, in both registers.

Rule: as in `chat_tui.demo.narrator`: nothing is told because a script expects it.
"""

from collections.abc import Sequence

from chat_tui.demo import formulas
from chat_tui.demo.cast import Voice, Weight
from chat_tui.demo.phrases import ID_SHOWN, clock_tenths, waits
from chat_tui.text.listing import listed
from chat_tui.text.times import times
from sync.group import values
from sync.machine import MessageId, Nanos, PeerId
from sync.sds.message import Message
from sync.sim.node import Node
from sync.sim.watch import Step
from sync.view.view import RepairInfo, RequestInfo


class RepairStory:
    """Tells, by `voice`, of who lacks what. `told`: whether each message held back is told of."""

    def __init__(self, voice: Voice, *, told: bool) -> None:
        self._voice, self._told = voice, told
        self.lacked: set[tuple[int, MessageId]] = set()
        """People who lacked or held back which message, and do not show it yet."""

    # --- Who lacks something -------------------------------------------------------------------

    def tell_held(
        self, node: Node, step: Step, message_id: MessageId, lacked: Sequence[MessageId]
    ) -> None:
        """Something came before what it builds on, which is missed only now."""
        self.lacked |= {(node.number, one) for one in (message_id, *lacked)}
        me = self._voice.name(node)
        needs = listed([self._voice.title(one) for one in lacked])
        request = _request(step.after, lacked[0])
        when = "" if request is None else f" {me} asks at {clock_tenths(request.t_req)}."
        self._voice.say(
            node.number,
            f"{me} gets {self._voice.title(message_id)}, which builds on {needs}. That never came, "
            f"so {me} holds {self._voice.title(message_id)} back and starts a random wait.{when}",
            f"causal history of {message_id[:ID_SHOWN]} has "
            f"{', '.join(one[:ID_SHOWN] for one in lacked)}: not in the log. "
            + self._t_req(node, request, step),
            Weight.TURN,
        )

    def tell_waiting(self, node: Node, message_id: MessageId) -> None:
        """Something else is waited for already."""
        if (node.number, message_id) in self.lacked:
            return
        self.lacked.add((node.number, message_id))
        if not self._told:
            return
        assert node.runner is not None
        incoming = node.runner.groups[self._voice.world.channel].sds.incoming
        unmet = sorted(incoming.unmet(message_id)) if message_id in incoming.waiting else []
        needs = listed([self._voice.title(one) for one in unmet])
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} gets {self._voice.title(message_id)} and holds it back too: "
            f"{needs} must come first.",
            f"incoming buffer: {len(incoming.waiting)} waiting, {len(incoming.missing)} missing",
        )

    def tell_lacking(self, node: Node, step: Step, lacked: Sequence[values.Missing]) -> None:
        """Somebody's sync message, or a link to what its author wrote before, named them."""
        self.lacked |= {(node.number, one.message_id) for one in lacked}
        me, request = self._voice.name(node), _request(step.after, lacked[0].message_id)
        what = listed([self._voice.title(one.message_id) for one in lacked])
        by = self._voice.numbers.get(PeerId(lacked[0].named_by))
        namer = "A message" if by is None else f"A sync message of {self._voice.name_of(by)}"
        when = "" if request is None else f" {me} asks at {clock_tenths(request.t_req)}."
        self._voice.say(
            node.number,
            f"{namer} names {what}, which {me} lacks.{when}",
            f"Missing {', '.join(one.message_id[:ID_SHOWN] for one in lacked)}. "
            + self._t_req(node, request, step),
            Weight.TURN,
        )

    # --- Who asks, and who answers -------------------------------------------------------------

    def tell_repairs(self, node: Node, step: Step, event: values.Arrived) -> None:
        """Somebody asked, or answered: who leaves it to whom."""
        before, after = step.before, step.after
        if before is None or after is None:
            return
        message = self._voice.world.gate.read(event.payload)
        if message.repair_request:
            self._tell_heard_request(node, message, before, after)
            asked_for = {entry.message_id: None for entry in message.repair_request}
            for effect in step.effects:
                if isinstance(effect, values.LoadAuthors):  # told of once these are loaded
                    asked_for = {one: None for one in asked_for if one not in effect.message_ids}
            self._tell_answering(node, message.sender_id, list(asked_for), before, after)
        if message.content:
            gone = {one.message_id for one in before.answers}
            gone -= {one.message_id for one in after.answers}
            if message.message_id in gone:
                name = self._voice.name_of(self._voice.numbers[event.peer])
                self._voice.say(
                    node.number,
                    f"{self._voice.name(node)} hears {name}'s answer and drops the own one.",
                    f"{message.message_id[:ID_SHOWN]} leaves the incoming repair buffer "
                    f"({after.answers_count} left)",
                )

    def _tell_heard_request(
        self, node: Node, message: Message, before: RepairInfo, after: RepairInfo
    ) -> None:
        asker = self._voice.name_of(self._voice.numbers[message.sender_id])
        me = self._voice.name(node)
        old = {one.message_id: one.asked for one in before.requests}
        for entry in message.repair_request:
            message_id = entry.message_id
            request = _request(after, message_id)
            if message_id in old and request is not None and request.asked > old[message_id]:
                self._voice.say(
                    node.number,
                    f"{me} lacks {self._voice.title(message_id)} too, hears {asker} ask and leaves "
                    f"it to {asker}; else {me} asks at {clock_tenths(request.t_req)}.",
                    f"asked {times(request.asked)}: pause (2^min(asked, 2) - 1) · T_max, "
                    f"T_req {clock_tenths(request.t_req)}",
                )

    def tell_answering(self, node: Node, step: Step, event: values.AuthorsLoaded) -> None:
        """Tell who answers a repair request and when, or leaves it, once the authors are known."""
        before, after = step.before, step.after
        if before is not None and after is not None:
            asked_for = [entry.message_id for entry in event.entries]
            self._tell_answering(node, event.requester, asked_for, before, after)

    def _tell_answering(
        self,
        node: Node,
        requester: PeerId,
        asked_for: Sequence[MessageId],
        before: RepairInfo,
        after: RepairInfo,
    ) -> None:
        asker = self._voice.name_of(self._voice.numbers[requester])
        me = self._voice.name(node)
        planned = {one.message_id: one for one in after.answers}
        for one in before.answers:
            planned.pop(one.message_id, None)
        for answer in planned.values():
            now = self._voice.world.now + node.machine_offset
            wait = answer.t_resp - now
            pause = "answers at once: the author need not wait"
            if not self._voice.is_author(node, answer.message_id):
                pause = f"waits {waits(wait)}: another may answer first"
            self._voice.say(
                node.number,
                f"{me} has {self._voice.title(answer.message_id)} for {asker} and {pause}.",
                self._t_resp(node, answer.message_id, after, answer.t_resp - now),
                Weight.TURN,
            )
        for message_id in asked_for:
            if message_id not in planned:
                self._tell_silence(node, message_id, after)

    def _tell_silence(self, node: Node, message_id: MessageId, after: RepairInfo) -> None:
        row = node.disk.rows.get(message_id)
        if row is None or after.groups == 1:
            return
        author = row.message.entry.header.author
        mine, theirs = formulas.groups_of(node.identity.peer_id, author, message_id, after.groups)
        if mine != theirs:
            self._voice.say(
                node.number,
                f"{self._voice.name(node)} has {self._voice.title(message_id)} too, but is in the "
                "other half and stays silent.",
                f"response group {mine} of {after.groups}, its author's is {theirs}: "
                f"H(participant, {message_id[:ID_SHOWN]}) mod {after.groups}",
            )

    # --- The formulas --------------------------------------------------------------------------

    def _t_req(self, node: Node, request: RequestInfo | None, step: Step) -> str:
        if request is None or step.after is None:
            return "T_req is set once somebody is here"
        now = step.at + node.machine_offset
        return formulas.t_req(
            node.identity.peer_id, self._voice.name(node), request, step.after, now
        )

    def _t_resp(self, node: Node, message_id: MessageId, info: RepairInfo, wait: Nanos) -> str:
        author = node.disk.rows[message_id].message.entry.header.author
        names = self._voice.name(node), self._voice.name_of(self._voice.numbers[author])
        who = (node.identity.peer_id, author)
        return formulas.t_resp(who, names, message_id, info, wait)


def _request(info: RepairInfo | None, message_id: MessageId) -> RequestInfo | None:
    if info is None:
        return None
    return next((one for one in info.requests if one.message_id == message_id), None)
