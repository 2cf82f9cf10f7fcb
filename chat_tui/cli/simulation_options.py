"""The options of `chat-tui sim`: what each is called, counted in, and may be."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from chat_tui.cli.local_directory import LocalDirectory
from chat_tui.cli.options import NumberRange

HOSTILE_MAX: Final = 10
"""Each has a dozen aliases with links of their own; there is no link for everybody beyond."""


class ActsOption(click.Option):
    """An option whose help names all hostile acts; help alone imports them."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, as click prints them."""
        from sync.sim.hostile.acts import ACTS

        record = super().get_help_record(ctx)
        assert record is not None, "the option is not hidden"
        *others, last = ACTS
        return record[0], record[1].replace("(acts)", f"{', '.join(others)}, {last}")


class RoomsType(click.ParamType[tuple[int, ...]]):
    """Sizes of rooms, as `4,4`."""

    name = "sizes"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """See click; refuses what is not the size of two rooms at least."""
        if isinstance(value, tuple):
            return value
        words = str(value).split(",")
        sizes = tuple([int(word) for word in words if word.isdecimal() and len(word) <= DIGITS_MAX])
        fits = 1 < len(sizes) == len(words) and 0 not in sizes
        if not fits or sum(sizes) > MESH_PEERS_MAX:
            self.fail(
                f"{value!r} is not the sizes of at least two rooms, such as 4,4, with "
                f"{MESH_PEERS_MAX} people at most.",
                param,
                ctx,
            )
        return sizes


F = TypeVar("F", bound=Callable[..., Any])

PROTOCOL_NAMES: Final = (
    "waku",
    "logheight",
    "sets",
    "rule",
    "delta",
    "snapshot",
    "sketch",
    "hash",
    "level",
)
"""Names of `sync.manager.registry.WHOLE_BY` and `BY_RULE`, which help need not import."""

DIGITS_MAX: Final = 3
MESH_PEERS_MAX: Final = 200
"""People with a link between each two of a room: each link is simulated by itself."""

PERCENT: Final = NumberRange(0, 90)
WEEK_S: Final = 7 * 24 * 3600
"""Longest time of an option: no run of more ends, and far beyond it no number of nanoseconds is."""

SECONDS: Final = NumberRange(0, WEEK_S)
MILLISECONDS: Final = NumberRange(0, 1000 * WEEK_S)


def simulation_options(command: F) -> F:
    """Add the options that say what is simulated."""
    options: list[tuple[str, dict[str, Any]]] = [
        ("--peers", {"type": click.IntRange(2, 5000), "help": "How many people.  [default: 5]"}),
        (
            "--messages",
            {
                "default": 60,
                "type": click.IntRange(1, 100_000),
                "help": "Number of lines written, by all together.",
            },
        ),
        ("--loss", {"default": 10.0, "type": PERCENT, "help": "% of frames, for each receiver."}),
        ("--delay", {"default": 25.0, "type": MILLISECONDS, "help": "Milliseconds, one way."}),
        (
            "--jitter",
            {
                "default": 20.0,
                "type": MILLISECONDS,
                "help": "Random variation of the delay, in milliseconds.",
            },
        ),
        ("--duplicate", {"default": 5.0, "type": PERCENT, "help": "% of frames that come twice."}),
        (
            "--reorder",
            {"default": 5.0, "type": PERCENT, "help": "% of frames that come 2 s late, overtaken."},
        ),
        (
            "--partition",
            {
                "default": 5.0,
                "type": SECONDS,
                "help": "Seconds that one half cannot reach the other; 0 for none.",
            },
        ),
        (
            "--crash",
            {
                "default": 1,
                "type": click.IntRange(0, 1000),
                "help": "How often a node crashes; it restarts 3 s later.",
            },
        ),
        (
            "--hostile",
            {
                "default": 0,
                "type": click.IntRange(0, HOSTILE_MAX),
                "cls": ActsOption,
                "help": "Number of hostile participants. They do all of this: (acts).",
            },
        ),
        (
            "--duration",
            {
                "default": 600.0,
                "type": NumberRange(1, WEEK_S),
                "help": "Seconds after the last line and trouble in which all must have converged.",
            },
        ),
        (
            "--every",
            {"default": 500.0, "type": MILLISECONDS, "help": "Milliseconds between lines."},
        ),
        ("--seed", {"default": 7, "type": int, "help": "Seed of the first run."}),
        ("--seeds", {"default": 5, "type": click.IntRange(1), "help": "How many runs."}),
        (
            "--profile",
            {"default": "lan", "type": click.Choice(["lan", "waku"]), "help": "SDS parameters."},
        ),
        (
            "--reconcile/--no-reconcile",
            {
                "default": None,
                "help": "Let peers also compare what they hold (Waku Sync).  "
                "[default: no-reconcile]",
            },
        ),
    ]
    command = click.option(
        "--json", "json_lines", is_flag=True, help="Print one JSON object per run."
    )(command)
    command = click.option(
        "--export",
        type=LocalDirectory(),
        help="Write everybody's history and protocol log to this new directory, as Parquet.",
    )(command)
    command = click.option(
        "--layout",
        type=click.Choice(["one", "nodes"]),
        help="With --export: one export of all nodes, or one each, as nodes write them.  "
        "[default: one]",
    )(command)
    command = click.option(
        "--mesh/--broadcast",
        default=None,
        help="Links between every two, or one broadcast to all.  [default: links up to 24 peers]",
    )(command)
    command = click.option(
        "--rooms",
        type=RoomsType(),
        default=(),
        metavar="N,N...",
        help="Rooms of so many people each, with one link from each to the next, instead of "
        "--peers; they reconcile.",
    )(command)
    command = click.option(
        "--line",
        is_flag=True,
        help="Each reaches the one before and the one behind alone; they reconcile.",
    )(command)
    command = click.option(
        "--protocol",
        type=click.Choice(PROTOCOL_NAMES),
        help="Compare by this one, or as the handshakes pick (rule); they reconcile.",
    )(command)
    for name, how in reversed(options):
        command = click.option(name, show_default=True, **how)(command)
    return command
