"""Every command of the table, written into the input of the real screen, and what it shows then.

Tests beside its subject show a command in depth; here none is forgotten.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from textual.pilot import Pilot

from chat_tui.app.app import ChatApp
from chat_tui.client.live import Client
from chat_tui.commands.table import BY_NAME
from chat_tui.demo.screen import DemoScreen
from tests.support.chat_tui import scenes
from tests.support.chat_tui.chats import opened, running
from tests.support.chat_tui.demos import ready
from tests.support.chat_tui.live_screens import screen
from tests.support.chat_tui.live_screens import until as until_live
from tests.support.chat_tui.readings import command, reading, short_talk, shown
from tests.support.storage.written_reports import written_report

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True)
class Step:
    """A line, and what stands on the screen after it."""

    line: str
    shows: str

    def filled(self, **values: str) -> "Step":
        return Step(self.line.format(**values), self.shows.format(**values))

    @property
    def name(self) -> str:
        return self.line.split()[0]


TROUBLED = (
    Step("/help", "complete a /command"),
    Step("/help join", "/join #name or code: join a channel"),
    Step("/status", "15 messages, 2 others here, 1 missing, 1 lost"),
    Step("/colour", "Your colour is auto. It may be"),
    Step("/color", "Your colour is auto."),
    Step("/whoami", "Your key: 000D-A6EF"),
    Step("/who", "▸ ● bob"),
    Step("/peers", "has/needs"),
    Step("/whois bob", "8A26-E5DD-DF47-8C39, first seen"),
    Step("/verify bob", "They match: mark verified"),
    Step("/verify bob match", "bob (8A26-E5DD) is verified."),
    Step("/trust", "No key has changed; there is nothing to accept."),
    Step("/typing off", "Others do not see that you are typing."),
    Step("/now", "[0Now]"),
    Step("/buffers", "[1Buffers]"),
    Step("/missing {missing}", "Each of us waits another time before asking"),
    Step("/graph", "steps around the middle"),
    Step("/bloom", "of 1,000 ids"),
    Step("/sessions", "[4Sync]"),
    Step("/wire SYNC", "with “SYNC”"),
    Step("/trace Missing", "named ({missing})"),
    Step("/group", "nobody governs this channel"),
    Step("/explain T_req", "so that only one person asks"),
    Step("/gaps", "Written by bob"),
    Step("/gaps {missing}", "of which others speak"),
    Step("/hide", "No line of a gap is selected"),
    Step("/hide off", "Every gap has its line again."),
    Step("/clock", "keep this computer's clock right"),
    Step("/repair all", "Asking for 2 missing messages now"),
    Step("/resend {unacknowledged}", "Sent again: {unacknowledged}."),
    Step("/sync bob", "Comparing #lobby with bob."),
    Step("/set theme nord", "theme is nord now."),
    Step("/settings theme dracula", "theme is dracula now."),
    Step("/theme textual-light", "theme is textual-light now."),
    Step("/theme reset", "theme is "),
    Step("/ticks always", "ticks is always now."),
    Step("/mouse off", "Now the terminal selects and copies text"),
    Step("/keys", "keys.help"),
    Step("/net loss=20", "This network is real. In the demo (F4), w"),
    Step("/stats {out}", "With pictures: "),
    Step("/demo 3", '3/14 "A message is lost"'),
)
"""In a conversation with every kind of trouble, simulated."""

READ = (
    Step("/search projector", "projector: hit 1 of 2"),
    Step("/grep cab.e", "messages of 5 match cab.e"),
    Step("/mentions", "name alice"),
    Step("/history 3", "Earlier messages are above"),
    Step("/goto 09:11", "▸"),
    Step("/unread", "Nothing is unread here."),
    Step("/info {linked}", "Message {linked}"),
    Step("/copy {linked}", "Copied the message, "),
    Step("/quote {linked}", "│ > bob: see https://example.com/plan"),
    Step("/open {linked}", "Enter opens"),
    Step("/raw {linked}", "see https://example.com/plan"),
    Step("/fold", "folds nothing; on the screen, select a long message first."),
    Step("/bare", "bob: Alice, the projector is in room 2"),
    Step("/export md {file}", "5 messages of #lobby written to"),
    Step("/reply {linked} I will look", "I will look"),
    Step("/thread {linked}", "1 message answers"),
    Step("/replied {linked}", "That message answers no other one."),
    Step("/back", "There is nothing to come back from"),
    Step("/me waves", "* alice waves"),
    Step("/topic all about the room", "all about the room"),
    Step("/pin", "Pinned: "),
    Step("/pins", "line pinned in #lobby"),
    Step("/unpin", "Not pinned any more: "),
    Step("/edit thank you, and the long cable?", "long cable? (edited)"),
    Step("/react tada", "🎉 1 (you)"),
    Step("/react heart", "❤ 1 (you)"),
    Step("/delete", "deleted by its author"),
    Step("/clear", "The view is clear; nothing was deleted."),
)
"""In a conversation worth reading, simulated."""

LIVE = (
    Step("/connect 127.0.0.1:{port}", "1 other here"),
    Step("/nick alina", "alina"),
    Step("/create plans", "to #plans, only its 1 member can read it"),
    Step("/invite", "chat1-"),
    Step("/members", "You are the only owner, and there is no admin"),
    Step("/add bob", "bob is in #plans as member, without a code."),
    Step("/role bob reader", "bob is a reader now, and reads and reacts here."),
    Step("/policy write admins", "Write: admins alone, invite: members"),
    Step("/kick bob spam", "bob is removed and gets nothing new of #plans"),
    Step("/rotate", "#plans has a new secret"),
    Step("/create old plain", "to #old, private: only people with its invite code"),
    Step("/govern", "goes on from #old, and you are its owner."),
    Step("/channels", "#lobby"),
    Step("/channel #lobby", "to #lobby, open to everybody"),
    Step("/join #random", "to #random, open to everybody"),
    Step("/leave", "You have left #random"),
    Step("/msg bob hello", "@bob is a channel for two"),
    Step("/away lunch", "The others see that you are away: lunch"),
    Step("/away", "You are back; the others can see it."),
    Step("/forget bob", "bob is here; only who is gone can be forgotten."),
    Step("/accept", "Nobody has invited you among the last messages"),
    Step("/block bob", "bob is blocked: no connection"),
    Step("/unblock bob", "bob is no longer blocked"),
    Step("/doctor", "announcement heard back: "),
)
"""Between two people on this computer."""

QUIT = Step("/quit", "")


def test_no_command_is_without_a_step() -> None:
    assert {step.name for step in (*TROUBLED, *READ, *LIVE, QUIT)} == set(BY_NAME)


async def leave_all(app: ChatApp, pilot: Pilot[None]) -> None:
    """Close whatever a command opened, and empty the input."""
    while len(app.screen_stack) > 1:
        if isinstance(app.screen, DemoScreen):
            await ready(pilot)
        await pilot.press("escape")
    await pilot.press("escape", "escape")
    app.composer.text = ""
    app.composer.focus()


async def test_commands_where_there_is_trouble(tmp_path: Path) -> None:
    out = written_report(tmp_path)
    scene = scenes.morning()
    [channel] = scene.snapshot().channels
    missing, unacknowledged = channel.missing[0][:6], channel.outgoing[0].message_id[:6]
    with scenes.utc():
        async with reading(scene, (120, 40)) as (app, pilot):
            for step in TROUBLED:
                filled = step.filled(missing=missing, unacknowledged=unacknowledged, out=str(out))
                await command(pilot, filled.line)
                await seen(app, pilot, filled)
                await leave_all(app, pilot)


async def test_commands_about_what_was_written(tmp_path: Path) -> None:
    scene = short_talk()
    linked = scene.world.nodes[scenes.ALICE].disk.lines()[2][1][:6]
    with scenes.utc():
        async with reading(scene, (120, 40)) as (app, pilot):
            for step in READ:
                filled = step.filled(linked=linked, file=str(tmp_path / "talk.md"))
                await command(pilot, filled.line)
                await seen(app, pilot, filled)
                await leave_all(app, pilot)


async def seen(app: ChatApp, pilot: Pilot[None], step: Step) -> None:
    """Wait until a command has shown what it should."""
    try:
        await until_live(pilot, lambda: step.shows in shown(app))
    except TimeoutError:
        raise AssertionError(f"{step.line} does not show {step.shows!r}:\n{shown(app)}") from None


@pytest.mark.net
async def test_commands_about_people_and_channels(tmp_path: Path) -> None:
    async with (
        opened(tmp_path, "alice") as alice,
        running(tmp_path, "bob") as bob,
        screen(alice, (120, 40)) as (app, pilot),
    ):
        for step in LIVE:
            await command(pilot, step.line.format(port=port_of(bob)))
            await seen(app, pilot, step)
            await leave_all(app, pilot)


def port_of(client: Client) -> int:
    port = client.snapshot().port
    assert port is not None
    return port


async def test_quit_quits() -> None:
    async with reading(scenes.empty()) as (app, pilot):
        app.composer.insert(QUIT.line)
        await pilot.press("enter")
        await until_live(pilot, lambda: not app.is_running)

    assert app.return_code == 0
