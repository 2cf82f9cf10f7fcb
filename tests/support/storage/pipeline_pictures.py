"""`make pipeline-pictures`: the plots of a real run as PNG, into `screenshots/pipeline/`.

Five simulated people with faults leave an export behind; all jobs run on it. The run is a function
of its seed, and the plots one of its results; only an other matplotlib may draw other bytes.
"""

import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import Final

from storage.pipeline.report.plots import delivery_plots
from storage.pipeline.report.sweep_plots import sweep_plots
from storage.pipeline.results.publishing import Results
from tests.support.chat_tui.screenshots import DIRECTORY, png_of

PLACE: Final = DIRECTORY / "pipeline"

SIM: Final = "sim --peers 5 --messages 300 --loss 20 --crash 2 --partition 20 --reconcile --seeds 1"
SWEEP: Final = "sweep --peers 10,50 --t-min 1 --t-max 6,3,12,24 --filter 1000 --resend 5 --seeds 5"
"""The command that PIPELINE.md shows; a test holds them equal."""

PAPER, INK = "#ffffff", "#24292f"


def slug(title: str) -> str:
    """A file name of a title: its first words, without signs."""
    words = "".join(char if char.isalnum() else " " for char in title.partition(":")[0]).split()
    return "_".join(words).casefold()


def picture(svg: str) -> bytes:
    """A plot of the page as PNG, dark on white."""
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    element, _, rest = svg.replace("<svg", f"<svg {names}", 1).partition(">")
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return png_of(f"{element}>{paper}{rest}".replace("currentColor", INK))


def draw(out: Path, place: Path) -> list[str]:
    """Draw the plots of the results in `out`; returns the names of the files."""
    delivery, sweep = (Results(out).published(job) for job in ("delivery", "sweep"))
    assert delivery is not None, f"{out} has no delivery"
    assert sweep is not None, f"{out} has no sweep"
    place.mkdir(parents=True, exist_ok=True)
    names = []
    drawn = (delivery_plots(delivery.directory, delivery.figures), sweep_plots(sweep.figures))
    for title, svg in chain(*drawn):
        names.append(f"{slug(title)}.png")
        (place / names[-1]).write_bytes(picture(svg))
    return names


def main() -> None:
    """Simulate, run the jobs that have plots, draw."""
    with tempfile.TemporaryDirectory() as name:
        office, out = Path(name, "office"), Path(name, "results")
        program = [str(Path(sys.executable).with_name("chat-tui"))]
        subprocess.run([*program, *SIM.split(), "--export", str(office)], check=True)
        for job in (["delivery", str(office)], SWEEP.split()):
            subprocess.run([*program, "pipeline", *job, "--out", str(out)], check=True)
        for drawn in draw(out, PLACE):
            print(PLACE / drawn)


if __name__ == "__main__":
    main()
