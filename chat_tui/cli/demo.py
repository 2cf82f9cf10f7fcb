"""The commands `demo` and `replay`: on a screen, or as lines where there is no terminal."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click
from msgspec.structs import replace

from chat_tui.cli.options import own_settings, user_settings_file
from chat_tui.demo import headless, recording
from chat_tui.demo.recording import Recording
from chat_tui.demo.run import Run
from chat_tui.demo.scenario import SEED
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.terminal.character_sets import usual_glyphs
from sync.errors import LocalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chat_tui.demo.screen import DemoScreen
    from chat_tui.settings.preferences import Preferences
    from sync.net.replay import Recorded

READ_MAX: Final = 512 * 1024 * 1024
"""Bytes of a trace: hours of a busy channel; more does not fit the memory it would take."""


class Wishes(NamedTuple):
    """Options of the command line for `demo`."""

    scenario: int | None = None
    seed: int | None = None
    speed: float = 1.0
    once: bool = False
    people: int | None = None
    record: Path | None = None
    cast: Path | None = None
    as_lines: bool = False
    formulas: bool = False
    pairs: tuple[str, ...] = ()
    preset: str | None = None


def demo(wishes: Wishes) -> int:
    """Play the demo; returns the exit status."""
    _refuse_unknown_settings(wishes)
    if wishes.cast is not None:
        return _cast(wishes, wishes.cast)
    record, number, played = wishes.record, wishes.scenario, _beginning(wishes)
    as_lines = wishes.as_lines or not _has_screen()
    if record is not None:  # a file that cannot be written is told before anything is played
        if as_lines and number is None:
            raise LocalError("Say which scenario to record: --scenario 3, for example.")
        recording.save(record, played)
    if as_lines:
        chosen = SCENARIOS if number is None else (SCENARIOS[number - 1],)
        status = 0
        for one in chosen:
            run = Run(scenario(one.number, wishes.people), played.seed)
            headless.tell_run(run, click.echo, formulas=wishes.formulas)
            status |= not all(verdict.holds for verdict in run.verdicts)
            if record is not None:
                recording.save(record, replace(played, digest=run.digest()))
            click.echo("")
        return status
    from chat_tui.demo.playback import Course
    from chat_tui.demo.screen import DemoScreen

    course = Course(once=wishes.once, alone=number is not None)
    glyphs = usual_glyphs(os.environ)
    screen = DemoScreen(
        played=played, speed=wishes.speed, record=record, course=course, glyphs=glyphs
    )
    _show(screen, own_settings(wishes.pairs, wishes.preset))
    return 0


def _beginning(wishes: Wishes) -> Recording:
    """Return what is played, before anything was done."""
    seed = SEED if wishes.seed is None else wishes.seed
    return Recording(wishes.scenario or 1, seed, people=wishes.people)


def _refuse_unknown_settings(wishes: Wishes) -> None:
    """Refuse what is no setting before anything is begun, or takes the place of a cast."""
    if wishes.pairs:
        from chat_tui.settings.preferences import checked_wishes

        checked_wishes(wishes.pairs, wishes.preset, user_settings_file())


def _cast(wishes: Wishes, file: Path) -> int:
    """Record the demo's screen, as it is played once by a program of its own."""
    from chat_tui.cli import cast

    if wishes.as_lines:
        raise LocalError("--cast records the screen: leave --plain out.")
    if wishes.record is not None:
        if wishes.record.resolve() == file.resolve():
            raise LocalError("--cast and --record name the same file: it takes two.")
        # what it says if it cannot be written would be read in the cast alone
        recording.save(wishes.record, _beginning(wishes))
    command = [sys.executable, "-m", "chat_tui", "demo", "--once", f"--speed={wishes.speed}"]
    for option, value in (
        ("--scenario", wishes.scenario),
        ("--seed", wishes.seed),
        ("--peers", wishes.people),
        ("--record", wishes.record),
        ("--preset", wishes.preset),
        *[("--set", pair) for pair in wishes.pairs],
    ):
        command += [] if value is None else [option, str(value)]
    chosen = (
        "" if wishes.scenario is None else f": {scenario(wishes.scenario, wishes.people).title}"
    )
    return cast.record(file, command, f"chat-tui demo{chosen}")


def replay(*, file: Path, speed: float, as_lines: bool, formulas: bool) -> int:
    """Play a file again; returns the exit status: 1 if it differs."""
    text = _read(file)
    first = text.partition("\n")[0]
    if recording.is_recording(first):
        return _replay_demo(recording.load(file, text), speed, as_lines=as_lines, formulas=formulas)
    from sync.net import replay as traces

    if traces.is_trace(first):
        steps = traces.read(file, text)
        return _replay_trace(file, steps, speed, as_lines=as_lines, formulas=formulas)
    raise LocalError(
        f"{file} is neither a recorded demo (`chat-tui demo --record FILE`) nor a trace "
        "(`chat-tui --trace FILE`; what `/trace on` keeps lacks the beginning)."
    )


def _replay_trace(
    file: Path, steps: "Sequence[Recorded]", speed: float, *, as_lines: bool, formulas: bool
) -> int:
    from chat_tui.demo.trace_player import TracePlayer

    player = TracePlayer(file.name, steps)
    if as_lines or not _has_screen():
        headless.tell_trace(player, click.echo, formulas=formulas)
        return 0 if player.verdict().holds else 1
    from chat_tui.demo.playback import Course
    from chat_tui.demo.screen import DemoScreen

    course, glyphs = Course(paused=True), usual_glyphs(os.environ)
    screen = DemoScreen(player, speed=speed, course=course, glyphs=glyphs)
    _show(screen, own_settings())
    return 0


def _replay_demo(played: Recording, speed: float, *, as_lines: bool, formulas: bool) -> int:
    if as_lines or not _has_screen():
        run = Run(played.scenario, played.seed, played.acts)
        headless.tell_run(run, click.echo, formulas=formulas)
        same = not played.digest or run.digest() == played.digest
        click.echo(said_of(same=same, ended=bool(played.digest)))
        return 0 if same and all(verdict.holds for verdict in run.verdicts) else 1
    from chat_tui.demo.screen import DemoScreen

    screen = DemoScreen(speed=speed, played=played, glyphs=usual_glyphs(os.environ))
    _show(screen, own_settings())
    return 0


def said_of(*, same: bool, ended: bool) -> str:
    """Return how a run compares with its recording."""
    if not ended:
        return "The recording was left before its end: there is nothing to compare."
    return recording.SAME if same else recording.DIFFERS


def _show(screen: "DemoScreen", settings: "Preferences") -> None:
    from chat_tui.demo.app import DemoApp
    from chat_tui.settings.schema import MOUSE
    from chat_tui.terminal.driver import Terminal
    from chat_tui.terminal.signals import leaving_on_signals
    from sync.net.engine.loop_watch import run_watched

    app = DemoApp(screen, settings)
    app.driver_class = Terminal

    async def shown() -> None:
        with leaving_on_signals(app):
            await app.run_async(mouse=settings[MOUSE])

    run_watched(shown())
    if screen.unkept:
        raise LocalError(screen.unkept)


def _has_screen() -> bool:
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return on_terminal and os.environ.get("TERM") != "dumb"


def _read(file: Path) -> str:
    try:
        if not file.is_file() and file.exists():
            raise LocalError(f"{file} is no ordinary file: there is nothing to replay.")
        if file.stat().st_size > READ_MAX:
            raise LocalError(f"{file} is too large to be replayed: {READ_MAX >> 20} MB at most.")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise LocalError(f"{file} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise LocalError(f"{file} is neither a recorded demo nor a trace.") from error
    if not text.strip():
        raise LocalError(f"{file} is empty: there is nothing to replay.")
    return text
