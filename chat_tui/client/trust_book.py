"""Known people: their keys, and whether they are verified, blocked or warned of a changed key.

Pure but for the store, so that a simulation has it too: `TrustStore` keeps it, or nothing does.

Rules:
1. A key is trusted by its owner's own words (`/verify`), never by its name.
2. If a name of a verified key, or one that a key has had for long at an address, comes with another
   key, a warning is raised about that new key; it stands until it is answered: `/verify`, `/trust`
   or `/block`. The key that was there before is never accused.
3. Blocking hides a peer and cuts its links; its messages are kept and passed on, so that all
   histories agree.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from chat_tui.text.namesakes import Names, look_alike_key, named_after, tell_apart
from storage.profile.members import KnownPeer
from storage.profile.trust import NICKS_KEPT, NickUsed
from sync.machine import DAY, Nanos, PeerId
from sync.release import FIRST_NS, RELEASED_NS
from sync.view.state_infos import ProfileInfo, newest_profiles
from sync.view.view import ChannelInfo, KeyWarning, PeerInfo, PeerState, Snapshot, Trust

HELD_LONG: Final[Nanos] = 3 * DAY
"""Time for which a name was held before another key with it, at that address, is a warning.

Two profiles of one household or office take the same name by chance within a day or two, and settle
it. Who has kept a name over a weekend and was seen again is somebody that one knows.
"""

WARNINGS_MAX: Final = 32
"""Unanswered ones: whoever makes up keys by the thousand gets no more of the screen than that."""

SIGNED_MAX: Final = 1_024
"""Authors whose newest line's name is remembered: twice a channel's members."""

KNOWN_SHOWN: Final = 200
"""People of earlier runs shown beside those of this one: a screen or five."""


STANDING_OF_HOST: Final = 4
"""People of one address who have standing by having been met before; verified ones are not counted.
Computers with more people are rare, and keys cost nothing to make up."""


class Person(Struct, frozen=True):
    """Somebody known by a key.

    `nicks` are the names used, the last one first; that one since `named_ns` at the latest.
    """

    peer: PeerId
    nicks: tuple[str, ...]
    first_seen_ns: Nanos
    last_seen_ns: Nanos
    named_ns: Nanos
    host: str | None = None
    port: int | None = None
    noise_key: bytes | None = None
    verified_ns: Nanos | None = None
    blocked_ns: Nanos | None = None

    @property
    def nick(self) -> str:
        """The name used last."""
        return self.nicks[0]

    @property
    def kept_name(self) -> bool:
        """True if the name has been theirs for long (`HELD_LONG`)."""
        return self.last_seen_ns - self.named_ns >= HELD_LONG


class TrustBook:
    """Everybody known; see the module docstring."""

    def __init__(self, me: PeerId) -> None:
        self.people: dict[PeerId, Person] = {}
        self.warnings: list[KeyWarning] = []
        """Those not answered yet, the oldest first."""
        self.names = Names()
        """Names that people go by, whether met or only read."""
        self._me = me
        self._signed: dict[PeerId, tuple[str, Nanos]] = {}
        """Names in the newest lines that were read of people, and when they were signed."""
        self._verified: dict[str, set[PeerId]] = {}
        self._at: dict[tuple[str, str], PeerId] = {}
        self._raised: set[tuple[PeerId, PeerId]] = set()
        self._blocked: set[PeerId] = set()

    def load(
        self,
        known: Sequence[KnownPeer],
        nicks: Mapping[PeerId, tuple[NickUsed, ...]],
        warnings: Sequence[tuple[KeyWarning, bool]],
    ) -> None:
        """Take in what the disk holds."""
        for one in known:
            others = [used for used in nicks.get(one.peer, ()) if used.nick != one.nick]
            self._keep(
                Person(
                    one.peer,
                    (one.nick, *(used.nick for used in others)),
                    one.first_seen_ns,
                    one.last_seen_ns,
                    max([one.first_seen_ns, *(used.last_ns for used in others)]),
                    one.host,
                    one.port,
                    one.noise_key,
                    one.verified_ns,
                    one.blocked_ns,
                )
            )
        self._raised = {(warning.peer, warning.known) for warning, _ in warnings}
        standing = [one for one, answered in warnings if not answered and not self._is_older(one)]
        self.warnings = standing[-WARNINGS_MAX:]

    def _is_older(self, warning: KeyWarning) -> bool:
        """Return whether a warning accuses the earlier key, as those of older versions may."""
        accused, known = self.people.get(warning.peer), self.people.get(warning.known)
        if warning.verified or accused is None or known is None:
            return False
        return accused.first_seen_ns < known.first_seen_ns

    # -- what is seen --------------------------------------------------------------------------

    def meet(
        self,
        peer: PeerId,
        nick: str,
        now: Nanos,
        *,
        address: tuple[str, int] | None,
        noise_key: bytes | None,
        is_here: Callable[[PeerId], bool],
    ) -> list[KeyWarning]:
        """A link to `peer` is up; returns the warnings that this raises."""
        before = self.people.get(peer)
        host, port = address or (None, None)
        names = before.nicks if before is not None else ()
        named_ns = before.named_ns if before is not None and before.nick == nick else now
        raised = self._suspect(peer, nick, now)
        if host is not None and not raised:
            other = self._at.get((host, look_alike_key(nick)))
            if other is not None and other != peer and not is_here(other):
                raised = self._doubt(peer, nick, named_ns, other, now)
        self._keep(
            Person(
                peer,
                (nick, *(name for name in names if name != nick))[:NICKS_KEPT],
                before.first_seen_ns if before is not None else now,
                now,
                named_ns,
                host or (before.host if before is not None else None),
                port or (before.port if before is not None else None),
                noise_key or (before.noise_key if before is not None else None),
                before.verified_ns if before is not None else None,
                before.blocked_ns if before is not None else None,
            )
        )
        return raised

    def read(
        self, author: PeerId, nick: str, now: Nanos, *, signed_ns: Nanos = 0
    ) -> list[KeyWarning]:
        """A message of `author` came, signed at `signed_ns`; returns the warnings it raises."""
        self.names.hear(author, nick)
        if signed_ns > self._signed.get(author, ("", 0))[1]:
            self._signed.pop(author, None)
            self._signed[author] = (nick, signed_ns)
            if len(self._signed) > SIGNED_MAX:
                del self._signed[next(iter(self._signed))]
        if author == self._me:
            return []
        return self._suspect(author, nick, now)

    def _suspect(self, peer: PeerId, nick: str, now: Nanos) -> list[KeyWarning]:
        """Look whether a verified person goes by this name."""
        if not self._verified:
            return []
        person = self.people.get(peer)
        if person is not None and person.verified_ns is not None:
            return []
        raised: list[KeyWarning] = []
        for known in sorted(self._verified.get(look_alike_key(nick), ())):
            raised += self._raise(KeyWarning(peer, known, nick, verified=True, raised_ns=now))
        return raised

    def _doubt(
        self, peer: PeerId, nick: str, named_ns: Nanos, other: PeerId, now: Nanos
    ) -> list[KeyWarning]:
        """Look whether `peer` comes with a name that is `other`'s, and has been for long."""
        known = self.people[other]
        if not known.kept_name or named_ns <= known.named_ns or now - named_ns >= HELD_LONG:
            return []
        return self._raise(KeyWarning(peer, other, nick, verified=False, raised_ns=now))

    def _raise(self, warning: KeyWarning) -> list[KeyWarning]:
        pair = (warning.peer, warning.known)
        if pair in self._raised or len(self.warnings) >= WARNINGS_MAX or self.is_blocked(pair[0]):
            return []
        self._raised.add(pair)
        self.warnings.append(warning)
        return [warning]

    def _keep(self, person: Person) -> None:
        before = self.people.get(person.peer)
        self.people[person.peer] = person
        (self._blocked.discard if person.blocked_ns is None else self._blocked.add)(person.peer)
        key = look_alike_key(person.nick)
        if before is not None and before.host is not None:
            place = before.host, look_alike_key(before.nick)
            if self._at.get(place) == person.peer:
                del self._at[place]
        for peers in self._verified.values():
            peers.discard(person.peer)
        if person.verified_ns is not None and person.blocked_ns is None:
            self._verified.setdefault(key, set()).add(person.peer)
        self._verified = {name: peers for name, peers in self._verified.items() if peers}
        if person.host is not None:
            holder = self.people.get(self._at.get((person.host, key), person.peer))
            if holder is None or person.named_ns <= holder.named_ns:
                self._at[person.host, key] = person.peer
        self.names.hear(person.peer, person.nick)

    # -- what the person decides ---------------------------------------------------------------

    def verify(self, peer: PeerId, nick: str, now: Nanos) -> None:
        """The person compared the key with its owner."""
        self._keep(replace(self._person(peer, nick, now), verified_ns=now))
        self.answer(peer)

    def block(self, peer: PeerId, nick: str, now: Nanos) -> None:
        """Hear no more of `peer`."""
        self._keep(replace(self._person(peer, nick, now), blocked_ns=now))
        self.answer(peer)

    def unblock(self, peer: PeerId) -> None:
        """Hear of `peer` again."""
        self._keep(replace(self.people[peer], blocked_ns=None))

    def answer(self, peer: PeerId) -> None:
        """The person has decided about `peer`: no warning of it stands any more."""
        self.warnings = [warning for warning in self.warnings if warning.peer != peer]

    def _person(self, peer: PeerId, nick: str, now: Nanos) -> Person:
        return self.people.get(peer) or Person(peer, (nick,), now, now, now)

    # -- what is thought of whom ---------------------------------------------------------------

    def is_blocked(self, peer: PeerId) -> bool:
        """Return whether `peer` is blocked: nothing of theirs is shown."""
        person = self.people.get(peer)
        return person is not None and person.blocked_ns is not None

    def verified(self) -> set[PeerId]:
        """Return whose keys were compared."""
        return {one.peer for one in self.people.values() if one.verified_ns is not None}

    def part(self, peer: PeerId, now: Nanos) -> None:
        """Note that the last link to `peer` has ended."""
        if (person := self.people.get(peer)) is not None:
            self.people[peer] = replace(person, last_seen_ns=max(now, person.last_seen_ns))

    def forget(self, peers: Iterable[PeerId]) -> None:
        """Know no more of people whom the disk has forgotten."""
        gone = {peer for peer in peers if self.people.pop(peer, None) is not None}
        self._blocked -= gone
        if gone:
            self._at = {place: peer for place, peer in self._at.items() if peer not in gone}

    def forget_name(self, peer: PeerId) -> None:
        """Forget somebody whom the person wants out of the list: nobody shares their name now.

        Names are heard anew, of everybody who is left and of lines that were read.
        """
        self.forget([peer])
        self._signed.pop(peer, None)
        for peers in self._verified.values():
            peers.discard(peer)
        self.names = Names()
        for one in self.people.values():
            self.names.hear(one.peer, one.nick)
        for author, (nick, _) in self._signed.items():
            self.names.hear(author, nick)

    def met_before(self, now: Nanos, span: Nanos) -> set[PeerId]:
        """Return who was first met more than `span` before `now`, a time of this computer's clock.

        Of each address only those met first, `STANDING_OF_HOST`: whoever makes up keys by the
        hundred has a vote or four tomorrow.

        A time at which there was no such program yet was a wrong clock's, and says nothing. Where
        the clock is wrong now, the last time anybody was seen stands for it.
        """
        people = self.people.values()
        if now < RELEASED_NS:
            now = max([one.last_seen_ns for one in people], default=0)
        before = [one for one in people if FIRST_NS <= one.first_seen_ns < now - span]
        of_host: Counter[str | None] = Counter()
        met: set[PeerId] = set()
        for one in sorted(before, key=lambda one: (one.first_seen_ns, one.peer)):
            of_host[one.host] += 1
            if of_host[one.host] <= STANDING_OF_HOST:
                met.add(one.peer)
        return met

    def blocked(self) -> AbstractSet[PeerId]:
        """Return everybody who is blocked."""
        return self._blocked

    def warning_about(self, peer: PeerId) -> KeyWarning | None:
        """Return the warning that stands about `peer`, as the new key or as the known one."""
        return next((one for one in self.warnings if peer in (one.peer, one.known)), None)

    def trust(self, peer: PeerId) -> Trust:
        """Return what is thought of a key."""
        person = self.people.get(peer)
        if any(warning.peer == peer for warning in self.warnings):
            return Trust.CHANGED
        if person is None:
            return Trust.FIRST_SEEN
        if person.blocked_ns is not None:
            return Trust.BLOCKED
        return Trust.FIRST_SEEN if person.verified_ns is None else Trust.VERIFIED

    def dress(self, snapshot: Snapshot) -> Snapshot:
        """Return `snapshot` with what is thought of everybody, and those of earlier runs.

        Names that look alike are marked as such, be it those of people or of channels.
        """
        self.names.hear(self._me, snapshot.nick)
        met = {peer.peer for peer in snapshot.peers}
        peers = [replace(peer, trust=self.trust(peer.peer)) for peer in snapshot.peers]
        before = sorted(
            (one for one in self.people.values() if one.peer not in met),
            key=lambda one: -one.last_seen_ns,
        )
        peers += [self._gone(one) for one in before[:KNOWN_SHOWN]]
        profiles = newest_profiles(info.state for info in snapshot.channels)
        peers = [self._newly_named(peer, profiles) for peer in peers]
        for peer in peers:
            self.names.hear(peer.peer, peer.nick)
        for profile in profiles.values():
            self.names.hear(profile.peer, profile.nick)
        return replace(
            snapshot,
            channels=tell_apart([self._of_two(info, peers) for info in snapshot.channels]),
            peers=tuple(peers),
            warnings=tuple(reversed(self.warnings)),
            shared_names=self.names.shared,
        )

    def _of_two(self, info: ChannelInfo, peers: Sequence[PeerInfo]) -> ChannelInfo:
        """Return a channel, of two under the name that its other end goes by."""
        if info.direct is None:
            return info
        nick = next((one.nick for one in peers if one.peer == info.direct), None)
        if nick is None and (person := self.people.get(info.direct)) is not None:
            nick = person.nick
        return named_after(info, nick or info.name, self.names.shared)

    def _newly_named(self, peer: PeerInfo, profiles: Mapping[PeerId, ProfileInfo]) -> PeerInfo:
        """Return somebody with the newest name they signed, if they are gone.

        Who is here says their name over a link that proves them: nothing is newer.
        """
        if peer.state is PeerState.UP:
            return peer
        said = [(peer.last_seen_ns or 0, peer.nick)]
        if (profile := profiles.get(peer.peer)) is not None:
            said.append((profile.at_ns, profile.nick))
        if (line := self._signed.get(peer.peer)) is not None:
            said.append((line[1], line[0]))
        newest = max(said, key=lambda one: one[0])[1]
        return peer if newest == peer.nick else replace(peer, nick=newest)

    def _gone(self, person: Person) -> PeerInfo:
        """Return somebody of an earlier run."""
        address = "" if person.host is None else f"{person.host}:{person.port}"
        return PeerInfo(
            peer=person.peer,
            nick=person.nick,
            state=PeerState.DOWN,
            address=address,
            last_seen_ns=person.last_seen_ns,
            trust=self.trust(person.peer),
        )
