"""The options that commands share: whose chat it is and how to be on the network; what they mean.

Only what reading them needs is imported: a start shows its screen first.
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import platformdirs
from click.core import ParameterSource

from chat_tui.cli.local_directory import LocalDirectory
from sync.errors import ChatError

if TYPE_CHECKING:
    from chat_tui.client.setup import Setup
    from chat_tui.settings.preferences import Preferences

PROGRAM: Final = "chat-tui"

F = TypeVar("F", bound=Callable[..., Any])

OF_A_START: Final = frozenset(
    {"name", "clock", "history_days", "interface", "port", "connect", "no_discovery", "trace"}
    | {"preset", "pairs"}
)
"""Parameters of `network_options`: an open chat goes on by those of its own start."""


class NumberRange(click.FloatRange):
    """A range of numbers, of which `nan` is none: click compares, and finds it in every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fails with a sentence where it is none, or has no end."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number that can be used here.", param, ctx)
        return number


def addresses(
    ctx: click.Context, param: click.Parameter, value: Sequence[str]
) -> tuple[tuple[str, int], ...]:
    """Read the HOST:PORT of each `--connect`."""
    from chat_tui.text.addresses import parse_address

    try:
        return tuple(parse_address(text) for text in value)
    except ChatError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def utf8(_ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse words that are no text: bytes that are no UTF-8 come as halves of characters."""
    words = value if isinstance(value, tuple) else (value,)
    for word in words:
        try:
            str(word).encode()
        except UnicodeEncodeError:
            raise click.BadParameter("it is not UTF-8 text.", param=param) from None
    return value


def channel_name(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse what is no name of a channel, or of somebody: `#` alone."""
    if value is not None and not value.strip().lstrip("#@"):
        raise click.BadParameter("a channel has a name, such as #tea.", ctx, param)
    return utf8(ctx, param, value)


def profile_name(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Refuse what cannot name a profile: it becomes part of a path."""
    from storage.profile.profile import checked_name

    try:
        return checked_name(value)
    except ChatError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def profile_options(command: F) -> F:
    """Add the options that say whose chat it is."""
    for option in (
        click.option(
            "--channel",
            metavar="NAME",
            callback=channel_name,
            help="Channel, written #name; of two, @name.",
        ),
        click.option(
            "--data-dir",
            type=LocalDirectory(),
            help="Directory of the profiles.",
        ),
        click.option(
            "--profile",
            default="default",
            show_default=True,
            callback=profile_name,
            help="Name of the profile.",
        ),
    ):
        command = option(command)
    return command


def network_options(command: F) -> F:
    """Add the options that say how to be on the network."""
    for option in (
        click.option(
            "--trace",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Record every step of the engine in this file, as JSON lines.",
        ),
        click.option(
            "--no-discovery",
            is_flag=True,
            help="Do not announce this peer or look for others (mDNS off).",
        ),
        click.option(
            "--connect",
            metavar="HOST:PORT",
            multiple=True,
            callback=addresses,
            help="Also connect to this address. May be repeated.",
        ),
        click.option(
            "--port",
            type=click.IntRange(1, 65_535),
            help="Listen here, or at the next free port.  [default: 46021, then what was used]",
        ),
        click.option(
            "--interface", metavar="ADDRESS", help="Use only the interface with this address."
        ),
        click.option(
            "--history-days",
            type=click.IntRange(min=1),
            metavar="N",
            help="Fetch only messages up to N days old.  [default: everything]",
        ),
        click.option(
            "--clock",
            type=click.Choice(["ask", "follow", "stay"]),
            help="If the others' clocks agree and this one differs: ask, follow them, or stay.",
        ),
        click.option(
            "--name", "--nick", metavar="NICK", callback=utf8, help="Your name, as others see it."
        ),
    ):
        command = option(command)
    return settings_options(command)


def settings_options(command: F) -> F:
    """Add the options that change settings for one run."""
    for option in (
        click.option(
            "--set",
            "pairs",
            metavar="NAME=VALUE",
            multiple=True,
            callback=utf8,
            help="Change a setting for this run; `chat-tui settings` lists them. May be repeated.",
        ),
        click.option(
            "--preset",
            type=click.Choice(["ssh"]),
            help="A group of settings: ssh suits slow connections.",
        ),
    ):
        command = option(command)
    return command


def unused_beside_an_open_chat(context: click.Context) -> str:
    """Return the options that were given and are of a start; empty if none was."""
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in OF_A_START
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    return ", ".join(given)


def setup_of(options: dict[str, Any]) -> "Setup":
    """Return what the common options say."""
    from chat_tui.client.setup import Setup
    from chat_tui.settings import schema
    from chat_tui.settings.preferences import Preferences, checked_wishes
    from chat_tui.text.addresses import parse_address
    from sync.machine import DAY
    from sync.net.options import Options

    data_dir = options.get("data_dir") or default_data_dir()
    pairs = [*options.get("pairs", ()), *_as_pairs(options)]
    wishes = checked_wishes(pairs, options.get("preset"), user_settings_file())
    settings = Preferences.of_profile(data_dir / options["profile"], wishes)
    days = settings[schema.HISTORY_DAYS]
    connect = [parse_address(address) for address in settings[schema.CONNECT]]
    network = Options(
        interface=settings[schema.INTERFACE],
        port=settings[schema.PORT],
        discovery=settings[schema.DISCOVERY],
        connect=(*options.get("connect", ()), *connect),
        retention=None if days is None else days * DAY,
    )
    return Setup(
        data_dir=data_dir,
        profile=options["profile"],
        nick=options.get("name"),
        channel=options.get("channel"),
        trace=options.get("trace"),
        network=network,
        wishes=wishes,
        on_slow_line=settings[schema.LOW_BANDWIDTH],
    )


def _as_pairs(options: dict[str, Any]) -> list[str]:
    """Return the options that settings have too as `--set` takes them: all lists show one truth."""
    given = {name: options.get(name) for name in ("interface", "port", "history_days", "clock")}
    pairs = [f"{name}={value}" for name, value in given.items() if value is not None]
    return [*pairs, "discovery=off"] if options.get("no_discovery") else pairs


def settings_of(options: dict[str, Any]) -> "Preferences":
    """Return the settings that the common options say; what is wrong in the files is said."""
    from chat_tui.settings.preferences import Preferences

    setup = setup_of(options)
    return _told(Preferences.of_profile(setup.directory, setup.wishes))


def own_settings(pairs: Sequence[str] = (), preset: str | None = None) -> "Preferences":
    """Return a person's settings for all profiles, for what has none; as `settings_of`."""
    from chat_tui.settings.preferences import Preferences, checked_wishes

    return _told(Preferences(None, checked_wishes(pairs, preset, user_settings_file())))


def _told(settings: "Preferences") -> "Preferences":
    for problem in settings.problems:
        click.echo(problem, err=True)
    return settings


def config_file() -> Path:
    """Return the file that remembers where data is kept, if that is not the usual place."""
    return Path(platformdirs.user_config_dir(PROGRAM)) / "config.json"


def user_settings_file() -> Path:
    """Return the file with a person's settings for all profiles."""
    return config_file().with_name("config.toml")


def default_data_dir() -> Path:
    """Return where profiles are kept unless an option says otherwise."""
    try:
        chosen = json.loads(config_file().read_text())["data_dir"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Path(platformdirs.user_data_dir(PROGRAM))
    return Path(str(chosen))
