"""Colours of authors in a conversation: those that they chose, else those of their places."""

from collections.abc import Mapping
from typing import Final

from rich.style import Style

from chat_tui.model.author_places import AuthorPlaces
from chat_tui.terminal.themes import author_style, text_style
from chat_tui.transcript.row_layout import AUTHOR
from sync.machine import PeerId
from sync.view.view import ChannelInfo

NOBODYS: Final[Mapping[PeerId, str]] = {}


def chosen_in(info: ChannelInfo | None) -> Mapping[PeerId, str]:
    """Return the names of the colours that people chose in a channel."""
    if info is None:
        return NOBODYS
    return {one.peer: one.colour for one in info.state.profiles if one.colour}


def style_of(name: str, theme: str, chosen: Mapping[PeerId, str], places: AuthorPlaces) -> Style:
    """Return the style of an author's name, by its name in a layout."""
    author = PeerId(name.removeprefix(AUTHOR))
    return author_style(author, theme, chosen.get(author, ""), places.place_of(author))


def colour_of(places: AuthorPlaces, theme: str, info: ChannelInfo | None, author: PeerId) -> str:
    """Return the colour of an author in a channel, by its name in Textual's styles."""
    chosen = chosen_in(info).get(author, "")
    return text_style(author_style(author, theme, chosen, places.place_of(author)))
