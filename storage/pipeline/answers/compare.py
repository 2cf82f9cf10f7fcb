"""`compare`: the figures of two results side by side, and what changed between them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from storage.pipeline.report.number_text import bytes_text, number, span
from storage.results import Figures, Published

Say = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Measure:
    """Figure of a job: its place among the job's figures, its name, and how it is said."""

    job: str
    path: tuple[str, ...]
    label: str
    say: Say = number


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of two results; None where one of them has it not."""

    job: str
    figure: str
    a: float | None
    b: float | None
    shown_a: str
    shown_b: str

    @property
    def change(self) -> str:
        """The change in words: in percent where that can be said."""
        if self.a is None or self.b is None:
            return ""
        if self.a == self.b:
            return "the same"
        if not self.a:
            return "new"
        return f"{100 * (self.b - self.a) / abs(self.a):+,.1f} %"


def _spread(job: str, path: tuple[str, ...], label: str) -> tuple[Measure, ...]:
    return tuple(
        Measure(job, (*path, f"{name}_us"), f"{label}, {name}", span)
        for name in ("p50", "p95", "p99", "most")
    )


MEASURES: Final = (
    Measure("consolidate", ("nodes",), "nodes"),
    Measure("consolidate", ("entries",), "messages in the history"),
    Measure("consolidate", ("findings",), "false rows"),
    Measure("delivery", ("messages",), "messages sent"),
    Measure("delivery", ("due",), "deliveries due"),
    Measure("delivery", ("delivered_of_due",), "delivered of these"),
    *_spread("delivery", ("latency",), "latency"),
    *_spread("delivery", ("convergence",), "until everybody had it"),
    Measure("delivery", ("receptions_per_delivery",), "receptions per delivery"),
    Measure("delivery", ("sent_bytes",), "bytes of messages sent", bytes_text),
    Measure("delivery", ("reconciliation", "sides"), "sides of sessions"),
    Measure("delivery", ("reconciliation", "bytes_p50"), "bytes of a session, p50", bytes_text),
    Measure("delivery", ("reconciliation", "bytes_once"), "bytes of all sessions", bytes_text),
    Measure("delivery", ("repair", "missing_at"), "times missing"),
    Measure("delivery", ("repair", "repaired_at"), "repaired"),
    Measure("delivery", ("repair", "lost_at"), "given up"),
    Measure("delivery", ("repair", "requests_per_message"), "requests for each missing message"),
    Measure("delivery", ("repair", "answers_per_message"), "answers for each missing message"),
    Measure("delivery", ("filters", "false"), "false ◐"),
)

JOBS: Final = ("consolidate", "delivery", "audit")


def differences(a: Mapping[str, Published], b: Mapping[str, Published]) -> Iterator[Difference]:
    """Yield each figure that one of two results has, with both of its values."""
    for measure in MEASURES:
        one = _value(a.get(measure.job), measure.path)
        other = _value(b.get(measure.job), measure.path)
        if one is not None or other is not None:
            yield Difference(
                measure.job,
                measure.label,
                one,
                other,
                _said(one, measure.say),
                _said(other, measure.say),
            )
    yield from _findings(a.get("audit"), b.get("audit"))


def _findings(a: Published | None, b: Published | None) -> Iterator[Difference]:
    """Yield the kinds of findings that an audit counts."""
    counted: list[Figures] = [one.figures if one else {} for one in (a, b)]
    names = dict.fromkeys([*counted[0], *counted[1]])
    for name in names:
        values = [_number(figures.get(name)) for figures in counted]
        if any(value is not None for value in values):
            a_value, b_value = values
            yield Difference(
                "audit",
                name.replace("_", " "),
                a_value,
                b_value,
                _said(a_value, number),
                _said(b_value, number),
            )


def _value(published: Published | None, path: tuple[str, ...]) -> float | None:
    value: Any = published.figures if published else None
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return _number(value)


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None  # type: ignore[return-value]


def _said(value: float | None, say: Say) -> str:
    return "-" if value is None else say(value)


def show(found: list[Difference], names: tuple[str, str], console: Console) -> None:
    """Print the figures as a table."""
    for letter, name in zip("AB", names, strict=True):
        console.print(Text(f"{letter}: {name}"), soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("figure")
    for letter in "AB":
        table.add_column(letter, justify="right")
    table.add_column("change", justify="right")
    job = None
    for one in found:
        if one.job != job:
            table.add_section()
            job = one.job
        table.add_row(one.figure, one.shown_a, one.shown_b, one.change)
    console.print(table)


def as_records(found: list[Difference]) -> list[dict[str, Any]]:
    """Return the figures as JSON."""
    return [
        {name: value for name, value in asdict(one).items() if not name.startswith("shown")}
        for one in found
    ]
