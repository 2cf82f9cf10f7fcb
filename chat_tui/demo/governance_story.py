"""Tells what members do to each other in a governed channel, and who learns of it."""

from typing import Final

from chat_tui.demo.cast import Voice, Weight
from chat_tui.demo.phrases import ID_SHOWN
from chat_tui.text.listing import listed
from chat_tui.text.times import count
from sync.calimero.governance.dag import Act
from sync.calimero.governance.ops import (
    Add,
    Genesis,
    Invite,
    Join,
    Key,
    Leave,
    Remove,
    Revoke,
    Rotate,
    SetPolicy,
    SetRole,
)
from sync.group import values
from sync.group.governing import Governing
from sync.machine import PeerId
from sync.sim.node import Node

RANKS: Final = ("0 (owner)", "1 (admin)", "2 (others)")


class GovernanceStory:
    """Tells of ops, of what they let in or take out, and of lines that are dropped."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice

    def tell(self, node: Node, effect: values.Effect) -> None:
        """Tell of an effect, if it is one of governance."""
        governing = self._governing(node)
        if governing is None:
            return
        match effect:
            case values.Acted(_, op):
                self._tell_acted(node, governing, governing.governance.act(op))
            case values.Governed(ops):
                others = [governing.governance.act(op) for op in ops]
                mine = Key(bytes.fromhex(node.identity.peer_id))
                self._tell_learnt(node, governing, [one for one in others if one.signer != mine])
            case values.PendingEnded(message_ids, label) if label is not None:
                self._voice.say(
                    node.number,
                    f"{self._voice.name(node)} drops {count(len(message_ids), 'line')}: whoever "
                    "wrote it had no right to.",
                    f"verdict at the cut it names: no ({label.value})",
                    Weight.TURN,
                )
            case _:
                pass

    def tell_link(self, node: Node, other: Node, *, joined: bool) -> None:
        """Tell that a node gives another one everything of the channel, or no more."""
        me, name = self._voice.name(node), self._voice.name(other)
        governing = self._governing(node)
        out = governing is not None and governing.is_in(other.identity.peer_id) is False
        if joined:
            self._voice.say(
                node.number,
                f"{me} shares the channel with {name}.",
                f"level of {name} at {me}: full",
            )
        elif out:
            self._voice.say(
                node.number,
                f"{me} gives {name} nothing more of the channel: {name} is out.",
                f"level of {name} at {me}: stub; sessions of the channel end, the link stays",
            )
        elif governing is not None and governing.is_in(node.identity.peer_id) is False:
            self._voice.say(
                node.number,
                f"{me} hears nothing more of {name} in the channel: {me} is out.",
                f"level of {name} at {me}: governance, for {me} is not in",
            )
        else:
            self._voice.say(
                node.number,
                f"{me} notices that {name} is gone.",
                f"no link to {name} any more",
                Weight.ROUTINE,
            )

    def _tell_acted(self, node: Node, governing: Governing, act: Act) -> None:
        epoch = "" if act.epoch is None else f", begins epoch {act.epoch.number}"
        self._voice.say(
            node.number,
            f"{self._deed(act)}. The act is signed, and goes out to everybody.",
            f"op {act.id.hex()[:ID_SHOWN]}: rank {RANKS[act.rank]}, number {act.nonce} of its "
            f"signer{epoch}; cut of {count(len(governing.governance.dag), 'op')}",
            Weight.TURN,
        )

    def _tell_learnt(self, node: Node, governing: Governing, acts: list[Act]) -> None:
        if not acts:
            return
        me = self._voice.name(node)
        deeds = listed([self._deed(act) for act in acts[-2:]])
        more = len(acts) - 2
        before = f" ({count(more, 'act')} before)" if more > 0 else ""
        void = [act for act in acts if act.number in governing.governance.now.voids]
        nothing = f" Of that, {count(len(void), 'act')} came to nothing." if void else ""
        heads = ", ".join(head.hex()[:ID_SHOWN] for head in governing.governance.heads)
        self._voice.say(
            node.number,
            f"{me} learns that {deeds}{before}.{nothing}",
            f"{count(len(acts), 'op')} taken in; heads now {heads}",
            Weight.TURN,
        )

    def _deed(self, act: Act) -> str:
        """Return who did what, in the past tense."""
        who = self._name(act.signer)
        people = listed([self._name(key) for key in act.targets if key != act.signer])
        match act.op:
            case Remove(reason=reason):
                return f"{who} removed {people}" + (f" ({reason})" if reason else "")
            case Join():
                return f"{who} joined by a code"
            case Invite():
                return f"{who} made a code"
            case Add():
                return f"{who} added {people}"
            case SetRole(role=role):
                return f"{who} made {people} {role.name.lower()}"
            case Leave():
                return f"{who} left"
            case Genesis():
                return f"{who} founded the channel"
            case SetPolicy():
                return f"{who} set the policy"
            case Revoke():
                return f"{who} ended a code"
            case Rotate():
                return f"{who} changed the secret"
        raise AssertionError(act.op)

    def _name(self, key: Key) -> str:
        number = self._voice.numbers.get(PeerId(key.hex()))
        return "somebody" if number is None else self._voice.name_of(number)

    def _governing(self, node: Node) -> Governing | None:
        if node.runner is None:
            return None
        return node.runner.groups[self._voice.world.channel].governing
