"""Character sets of the screen: Unicode signs, or ASCII where those are missing."""

from collections.abc import Mapping
from typing import Final

from chat_tui.settings.preferences import Preferences
from chat_tui.settings.schema import GLYPHS
from chat_tui.wording.glyphs import ASCII, UNICODE, Glyphs

CHARACTER_SETS: Final = {"unicode": UNICODE, "ascii": ASCII}


def glyphs_of(settings: Preferences, usual: Glyphs) -> Glyphs:
    """Return the signs to draw with; `usual` are those of this terminal."""
    return CHARACTER_SETS.get(settings[GLYPHS], usual)


def usual_glyphs(environment: Mapping[str, str]) -> Glyphs:
    """Return the signs that this terminal surely has.

    Where nothing is said of the locale, everything of today is UTF-8; the fonts of a Linux console
    have 256 signs, and ours are not among them.
    """
    names = (environment.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    locale = next((name for name in names if name), "UTF-8")
    utf8 = locale.casefold().replace("-", "").partition("@")[0].endswith("utf8")
    return UNICODE if utf8 and environment.get("TERM") != "linux" else ASCII
