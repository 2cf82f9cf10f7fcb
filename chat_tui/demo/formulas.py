"""The formulas of SDS-R with the values of this moment, worked out again and compared.

Each returns the formula only if it gives what the engine did; else what the engine did, alone.
"""

from chat_tui.demo.phrases import ID_SHOWN, clock_tenths, waits
from sync.machine import MILLISECOND, MessageId, Nanos, PeerId
from sync.sds.repair import Window, digest
from sync.view.view import RepairInfo, RequestInfo


def t_req(me: PeerId, name: str, request: RequestInfo, info: RepairInfo, now: Nanos) -> str:
    """Return why a participant asks when it does (SDS-R, "Calculate T_req")."""
    window = _window(info)
    id_ = request.message_id[:ID_SHOWN]
    delay = window.request_delay(me, request.message_id)
    spread = (window.t_max - window.t_min) // MILLISECOND
    if now + delay != request.t_req:
        return f"T_req {clock_tenths(request.t_req)}, in {waits(request.t_req - now)}"
    share = (delay - window.t_min) // MILLISECOND
    return (
        f"T_req = now + T_min + H({name}, {id_}) mod (T_max - T_min) = now + "
        f"{window.t_min // MILLISECOND} ms + {share} of {spread} ms = {clock_tenths(request.t_req)}"
    )


def t_resp(
    who: tuple[PeerId, PeerId],
    names: tuple[str, str],
    message_id: MessageId,
    info: RepairInfo,
    wait: Nanos,
) -> str:
    """Return why a participant answers when it does (SDS-R, "Calculate T_resp").

    Args:
        who: who answers, and the author.
        names: what the two are called.
        message_id: what was asked for.
        info: the buffers of who answers.
        wait: how long the engine waits.
    """
    window = _window(info)
    (me, author), (name, writer), id_ = who, names, message_id[:ID_SHOWN]
    if window.answer_delay(me, author, message_id) != wait:
        return f"T_resp in {waits(wait)}"
    if me == author:
        return f"T_resp = now: {name} is the author, distance 0"
    base = window.response_delay(me, author, message_id) // MILLISECOND
    own = wait // MILLISECOND - base
    mine, _ = groups_of(me, author, message_id, info.groups)
    return (
        f"T_resp = now + (H({name}) xor H({writer})) · H({id_}) mod T_max = {base} ms, + own share "
        f"{own} ms; T_max {window.t_max // MILLISECOND} ms, response group {mine} of {info.groups}"
    )


def groups_of(me: PeerId, author: PeerId, message_id: MessageId, groups: int) -> tuple[int, int]:
    """Return the response groups of a participant and of the author, from 1 on."""
    if groups == 1:
        return 1, 1
    return digest(me + message_id) % groups + 1, digest(author + message_id) % groups + 1


def _window(info: RepairInfo) -> Window:
    return Window(info.t_min, info.t_max, info.groups, 0, 0)
