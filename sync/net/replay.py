"""A trace played again: the recorded inputs into fresh machines, whose effects must be the same.

It needs neither key nor database: signatures and what the system's generator drew are in the
trace. Nothing is written, sent or dialled.
"""

import json
import random
import re
import types
import typing
from collections import deque
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeGuard

from msgspec import Struct, structs

from sync.entries.entry import SIGNATURE_SIZE
from sync.entries.identity import verify
from sync.errors import LocalError, RemoteError
from sync.group import values
from sync.group.governing import signed_part
from sync.group.group import Group
from sync.group.stating import signed_part as signed_state
from sync.group.writer import Author
from sync.machine import ChannelId, MessageId, Nanos, PeerId
from sync.manager import announcing, schedule
from sync.manager import values as managing
from sync.manager.registry import PROTOCOLS
from sync.net.trace import Began, Drew, to_json
from sync.runner import runner
from sync.sds.parameters import PROFILES
from sync.sessions.claims import Claims
from sync.sessions.protocol import Protocols
from sync.sketch.key import KEY_SIZE
from sync.view.view import Notice

MANAGER: Final = "manager"
ANNOUNCING: Final = "announcing"
RUNNER: Final = "runner"
REFUSED: Final = "refused"

IDS: Final = (PeerId, ChannelId, MessageId)
ID_FORM: Final = re.compile("(?:[0-9a-f]{2}){1,64}")

NUMBER_MAX: Final = 2**64 - 1

CHANNELS_MAX: Final = 1_000
"""Of one run; a person is in some ten."""


def _named(*unions: Any) -> dict[str, type]:  # noqa: ANN401  # unions of classes have no type
    return {kind.__name__: kind for union in unions for kind in typing.get_args(union)}


INPUTS: Final = _named(values.Input)
FOR_MANAGER: Final = _named(managing.Input)
FOR_ANNOUNCING: Final = _named(announcing.Input)
ENDS: Final = frozenset({managing.Ended.__name__, values.SessionEnded.__name__})
FOR_RUNNER: Final[dict[str, type]] = {kind.__name__: kind for kind in (Began, Drew, runner.Opened)}


class Recorded(Struct, frozen=True):
    """One line of a trace; effects are as they were written."""

    line: int
    now: Nanos
    machine: str
    event: object
    effects: list[Any]


class Played(Struct, frozen=True):
    """Result of replaying a recorded step; `difference` says where it departs from the trace."""

    step: Recorded
    effects: tuple[object, ...]
    difference: str = ""


def is_trace(first_line: str) -> bool:
    """Return whether a file with this first line is a trace."""
    try:
        step = json.loads(first_line)
        return bool(step["machine"] == RUNNER and step["input"]["is"] == Began.__name__)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def read(path: Path, text: str) -> list[Recorded]:
    """Read the trace `text` of file `path`; a last line that was cut off is left out.

    Raises:
        LocalError: it is damaged, or another version's; says in which line.
    """
    lines = text.split("\n")
    whole, rest = lines[:-1], lines[-1]
    del rest  # without its end: the program stopped while it was written
    return [_recorded(path, number, line) for number, line in enumerate(whole, 1)]


def _recorded(path: Path, number: int, line: str) -> Recorded:
    try:
        step: Any = json.loads(line)
        machine, event = step["machine"], _translated(step["input"])
        kinds = _kinds_of(machine)
        if machine == REFUSED:
            read_event: Any = Notice(str(event["text"]))
        else:
            read_event = from_json(event, kinds[event["is"]])
        now, effects = from_json(step["now"], Nanos), step["effects"]
        if machine not in {MANAGER, ANNOUNCING, RUNNER, REFUSED}:
            machine = from_json(machine, ChannelId)
        if not isinstance(effects, list):
            raise TypeError("no effects")  # noqa: TRY301
        effects = [_translated(one) for one in effects]
        return Recorded(number, now, machine, read_event, effects)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise LocalError(
            f"{path} cannot be replayed: line {number} is damaged, or of another version."
        ) from error


def _translated(value: Any) -> Any:  # noqa: ANN401
    """Return an input or effect with the names of now: ends of sessions once said yes or no."""
    if not isinstance(value, dict) or value.get("is") not in ENDS or "converged" not in value:
        return value
    told = {name: one for name, one in value.items() if name not in {"converged", "put_off"}}
    outcome = values.Outcome.CONVERGED if value["converged"] else values.Outcome.NOT_CONVERGED
    if value.get("put_off"):
        outcome = values.Outcome.BENIGN
    return told | {"outcome": outcome.value}


def _kinds_of(machine: object) -> dict[str, type]:
    """Return what may come into a machine; any other name is a channel's."""
    if machine == MANAGER:
        return FOR_MANAGER
    if machine == ANNOUNCING:
        return FOR_ANNOUNCING
    return FOR_RUNNER if machine == RUNNER else INPUTS


def from_json(value: Any, kind: Any) -> Any:  # noqa: ANN401  # whatever `kind` says
    """Return what `sync.net.trace.to_json` wrote of a value of type `kind`.

    Raises:
        TypeError, KeyError, ValueError: it is no such value.
    """
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union or isinstance(kind, types.UnionType):
        return _of_union(value, typing.get_args(kind))
    if origin is tuple:
        if len(inside) == 2 and inside[1] is Ellipsis:  # noqa: PLR2004
            return tuple([from_json(one, inside[0]) for one in value])
        return tuple([from_json(one, sort) for one, sort in zip(value, inside, strict=True)])
    if origin is frozenset:
        return frozenset([from_json(one, inside[0]) for one in value])
    if kind in IDS:
        return kind(_id(value))
    if isinstance(kind, typing.NewType):
        return from_json(value, kind.__supertype__)
    if kind is bytes:
        return bytes.fromhex(value["hex"])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if _is_struct(kind) or hasattr(kind, "_fields"):
        if value["is"] != kind.__name__:
            raise TypeError(f"{value['is']} instead of {kind.__name__}")
        known = [one for one in _fields(kind) if one[0] in value or one[0] not in _optional(kind)]
        return kind(**{name: from_json(value[name], sort) for name, sort in known})
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} instead of {kind.__name__}")
    if kind is int and not -NUMBER_MAX <= value <= NUMBER_MAX:
        raise ValueError("a number beyond 64 bits")
    return value


def _id(value: object) -> str:
    """Return an id, which is hex: of no other do machines and screens know what to make."""
    if not isinstance(value, str) or not ID_FORM.fullmatch(value):
        raise ValueError("no id")
    return value


def _of_union(value: Any, kinds: Sequence[Any]) -> Any:  # noqa: ANN401
    if value is None:
        if type(None) not in kinds:
            raise TypeError("nothing, where something is needed")
        return None
    named = [one for one in kinds if one is not type(None)]
    if len(named) > 1:  # classes, which `is` tells apart
        named = [one for one in named if one.__name__ == value["is"]]
    [kind] = named
    return from_json(value, kind)


@cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    """Return the fields of a struct or named tuple with their types."""
    hints = typing.get_type_hints(kind)
    names = kind.__struct_fields__ if _is_struct(kind) else kind._fields  # type: ignore[attr-defined]
    return tuple([(name, hints[name]) for name in names])


@cache
def _optional(kind: type) -> frozenset[str]:
    """Return the fields that an earlier version may not have known: those that have a default."""
    if not _is_struct(kind):
        return frozenset()
    return frozenset([one.name for one in structs.fields(kind) if not one.required])


def _is_struct(kind: Any) -> TypeGuard[type[Struct]]:  # noqa: ANN401
    return isinstance(kind, type) and issubclass(kind, Struct)


class Replay:
    """The machines of one participant, fed with what was recorded."""

    def __init__(self, protocols: Protocols = PROTOCOLS) -> None:
        self.me = PeerId("")
        self._known = protocols
        self._protocols = protocols
        """Those that the recorded run spoke."""
        self.groups: dict[ChannelId, Group] = {}
        self._claims = Claims(lambda: [group.sessions for group in self.groups.values()])
        self.profiles: dict[ChannelId, str] = {}
        self.now: Nanos = 0
        self._manager: schedule.Manager | None = None
        self._announcing: announcing.Announcing | None = None
        self._author: Author | None = None
        self._rng = random.Random(0)  # noqa: S311  # the recorded seed comes with `Began`
        self._drawn: deque[int] = deque()
        self._signatures: dict[bytes, bytes] = {}

    def play(self, step: Recorded) -> Played:
        """Feed one step, and compare."""
        self.now = max(self.now, step.now)
        match step.event:
            case Began():
                self._begin(step.event)
            case Drew(number):
                self._drawn.append(number)
            case runner.Opened():
                return self._open(step, step.event)
            case Notice():
                pass
            case _ if step.machine == MANAGER:
                return self._manage(step)
            case _ if step.machine == ANNOUNCING:
                return self._announce(step)
            case _:
                return self._handle(step)
        return Played(step, ())

    def _begin(self, began: Began) -> None:
        """A run begins: everything is anew, as after a start."""
        self.me = began.participant
        self._protocols = self._known.among(began.protocols)
        self.groups.clear()
        self._drawn.clear()
        self._rng = random.Random(began.seed)  # noqa: S311
        self._author = Author(
            me=began.participant,
            sign=self._sign,
            verify=verify,
            draw_log=self._draw,
            retention=began.retention,
        )
        self._manager = schedule.Manager(began.participant, self._rng, self._protocols)
        self._announcing = announcing.Announcing(
            self._protocols.family, keeps_all=began.retention is None
        )

    def _open(self, step: Recorded, opened: runner.Opened) -> Played:
        channel, profile = opened.channel, opened.profile
        if self._author is None or profile not in PROFILES or len(self.groups) >= CHANNELS_MAX:
            return Played(step, (), "a channel that cannot be opened here")
        try:
            sketch_key = bytes.fromhex(opened.sketch_key) or bytes(KEY_SIZE)
        except ValueError:
            return Played(step, (), "a key of sketches that is none")
        if len(sketch_key) != KEY_SIZE:
            return Played(step, (), "a key of sketches that is none")
        self.profiles[channel] = profile
        self.groups[channel] = Group(
            self._author,
            channel,
            PROFILES[profile],
            self._rng,
            self._claims,
            self._protocols,
            governed=opened.governed,
            anybody=opened.anybody,
            sketch_key=sketch_key,
        )
        return Played(step, ())

    def _manage(self, step: Recorded) -> Played:
        if self._manager is None:
            return Played(step, (), "a step before the beginning")
        assert isinstance(step.event, typing.get_args(managing.Input))
        return self._fed(step, self._manager, step.event)

    def _announce(self, step: Recorded) -> Played:
        if self._announcing is None:
            return Played(step, (), "a step before the beginning")
        assert isinstance(step.event, typing.get_args(announcing.Input))
        return self._fed(step, self._announcing, step.event)

    def _handle(self, step: Recorded) -> Played:
        group = self.groups.get(ChannelId(step.machine))
        if group is None:
            return Played(step, (), "a channel that was never opened")
        self._signatures = dict(_signatures(step.effects))
        assert isinstance(step.event, typing.get_args(values.Input))
        return self._fed(step, group, step.event)

    def _fed(self, step: Recorded, machine: Any, event: object) -> Played:  # noqa: ANN401  # either
        """Feed a machine; what nobody ever recorded may break it, and that is a difference too."""
        try:
            effects = machine.handle(event, step.now)
        except (LocalError, RemoteError) as error:
            return Played(step, (), f"it is refused now: {error}")
        except Exception as error:  # noqa: BLE001  # no runner feeds what is in a forged file
            return Played(step, (), f"it breaks the machine now: {type(error).__name__}")
        return _compared(step, effects)

    def _sign(self, data: bytes) -> bytes:
        """Return the signature that was made over these bytes then; another is never right."""
        return self._signatures.get(data, bytes(SIGNATURE_SIZE))

    def _draw(self) -> int:
        return self._drawn.popleft() if self._drawn else 0


SIGNED_PARTS: Final = {
    values.StoreOp.__name__: signed_part,
    values.StoreState.__name__: signed_state,
}
"""By record: what of its bytes was signed."""


def _signatures(effects: Sequence[Any]) -> Iterator[tuple[bytes, bytes]]:
    """Return the signed bytes and signatures of the entries that a step stored."""
    for effect in effects:
        part = SIGNED_PARTS.get(str(effect.get("is"))) if isinstance(effect, dict) else None
        if part is not None:
            try:
                content = bytes.fromhex(effect["content"]["hex"])
            except (LookupError, TypeError, ValueError):
                continue  # the comparison says so
            yield part(content), content[-SIGNATURE_SIZE:]
        if isinstance(effect, dict) and effect.get("is") == values.StoreMessage.__name__:
            try:
                entry = effect["message"]["entry"]
                signed, signature = entry["header_bytes"]["hex"], entry["signature"]["hex"]
                yield bytes.fromhex(signed), bytes.fromhex(signature)
            except (LookupError, TypeError, ValueError):
                continue  # the comparison says so


def _compared(step: Recorded, effects: Sequence[object]) -> Played:
    """Compare what came of a step with what was recorded, effect by effect."""
    now = [to_json(effect) for effect in effects]
    known = [_as_known(*both) for both in zip(now, step.effects, strict=False)]
    now = known + now[len(known) :]
    if now == step.effects:
        return Played(step, tuple(effects))
    for number, (one, other) in enumerate(zip(now, step.effects, strict=False), 1):
        if one != other:
            return Played(step, tuple(effects), f"effect {number}: {_difference(one, other)}")
    why = f"{len(now)} effects instead of {len(step.effects)}"
    return Played(step, tuple(effects), why)


def _as_known(now: Any, then: Any) -> Any:  # noqa: ANN401
    """Return `now` without the fields that the version which recorded `then` did not know."""
    if isinstance(now, dict) and isinstance(then, dict) and now.get("is") == then.get("is"):
        if "hashes" in then and "ids" in now:  # what is pushed was named without its time
            now = {**now, "hashes": [one["hash"] for one in now["ids"]]}
        return {name: _as_known(now[name], then[name]) for name in now if name in then}
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [_as_known(*both) for both in zip(now, then, strict=True)]
    return now


def _difference(now: Any, then: Any) -> str:  # noqa: ANN401
    """Return where two effects differ."""
    if not isinstance(now, dict) or not isinstance(then, dict):
        return "something else was recorded"
    if now.get("is") != then.get("is"):
        return f"{now.get('is')} instead of {then.get('is')}"
    names = [name for name in now | then if now.get(name) != then.get(name)]
    return f"{now.get('is')} with another {', '.join(names)}"
