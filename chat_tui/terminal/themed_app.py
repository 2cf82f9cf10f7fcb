"""Appearance of our screens: the chosen theme and keys, or the terminal's own colours."""

import os
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from rich.console import RenderableType
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.screen import Screen

from chat_tui.keys.table import Chosen
from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import ANIMATIONS, LOW_BANDWIDTH, MOTION, THEME
from chat_tui.terminal import key_bindings
from chat_tui.terminal.ascii_filter import AsciiSigns
from chat_tui.terminal.driver import Terminal
from chat_tui.terminal.front_to_back import FrontScreen
from chat_tui.terminal.key_order import InOrder
from chat_tui.terminal.themes import legible_theme
from chat_tui.wording.glyphs import ASCII, Glyphs

ReturnType = TypeVar("ReturnType")


class Dressed(InOrder[ReturnType], Generic[ReturnType]):
    """An application with our themes, which moves nothing unless it is asked to.

    `NO_COLOR` and `low_bandwidth` take the terminal's own colours; Textual then drops even those
    for the former.
    """

    def __init__(self, settings: Preferences) -> None:
        self._without_colour = bool(os.environ.get("NO_COLOR"))  # Textual takes it out
        # Only so does Textual leave the colours out, and not make greys of them.
        super().__init__(ansi_color=True if self._without_colour else None)
        self._signs = AsciiSigns(enabled=False)
        self.dress(settings)

    def get_default_screen(self) -> Screen[None]:
        """Return the screen behind all others, which renders only what is seen."""
        return FrontScreen(id="_default")

    def dress(self, settings: Preferences) -> None:
        """Take up keys, theme and motion as they are set now."""
        self.keys_chosen: Chosen = settings.keys()
        self.set_keymap(key_bindings.keymap_of(settings))
        plain = self._without_colour or settings[LOW_BANDWIDTH]
        name = "ansi" if plain else settings[THEME]
        self.register_theme(legible_theme(name))
        self.theme = name
        moving = settings[ANIMATIONS] and not settings[LOW_BANDWIDTH]
        self.in_motion: bool = settings[MOTION] and not settings[LOW_BANDWIDTH]
        """True if what happens is shown on its way, where something of ours can be."""
        self.animation_level = "full" if moving else "none"

    def draw_with(self, glyphs: Glyphs) -> None:
        """Draw in one character set: where it is ASCII, everything of ours is."""
        self._signs.enabled = glyphs is ASCII
        self.set_class(glyphs is ASCII, "-ascii")

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what every line goes through on its way to the terminal."""
        filters = super().get_line_filters()
        return [*filters, self._signs] if self._signs.enabled else filters

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Textual calls this to paint; for a terminal that is behind nothing is made."""
        if isinstance(self._driver, Terminal) and self._driver.leaves_out():
            self.post_display_hook()
        else:
            super()._display(screen, renderable)

    def refresh_css(self, animate: bool = True) -> None:  # noqa: FBT001, FBT002  # as Textual has it
        """Take up the colours of another theme; before there is a screen, nothing is parsed yet."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())


def keys_of(node: DOMNode) -> Chosen:
    """Return the keys there are where `node` is shown, by the ids of `chat_tui.keys.table`."""
    app = node.app
    assert isinstance(app, Dressed)
    return app.keys_chosen
