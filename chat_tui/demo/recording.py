"""A recorded demo: scenario, seed and what the person did; the run follows from these.

The first line says what it is; then comes one act a line; the last has the digest of the run if it
was played to its end. Whatever else a file holds is refused in one sentence.
"""

import json
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, structs

from chat_tui.demo import acts
from chat_tui.demo.run import Intervention, Moment
from chat_tui.demo.scenario import SEED_MAX, Scenario
from chat_tui.demo.scenarios import CROWD_MAX, CROWD_MIN, SCENARIOS, scenario
from chat_tui.model.replaced_file import replaced
from sync.errors import LocalError

FORMAT: Final = "chat-tui demo"
VERSION: Final = 1

SAME: Final = "The run is the recorded one, to the byte."
DIFFERS: Final = "The run differs from the recorded one: it was recorded by another version."

ACTS_MAX: Final = 10_000
"""Acts of a person in a day of playing; a file of more is something else."""

FILE_MAX: Final = 4 * 1024 * 1024
"""Bytes of a recording: its acts take some 100 each, lines of text at most 2,000."""

KINDS: Final = {
    kind.__name__.lower(): kind
    for kind in (
        acts.Write,
        acts.Lose,
        acts.Loss,
        acts.Delay,
        acts.Duplicate,
        acts.Cut,
        acts.Divide,
        acts.Power,
    )
}


class Recording(Struct, frozen=True):
    """See the module docstring. `digest` is empty where the run was left before its end."""

    number: int
    seed: int
    acts: tuple[Intervention, ...] = ()
    digest: str = ""
    people: int | None = None
    """Of the crowd, if there is another number of them than usual."""

    @property
    def scenario(self) -> Scenario:
        """The scenario that was played."""
        return scenario(self.number, self.people)


def save(path: Path, recording: Recording) -> None:
    """Write a recording.

    Raises:
        LocalError: the file cannot be written.
    """
    lines: list[dict[str, Any]] = [
        {
            "format": FORMAT,
            "version": VERSION,
            "scenario": recording.number,
            "seed": recording.seed,
        }
    ]
    if recording.people is not None:
        lines[0]["people"] = recording.people
    for moment, act in ((one.moment, one.act) for one in recording.acts):
        lines.append({"at": list(moment), "act": type(act).__name__.lower(), **structs.asdict(act)})
    if recording.digest:
        lines.append({"digest": recording.digest})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        with replaced(path) as file:
            file.write(text)
    except OSError as error:
        raise LocalError(
            f"The recording cannot be written to {path} ({error.strerror}): name another file "
            "with --record."
        ) from error


def is_recording(first_line: str) -> bool:
    """Return whether a file's first line marks it as a recording."""
    try:
        head = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(head, dict) and head.get("format") == FORMAT


def load(path: Path, text: str) -> Recording:
    """Read the recording `text` of file `path`.

    Raises:
        LocalError: it is damaged, or of another version; says where.
    """
    lines = text.splitlines()
    head = _object(path, lines[0], 1)
    if head.get("version") != VERSION:
        raise LocalError(
            f"{path} was recorded by another version of the demo ({head.get('version')!r} instead "
            f"of {VERSION}): record it again."
        )
    number = _number(path, 1, head.get("scenario"), len(SCENARIOS), least=1)
    seed = _number(path, 1, head.get("seed"), SEED_MAX)
    people = head.get("people")
    if people is not None:
        people = _number(path, 1, people, CROWD_MAX, least=CROWD_MIN)
    if len(lines) > ACTS_MAX:
        raise LocalError(f"{path} has more than {ACTS_MAX:,} acts: nobody recorded that.")
    done: list[Intervention] = []
    digest = ""
    for at, line in enumerate(lines[1:], 2):
        if digest:
            raise _damaged(path, at, "nothing may follow the digest")
        fields = _object(path, line, at)
        if set(fields) == {"digest"} and isinstance(fields["digest"], str):
            digest = fields["digest"]
            continue
        done.append(_intervention(path, at, fields, len(scenario(number).names)))
        if len(done) > 1 and done[-1].moment < done[-2].moment:
            raise _damaged(path, at, "it is before the one above it")
    return Recording(number, seed, tuple(done), digest, people)


def _intervention(path: Path, at: int, fields: dict[str, Any], people: int) -> Intervention:
    moment, kind = fields.pop("at", None), KINDS.get(str(fields.pop("act", "")))
    if kind is None:
        raise _damaged(path, at, "there is no such act")
    if not isinstance(moment, list) or len(moment) != len(Moment._fields):
        raise _damaged(path, at, "it does not say when")
    events, now, before = (_number(path, at, one, 2**63) for one in moment)
    if set(fields) != set(kind.__struct_fields__):
        raise _damaged(path, at, "an act of this kind says other things")
    anybody = kind is acts.Lose and fields["who"] is None  # nobody else's act says so
    checked: dict[str, Any] = {
        name: None if name == "who" and anybody else _field(path, at, name, value, people)
        for name, value in fields.items()
    }
    return Intervention(Moment(events, now, before), kind(**checked))


def _field(path: Path, at: int, name: str, value: object, people: int) -> object:
    """Return one field of an act, checked by what it means."""
    match name:
        case "text":
            if not isinstance(value, str) or not 0 < len(value) <= acts.TEXT_CHARACTERS_MAX:
                raise _damaged(path, at, "its text is missing, or too long")
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise _damaged(path, at, "its text has half a character")
            return value
        case "who" | "one" | "other":
            return _number(path, at, value, people - 1)
        case "to" | "side":
            if not isinstance(value, list) or len(value) > people:
                raise _damaged(path, at, f"{name} is no list of participants")
            return tuple([_number(path, at, one, people - 1) for one in value])
        case "percent":
            return _number(path, at, value, 100)
        case "milliseconds":
            return _number(path, at, value, acts.DELAY_MAX_MS)
        case _:
            if not isinstance(value, bool):
                raise _damaged(path, at, f"{name} is neither true nor false")
            return value


def _number(path: Path, at: int, value: object, most: int, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _damaged(path, at, f"{value!r} is not a number from {least} to {most}")
    return value


def _object(path: Path, line: str, at: int) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, at, "it is no JSON") from error
    if not isinstance(fields, dict):
        raise _damaged(path, at, "it is no JSON object")
    return fields


def _damaged(path: Path, at: int, why: str) -> LocalError:
    return LocalError(f"{path} cannot be replayed: line {at} is damaged ({why}).")
