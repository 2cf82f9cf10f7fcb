"""A peer that says whatever a test wants within a session, beside a session with an honest one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sync.group import values
from sync.machine import SECOND, ChannelId, Nanos
from sync.manager.registry import WITH_P2PANDA
from sync.p2panda.announcements import schema_id
from sync.p2panda.bounds import Place
from sync.p2panda.messages import Have, LowerBound, Message, SyncDone, SyncRequest, encode
from sync.p2panda.session import STREAM, Exchange
from sync.p2panda.states import State
from sync.sessions.protocol import Opening
from sync.sessions.values import RELAY, Outcome
from sync.sim.streams import loaded
from sync.structures.differences import Role
from sync.structures.ordered_set import EVERYTHING, OrderedSet
from sync.structures.set_digest import Digest, Held
from tests.support.sync.entries import CHANNEL, Author, identity
from tests.support.sync.groups import NOW, NOW_MS, Member
from tests.support.sync.heights import SESSION
from tests.support.sync.pairs import Pair

EVE: Final = identity("eve").peer_id
NUMBER: Final = 900
"""Stream of the session with Eve, as Alice numbers it."""

CAROL: Final = Author("carol")
LINES: Final = [CAROL.write(f"carol {number}", lamport=NOW_MS + number) for number in range(4)]
"""Lines of somebody else; Alice holds the first two."""


def carol_at(height: int) -> Place:
    """Return the log of these lines, at a height."""
    header = LINES[0].entry.header
    return Place(bytes.fromhex(header.author), header.log, height)


@dataclass
class Scene:
    """Alice in the middle of a session with Bob, whom she owes lines, and asked by Eve.

    What Eve is sent is kept; what Bob is sent arrives once the test lets it.
    """

    alice: Member = field(init=False)
    bob: Member = field(init=False)
    honest: Pair = field(init=False)
    due: list[str] = field(init=False)
    """All that Alice held when the session with Bob began."""
    effects: list[values.Effect] = field(default_factory=list)
    """All that came of what Eve did, newest last."""
    reads: bool = True
    """Whether pages that Eve is owed come from the disk at once."""

    def __post_init__(self) -> None:
        self.alice, self.bob = (Member(name, protocols=WITH_P2PANDA) for name in ("alice", "bob"))
        for line in LINES[:2]:
            self.alice.hear(line)
        for number in range(3):
            self.alice.write(f"alice {number}")
        self.due = self.alice.shown()
        self.honest = Pair(self.alice, self.bob)
        self.alice.join(EVE)
        start = values.StartSession(
            self.honest.number(), self.alice.peer_id, "test", None, "logheight"
        )
        self.honest.queue.append((self.bob, start))
        while not self._bob_is_owed():
            self.honest.step()

    def _bob_is_owed(self) -> bool:
        return any(isinstance(one, values.LoadEntries) for one in self.honest.carried)

    # --- Eve -----------------------------------------------------------------------------------

    def offer(self) -> None:
        """Let Eve open a stream."""
        self.tell(values.SessionOffered(NUMBER, EVE, STREAM, 1, announced=True))

    def start(self, protocol: str, *, live: bool = False) -> None:
        """Let Alice ask Eve."""
        self.tell(values.StartSession(NUMBER, EVE, RELAY, None, protocol, live=live))
        self.tell(values.SessionOpened(NUMBER, 1))

    def hear(self, *said: Message | bytes) -> list[values.Effect]:
        """Let Eve say something; return what comes of the last of it."""
        effects: list[values.Effect] = []
        for one in said:
            data = one if isinstance(one, bytes) else encode(one)
            effects = self.tell(values.SessionPayload(NUMBER, data))
        return effects

    def tell(self, event: values.Input, now: Nanos = NOW) -> list[values.Effect]:
        """Give Alice an input; what comes of it for Bob waits for its turn."""
        effects = self.alice.tell(event, now)
        self.note(effects)
        for effect in effects:
            if isinstance(effect, values.LoadEntries) and effect.session == NUMBER and self.reads:
                self.tell(loaded(self.alice.disk, effect), now)
        return effects

    def note(self, effects: Sequence[values.Effect]) -> None:
        """Keep what came of it."""
        self.effects += effects

    def wait(self, until: Nanos) -> list[values.Effect]:
        """Let time pass for Alice."""
        effects = self.alice.advance(until)
        self.note(effects)
        return effects

    @property
    def exchange(self) -> Exchange | None:
        """The exchange with Eve, None once it is over."""
        for session in self.alice.group.sessions.running.values():
            if session.peer == EVE and isinstance(session.exchange, Exchange):
                return session.exchange
        return None

    @property
    def ended(self) -> list[values.SessionEnded]:
        """Ends of sessions with Eve."""
        found = [one for one in self.effects if isinstance(one, values.SessionEnded)]
        return [one for one in found if one.peer == EVE]

    @property
    def refused(self) -> list[str]:
        """Reasons for which something of Eve's was refused."""
        return [one.reason for one in self.effects if isinstance(one, values.Refused)]


def assert_over(scene: Scene, reason: str) -> None:
    """Check that Eve's session was refused for a reason, and that Bob's goes on to its end."""
    assert scene.refused[-1].startswith(reason), scene.refused
    assert scene.ended[-1].result == f"refused: {scene.refused[-1]}"
    assert not scene.ended[-1].converged
    assert_untouched(scene)


def assert_untouched(scene: Scene) -> None:
    """Check that nothing of Eve's session is left, and that Bob's goes on to its end."""
    assert [one.peer for one in scene.alice.group.sessions.running.values()] == [scene.bob.peer_id]
    assert_bob_goes_on(scene)


def assert_bob_goes_on(scene: Scene) -> None:
    """Check that Bob's session goes on to its end, and that he holds what Alice then held."""
    scene.honest.run()
    assert [one.outcome for one in scene.honest.ended] == [Outcome.CONVERGED] * 2
    assert scene.bob.shown() == scene.due


def request(mode: int, channel: ChannelId = CHANNEL, session: int = SESSION) -> SyncRequest:
    """Return a request for a session by log heights or sets."""
    return SyncRequest(session, mode, (schema_id(channel),))


def opening(role: Role = Role.RESPONDER) -> Opening:
    """Return how an exchange begins of somebody who holds nothing, and may stay."""
    local = OrderedSet()
    held = Held(local, Digest.of(local))
    peer = Member("peer").peer_id
    return Opening(role, CHANNEL, peer, local, held, EVERYTHING, NOW, lambda: 1_000, live=True)


# --- Where a session may be when something comes -----------------------------------------------


def offered(scene: Scene) -> None:
    """Eve's stream is open."""
    scene.offer()


def exchanging(scene: Scene) -> None:
    """Eve asked by log heights."""
    scene.offer()
    scene.hear(request(0))


def reconciling(scene: Scene) -> None:
    """Eve asked by sets."""
    scene.offer()
    scene.hear(request(1))


def reading(scene: Scene) -> None:
    """Eve has begun a batch."""
    reconciling(scene)
    scene.hear(LowerBound(SESSION, carol_at(2)))


def sending(scene: Scene) -> None:
    """Eve has nothing, and the first page for her is on its way."""
    scene.reads = False
    exchanging(scene)
    scene.hear(Have(SESSION, ()))


def waiting(scene: Scene) -> None:
    """Eve was sent everything."""
    exchanging(scene)
    scene.hear(Have(SESSION, ()))


def requested(scene: Scene) -> None:
    """Alice asked Eve by log heights."""
    scene.start("logheight")


def requested_by_sets(scene: Scene) -> None:
    """Alice asked Eve by sets."""
    scene.start("sets")


def checking(scene: Scene) -> None:
    """Both have said that all is sent, and Eve's check does not begin."""
    waiting(scene)
    scene.hear(SyncDone(SESSION, live=False))


def staying(scene: Scene) -> None:
    """Alice asked Eve, and it stays to pass on what is new."""
    scene.start("logheight", live=True)
    scene.hear(Have(0, ()), SyncDone(0, live=True))
    scene.tell(values.SessionClosed(-NUMBER))  # of the check


def leaving(scene: Scene) -> None:
    """Alice needs it no more, which she has said."""
    staying(scene)
    scene.wait(NOW + SECOND)


STATES: Final[dict[Callable[[Scene], None], State]] = {
    offered: State.OFFERED,
    exchanging: State.EXCHANGING,
    reconciling: State.EXCHANGING,
    reading: State.EXCHANGING,
    requested: State.REQUESTED,
    requested_by_sets: State.REQUESTED,
    sending: State.SENDING,
    waiting: State.WAITING,
    checking: State.OVER,
    staying: State.LIVE,
    leaving: State.LEAVING,
}
"""Every way into every state, Alice begun or asked, in both modes."""
