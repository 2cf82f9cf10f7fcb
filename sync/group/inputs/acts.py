"""Take in governance ops, others' and ours, and catch up on those that are not here."""

from collections.abc import Sequence

from sync.calimero.governance.governance import TakenOp
from sync.calimero.governance.ops import Key
from sync.errors import RemoteError
from sync.group import values
from sync.group.governing import Governing
from sync.group.inputs import admission, state
from sync.group.machines import Machines


def on_ops(
    group: Machines, event: values.OpsArrived | values.OpsAnswered | values.Act
) -> list[values.Effect]:
    """Take in ops, others' or one of ours, and judge anew what waited for them."""
    governing = _governing(group)
    if isinstance(event, values.Act):
        clock = group.now + group.aside.offset
        taken = governing.publish(event.op, group.sds.next_lamport(group.now), clock)
        acted = values.Acted(event.token, taken.op.id)
        sent = values.SendOp(taken.op.content)
        return [*_governed(group, (taken,)), acted, sent, *admission.drain(group, governing)]
    if isinstance(event, values.OpsAnswered):
        news, whole = governing.on_page(event.peer, event.payload, group.now)
        if whole and event.peer not in group.peers and event.peer not in governing.nearby:
            governing.beats.gone(event.peer)
    else:
        ours = event.peer == group.author.me  # out of an archive of ours
        voucher = Key(bytes.fromhex(event.peer)) if ours else None
        news, whole = governing.receive(event.contents, voucher), False
    effects = _governed(group, news.taken)
    effects += [values.Refused(event.peer, reason) for reason in news.refused]
    if news.taken:
        governing.beats.took_in(group.now)
    if news.missing:
        effects += group.lack_ops(event.peer, news.missing)
    if whole:
        effects += admission.forget(group, governing.on_pull_finished().forgotten)
    elif isinstance(event, values.OpsAnswered):
        effects += governing.request_on(event.peer, group.now)
    return [*effects, *admission.drain(group, governing)]


def on_catch_up(
    group: Machines,
    event: values.HeartbeatArrived
    | values.OpsRequested
    | values.OpsLoaded
    | values.OpsUnanswered
    | values.OpsOffered
    | values.GovernanceLinked,
) -> list[values.Effect]:
    """Compare heads with a peer, give it ops, or learn that ops can be had of it."""
    governing = _governing(group)
    match event:
        case values.HeartbeatArrived(peer, payload):
            here = peer in group.peers or peer in governing.nearby
            governing.on_heartbeat(peer, payload, group.now, here=here)
            return []
        case values.OpsRequested(peer, payload, newest):
            return governing.on_request(peer, payload, group.now, newest=newest)
        case values.OpsLoaded():
            return governing.answer(event, group.now)
        case _:
            return governing.on_link(event, group.peers, group.now)


def on_checked(group: Machines, event: values.AnswersChecked) -> list[values.Effect]:
    """Count what the definition said of answers of ours, and tell where it differs."""
    _governing(group).answers.told(event.checked, event.skipped, event.divergences)
    return [values.Diverged(one) for one in event.divergences]


def _governing(group: Machines) -> Governing:
    if group.governing is None:
        raise RemoteError("governance in a channel that nobody governs")
    return group.governing


def _governed(group: Machines, taken: Sequence[TakenOp]) -> list[values.Effect]:
    if not taken:
        return []
    kept = [values.StoreOp(group.channel, op.content, judged) for op, judged in taken]
    governed = values.Governed(tuple([op.id for op, _ in taken]))
    again = _governing(group).lets_us_in_again(taken)
    begun = _begin_log(group) if again else []
    return [*kept, *begun, governed, *state.take_news(group, group.stating.on_governed())]


def _begin_log(group: Machines) -> list[values.Effect]:
    """Go on in a new log: the removal sealed the one before, and what was beyond it is marked.

    Who is out for good needs none.
    """
    if group.writer.log.next_seq == 1:
        return []
    return [group.begin_log()]
