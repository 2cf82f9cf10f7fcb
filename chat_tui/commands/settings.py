"""Commands about settings: the same on the screen and in line mode."""

from typing import Any, Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result
from chat_tui.keys.listing import key_list
from chat_tui.settings.preferences import explanation, listing
from chat_tui.settings.schema import (
    MOUSE,
    NAME,
    THEME,
    THEMES,
    TICKS,
    Section,
    Setting,
    When,
    find,
)

RESET: Final = "reset"

SEEN: Final = frozenset({Section.LOOK, Section.ALERTS, Section.KEYS})
"""Parts that line mode has no use for."""


async def change(chat: Chat, setting: Setting[Any], text: str) -> None:
    """Set a setting to what was typed; a name is told to the others too.

    Raises:
        LocalError: it cannot be that, or not be written; says what to do.
    """
    value = setting.kind.parse(text)
    if setting is NAME and value is not None:
        await chat.rename(value)
    else:
        chat.settings.change(setting, value)


async def reset(chat: Chat, setting: Setting[Any]) -> None:
    """Take back what was chosen for this profile.

    Raises:
        LocalError: as `change`.
    """
    chat.settings.reset(setting)


async def set_setting(chat: Chat, rest: str, _at: At) -> Result:
    """List the settings, explain one, or change it."""
    if not rest:
        return Result(text=listing(chat.settings), action="settings")
    name, _, text = rest.partition(" ")
    setting = find(name)
    text = text.strip().removeprefix("= ")
    if not text:
        return Result(text=explanation(chat.settings, setting))
    if text.casefold() == RESET:
        await reset(chat, setting)
    else:
        await change(chat, setting, text)
    return Result(text=_done(chat, setting))


def _done(chat: Chat, setting: Setting[Any]) -> str:
    """Return what is true now, and where and when it shows."""
    said = f"{setting.name} is {chat.settings.shown(setting)} now."
    if setting.when is When.START:
        return f"{said} It takes effect at the next start."
    if setting.section in SEEN and not chat.settings.on_screen:
        return f"{said} It has no effect in line mode, only on the full screen."
    return said


async def theme(chat: Chat, rest: str, _at: At) -> Result:
    """Say which themes there are, or take one."""
    if not rest:
        return Result(
            text=f"The theme is {chat.settings.shown(THEME)}. There are {', '.join(THEMES)}."
        )
    if rest.casefold() == RESET:
        await reset(chat, THEME)
    else:
        await change(chat, THEME, rest)
    return Result(text=_done(chat, THEME))


async def ticks(chat: Chat, rest: str, _at: At) -> Result:
    """Say or choose of which messages it is shown that they were received."""
    if not rest:
        return Result(text=explanation(chat.settings, TICKS))
    await change(chat, TICKS, rest)
    return Result(text=_done(chat, TICKS))


async def mouse(chat: Chat, rest: str, _at: At) -> Result:
    """Turn the mouse on or off; without a word, the other way round."""
    await change(chat, MOUSE, rest or ("off" if chat.settings[MOUSE] else "on"))
    said = _done(chat, MOUSE)
    if not chat.settings[MOUSE] and chat.settings.on_screen:
        said += " Now the terminal selects and copies text; /mouse takes it back."
    return Result(text=said)


async def keys(chat: Chat, _rest: str, _at: At) -> Result:
    """List what every key does."""
    return Result(text=key_list(chat.settings.keys()))


ROWS: Final = (
    Command(
        ("/set", "/settings"),
        "[name] [value]",
        "show or change settings",
        set_setting,
    ),
    Command(("/theme",), "[name or reset]", "the colours", theme),
    Command(("/ticks",), "[which]", "received marks: always, recent or never", ticks),
    Command((
        "/mouse",), "[on or off]", "mouse in the chat, "
        "or left to the terminal"
    , mouse),
    Command(("/keys",), "", "list all keys, and how to change them", keys),
)  # fmt: skip
