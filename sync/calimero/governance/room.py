"""Room of a channel: over `limits.MEMBERS_MAX` people, those who joined last are left out.

Led on from one state to the next: anybody with a code can join with thousands of keys, and to sort
all of them for each join took as long as all other work for it together.
"""

from bisect import bisect_left, insort
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from sync.calimero.governance import limits
from sync.calimero.governance.dag import Dag
from sync.calimero.governance.ops import Join, Key, OpId, Role
from sync.calimero.governance.standing import Standing

Joined: TypeAlias = tuple[tuple[int, OpId], Key]
"""Place of a join in the transcript, and who came in by it."""


class Room(Struct, frozen=True):
    """People at a cut, and those of them for whom there is room."""

    folded: dict[Key, Standing]
    """Everybody who was ever in, before those are left out for whom there is no room."""
    people: dict[Key, Standing]
    """Everybody who was ever in; the same where there is room for all."""
    size: int
    """People in, before those are left out."""
    joined: list[Joined]
    """Those of them who came in by a code, sorted."""

    @property
    def kept(self) -> int:
        """Number of the first of `joined` for whom there is room."""
        return max(0, len(self.joined) - max(0, self.size - limits.MEMBERS_MAX))


def everybody(dag: Dag, folded: dict[Key, Standing]) -> Room:
    """Return the room of these people."""
    size = sum(standing.member for standing in folded.values())
    room = Room(folded, folded, size, sorted(_entries(dag, folded)))
    if out := room.joined[room.kept :]:
        return replace(room, people=folded | _without_room(folded, out))
    return room


def changed(dag: Dag, room: Room, standings: dict[Key, Standing]) -> Room:
    """Return the room once some people have other standings."""
    before = {key: room.folded[key] for key in standings if key in room.folded}
    joined = room.joined.copy()
    for entry in _entries(dag, before):
        del joined[bisect_left(joined, entry)]
    for entry in _entries(dag, standings):
        insort(joined, entry)
    size = room.size + sum(one.member for one in standings.values())
    size -= sum(one.member for one in before.values())
    folded = room.folded | standings
    after = Room(folded, folded, size, joined)
    if after.kept == len(joined):
        return after
    people = room.people | standings
    # Each of those who changed moves the others by one place at most.
    first = max(0, min(after.kept, room.kept - len(standings)))
    end = max(after.kept, room.kept + len(standings))
    people.update((key, folded[key]) for _, key in joined[first : after.kept])
    out = joined[after.kept : end]
    out += [one for one in _entries(dag, standings) if one >= joined[after.kept]]
    return replace(after, people=people | _without_room(folded, out))


def _entries(dag: Dag, standings: dict[Key, Standing]) -> list[Joined]:
    """Return the entries of those of these people who are in by a code."""
    return [
        (dag.acts[standing.since].place, key)
        for key, standing in standings.items()
        if standing.member and isinstance(dag.acts[standing.since].op, Join)
    ]


def _without_room(folded: dict[Key, Standing], out: list[Joined]) -> dict[Key, Standing]:
    found = {}
    for _, key in out:
        standing = folded[key]
        found[key] = standing._replace(role=Role.NONE, act=standing.since)
    return found
