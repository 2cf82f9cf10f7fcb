"""Screens over the chat, closed with Esc: help, people, members, doctor, settings, lists, the demo.

Each screen is imported when it is opened, so that a start paints sooner.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from chat_tui.client.chat import Chat
from chat_tui.terminal import character_sets
from chat_tui.terminal.themed_app import Dressed
from chat_tui.text.safe_text import wrap
from chat_tui.widgets.messages import ChannelChosen
from chat_tui.wording import sentences
from chat_tui.wording.glyphs import ASCII, Glyphs
from chat_tui.wording.panels import BAD, BUSY, DIM, GOOD, Unseen
from sync.errors import LocalError
from sync.machine import ChannelId, PeerId
from sync.view.governance_infos import Role
from sync.view.view import ChannelInfo

if TYPE_CHECKING:
    from chat_tui.client.doctor.findings import Finding

TESTING = "Testing; the announcement takes some seconds ..."
READING = "{done:,} of {of:,} messages are read; closing this ends it."
NOTHING_READ = "No message is being read: closing the screen of /doctor deep ends that."
TEXT_COLUMNS = 100
"""The widest a text over the chat gets; the same in `app.tcss`."""
FRAME_CELLS = len("  ") + 1
"""Of such a text: padding, and a scroll bar."""
LEVEL_CELLS = len("FAIL  ")
STYLES = {"ok": GOOD, "warn": BUSY, "FAIL": f"bold {BAD}", "not tested": DIM}


class Overlays(Dressed[None]):
    """An application that can open these screens, about a chat and the channel in sight.

    Args:
        chat: whom the screens ask, and what is done on them.
        channel: the one in sight; None where there is none.
        glyphs: the character set, unless a setting says otherwise.
    """

    _unseen: Unseen
    """Counts what nobody has seen; set by the application."""

    def __init__(self, chat: Chat, channel: ChannelId | None, glyphs: Glyphs) -> None:
        super().__init__(chat.settings)
        self._chat, self._channel = chat, channel
        self._usual_glyphs = glyphs
        self._glyphs = character_sets.glyphs_of(chat.settings, glyphs)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: the key that opened a screen closes it.

        Keys with priority over those of screens are checked here first.
        """
        if action == getattr(self.screen, "OPENED_BY", ""):
            return False
        return super().check_action(action, parameters)

    def _show_text(self, title: str, text: Callable[[], Content]) -> None:
        from chat_tui.widgets.text_screen import TextScreen

        self.push_screen(TextScreen(title, text))

    def action_peers(self, peer: str = "") -> None:
        """Show who is here and who was, with what can be done about each; the cursor on `peer`."""
        from chat_tui.screens.peers import PeersScreen

        def opened(channel: ChannelId | None) -> None:
            if channel is not None:
                self.post_message(ChannelChosen(channel))

        chosen = PeerId(peer) if peer else None
        self.push_screen(PeersScreen(self._chat, self._channel, self._glyphs, chosen), opened)

    def action_verify(self, peer: str) -> None:
        """Compare words with somebody."""
        from chat_tui.screens.peers import VerifyScreen

        for one in self._chat.snapshot().peers:
            if one.peer == peer:
                self.push_screen(VerifyScreen(self._chat, one, self._glyphs))

    def action_invite(self, channel: str) -> None:
        """Show the code of a channel, to read and to scan."""
        info = sentences.find(self._chat.snapshot(), ChannelId(channel))
        if info is not None:
            self._show_code(info, self._chat.memberships.invite(info.channel), None)

    def action_show_code(self, channel: str, code: str, role: int) -> None:
        """Show a code by which somebody gets a role in a channel."""
        info = sentences.find(self._chat.snapshot(), ChannelId(channel))
        if info is not None:
            self._show_code(info, code, Role(role))

    def _show_code(self, info: ChannelInfo, code: str, role: Role | None) -> None:
        from chat_tui.commands.inviting import invitation
        from chat_tui.screens.peers import code_screen
        from chat_tui.text.qr import ascii_blocks, half_blocks

        draw = ascii_blocks if self._glyphs is ASCII else half_blocks
        title = sentences.channel_title(info)
        sentence = invitation(title, role)
        self.push_screen(code_screen(f"Invite to {title}", sentence, f"/join {code}", draw(code)))

    def action_members(self, channel: str) -> None:
        """Show who is in a channel, with what can be done about each."""
        from chat_tui.screens.members import MembersScreen

        def begun(command: str | None) -> None:
            if command:
                self.call_next(self.run_action, f"begin({command!r})")

        screen = MembersScreen(self._chat, ChannelId(channel), self._glyphs)
        self.push_screen(screen, begun)

    def action_doctor(self, how: str = "") -> None:
        """Test what the chat needs, and show what is found as it is found.

        `how`: "deep" reads every stored message too, until the screen is closed; "stop" is for
        line mode, where nothing is closed.
        """
        from chat_tui.client.doctor.examining import Examination
        from chat_tui.widgets.text_screen import TextScreen

        if how == "stop":
            self._show_text("Doctor", lambda: Content(NOTHING_READ))
            return

        findings: list[Finding] = []
        state = TESTING

        def told(done: int, of: int) -> None:
            nonlocal state
            state = READING.format(done=done, of=of)

        async def examine() -> None:
            nonlocal state
            try:
                state = await examination.run()
            except LocalError as error:
                state = str(error)

        examination = Examination(self._chat, findings.append, told, deep=how == "deep")
        screen = TextScreen("Doctor", lambda: doctor_content(findings, state, self.size.width))
        self.push_screen(screen, lambda _: examination.stop())
        self.run_worker(examine(), group="doctor", exclusive=True)

    def action_help(self) -> None:
        """Show keys, commands and marks."""
        self._show_text("Help", self._help)

    def _help(self) -> Content:
        from chat_tui.screens.help import full_help

        width = min(self.size.width, TEXT_COLUMNS) - FRAME_CELLS
        return full_help(self._glyphs, self._chat.settings.keys(), width)

    def action_demo(self, number: int = 1) -> None:
        """Play a scenario of the demo over the chat, which goes on below."""
        from chat_tui.demo.screen import scenario_screen

        self.push_screen(scenario_screen(number, self._glyphs))

    def action_settings(self) -> None:
        """Show what can be set, and change it."""
        from chat_tui.screens.settings import SettingsScreen

        self.push_screen(SettingsScreen(self._chat, self._usual_glyphs))

    def action_palette(self) -> None:
        """Look for a command, a channel or a key by a part of its name."""
        from chat_tui.screens.palette import Palette, channel_entries, command_entries

        entries = command_entries(self._chat.settings.keys())
        entries += channel_entries(self._chat.snapshot(), self._unseen)
        self.push_screen(Palette(entries, "Commands, keys and channels"), self._act)

    def action_switch_channel(self) -> None:
        """Look for a channel by a part of its name."""
        from chat_tui.screens.palette import Palette, channel_entries

        entries = channel_entries(self._chat.snapshot(), self._unseen)
        self.push_screen(Palette(entries, "Channels"), self._act)

    async def _act(self, action: str | None) -> None:
        if action is not None:
            await self.run_action(action)


def doctor_content(findings: "Sequence[Finding]", state: str, columns: int) -> Content:
    """Return what the doctor has found so far, and whether that is all, for a screen so wide."""
    lines: list[Content] = []
    width = min(columns, TEXT_COLUMNS) - FRAME_CELLS - LEVEL_CELLS
    for finding in findings:
        level = Content.styled(f"{f'{finding.level}  ':<{LEVEL_CELLS}}", STYLES[finding.level])
        below = Content(" " * LEVEL_CELLS)
        found, *more = wrap(f"{finding.what}: {finding.found}", width + LEVEL_CELLS - len(level))
        lines += [level + found, *(below + line for line in more)]
        if finding.fix:
            lines += [below + Content.styled(line, "bold") for line in wrap(finding.fix, width)]
    return Content("\n").join([*lines, Content.styled(state, DIM)])
