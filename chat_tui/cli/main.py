"""The command line: the chat, which is the command if none is named, and errors as sentences.

Only what a command needs is imported, when it needs it: a start shows its screen first.
"""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import click

from chat_tui.cli.options import (
    PROGRAM,
    config_file,
    network_options,
    profile_options,
    setup_of,
)
from chat_tui.cli.standard_streams import (
    NO_ROOM,
    escape_what_output_lacks,
    open_closed_streams,
    write_nowhere,
)
from chat_tui.client import gc_policy
from sync.errors import ChatError, LocalError

PAINTS_PER_S: Final = "200"
"""Textual would let a paint wait for 1/60 to 1/30 s after the last one, be that a blinking cursor.

For a line that arrives, that is longer than all the rest of its way; and what arrives is painted
ten times a second at most anyway (`chat_tui.model.event_feed`).
"""

PAINTS_PER_S_SLOW: Final = "10"
"""With `low_bandwidth`, of what is typed; what arrives is painted twice a second there."""


class Commands(click.Group):
    """All commands. If none is named, it is `chat`, and the others are not even imported."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See click: `chat-tui --profile bob` means `chat-tui chat --profile bob`.

        What other programs say by a word is taken as well: `help send`, and `version`.
        """
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        if not args or (args[0].startswith("-") and args[0] not in {"--help", "-h", "--version"}):
            args = ["chat", *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """See click: the command that is meant; of one that there is not, those alike are named."""
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            from difflib import get_close_matches

            close = get_close_matches(args[0], self.list_commands(ctx))
            then = f" Did you mean {' or '.join(close)}?" if close else " --help lists all."
            ctx.fail(f"No such command {args[0]!r}.{then}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See click: the names for `--help`."""
        return sorted([*super().list_commands(ctx), *_others().commands])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See click: the command of a name, if there is one."""
        return super().get_command(ctx, cmd_name) or _others().commands.get(cmd_name)


def _others() -> click.Group:
    from chat_tui.cli.commands import others

    return others


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name=PROGRAM, prog_name=PROGRAM)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Chat with people on this network. No server, no account.

    Without a command, the chat opens in this terminal.
    """
    if ctx.invoked_subcommand != "chat":  # which goes on without until its first picture is out
        gc_policy.take_up()


@cli.command()
@profile_options
@network_options
def chat(**options: Any) -> None:
    """Open the chat in this terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        from chat_tui.line_mode import line_mode as plain
        from sync.net.engine.loop_watch import run_watched

        gc_policy.take_up()
        run_watched(plain.run(setup_of(options), as_json=False, stay=False, history=0))
        return
    setup = setup_of(options)
    if setup.on_slow_line and os.environ.get("TEXTUAL_FPS") == PAINTS_PER_S:
        os.environ["TEXTUAL_FPS"] = PAINTS_PER_S_SLOW
    from chat_tui.cli import start_screen

    start_screen.run(setup, config_file())


def check_roots(packages: Sequence[str] = ("chat_tui", "sync", "storage", "proto")) -> None:
    """Make sure that our packages are ours: their names are short, and others use them too.

    Raises:
        LocalError: they come from different places.
    """
    roots = {}
    for package in packages:
        spec = find_spec(package)
        origin = spec.origin if spec is not None else None
        roots[package] = str(Path(origin).parent.parent) if origin else "nowhere"
    if len(set(roots.values())) > 1:
        places = ", ".join(f"{package} from {root}" for package, root in roots.items())
        raise LocalError(
            f"Another program's packages are in the way ({places}); install chat-tui into an "
            "environment of its own, as `make chat` does."
        )


NO_SUCH_SYSTEM: Final = (
    "It runs on Linux and macOS, and not on Windows yet: profiles are locked, and terminals read, "
    "by what only those systems have."
)


def lacks_unix() -> bool:
    """Return whether this Python lacks Unix-only modules; asked before anything needs them."""
    try:
        import fcntl  # noqa: F401
        import termios  # noqa: F401
    except ImportError:
        return True
    return False


def main() -> None:
    """Run the command line; an error of ours is one sentence, not a traceback."""
    if lacks_unix():
        click.echo(f"{PROGRAM}: {NO_SUCH_SYSTEM}", err=True)
        sys.exit(1)
    open_closed_streams()
    escape_what_output_lacks()
    os.environ.setdefault("TEXTUAL_FPS", PAINTS_PER_S)  # Textual reads it when it is imported
    try:
        check_roots()
        cli(prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except ChatError as error:
        click.echo(f"{PROGRAM}: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        write_nowhere()
        sys.exit(1)
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        from chat_tui.line_mode.standard_output import NOT_WRITTEN

        write_nowhere()
        click.echo(f"{PROGRAM}: {NOT_WRITTEN.format(error.strerror)}", err=True)
        sys.exit(1)
