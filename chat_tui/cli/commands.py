"""Commands besides the chat itself; `chat_tui.cli.main` imports them once one of them is named.

Only what a command needs is imported, when it needs it.
"""

import json
import shutil
import sys
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from msgspec.structs import replace

from chat_tui.cli.local_directory import LocalDirectory
from chat_tui.cli.options import (
    PROGRAM,
    NumberRange,
    default_data_dir,
    network_options,
    profile_options,
    settings_of,
    settings_options,
    setup_of,
    unused_beside_an_open_chat,
    utf8,
)
from chat_tui.cli.simulation_options import simulation_options
from chat_tui.keys.table import SCENARIOS
from sync.errors import ChatError, LocalError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from chat_tui.client.setup import Setup
    from chat_tui.wording.json_events import Json

T = TypeVar("T")

SEND_WAIT: Final = 10.0
"""Seconds `send` waits for the acknowledgement: a start, a discovery and a sync message."""

WAIT_MAX_S: Final = 86_400
"""Longest wait that an open chat agrees to (`control_server`, which is not imported for that)."""

STDIN: Final = "-"
STDIN_MAX: Final = 1024 * 1024
"""Bytes that `send -` reads; a message takes far less, and says so."""

OTHERS_END_S: Final = 10.0
"""For a script that has this profile open, beyond what one is asked to wait."""
LOOK_AGAIN_S: Final = 0.2

COUNT: Final = click.IntRange(0, 1_000_000)
"""Messages of before."""

UNUSED: Final = "The open chat answers, by the options of its own start; not used: {}."
JOINED: Final = "You were not in {}, and have joined it."
SPEED: Final = NumberRange(0.25, 16)


@click.group()
def others() -> None:
    """Hold the commands; it is none itself."""


@others.command()
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one object per line.")
@click.option("--stay", is_flag=True, help="Go on after the end of input, until stopped.")
@click.option("--history", default=0, type=COUNT, metavar="N", help="Show the last N messages.")
@click.option(
    "--since",
    metavar="PLACE",
    callback=utf8,
    help="Show what was written since now, a time, or the message of an id.",
)
@profile_options
@network_options
def plain(*, as_json: bool, stay: bool, history: int, since: str | None, **options: Any) -> None:
    """Chat line by line: for screen readers and scripts."""
    from chat_tui.line_mode import line_mode
    from chat_tui.line_mode.since import parse
    from sync.net import clock

    if history and since is not None:
        raise click.UsageError("--history and --since exclude each other: --since shows all since.")
    place = None if since is None else parse(since, clock.Clock().now())
    setup = setup_of(options)
    _ran(line_mode.run(setup, as_json=as_json, stay=stay, history=history, since=place))


@others.command()
@click.argument("text", callback=utf8)
@click.option("--join", is_flag=True, help="Join the open channel that --channel names.")
@click.option(
    "--wait",
    default=SEND_WAIT,
    type=NumberRange(0, WAIT_MAX_S),
    show_default=True,
    metavar="S",
    help="Seconds to wait.",
)
@click.option("--reply-to", metavar="ID", callback=utf8, help="The message that it answers.")
@profile_options
@network_options
def send(*, text: str, wait: float, join: bool, reply_to: str | None, **options: Any) -> None:
    """Send TEXT, or with - what standard input has.

    Exit 0: somebody has it. Exit 1: it still waits, and goes out later. With --channel @bob it goes
    to bob alone.
    """
    from sync.sds.message import Delivery

    if text == STDIN:
        text = _standard_input()
    elif not text.strip():
        raise LocalError("The text is blank. Nothing was sent.")
    named = options["channel"]
    request = {"do": "send", "text": text, "wait": wait, "channel": named, "join": join}
    if reply_to is not None:  # a word of its own: an older open chat must not send it as no reply
        request |= {"do": "reply", "reply_to": reply_to}
    replies = _ran(_collected(setup_of(options), request))
    state = replies[-1].get("state") if replies else None
    if state not in [one.value for one in Delivery]:  # which may be unhashable
        raise _strange()
    click.echo(state, err=True)
    sys.exit(0 if state == "acknowledged" else 1)


@others.command()
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one object per line.")
@click.option(
    "--history",
    default=10,
    type=COUNT,
    show_default=True,
    metavar="N",
    help="Messages of before.",
)
@profile_options
@network_options
def tail(*, as_json: bool, history: int, **options: Any) -> None:
    """Follow a channel until stopped. One that you are not in is joined, and you are told."""
    from chat_tui.line_mode.standard_output import StandardOutput, written_to

    request = {"do": "tail", "history": history, "channel": options["channel"]}

    def show(reply: "Json") -> None:
        if reply["event"] == "joined":
            from chat_tui.text.safe_text import clean_text

            click.echo(JOINED.format(clean_text(str(reply.get("channel")))), err=True)
        elif as_json:
            click.echo(_as_line(reply))
        elif reply["event"] in {"message", "act"}:
            from chat_tui.text.plain_lines import tailed, tailed_act

            width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
            try:
                click.echo((tailed if reply["event"] == "message" else tailed_act)(reply, width))
            except (LookupError, TypeError, ValueError):
                raise _strange() from None

    async def follow() -> bool:
        output = StandardOutput(sys.stdout)
        async with written_to(output), aclosing(_replies(setup_of(options), request)) as replies:
            async for reply in replies:
                show(reply)
                sys.stdout.flush()
                await output.room()
                if output.error is not None:
                    break
        return output.error is None

    sys.exit(0 if _ran(follow()) else 1)


@others.command()
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@profile_options
def status(*, as_json: bool, **options: Any) -> None:
    """Say how the chat with this profile is doing."""
    setup = setup_of(options)
    if not setup.exists:
        raise LocalError(f"There is no profile {setup.profile} in {setup.data_dir} yet.")
    replies = _ran(_collected(setup, {"do": "status"}, online=False))
    if not replies:
        raise _strange()
    from chat_tui.text.plain_lines import of_channel, status_lines

    try:
        shown = of_channel(replies[0], options["channel"])
        lines = [_as_line(shown)] if as_json else status_lines(shown)
    except (LookupError, TypeError, ValueError):
        raise _strange() from None
    click.echo("\n".join(lines))


@others.command()
@click.option(
    "--json", "as_json", is_flag=True, help="Print findings as JSON, one object per line."
)
@click.option("--deep", is_flag=True, help="Also read every stored message, and repair damage.")
@profile_options
@network_options
def doctor(*, as_json: bool, deep: bool, **options: Any) -> None:
    """Test network, ports and data, and name the fix of what fails."""
    from chat_tui.client.doctor import doctor as tests

    def tell(done: int, of: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{done:,} of {of:,} messages read\x1b[K", err=True, nl=done == of)
        elif as_json:
            click.echo(json.dumps({"event": "progress", "done": done, "of": of}))

    setup = setup_of(options)
    wanted = tests.run(setup, click.echo, as_json_lines=as_json, deep=deep, tell=tell)
    sys.exit(_ran(wanted))


@others.command()
@click.option("--list", "as_list", is_flag=True, help="List all keys, and exit.")
@profile_options
@settings_options
def keys(*, as_list: bool, **options: Any) -> None:
    """Show what each key of this terminal sends and does.

    Esc twice ends it. Every key is told with what it is called.
    Keys that were changed, for this profile or for all of yours, say so.
    """
    from chat_tui.cli import key_probe
    from chat_tui.keys.listing import key_list

    current = settings_of(options)
    if as_list:
        click.echo(key_list(current.keys()))
        return

    key_probe.run(lambda text: click.echo(text, nl=False), current.keys())


@others.command()
@click.argument("setting", required=False)
@profile_options
@network_options
def settings(*, setting: str | None, **options: Any) -> None:
    """List all settings, or explain one SETTING.

    Each is listed with its value and with what a change does.
    """
    from chat_tui.settings.preferences import explanation, listing
    from chat_tui.settings.schema import find

    current = settings_of(options)
    click.echo(explanation(current, find(setting)) if setting else listing(current))
    click.echo(f"Files: {current.user_file}, then {current.profile_file}.", err=True)


@others.command()
@simulation_options
def sim(*, json_lines: bool, **options: Any) -> None:
    """Simulate people on a bad network.

    Engines are the real ones, the clock is a virtual one.
    Every run asserts the promises of the chat: one order everywhere, nothing lost that was shown
    as sent, nothing before what it depends on, honest marks, nothing forged, bounded tables.
    With --hostile they are asserted among the others. Exit 1 if one does not hold, or if
    somebody still lacks a line at the end.
    """
    from chat_tui.cli.sim import Request, simulate

    sys.exit(simulate(Request.of(options), click.echo, json_lines=json_lines))


@others.command()
@click.argument("out", type=LocalDirectory())
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="Export only messages of this day (UTC) or later, for example 2026-01-31.",
)
@click.option("--no-log", is_flag=True, help="Leave the protocol log out.")
@profile_options
def export(*, out: Path, since: "datetime | None", no_log: bool, **options: Any) -> None:
    """Write a profile's history and log to a directory.

    They are Parquet files in the directory OUT, with the protocol log.
    Into an earlier export of the profile only the days go that have changed. The chat may be
    running. Everybody who can read the files can read the messages in them.
    """
    from chat_tui.cli import export as exporting

    data_dir = options["data_dir"] or default_data_dir()
    wanted = {"channel": options["channel"], "since": since, "log": not no_log}
    exporting.export(data_dir / options["profile"], out, click.echo, **wanted)


@others.command()
@click.option(
    "--scenario",
    type=click.IntRange(1, SCENARIOS),
    help="Start with this scenario; as text, play only this one.  [default: 1; as text, all]",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Seed of the random choices.")
@click.option("--speed", type=SPEED, default=1.0, show_default=True)
@click.option(
    "--peers",
    "people",
    type=click.IntRange(16, 1_000),
    help="People of the scenario with a crowd.  [default: 256]",
)
@click.option(
    "--once",
    is_flag=True,
    help="Leave after the last scenario, or after the one chosen, instead of going on.",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the scenario played last, and what you did in it, to this file for `replay`.",
)
@click.option(
    "--cast",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Play once, and write the screen to this file as an asciicast for asciinema.",
)
@click.option(
    "--plain", "as_lines", is_flag=True, help="Print text lines; the default without a terminal."
)
@click.option(
    "--formulas", is_flag=True, help="With text lines: also print each formula with its values."
)
@settings_options
def demo(**options: Any) -> None:
    """See how it works: real engines, no network at all.

    As lines, each scenario ends with its checks. Exit 1 if one of them fails.
    """
    from chat_tui.cli.demo import Wishes
    from chat_tui.cli.demo import demo as start

    sys.exit(start(Wishes(**options)))


@others.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--speed", type=SPEED, default=1.0, show_default=True)
@click.option(
    "--plain", "as_lines", is_flag=True, help="Print text lines; the default without a terminal."
)
@click.option(
    "--formulas", is_flag=True, help="With text lines: also print each formula with its values."
)
def replay(**options: Any) -> None:
    """Play FILE again: a demo's recording, or a trace (`--trace`). Exit 1 if it differs."""
    from chat_tui.cli.demo import replay as start

    sys.exit(start(**options))


@others.command("import")
@click.argument("source", metavar="DIR", type=LocalDirectory(exists=True))
@profile_options
def import_(*, source: Path, **options: Any) -> None:
    """Take the messages of an export into a profile.

    DIR is an export, or what diff or consolidate made.
    Each is checked like one that a peer sends; what is here already is not taken twice. Only
    channels that you are in are imported, with --channel only that one. Exit 1: some were refused,
    or files of the export are lacking. Exit 2: it cannot be done so.
    """
    try:
        from chat_tui.cli import import_archive
    except ImportError as error:
        from storage.extras import how_to_install

        raise click.UsageError(
            f"Importing needs pyarrow ({error}): {how_to_install('export')}"
        ) from error

    def tell(line: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{line}", err=True, nl=False)

    def say(line: str) -> None:
        click.echo(line)

    try:
        status = import_archive.run(setup_of(options), source, say, tell)
    except ChatError as error:
        click.echo(f"{PROGRAM}: {error}", err=True)
        sys.exit(2)  # 1 says that some were refused
    sys.exit(status)


@others.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def pipeline(*, arguments: tuple[str, ...]) -> None:
    """Merge and audit the exports of many nodes, on Spark."""
    try:
        from storage.pipeline.command import cli as jobs
    except ImportError as error:
        from storage.extras import how_to_install

        raise click.UsageError(
            f"The pipeline is not installed ({error}): {how_to_install('pipeline')}"
        ) from error
    jobs.main(list(arguments), f"{PROGRAM} pipeline", standalone_mode=False)


def _standard_input() -> str:
    """Return the text on standard input, without the end of its last line."""
    data = sys.stdin.buffer.read(STDIN_MAX + 1)
    try:
        text = data.decode().removesuffix("\n")
    except UnicodeDecodeError:
        raise LocalError("Standard input is not UTF-8 text. Nothing was sent.") from None
    if len(data) > STDIN_MAX:
        raise LocalError(f"Standard input has over {STDIN_MAX >> 20} MB. Nothing was sent.")
    if not text.strip():
        raise LocalError("Standard input has no text. Nothing was sent.")
    return text


def _as_line(reply: "Mapping[str, Any]") -> str:
    """Return an event as a line of JSON, which is UTF-8 whatever is in it."""
    return json.dumps(reply, ensure_ascii=False).encode(errors="replace").decode()


def _strange() -> LocalError:
    from chat_tui.client.control_client import strange_answer

    return strange_answer()


def _ran(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as the chat is run: Ctrl+C ends it quietly, however early it comes."""
    from sync.net.engine.loop_watch import run_watched

    return run_watched(main)


def _say_unused() -> None:
    """Say that an open chat goes on by the options of its own start, if others were given."""
    if unused := unused_beside_an_open_chat(click.get_current_context()):
        click.echo(UNUSED.format(unused), err=True)


async def _collected(setup: "Setup", request: "Json", *, online: bool = True) -> Sequence["Json"]:
    async with aclosing(_replies(setup, request, online=online)) as replies:
        return [reply async for reply in replies]


async def _replies(
    setup: "Setup", request: "Json", *, online: bool = True
) -> AsyncGenerator["Json", None]:
    """Ask the open chat, or else open this profile for as long as the request takes.

    Where a script like this one has it open, which answers nobody, that one ends first.
    """
    import asyncio

    from chat_tui.client import control_client, control_server
    from chat_tui.client.live import Client
    from storage.profile.profile import ProfileInUseError

    now = asyncio.get_running_loop().time
    until = now() + OTHERS_END_S + float(request.get("wait", 0))
    client: Client | None = None
    while client is None:
        try:
            client = await Client.open(replace(setup, channel=None))
        except ProfileInUseError as in_use:
            asking = control_client.ask(in_use.socket, request, _say_unused)
            try:
                async with aclosing(asking) as replies:
                    async for reply in replies:
                        yield reply
            except control_client.NotReachedError:
                if now() > until:
                    raise
                await asyncio.sleep(LOOK_AGAIN_S)
            else:
                return
    for problem in [*client.settings.problems, *client.gone]:
        click.echo(problem, err=True)
    try:
        if not online:
            yield await control_server.offline_status(client)
            return
        async with client.running(), aclosing(control_server.answer(client, request)) as replies:
            async for reply in replies:
                yield reply
    finally:
        await client.close()
