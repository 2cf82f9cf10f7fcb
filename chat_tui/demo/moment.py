"""One moment of a demo or a replay: values only, so that it can be kept."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from chat_tui.demo.cast import Said
from chat_tui.demo.crowd import Field
from chat_tui.demo.phrases import quoted
from chat_tui.demo.scenario import Verdict
from sync.machine import MessageId, Nanos
from sync.sim.watch import Flight
from sync.view.view import ChannelInfo, Line, Snapshot

SOON: Final = 4
"""Of what comes next, as much as fits two lines."""


class Person(Struct, frozen=True):
    """One participant: its conversation, and what its protocol does (no channel while off)."""

    name: str
    up: bool
    snapshot: Snapshot
    lines: tuple[Line, ...]
    """The newest that are shown to it."""
    held: tuple[Line, ...] = ()
    """Those that it holds back."""
    alone: bool = False
    """Whether nobody would hear it now."""

    @property
    def info(self) -> ChannelInfo | None:
        """Its only channel."""
        return self.snapshot.channels[0] if self.snapshot.channels else None


class Air(Struct, frozen=True):
    """Network conditions: loss, delay, duplicates; in words sides, cut links and planned losses."""

    loss: float
    delay: tuple[Nanos, Nanos]
    duplicate: float
    sides: str
    cuts: tuple[str, ...]
    dooms: tuple[str, ...]


class Shot(Struct, frozen=True):
    """A moment, with everything there is to draw.

    Attributes:
        title: what is played, as `scenario 3/8 "A message is lost"`.
        source: the seed, or the file.
        said: what was told until then.
        following: what comes next, with its time, soonest first.
        closing: the checks, or how a replay compares, once it is over.
        earlier: whether this is a moment of before.
    """

    title: str
    source: str
    about: str
    now: Nanos
    people: tuple[Person, ...]
    said: Sequence[Said]
    following: tuple[tuple[Nanos, str], ...]
    air: Air | None = None
    flights: tuple[Flight, ...] = ()
    lost: tuple[Flight, ...] = ()
    closing: tuple[Verdict, ...] = ()
    earlier: bool = False
    field: Field | None = None
    """The whole crowd, in a scenario that has one."""


def following(people: Sequence[Person], titles: "Titles") -> list[tuple[Nanos, str]]:
    """Return what the participants' own times say comes next, soonest first."""
    times: list[tuple[Nanos, str]] = []
    for person in people:
        info = person.info
        if info is None:
            continue
        if info.repair is not None and not person.alone:
            for request in info.repair.requests[:SOON]:
                what = titles.of(request.message_id)
                times.append((request.t_req, f"{person.name} asks for {what}"))
            for answer in info.repair.answers[:SOON]:
                what = titles.of(answer.message_id)
                times.append((answer.t_resp, f"{person.name} answers with {what}"))
        for own in info.outgoing[:SOON]:
            if own.resend_at is not None and not person.alone:
                what = titles.of(own.message_id)
                times.append((own.resend_at, f"{person.name} resends {what}, unless named"))
        if info.next_sync_at is not None and info.messages and not person.alone:
            times.append((info.next_sync_at, f"{person.name} says what is here, if nobody speaks"))
    return sorted(times)[:SOON]


class Titles:
    """Titles of messages in sentences: their text, from whatever is held by anybody."""

    def __init__(self) -> None:
        self._texts: dict[MessageId, str] = {}

    def note_lines(self, lines: Sequence[Line]) -> None:
        """Remember these."""
        for line in lines:
            self._texts[line.message_id] = line.text

    def of(self, message_id: MessageId) -> str:
        """Return the text, or the beginning of the id."""
        text = self._texts.get(message_id)
        return message_id[:6] if text is None else quoted(text)
