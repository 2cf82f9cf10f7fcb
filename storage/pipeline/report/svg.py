"""The plots of a report as SVG: legible on light and on dark, the same bytes for the same values.

Rules:
1. Lines and letters take the colour of the text around (`currentColor`), nothing has a background.
2. No text of a peer is drawn but the beginning of a key, and that in ASCII.
3. Fonts are those of the page; matplotlib only measures with its own.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

INK: Final = "#010203"
"""Stands for the colour of the text, which it becomes in the SVG."""

LINES: Final = ("#2f81c7", "#d1692a", "#3b9a55", "#a65fc0", "#b8891a", "#c2495a")
"""Legible on white and on black: each has a contrast of 3 or more with both."""

STYLE: Final = {
    "svg.fonttype": "none",
    "svg.image_inline": True,
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    **dict.fromkeys(
        ("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), INK
    ),
    "grid.color": INK,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
}

INCHES: Final = (7.2, 3.2)

NO_DATA: Final = {"Creator": None, "Date": None, "Format": None, "Type": None}

LACK: Final = LinearSegmentedColormap.from_list("lack", ["#7f8fa620", "#e0a030", "#c62828"])


@contextmanager
def drawing(name: str, size: tuple[float, float] = INCHES) -> Iterator[tuple[Figure, Axes]]:
    """Set up a plot with one pair of axes."""
    with styled(name):
        figure = Figure(figsize=size, layout="constrained")
        yield figure, figure.add_subplot()


def styled(name: str) -> AbstractContextManager[None]:
    """Draw in our style; names of parts are made of the plot's, so that two fit on one page."""
    style: Any = {**STYLE, "svg.hashsalt": f"chat-tui {name}"}
    return mpl.rc_context(style)


def svg_of(figure: Figure, name: str) -> str:
    """Return a figure as an SVG element that stands in a page, without any address in it.

    Names in it that nothing refers to are removed; the others begin with the plot's.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=NO_DATA)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", text)
    text = re.sub(r'(width|height)="([0-9.]+)pt"', r'\1="\2"', text, count=2)
    text = text.replace("xlink:href", "href").replace(INK, "currentColor")
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    text = re.sub(
        r' id="([^"]+)"', lambda at: f' id="{name}-{at[1]}"' if at[1] in used else "", text
    )
    return re.sub(r'(href="|url\()#', rf"\1#{name}-", text)


def plain(value: float, _: float) -> str:
    """Return a number at an axis as people write it: mathematical notation is switched off."""
    return f"{value:g}"


def curves(
    name: str, lines: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str
) -> str:
    """Return distributions as lines over a logarithmic axis of time; x in seconds, y in percent.

    Values that are not above zero have no place on such an axis: the figures have them.
    """
    with drawing(name) as (figure, axes):
        for color, (label, points) in zip(LINES, lines.items(), strict=False):
            shown = [(x, y) for x, y in points if x > 0]
            axes.plot([x for x, _ in shown], [y for _, y in shown], color=color, label=label)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(plain)
        axes.set_ylim(0, 101)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if len(lines) > 1:
            axes.legend()
        return svg_of(figure, name)


def panels(
    name: str,
    drawn: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    x_label: str,
) -> str:
    """Return the same lines of several figures, side by side over one logarithmic axis.

    Args:
        name: of the plot
        drawn: by what is on its axis, the points of each line; x above zero, y zero or more
        x_label: what is below all of them
    """
    with styled(name):
        figure = Figure(figsize=INCHES, layout="constrained")
        places = figure.subplots(1, len(drawn))
        for axes, (y_label, lines) in zip(places, drawn.items(), strict=True):
            for color, (label, points) in zip(LINES, lines.items(), strict=False):
                x, y = [x for x, _ in points], [y for _, y in points]
                axes.plot(x, y, color=color, marker="o", markersize=4, label=label)
            axes.set_xscale("log")
            ticks = sorted({x for points in lines.values() for x, _ in points})
            axes.set_xticks(ticks, [plain(x, 0) for x in ticks], minor=False)
            axes.minorticks_off()
            axes.set_ylim(bottom=0)
            axes.set_ylabel(y_label)
        figure.supxlabel(x_label, fontsize="medium")
        if len(lines := next(iter(drawn.values()), {})) > 1:
            figure.legend(
                *places[0].get_legend_handles_labels(), loc="outside upper left", ncols=len(lines)
            )
        return svg_of(figure, name)


def bars(name: str, labels: Sequence[str], groups: Mapping[str, Sequence[float]], said: str) -> str:
    """Return bars side by side: one place for each label, in it one bar for each group."""
    with drawing(name) as (figure, axes):
        places = np.arange(len(labels))
        width = 0.8 / max(1, len(groups))
        for at, (color, (label, values)) in enumerate(zip(LINES, groups.items(), strict=False)):
            x = places + (at - (len(groups) - 1) / 2) * width
            drawn = axes.bar(x, values, width * 0.9, color=color, label=label)
            axes.bar_label(drawn, fmt="%.3g", padding=2)
        axes.set_xticks(places, labels)
        axes.set_xlim(-1, len(labels))
        axes.margins(y=0.15)
        axes.set_ylabel(said)
        axes.legend()
        return svg_of(figure, name)


def filters(
    name: str,
    theory: Mapping[str, Sequence[tuple[float, float]]],
    found: float | None,
    band: tuple[float, float] | None,
) -> str:
    """Return how often filters are wrong, by how many ids they hold, and how often one was."""
    with drawing(name) as (figure, axes):
        for color, (label, points) in zip(LINES, theory.items(), strict=False):
            axes.plot([x for x, _ in points], [y for _, y in points], color=color, label=label)
        if band is not None:
            axes.axhspan(*band, color=LINES[5], alpha=0.2, linewidth=0, label="found, with 95 %")
        if found:  # none at all has no place on such an axis
            axes.axhline(found, color=LINES[5], linestyle="--")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter(plain)
        axes.yaxis.set_major_formatter(plain)
        axes.set_ylim(1e-9, 1)
        axes.set_xlabel("ids in the filter")
        axes.set_ylabel("wrong, of all it is asked")
        axes.legend()
        return svg_of(figure, name)


def matrix(name: str, cells: Sequence[Sequence[float | None]], rows: Sequence[str]) -> str:
    """Return shares from 0 to 1 as coloured cells; None: nothing was due there."""
    values: Any = np.array(
        [[np.nan if cell is None else cell for cell in row] for row in cells], float
    )
    height = min(9.0, 1.4 + 0.16 * len(rows))
    with drawing(name, (INCHES[0], height)) as (figure, axes):
        top = max(0.01, float(np.nanmax(values))) if np.isfinite(values).any() else 1.0
        image = axes.imshow(
            np.ma.masked_invalid(values),
            cmap=LACK,
            vmin=0,
            vmax=top,
            aspect="auto",
            interpolation="nearest",
        )
        axes.grid(visible=False)
        axes.set_yticks(range(len(rows)), rows, fontsize=7)
        axes.set_xticks([0, len(cells[0]) - 1], ["first sent", "last sent"])
        bar = figure.colorbar(image, ax=axes, label="missing, of all due")
        bar.outline.set_visible(False)
        return svg_of(figure, name)
