"""Tells of topics, pins and marks, and of sessions that compare these.

Rule: as in `chat_tui.demo.narrator`: nothing is told because a script expects it.
"""

from collections.abc import Sequence
from typing import Final

from chat_tui.demo.cast import Voice, Weight
from chat_tui.demo.phrases import ID_SHOWN, quoted
from chat_tui.text.listing import listed
from chat_tui.text.times import count, size
from sync.calimero.state.contents import Held, Pin, Profile, Read, Topic
from sync.calimero.state.entry import StateEntry, parse
from sync.calimero.state.session import HASH, LEVEL, STATE
from sync.calimero.state.tree import Tree
from sync.group import values
from sync.machine import MessageId
from sync.sessions.values import Outcome
from sync.sim.node import Node
from sync.view.view import SessionInfo

STATE_PROTOCOLS: Final = frozenset({STATE.name, HASH.name, LEVEL.name})
KINDS: Final = {HASH.name: "from the root of the tree down", LEVEL.name: "level by level"}


def _is_seen(entry: StateEntry) -> bool:
    """Return whether everybody sees what an entry says."""
    return isinstance(entry.says, Topic | Pin)


class StateStory:
    """Tells, by `voice`, of what a channel knows besides its lines."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._told: dict[tuple[int, int], int] = {}
        """Payloads that were told, by participant and session: several may go out at once."""

    def tell_set(self, node: Node, contents: Sequence[bytes]) -> None:
        """Somebody has set things: entries of theirs go out to all who are linked."""
        entries = [parse(content) for content in contents]
        said = [self._said(entry) for entry in entries]
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} {listed(said)}. It is signed, and goes out to "
            f"{count(len(node.joined), 'other')}.",
            "; ".join(
                f"register {entry.key.hex()[:ID_SHOWN]}, stamp {entry.signed.stamp}, "
                f"leaf {entry.leaf.hex()[:ID_SHOWN]}"
                for entry in entries
            ),
            Weight.TURN if any(map(_is_seen, entries)) else Weight.EVENT,
        )

    def _said(self, entry: StateEntry) -> str:
        match entry.says:
            case Topic(text):
                return f"sets the topic {quoted(text)}"
            case Pin():
                return f"pins {self._voice.title(MessageId(entry.signed.name.hex()))}"
            case Read(_, message_id):
                return f"has read up to {self._voice.title(MessageId(message_id.hex()))}"
            case Held(heads):
                return f"says what is here: all up to {count(len(heads), 'line')}"
            case Profile(nick):
                return f"goes by {nick}"
            case None:
                return "takes something back"

    def tell_begins(self, node: Node, event: values.StartSession) -> None:
        """Somebody begins to compare states with somebody."""
        peer = self._voice.name_of(self._voice.numbers[event.peer])
        tree = self._tree(node)
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} compares topic, pins and marks with {peer}: {event.why}.",
            f"session {event.session}: {count(len(tree), 'entry', 'entries')}, root "
            f"{tree.root.hex()[:ID_SHOWN]}",
        )

    def tell_payload(self, node: Node, info: SessionInfo) -> None:
        """A payload of such a session goes out."""
        sent = [one for one in info.rounds if one.sent]
        told = self._told.get((node.number, info.number), 0)
        if told >= len(sent):
            return
        self._told[node.number, info.number] = told + 1
        one, peer = sent[told], self._voice.name_of(self._voice.numbers[info.peer])
        how = f", {KINDS[info.protocol]}" if told and info.protocol in KINDS else ""
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} to {peer}{how}: {one.words}.",
            f"payload {told + 1} of this side, {size(one.size)}: {one.words}",
        )

    def tell_over(self, node: Node, ended: values.SessionEnded) -> None:
        """Tell the result of such a session."""
        peer, tree = self._voice.name_of(self._voice.numbers[ended.peer]), self._tree(node)
        agree = ended.outcome is Outcome.CONVERGED
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} and {peer} "
            + ("have the same topic, pins and marks." if agree else f"stop: {ended.result}."),
            f"session {ended.session} by {ended.protocol}: {ended.result}; "
            f"{count(len(tree), 'entry', 'entries')}, root {tree.root.hex()[:ID_SHOWN]}",
            Weight.TURN,
        )

    def _tree(self, node: Node) -> Tree:
        assert node.runner is not None
        return node.runner.groups[self._voice.world.channel].stating.registers.tree
