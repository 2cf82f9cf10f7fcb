"""A reference clock among members whose clocks show what a test says."""

from sync.group.clock_policy import Policy
from sync.group.clock_values import (
    Follows,
    MemberClock,
    OwnClock,
)
from sync.group.reference import Reference
from sync.machine import DAY, Nanos, PeerId
from tests.support.sync.groups import NOW

ME = PeerId("50" * 32)


YEAR: Nanos = 365 * DAY


RELEASED: Nanos = NOW - 30 * DAY
TO_1970: Nanos = -NOW


def peer(number: int) -> PeerId:
    return PeerId(f"{number:02x}" * 32)


def member(
    number: int,
    offset: Nanos = 0,
    *,
    standing: bool = True,
    host: str = "",
    follows: Follows = Follows.NOBODY,
) -> MemberClock:
    return MemberClock(peer(number), offset, host or f"10.0.0.{number}", standing, follows)


def strangers(offset: Nanos, *hosts: str) -> list[MemberClock]:
    return [
        member(number, offset, standing=False, host=host) for number, host in enumerate(hosts, 1)
    ]


class Judge:
    """A judge, and what it is told."""

    def __init__(
        self,
        *members: MemberClock,
        wall: Nanos = 0,
        policy: Policy = Policy.ASK,
        synchronised: bool = False,
        me: PeerId = ME,
    ) -> None:
        self.now = NOW
        self.reference = Reference(me)
        self.own(wall, policy=policy, synchronised=synchronised)
        self.hear(*members)

    def own(
        self,
        wall: Nanos,
        *,
        was_set: bool = False,
        policy: Policy = Policy.ASK,
        synchronised: bool = False,
    ) -> None:
        self.reference.tell_own(OwnClock(wall, synchronised, policy, was_set, RELEASED))
        self.reference.judge(self.now)

    def hear(self, *members: MemberClock) -> None:
        for each in members:
            self.reference.tell_member(each)
            self.reference.judge(self.now)

    def answer(self, *, follow: bool) -> None:
        assert self.reference.answer(self.now, follow=follow)
        self.reference.judge(self.now)

    @property
    def moved(self) -> Nanos:
        return self.reference.ruling.offset - self.reference.own.offset

    @property
    def asked(self) -> Nanos | None:
        """Lead of the clocks in the open question; None if no question is open."""
        question = self.reference.ruling.question
        return None if question is None else question.ahead

    def voters(self) -> list[PeerId]:
        question = self.reference.ruling.question
        return [] if question is None else [vote.peer for vote in question.votes]
