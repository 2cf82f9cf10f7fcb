"""`make pipeline-pictures`: the plots of a real run as PNG, into `screenshots/pipeline/`.

Five simulated people with faults leave an export behind; all jobs run on it. The run is a function
of its seed, and the plots one of its results; only an other matplotlib may draw other bytes.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from storage.pipeline.report_plots import delivery_plots
from storage.pipeline.runs import Results
from tests.screenshots import DIRECTORY, png_of

PLACE: Final = DIRECTORY / "pipeline"

SIM: Final = "sim --peers 5 --messages 300 --loss 20 --crash 2 --partition 20 --reconcile --seeds 1"
"""What PIPELINE.md tells to type; a test holds them equal."""

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
    published = Results(out).published("delivery")
    assert published is not None, f"{out} has no delivery"
    place.mkdir(parents=True, exist_ok=True)
    names = []
    for title, svg in delivery_plots(published.directory, published.figures):
        names.append(f"{slug(title)}.png")
        (place / names[-1]).write_bytes(picture(svg))
    return names


def main() -> None:
    """Simulate, run all jobs, draw."""
    with tempfile.TemporaryDirectory() as name:
        office, out = Path(name, "office"), Path(name, "results")
        program = [str(Path(sys.executable).with_name("chat-tui"))]
        subprocess.run([*program, *SIM.split(), "--export", str(office)], check=True)
        command = [*program, "pipeline", "delivery", str(office), "--out", str(out)]
        subprocess.run(command, check=True)
        for drawn in draw(out, PLACE):
            print(PLACE / drawn)


if __name__ == "__main__":
    main()
