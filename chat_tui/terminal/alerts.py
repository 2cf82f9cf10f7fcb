"""Alerts on a real screen: asks the rules, and tells the terminal."""

from collections.abc import Callable

from chat_tui.client.chat import Chat
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import ALERTS, BELL, DESKTOP, QUIET_HOURS, TITLE
from chat_tui.terminal.alert_rules import Alerts, Rules, desktop_notice, set_title, title_of
from chat_tui.text.times import minute_of_day
from chat_tui.wording import sentences
from sync.machine import ChannelId
from sync.view.view import Event, MessageShown


class Announcer:
    """Hears of every event; `write` sends a sequence to the terminal.

    `looked_at` is the channel that is open in a window that has the keyboard, None if none is.
    """

    def __init__(
        self,
        chat: Chat,
        write: Callable[[str], None],
        looked_at: Callable[[], ChannelId | None],
    ) -> None:
        self._chat, self._write, self._looked_at = chat, write, looked_at
        self._alerts = Alerts()
        self._title = ""

    def note_event(self, event: Event) -> None:
        """Raise what an event deserves."""
        if not isinstance(event, MessageShown) or event.line.own:
            return
        line = event.line
        if line.channel == self._looked_at():
            return
        self._alerts.count(line)
        rules = rules_of(self._chat.settings)
        snapshot = self._chat.snapshot()
        raised = self._alerts.ring(
            line,
            author=sentences.called(snapshot, line.author, line.nick),
            nick=snapshot.nick,
            rules=rules,
            now=snapshot.now,
            minute=minute_of_day(snapshot.now),
        )
        if raised.bell:
            self._write("\x07")
        if raised.notice:
            self._write(desktop_notice(rules.desktop, raised.notice))

    def look(self) -> None:
        """Bring the title up to date with what the person looks at now."""
        self._alerts.look(self._looked_at())
        wanted = title_of(self._alerts.unseen) if self._chat.settings[TITLE] else ""
        if wanted != self._title:
            self._title = wanted
            self._write(set_title(wanted or title_of(0)))


def rules_of(settings: Preferences) -> Rules:
    """Return what the settings say of alerts."""
    return Rules(
        settings[ALERTS], settings[BELL], settings[DESKTOP], settings[TITLE], settings[QUIET_HOURS]
    )
