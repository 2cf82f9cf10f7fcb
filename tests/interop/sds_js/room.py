"""Participants of both kinds in one channel: whoever speaks is heard at once, or not."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sync.machine import Nanos, PeerId
from sync.sds.message import Message
from tests.interop.sds_js.members import Member, read
from tests.support.sync.channels import NOW

STEPS_MAX = 10_000
"""Deadlines in one run; more come only of a deadline that does not pass."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A message as it was sent: by whom, who need not have written it, and when."""

    at: Nanos
    speaker: PeerId
    message: Message


Lost: TypeAlias = Callable[[Copy, PeerId], bool]
"""Whether a copy does not reach this listener."""


def nothing(_copy: Copy, _listener: PeerId) -> bool:
    return False


def everything(_copy: Copy, _listener: PeerId) -> bool:
    return True


def every_copy_of(message: Message) -> Lost:
    return lambda copy, _listener: copy.message.message_id == message.message_id


def whatever_goes_to(*members: Member) -> Lost:
    ids = {member.id for member in members}
    return lambda _copy, listener: listener in ids


class Room:
    """All members hear each other; `lost` says which copies do not reach whom.

    `air` is everything that was sent, `now` the time.
    """

    def __init__(self, *members: Member) -> None:
        self.members = members
        self.now: Nanos = NOW
        self.air: list[Copy] = []
        self.lost: Lost = nothing

    def say(self, speaker: Member, text: str) -> Message:
        """Let somebody write, and return what went out."""
        [message] = self.transmit(speaker, speaker.say(text, self.now))
        return message

    def transmit(self, speaker: Member, payloads: Sequence[bytes]) -> list[Message]:
        """Carry messages to the others, and what these say to it; return them decoded."""
        waiting = deque((speaker, payload) for payload in payloads)
        sent = []
        while waiting:
            one, payload = waiting.popleft()
            copy = Copy(self.now, one.id, read(payload))
            sent.append(copy)
            for listener in self.members:
                if listener is not one and not self.lost(copy, listener.id):
                    replies = listener.hear(payload, one.id, self.now)
                    waiting += [(listener, reply) for reply in replies]
        self.air += sent
        return [copy.message for copy in sent[: len(payloads)]]

    def run(self, until: Nanos) -> None:
        """Let time pass; everybody does what is due."""
        for _ in range(STEPS_MAX):
            deadlines = [(one.deadline(), one) for one in self.members]
            due = [(at, one) for at, one in deadlines if at is not None and at <= until]
            if not due:
                self.now = until
                return
            at, member = min(due, key=lambda item: item[0])
            self.now = max(self.now, at)
            self.transmit(member, member.tick(self.now))
        raise AssertionError("a deadline does not pass")

    def requests(self, speaker: Member) -> list[Copy]:
        """Return what `speaker` sent with a repair request in it."""
        return [
            copy for copy in self.air if copy.speaker == speaker.id and copy.message.repair_request
        ]

    def said(self, *message_ids: str) -> list[Copy]:
        """Return every sending of these messages."""
        return [copy for copy in self.air if copy.message.message_id in message_ids]
