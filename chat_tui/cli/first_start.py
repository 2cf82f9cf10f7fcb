"""The first start of a profile: the three questions, before there is anything to show."""

import json
import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from chat_tui.client.memberships import checked_way_in, is_code
from chat_tui.client.setup import Setup, default_nick
from chat_tui.screens.first_run import Answers, FirstRun
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import checked_nick
from chat_tui.terminal.character_sets import glyphs_of, usual_glyphs
from chat_tui.terminal.driver import Terminal
from chat_tui.terminal.signals import leaving_on_signals
from sync.errors import LocalError
from sync.net.engine.loop_watch import run_watched

DEFAULT_PROFILE: Final = "default"
"""Says nothing about its owner; every other profile is probably called like its owner."""


def ask(setup: Setup, config_file: Path) -> Setup | None:
    """Ask the three questions; None if the person left."""
    named = setup.profile if setup.profile != DEFAULT_PROFILE else default_nick()
    settings = Preferences.of_profile(setup.directory, setup.wishes)
    glyphs = glyphs_of(settings, usual_glyphs(os.environ))
    suggested = Answers(setup.nick or named, _as_typed(setup.channel), setup.data_dir)
    answers = run_watched(_ask(FirstRun(suggested, _check, settings, glyphs)))
    while answers is not None and answers.demo:
        _show_demo()
        suggested = replace(answers, demo=False)
        answers = run_watched(_ask(FirstRun(suggested, _check, settings, glyphs)))
    if answers is None:
        return None
    if answers.data_dir != setup.data_dir:
        config_file.parent.mkdir(parents=True, exist_ok=True)
        config_file.write_text(json.dumps({"data_dir": str(answers.data_dir.absolute())}) + "\n")
    return replace(
        setup,
        nick=answers.name,
        data_dir=answers.data_dir,
        invite=answers.invite or None,
    )


def _as_typed(channel: str | None) -> str:
    """Return what `--channel` names as one would type it here."""
    if not channel or channel.startswith("#") or is_code(channel):
        return channel or ""
    return f"#{channel}"


def _show_demo() -> None:
    """Show the demo from its first scenario on, until the person leaves it."""
    from chat_tui.cli.demo import Wishes, demo  # noqa: PLC0415  # most starts need none of it

    demo(Wishes())


async def _ask(questions: FirstRun) -> Answers | None:
    questions.driver_class = Terminal
    with leaving_on_signals(questions):
        return await questions.run_async()


def _check(answers: Answers) -> None:
    checked_nick(answers.name)
    if answers.invite:
        checked_way_in(answers.invite)
    try:
        answers.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalError(f"{answers.data_dir} cannot be used: {error.strerror}.") from error
