"""The promises that each scenario ends with, worked out from what every node holds and was shown.

Nothing here is text that was true once: each check counts, and says what it found where it fails.
"""

from collections import Counter
from itertools import pairwise
from typing import Final

from chat_tui.demo.scenario import Past, Verdict
from chat_tui.text.times import count
from sync.calimero.governance.ops import Key, Role
from sync.calimero.state.folds import pins, topic
from sync.calimero.state.session import LEVEL
from sync.group.values import Status
from sync.machine import SECOND
from sync.manager.registry import DELTA, SKETCH, SNAPSHOT
from sync.sds.message import Delivery
from sync.sessions.values import Outcome

AT_ONCE: Final = 0.5
"""Seconds that a line may take through somebody who is in touch with both sides."""

ABOUT_ONE: Final = 1.5
"""Answers for each message that was lost in a crowd: two of 256 may begin in the same 40 ms."""


def same_order(past: Past) -> Verdict:
    """I1 and I2: all hold the same messages in the same order, and nothing sent is gone."""
    claim = "same order everywhere"
    world = past.world
    off = [past.names[node.number] for node in world.nodes if node.runner is None]
    logs = world.logs()
    sizes = sorted({len(log) for log in logs})
    try:
        world.check()
    except AssertionError as error:
        why = str(error).partition(": ")[2] or str(error)
        if len(sizes) > 1:
            why = f"some hold {sizes[0]} messages, others {sizes[-1]}"
        if off:
            why += f"; {' and '.join(off)} off"
        return Verdict(claim, holds=False, because=why)
    return Verdict(claim, holds=True, because=f"{len(logs)} logs of {count(sizes[0], 'message')}")


def parents_first(past: Past) -> Verdict:
    """I3: whatever was shown anywhere was shown after everything that it builds on."""
    claim = "nothing delivered before its parents"
    deliveries = 0
    for node, shown in zip(past.world.nodes, past.shown, strict=True):
        before: set[str] = set()
        for message_id in shown:
            row = node.disk.rows[message_id]  # type: ignore[index]  # ids are texts
            for parent in row.message.entry.header.parents:
                if parent.message_id not in before and not row.after_gap:
                    who = f"participant {node.number}"
                    if node.number < len(past.names):
                        who = past.names[node.number]
                    because = f"{who} saw {message_id[:6]} before {parent.message_id[:6]}"
                    return Verdict(claim, holds=False, because=because)
            before.add(message_id)
            deliveries += 1
    gaps = past.world.witness.gaps
    if gaps:
        because = f"{count(gaps, 'message')} shown after a gap"
        return Verdict(claim, holds=False, because=because)
    return Verdict(claim, holds=True, because=f"{deliveries:,} deliveries looked through")


def answered_once(past: Past) -> Verdict:
    """Nobody answers who could have heard that somebody did; answers may cross on their way."""
    claim = "each answered once"
    asked = sorted(past.world.meter.requests)
    if not asked:
        return Verdict("nobody had to ask", holds=True, because="no repair request was sent")
    crossed = 0
    for message_id in asked:
        at = [when for answered, when in past.answers if answered == message_id]
        if not at:
            because = f"nobody answered for {message_id[:6]}"
            return Verdict(claim, holds=False, because=because)
        gaps = [later - earlier for earlier, later in pairwise(at)]
        if any(past.trip < gap < past.world.terms.parameters.t_max for gap in gaps):
            because = f"{message_id[:6]} was answered {len(at)} times"
            return Verdict(claim, holds=False, because=because)
        crossed += sum(gap <= past.trip for gap in gaps)
    because = f"{count(len(asked), 'message')} asked for, {count(len(past.answers), 'answer')}"
    if crossed:
        because += f", {crossed} of them crossed on the way"
    return Verdict(claim, holds=True, because=because)


def answered_about_once(past: Past) -> Verdict:
    """In a crowd of possible answerers, a message that was asked for had about one answer."""
    asked = sorted(past.world.meter.requests)
    given = sum(past.world.meter.responses[message_id] for message_id in asked)
    ratio = given / len(asked) if asked else 0.0
    size = len(past.world.nodes)
    because = f"{given} answers for {len(asked)} messages, {ratio:.2f} each, of {size} people"
    holds = bool(asked) and 1 <= ratio <= ABOUT_ONE
    return Verdict("about one answer each", holds, because)


def repaired(past: Past) -> Verdict:
    """Something was missing somewhere, and all that was missing came."""
    repairs = past.world.meter.repairs()
    because = f"{count(repairs.losses, 'gap')} noticed, {repairs.open} open"
    holds = repairs.losses > 0 and not repairs.open
    return Verdict("everything lost was found", holds, because)


def found_by_id(past: Past) -> Verdict:
    """Delta sync brought what lacked, and nothing else; nobody had to answer a request for it."""
    claim = "the lost line found by its id"
    ended = [one for _, one in past.sessions if one.protocol == DELTA.name]
    brought = sum(one.got for one in ended)
    because = f"{count(brought, 'line')} by delta sync"
    if past.answers:
        because += f", {count(len(past.answers), 'answer')} to requests"
    proved = any(one.got and one.converged for one in ended)
    return Verdict(claim, brought == 1 and proved and not past.answers, because)


def by_sketch(past: Past) -> Verdict:
    """A sketch told both sides what lacked, in one session for each time they met."""
    claim = "all that differs told by 64 symbols"
    ended = [one for _, one in past.sessions if one.protocol == SKETCH.name]
    brought = sum(one.got for one in ended)
    trips = max([one.rounds for one in ended], default=0)
    because = f"{count(brought, 'line')} brought, {count(trips, 'payload')} at most"
    proved = any(one.got and one.converged for one in ended)
    others = any(one.got for _, one in past.sessions if one.protocol != SKETCH.name)
    return Verdict(claim, proved and not others, because)


def by_snapshot(past: Past) -> Verdict:
    """A snapshot brought all that a source held when it began."""
    claim = "all of it by one snapshot"
    ended = [one for _, one in past.sessions if one.protocol == SNAPSHOT.name]
    whole = [one for one in ended if one.outcome is Outcome.MOVED]
    staged = any(node.disk.staged for node in past.world.nodes)
    because = whole[0].result if whole else "no snapshot came to its end"
    return Verdict(claim, len(whole) == 1 and not staged, because)


def all_received(past: Past) -> Verdict:
    """I4: every author knows that somebody else holds what they wrote; and it is true."""
    claim = "every message known to be received"
    own = [
        (node, row)
        for node in past.world.nodes
        for row in node.disk.rows.values()
        if row.message.entry.header.author == node.disk.me and row.status is Status.DELIVERED
    ]
    open_ = [row for _, row in own if row.delivery is not Delivery.ACKNOWLEDGED]
    if open_:
        return Verdict(claim, holds=False, because=f"{count(len(open_), 'message')} not yet")
    return Verdict(claim, holds=True, because=count(len(own), "message"))


def equal_times(past: Past) -> Verdict:
    """Some messages carry the same Lamport time, and stand by their ids everywhere."""
    times = Counter(lamport for lamport, _ in past.world.logs()[0])
    equal = [lamport for lamport, number in times.items() if number > 1]
    together = sum(times[lamport] for lamport in equal)
    claim = "equal times stand by id"
    if not equal:
        return Verdict(claim, holds=False, because="no two messages have the same time")
    for log in past.world.logs():
        for lamport in equal:
            ids = [message_id for time, message_id in log if time == lamport]
            if ids != sorted(ids):
                return Verdict(claim, holds=False, because=f"not so at Lamport {lamport}")
    because = f"{together} messages at {count(len(equal), 'time')}"
    return Verdict(claim, holds=True, because=because)


def reconciled(past: Past) -> Verdict:
    """Sessions brought what the sides lacked; the last of each two proved that they are equal."""
    ended = [one for _, one in past.sessions]
    last = {(number, one.peer): one for number, one in past.sessions}
    need, got = sum(one.need for one in ended), sum(one.got for one in ended)
    proved = sum(one.converged for one in last.values())
    because = f"{count(len(last), 'side')} of sessions: {need} lacked, {got} came, {proved} proved"
    holds = need > 0 and got == need and proved == len(last)
    return Verdict("histories compared and equal", holds, because)


def caught_up(past: Past) -> Verdict:
    """Whoever came without history found exactly what there was missing, and got all of it."""
    claim = "the newcomer got exactly what was there"
    sides = [one for node, one in past.sessions if node in past.absent and one.need]
    lacking = [node for node in past.absent if not past.history <= _ids(past, node)]
    most = max((one.need for one in sides), default=0)
    because = f"{len(past.history)} there, {most} found missing"
    because += f", {sum(one.got for one in sides)} came in {count(len(sides), 'session')}"
    holds = not lacking and most == len(past.history) and all(one.got == one.need for one in sides)
    return Verdict(claim, holds, because)


def one_state(past: Past) -> Verdict:
    """All have the same topic, pins and marks, and some were brought to that level by level."""
    claim = "one topic, the same pins and marks"
    world = past.world
    states = [
        node.runner.groups[world.channel].stating.registers
        for node in world.nodes
        if node.runner is not None
    ]
    roots = {one.tree.root for one in states}
    by_level = [one for _, one in past.sessions if one.protocol == LEVEL.name and one.converged]
    found = topic(states[0], lambda _: True)
    pinned = len(pins(states[0], lambda _: True))
    because = f"{count(len(states[0]), 'entry', 'entries')} everywhere, {count(pinned, 'pin')}"
    because += "" if found is None else f', topic "{found[0]}"'
    because += f", {count(len(by_level) // 2, 'session')} level by level"
    if len(roots) > 1:
        because = f"{count(len(roots), 'state')} that differ"
    return Verdict(claim, len(roots) == 1 and bool(by_level) and found is not None, because)


def passed_on(past: Past) -> Verdict:
    """Lines that could not be heard were passed on: at first late, in the end at once."""
    latencies = past.world.meter.latencies
    newest = latencies[len(latencies) // 2 :]
    slowest, last = (max(some, default=0) / SECOND for some in (latencies, newest))
    live = sum(
        node.runner.groups[past.world.channel].sessions.live
        for node in past.world.nodes
        if node.runner is not None
    )
    because = f"the slowest took {slowest:.1f} s, the last {len(newest)} at most {last:.2f} s"
    because += f", {count(live // 2, 'live session')}"
    holds = live > 0 and bool(newest) and last <= AT_ONCE < slowest
    return Verdict("passed on at once in the end", holds, because)


def _ids(past: Past, node: int) -> frozenset[str]:
    return frozenset(message_id for _, message_id in past.world.nodes[node].disk.log())


def one_membership(past: Past) -> Verdict:
    """I8 and I9: all who are in agree who is, and on one log; who is out knows that."""
    claim = "one membership and one log"
    world = past.world
    try:
        world.check()
    except AssertionError as error:
        return Verdict(claim, holds=False, because=str(error))
    known = {node.number: _roles(past, node.number) for node in world.nodes if node.runner}
    inside = [number for number, roles in known.items() if roles.get(number, Role.NONE)]
    told = all(known[number] == known[inside[0]] for number in inside)
    out = [number for number in known if number not in inside]
    knows = all(not known[inside[0]].get(number, Role.NONE) for number in out)
    logs = {len(world.nodes[number].disk.log()) for number in inside}
    names = [past.names[number] for number in inside]
    because = f"{', '.join(names)} are in, with {count(max(logs), 'message')} each"
    if out:
        because += f"; {', '.join(past.names[number] for number in out)} out, and told so"
    return Verdict(claim, told and knows and len(logs) == 1, because)


def nothing_after_removal(past: Past) -> Verdict:
    """Whoever was removed got no line that was written after that, and no act."""
    claim = "who is out got nothing since"
    world = past.world
    roles = {node.number: _roles(past, node.number) for node in world.nodes}
    inside = [node for node in world.nodes if roles[node.number].get(node.number, Role.NONE)]
    out = [node for node in world.nodes if node not in inside]
    held = {message_id for _, message_id in inside[0].disk.log()}
    lacked = [held - {one for _, one in node.disk.log()} for node in out]
    because = ", ".join(
        f"{past.names[node.number]} lacks {count(len(some), 'line')}"
        for node, some in zip(out, lacked, strict=True)
    )
    return Verdict(claim, bool(out) and all(lacked), because or "nobody is out")


def let_in(past: Past) -> Verdict:
    """Whoever was a stranger at first is in now, and has all there is."""
    claim = "let in by who was there"
    strangers = sorted(past.world.terms.strangers)
    inside = all(_roles(past, number).get(number, Role.NONE) for number in strangers)
    most = max(len(log) for log in past.world.logs())
    sizes = [len(past.world.nodes[number].disk.log()) for number in strangers]
    names = ", ".join(past.names[number] for number in strangers)
    because = f"{names} has {sizes[0]} of {count(most, 'message')}"
    return Verdict(claim, inside and all(size == most for size in sizes), because)


def _roles(past: Past, node: int) -> dict[int, Role]:
    """Return the role of each participant, as one of them knows it."""
    world = past.world
    runner = world.nodes[node].runner
    governing = None if runner is None else runner.groups[world.channel].governing
    if governing is None or not governing.governance.dag.acts:
        return {}
    state = governing.governance.now
    keys = {one.number: Key(one.identity.public_key) for one in world.nodes}
    return {number: state.role(key) for number, key in keys.items()}
