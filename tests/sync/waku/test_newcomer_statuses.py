"""A newcomer's messages are stored as what they will be: their rows are written once.

The newest page alone comes before what it builds on, and changes when the rest is here.
"""

from collections import Counter
from collections.abc import Sequence

import pytest

from sync.group import values
from sync.group.status import Status
from sync.group.values import PAGE, StoredMessage
from sync.machine import MILLISECOND, MINUTE, SECOND, MessageId
from sync.manager.registry import WAKU_ONLY
from sync.sim.disk import Disk
from sync.sim.network import PERFECT, Link
from sync.sim.world import Terms, World
from tests.support.storage.archives import archive, assert_equal

HISTORY = PAGE + 350
SLOW = Link(uplink=250_000, delay=(MILLISECOND, 10 * MILLISECOND))
"""Commits of one or two messages each, where a perfect network has them by hundreds."""


def commits_of_a_newcomer(
    monkeypatch: pytest.MonkeyPatch, link: Link, peers: int, history: Sequence[StoredMessage]
) -> list[list[values.Record]]:
    """Let one who has nothing fetch a history by Waku Sync; return what its disk was told."""
    world = World(peers + 1, 1, link, Terms(protocols=WAKU_ONLY))
    world.crash(peers)
    for number in range(peers):
        world.preload(number, history)
    world.run(20 * SECOND)
    disk, commits, commit = world.nodes[peers].disk, [], Disk.commit

    def noted(one: Disk, records: Sequence[values.Record]) -> list[values.Altered]:
        if one is disk:
            commits.append(list(records))
        return commit(one, records)

    monkeypatch.setattr(Disk, "commit", noted)
    world.restart(peers)
    world.run(MINUTE)
    assert_equal(world)
    return commits


def changes_in(commits: list[list[values.Record]]) -> Counter[MessageId]:
    """Count how often each row changes: a journal writes the last word of a commit alone."""
    return Counter(
        message_id
        for records in commits
        for message_id in {one.message_id for one in records if isinstance(one, values.SetStatus)}
    )


@pytest.mark.parametrize("peers", [1, 3])
@pytest.mark.parametrize("link", [PERFECT, SLOW], ids=["by hundreds", "one by one"])
def test_all_but_the_newest_page_is_stored_once_and_as_delivered(
    monkeypatch: pytest.MonkeyPatch, link: Link, peers: int
) -> None:
    history = archive("carol", HISTORY)
    newest = {one.entry.message_id for one in history[-PAGE:]}
    commits = commits_of_a_newcomer(monkeypatch, link, peers, history)
    stored = [
        (one.message.entry.message_id, one.status)
        for records in commits
        for one in records
        if isinstance(one, values.StoreMessage)
    ]
    changes = changes_in(commits)

    assert len(stored) == len(dict(stored)) == HISTORY, "each message once"
    assert dict(stored) == {
        one.entry.message_id: (
            Status.LOADING if one.entry.message_id in newest else Status.DELIVERED
        )
        for one in history
    }
    assert set(changes) == newest
    assert set(changes.values()) == {1}, "what waited changes once, to what it stays"


def test_what_all_builds_on_something_here_never_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A history of one page comes from its oldest message on."""
    history = archive("carol", PAGE // 2)
    commits = commits_of_a_newcomer(monkeypatch, PERFECT, 1, history)
    told = [one for records in commits for one in records]

    stored = [one.status for one in told if isinstance(one, values.StoreMessage)]
    assert stored == [Status.DELIVERED] * len(history)
    assert not changes_in(commits)
