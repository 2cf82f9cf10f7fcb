"""What is on its way to a channel against the sessions that bring it: nothing is kept for ever."""

from collections import Counter

from sync.machine import MessageId
from sync.runner.runner import Runner


def check_wanted(one: Runner, node: int) -> None:
    """Assert that each id asked for by itself is asked for by a session that goes on.

    An id left behind would be asked of nobody any more.
    """
    for group in one.groups.values():
        asked: Counter[MessageId] = Counter()
        for session in group.sessions.running.values():
            asked.update(session.asked)
        wanted = group.loading.on_its_way.messages
        assert wanted == asked, f"node {node} waits for {len(wanted)} ids, {len(asked)} are asked"
