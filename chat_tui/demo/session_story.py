"""Tells of reconciliations: who compares with whom, what each payload says, and what came of it.

Rule: as in `chat_tui.demo.narrator`: nothing is told because a script expects it.
"""

from typing import Final

from chat_tui.demo.cast import Voice, Weight
from chat_tui.demo.phrases import waits
from chat_tui.demo.state_story import STATE_PROTOCOLS, StateStory
from chat_tui.text.times import count, size
from chat_tui.wording.waves import waves_plainly, waves_said
from sync.group import values
from sync.manager.registry import DELTA, LOG, LOG_HEIGHT, SETS, SKETCH, SNAPSHOT
from sync.p2panda.entries import open_entry
from sync.p2panda.messages import Entry, decode
from sync.p2panda.words import said
from sync.sessions.values import Outcome
from sync.sim.node import Node
from sync.view.projection import session_infos
from sync.view.view import RoundInfo, SessionInfo

WAYS: Final = {
    "waku": "Waku Sync",
    LOG.name: "a handshake each way decides how",
    DELTA.name: "delta sync",
    SKETCH.name: "a sketch",
}
"""Ways to compare, as they are told."""

BY_LOGS: Final = frozenset((LOG_HEIGHT.name, SETS.name))


class SessionStory:
    """Tells, by `voice`, of sessions between two participants, whatever the protocol."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._state = StateStory(voice)

    def tell_begins(self, node: Node, event: values.StartSession) -> None:
        """Somebody begins to compare with somebody."""
        peer = self._voice.name_of(self._voice.numbers[event.peer])
        span = "everything" if event.span is None else f"the last {waits(event.span)}"
        asked = event.protocol or "waku"
        protocol = WAYS.get(asked, f"p2panda replication by {asked}")
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} compares histories with {peer}: {event.why}.",
            f"{protocol}, session {event.session}: {span}, "
            f"{count(len(node.disk.log()), 'message')} here",
        )

    def tell_payload(self, node: Node, session: int, payload: bytes) -> None:
        """A payload goes out: what it says, in words and in numbers."""
        assert node.runner is not None
        groups = [node.runner.groups[self._voice.world.channel]]
        info = next((one for one in session_infos(groups) if one.number == session), None)
        if info is None:
            return
        if info.protocol in STATE_PROTOCOLS:
            self._state.tell_payload(node, info)
            return
        if info.protocol in BY_LOGS:
            self._tell_message(node, info, payload)
            return
        if not info.rounds or not info.rounds[-1].sent:
            return
        if info.protocol != "waku":
            self._tell_words(node, info, len(payload))
            return
        one = info.rounds[-1]
        peer = self._voice.name_of(self._voice.numbers[info.peer])
        trip = info.trip(len(info.rounds) - 1)
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} to {peer}: {_contents(one)}.",
            f"round trip {trip}: {size(one.size)}, {one.skips} skips, {one.fingerprints} "
            f"fingerprints, {one.item_sets} item sets with {one.items} ids",
        )

    def _tell_words(self, node: Node, info: SessionInfo, length: int) -> None:
        """A payload goes out, perhaps with others behind it, of which a card has the words."""
        sent = [one for one in info.rounds if one.sent and one.size == length]
        if not sent:
            return
        one = sent[-1]
        peer = self._voice.name_of(self._voice.numbers[info.peer])
        before = info.rounds[info.rounds.index(one) - 1]
        if before.waves:
            self._voice.say(
                node.number,
                f"{self._voice.name(node)} subtracts the own symbols from {peer}'s: "
                f"{waves_plainly(before.waves)}.",
                f"{info.protocol}, session {info.number}: decoded {waves_said(before.waves)}",
                Weight.TURN,
            )
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} to {peer}: {one.words}.",
            f"{info.protocol}, session {info.number}: {size(one.size)}",
        )

    def _tell_message(self, node: Node, info: SessionInfo, payload: bytes) -> None:
        """A message of a session over author logs goes out."""
        me = self._voice.name(node)
        peer = self._voice.name_of(self._voice.numbers[info.peer])
        message = decode(payload)
        plain = f"{me} to {peer}: {said(message)}."
        if isinstance(message, Entry):
            title = self._voice.title(open_entry(message).message_id)
            how = "passes" if info.state == "live" else "sends"
            plain = f"{me} {how} {title} on to {peer}."
        self._voice.say(
            node.number,
            plain,
            f"{type(message).__name__}, {size(len(payload))}: {said(message)}",
        )

    def tell_live(self, node: Node, began: values.LiveBegan) -> None:
        """A session stays, to pass on what is new; the first of the two says so."""
        other = self._voice.numbers[began.peer]
        if other < node.number:
            return
        peer = self._voice.name_of(other)
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} and {peer} stay in touch: from now on each passes on to "
            "the other what the other cannot hear.",
            f"session {began.session} goes live: both said so in SyncDone",
            Weight.TURN,
        )

    def tell_over(self, node: Node, ended: values.SessionEnded) -> None:
        """Tell the result of a reconciliation, and whether it is proved."""
        peer = self._voice.name_of(self._voice.numbers[ended.peer])
        if ended.protocol == SNAPSHOT.name and ended.outcome is Outcome.MOVED:
            self._voice.say(
                node.number,
                f"{self._voice.name(node)} has all that {peer} held, {ended.result}: judged one by "
                "one, it becomes history at once.",
                f"session {ended.session}: {ended.result}, {count(ended.rounds, 'payload')}",
                Weight.TURN,
            )
            return
        proof = "proved to agree" if ended.converged else "not proved"
        need = f"lacked {ended.need:,}, got {ended.got:,}, gave {ended.have:,}"
        if not ended.need and not ended.have:
            need = "nothing differed"
        self._voice.say(
            node.number,
            f"{self._voice.name(node)} has compared with {peer}: {need}; {proof}.",
            f"session {ended.session}: {ended.result}, "
            f"{count(ended.rounds, 'payload')}, need {ended.need}, got {ended.got}, "
            f"have {ended.have}",
            Weight.TURN if ended.need or ended.have else Weight.EVENT,
        )


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
