"""All about one act of governance: what it does, who signed it when, and whether it counts."""

from typing import Final

from chat_tui.details.facts import Known
from chat_tui.details.parts import Part, Said, single
from chat_tui.details.timeline import stamp
from chat_tui.text.times import day_of
from chat_tui.wording.acts import sentence
from chat_tui.wording.sentences import ID_SHOWN
from sync.view.governance_infos import ActInfo

SHOWS: Final = "It is signed, stands at its place in the transcript of everybody, and is for ever."


def act_parts(known: Known) -> list[Part]:
    """Return all about an act."""
    line, act = known.line, known.line.act
    assert act is not None
    who = known.called(line.author, line.nick)
    who = f"you ({who})" if line.own else who
    head = f"{who}, {stamp(line.created_ns)}, {day_of(line.created_ns)} · act of governance"
    return [
        Part("", (Said(head),)),
        single("In short", f"{sentence(line, known.called)}."),
        Part("Counts", (Said(_counts(act)), Said(SHOWS, quiet=True))),
        *([single("Secret", f"it begins secret {act.epoch:,}")] if act.epoch is not None else []),
        single("Order", f"Lamport time {line.lamport:,}, then its id"),
        single("Id", line.message_id),
    ]


def _counts(act: ActInfo) -> str:
    if act.loss is None:
        return "yes"
    by = "" if act.loss.because is None else f" (act {act.loss.because.op_id[:ID_SHOWN]})"
    return f"no: {act.loss.reason.value}{by}"
