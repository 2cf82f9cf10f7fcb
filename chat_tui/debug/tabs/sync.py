"""The Sync tab of the debug pane: a card for each session, and pulls of governance."""

from chat_tui.debug import state_sections
from chat_tui.debug.group_sections import catch_ups
from chat_tui.debug.styled_lines import PaneLine
from chat_tui.debug.sync_cards import session_cards
from chat_tui.debug.tabs.page import Keyless, Shown


class SyncPage(Keyless):
    """A card for each reconciliation, and who is here to reconcile with."""

    def lines(self, shown: Shown, width: int) -> list[PaneLine]:
        """Return the lines of this page."""
        cards = [] if shown.info is None else session_cards(shown.snapshot, shown.info)
        if shown.info is not None and shown.info.governance is not None:
            cards.append(catch_ups(shown.snapshot, shown.info.governance))
        return shown.drawn([*cards, state_sections.peers(shown.snapshot)], width)
