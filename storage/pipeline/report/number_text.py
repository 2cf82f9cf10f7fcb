"""Figures as people read them: spans, shares, percentiles, numbers."""

from datetime import UTC, datetime
from typing import Final

from storage.results import Figures
from sync.machine import SECOND, Nanos

MS: Final = 1_000
S: Final = 1_000_000
"""In microseconds."""

EXACT: Final = 1000
"""From here on, a figure is told without a fraction."""


def spread_text(spread: Figures) -> str:
    """Return percentiles in words; they are in microseconds."""
    if not spread["count"]:
        return "none"
    shown = [f"{name} {span(spread[f'{name}_us'])}" for name in ("p50", "p95", "p99")]
    return ", ".join([*shown, f"most {span(spread['most_us'])}"])


def span(us: float) -> str:
    """Return a span as people read it, from microseconds; a negative one too."""
    size = abs(us)
    if size < MS:
        return f"{us:.0f} µs"
    if size < S:
        return f"{us / MS:.3g} ms" if size < MS * 100 else f"{us / MS:.0f} ms"
    if size < S * 600:
        return f"{us / S:.3g} s"
    return f"{us / S / 60:,.1f} min" if size < S * 36_000 else f"{us / S / 3600:,.1f} h"


def moment(when: Nanos) -> str:
    """Return a time of some clock, as it stands in an export."""
    try:
        return datetime.fromtimestamp(when // SECOND, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError):
        return f"{when:,} ns"


def share(part: float, whole: float) -> str:
    """Return a share in percent; all is only said of all."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if part in (0, whole) else f"{min(percent, 99.99):.2f} %"


def number(value: object) -> str:
    """Return a figure as people read it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() or abs(value) >= EXACT else f"{value:.3g}"
    return str(value)


KILO: Final = 1_000


def bytes_text(count: float) -> str:
    """Return a number of bytes, as the simulator says them: in kB of 1,000 bytes from there on."""
    if count < KILO:
        return f"{count:,.0f} bytes"
    if count < KILO**2:
        return f"{count / KILO:,.3g} kB" if count < KILO * 100 else f"{count / KILO:,.0f} kB"
    return f"{count / KILO**2:,.3g} MB" if count < KILO**3 else f"{count / KILO**3:,.3g} GB"
