"""I7: every table and buffer of a node against its bound."""

from collections import Counter

from sync.group.typists import TYPISTS_MAX
from sync.manager import SESSIONS_MAX
from sync.runner import QUEUE_MAX, Runner
from sync.sds.answering import ANSWERS_MAX
from sync.sds.asking import REQUESTS_MAX
from sync.sds.history import OWED_MAX, TIPS_MAX
from sync.sds.incoming import LOST_MAX, MISSING_MAX, WAITING_PER_SENDER_MAX


def check_bounds(runner: Runner, node: int) -> None:
    """I7: every queue, table and buffer of a node is within its limit."""
    sizes = {
        "inputs waiting": (runner.waiting, QUEUE_MAX),
        "sessions begun": (runner.manager.running, SESSIONS_MAX),
    }
    links = sum(len(group.peers) for group in runner.groups.values())
    for what, size in runner.manager.sizes().items():
        sizes[what] = (size, links)
    for group in runner.groups.values():
        log, incoming, repairs = group.sds.log, group.sds.incoming, group.sds.repairs
        waiting = Counter(held.content.sender_id for held in incoming.waiting.values())
        sizes |= {
            "sessions": (len(group.sessions.by_peer), len(group.peers)),
            "messages of one author held back": (
                max(waiting.values(), default=0),
                WAITING_PER_SENDER_MAX,
            ),
            "missing ids": (len(incoming.missing), MISSING_MAX),
            "lost ids": (len(incoming.lost), LOST_MAX),
            "tips": (len(log.tips), TIPS_MAX),
            "acknowledgements owed": (len(log.owed), OWED_MAX),
            "repair requests with a time": (len(repairs.asking.requests), REQUESTS_MAX),
            "repair requests": (len(repairs.asking), MISSING_MAX),
            "answers planned": (len(repairs.answering.answers), ANSWERS_MAX),
            "people typing": (len(group.typists), TYPISTS_MAX),
            "ids in the filter": (group.sds.filter.count, group.sds.parameters.bloom.capacity),
        }
    for what, (size, limit) in sizes.items():
        assert size <= limit, f"I7: node {node} has {size} {what}, {limit} at most"
