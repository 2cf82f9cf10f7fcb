"""SDS-R in one channel: what we ask for, what we answer, and in what time.

Rules:
1. Missing messages are asked for, whoever named them; nobody is asked for one that waits here
   already.
2. Whoever hears a request leaves the asking to its sender; whoever hears an answer does not answer.
"""

from typing import Final

from sync.machine import SECOND, MessageId, Nanos, PeerId
from sync.sds.answering import Answering
from sync.sds.asking import Asking
from sync.sds.coming import NOTHING, Coming
from sync.sds.events import Answer, Effect, Retrieve
from sync.sds.message import HistoryEntry
from sync.sds.parameters import Parameters
from sync.sds.participants import Participants
from sync.sds.repair import Window

IN_BULK: Final = 32
"""Missing messages from which on asking, three at a time, takes longer than fetching them all."""


class Repairs:
    """The two repair buffers of a channel, and how large its group is."""

    def __init__(self, me: PeerId, parameters: Parameters) -> None:
        self.asking = Asking(me)
        self.answering = Answering(me)
        self.participants = Participants(me)
        self.connected = 0
        """Peers connected now."""
        self.coming: Coming = NOTHING
        self._parameters = parameters
        self._window = Window.of(parameters, 1)
        self._trip: Nanos = 0
        self._counted_until: Nanos = 0
        self._bulk_after: Nanos = 0

    def window(self, now: Nanos) -> Window:
        """Return the times of now; they grow with the group, which is counted once a second."""
        if now >= self._counted_until:
            count = self.participants.count(now, self.connected)
            self._window = Window.of(self._parameters, count, self._trip)
            self._counted_until = now + SECOND
        return self._window

    def pace(self, trip: Nanos) -> None:
        """A trip there and back takes so long on every link; 0 for no time."""
        self._trip = trip
        self._counted_until = 0

    def count_anew(self) -> None:
        """Somebody new takes part: that counts at once."""
        self._counted_until = 0

    @property
    def counted(self) -> tuple[int, Window]:
        """Participants and times as they were counted last; to look at them changes nothing."""
        return 1 + max(len(self.participants), self.connected), self._window

    def came(self, message_id: MessageId, now: Nanos, *, found: bool = True) -> None:
        """A message is here, or is given up: nobody is asked for it any more."""
        if self.answering.answers:
            self.answering.heard(message_id, None, now)
        asking = self.asking
        if message_id in asking.requests or asking.in_line:
            asking.drop(message_id, self.window(now), now, found=found)

    def ask(self, now: Nanos) -> tuple[HistoryEntry, ...]:
        """Return what the message that goes out now asks for ("When SENDING a Message")."""
        if not self.asking.requests:  # nobody stands in line while there is room
            return ()
        requests = self.asking.ask(self._parameters.repair_size, self.window(now), now, self.coming)
        return tuple([request.entry for request in requests])

    def requested(self, entry: HistoryEntry, requester: PeerId, now: Nanos, *, held: bool) -> None:
        """Somebody asks for a message; `held` if it is in our history.

        Without a sender nobody answers it, so nobody leaves the asking to it.
        """
        if held:
            self.answering.requested(entry, requester, self.window(now), now)
        elif self.asking and entry.sender_id is not None:
            self.asking.heard(entry.message_id, requester, self.window(now), now)

    def may_answer(self, message_id: MessageId, requester: PeerId, now: Nanos) -> bool:
        """Return whether to look up the author of a message of ours that is requested."""
        return self.answering.is_open(message_id, requester, self.window(now), now)

    def answer(self, now: Nanos) -> list[Effect]:
        """Return the answers that are due ("Incoming Repair Request Buffer Sweep")."""
        return [Answer(message_id) for message_id in self.answering.due(now)]

    def retrieve(self, asked: tuple[HistoryEntry, ...], now: Nanos) -> list[Effect]:
        """Return what to fetch elsewhere: what was asked for in vain, or so much at once.

        All of so much once in T_max; it is on its way then.
        """
        if not asked:
            return []
        requests = self.asking.requests
        wanted = [entry for entry in asked if requests[entry.message_id].asked > 1]
        if len(self.asking) >= IN_BULK and now >= self._bulk_after:
            self._bulk_after = now + self.window(now).t_max
            wanted = [request.entry for request in requests.values()]
        return [Retrieve(tuple(wanted))] if wanted else []

    def connect(self, peers: int, now: Nanos) -> None:
        """`peers` are connected now."""
        begins = not self.connected and peers
        if peers > self.connected:
            self.asking.try_again(now)
        self.connected = peers
        self._counted_until = now
        window = self.window(now)
        if not peers:
            self.answering.forget()
        if begins:
            self.asking.begin_anew(window, now)
