"""The end of a session: what came of it, in a word for the manager and in words for people."""

from sync.check import check
from sync.machine import Nanos
from sync.sessions.brought import Brought
from sync.sessions.session import Session
from sync.sessions.values import Outcome, SessionEnded
from sync.structures.row_table import RowTable
from sync.structures.set_digest import ROW_BYTES


def result_of(session: Session, missing: int) -> str:
    """Return how a session ends of which nothing more is expected, and of which `missing` lack."""
    assert session.exchanged is not None
    if missing:
        return f"incomplete: {missing} messages did not come"
    checked = session.checked
    if checked is None or checked.result is check.Result.EQUAL:
        return session.exchanged.result
    if checked.result is check.Result.DIFFERENT:
        found = checked.need + checked.have
        more = "1 more difference" if found == 1 else f"{found} more differences"
        return f"{session.protocol.contradicted}: the check found {more}"
    reason = f": {checked.reason}" if checked.reason else ""
    return f"not proved, the check {checked.result.value}{reason}"


def end(session: Session, result: str, now: Nanos, *, benign: bool) -> SessionEnded:
    """Let go of all but what is shown, and return what is told of its end."""
    finished = session.exchanged
    outcome = Outcome.BENIGN if benign else _outcome(session, result)
    session.result, session.ended_at, session.outcome = result, now, outcome
    session.cards = tuple(session.rounds)
    session.local = session.held = session.exchange = session.checking = None
    session.pushed, session.lacked = [], RowTable(ROW_BYTES)
    session.brought, session.put_off = Brought(), set()
    session.begins_with = session.together = session.counted = session.early_frame = None
    session.early_payloads = []
    return SessionEnded(
        session=session.number,
        peer=session.peer,
        protocol=session.protocol.name,
        why=session.why,
        result=result,
        outcome=outcome,
        rounds=finished.rounds if finished else 0,
        have=session.have,
        need=session.need,
        got=session.got,
        plane=session.key.plane,
        mode=session.key.mode,
        whole=session.proved_whole,
        logs=session.logs,
        chosen=session.chosen,
        estimate=session.estimate,
        cost=session.bytes_in + session.bytes_out,
        then=finished.then if finished else "",
        then_why=finished.why if finished else "",
        then_estimate=finished.estimate if finished else 0,
        other_state=finished.other_state if finished else None,
    )


def _outcome(session: Session, result: str) -> Outcome:
    """Return what came of a session; whatever else than its own result ended it is a failure."""
    if session.exchanged is None or result != result_of(session, 0):
        return Outcome.NOT_CONVERGED
    if session.converged:
        return Outcome.CONVERGED
    if session.exchanged.outcome is Outcome.BENIGN and not session.exchanged.checked:
        return Outcome.BENIGN
    moved = session.exchanged.outcome is Outcome.MOVED and not session.exchanged.checked
    return Outcome.MOVED if moved else Outcome.NOT_CONVERGED
