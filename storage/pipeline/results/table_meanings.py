"""Tables that jobs publish, and what a row of each is: for the report, `show` and TABLES.md."""

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "consolidate": {
        "history": "A message that is as its author signed it, once, however many nodes have it.",
        "held": "A message and 64 members of its channel: a bit for each that has it.",
        "holders": "A message and a node that has it.",
        "members": "A node of a channel, and its bit in `held`.",
        "present": "A node that has rows of a channel and a day; next time, its number is kept.",
        "quarantine": "Rows of exports that are not what their author signed.",
    },
    "audit": {
        "equivocations": "An author signed several entries for one place of their log: a fork.",
        "unknown_dependencies": "A message builds on one that no node holds.",
        "causal_violations": (
            "A message was signed with a Lamport time that is not above that of what it builds on."
        ),
        "early_deliveries": "A node put a message in its place before one that it builds on.",
        "order_divergence": (
            "A node's log tells another Lamport time than the signed one: its order differs."
        ),
        "missing": "A node lacks a message between two that it holds.",
        "missing_tail": (
            "The node was there, and has nothing from this message on; or had it, by its own log, "
            "and has nothing of the channel."
        ),
        "left": "A node that lacks the end of a channel since it left; no finding.",
        "not_let_in": (
            "An entry that governance kept out of a node's history, and why; no finding."
        ),
        "trace_holes": "Rows are gone from the middle of a log.",
    },
    "fingerprints": {
        "roots": "A channel: count and XOR of the Waku hashes of its messages.",
        "days": "The same, of a day (UTC) of a channel.",
        "hours": "The same, of an hour.",
        "minutes": "The same, of a minute.",
    },
    "delivery": {
        "members": "A node of a channel, numbered; members of one `clock` go by one clock.",
        "messages": "A message: when it was sent, who had it when, and what became of it.",
        "facts": "A message and a member: what that node noted of it.",
        "latency": "Times from sending to delivery, of all channels.",
        "channels": "The same, of each channel.",
        "latency_counts": "A channel and a time from sending to delivery: how often it took that.",
        "spans": "Times of other steps of messages.",
        "matrix": (
            "A member, or of more than 64 a group, and a stretch of messages: how many were due, "
            "and came."
        ),
        "repair_load": (
            "A number of response groups: messages that were missing, requests and answers."
        ),
        "marks": "Marks “possibly acknowledged”: those judged, those false, and their chances.",
        "sessions": "A session, as one of its ends noted it.",
        "offsets": "Two clocks: how far they are apart, and how uncertain that is.",
        "clock_steps": "Two clocks of which one was set meanwhile.",
        "purposes": "Bytes of one purpose: by kind of row, protocol and route.",
        "repairers": "A node that sent a message because another one asked for it.",
        "slowest_links": "Times that messages of an author took to a node.",
        "slowest_nodes": "Times that messages of all others took to a node.",
        "partitions": "Times in which links were down, and how long it took until all had it.",
    },
    "diff": {
        "only_a": "Only the first archive holds this message.",
        "only_b": "Only the second archive holds this message.",
        "false": "Rows that differ, and are not what their author signed.",
        "minutes": "A minute of a channel in which the two differ.",
    },
    "sweep": {
        "runs": "A simulated run: its parameters and what came of them.",
        "effects": "A value of a parameter: medians over the seeds, beside the base.",
    },
}
"""By job and table. `for_a` and `for_b` of `diff` are exports, not tables."""
