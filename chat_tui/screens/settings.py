"""The settings on a screen: change one, and see at once what it does."""

from typing import Any, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from chat_tui.client.chat import Chat
from chat_tui.commands.settings import change, reset
from chat_tui.keys.places import Place
from chat_tui.keys.table import Chosen, with_keys
from chat_tui.screens.settings_preview import preview
from chat_tui.settings.kinds import Whole
from chat_tui.settings.preferences import Preferences, Source
from chat_tui.settings.schema import NAME, SETTINGS, Section, Setting, find
from chat_tui.terminal import character_sets, key_bindings
from chat_tui.terminal.front_to_back import FrontModal
from chat_tui.terminal.key_bindings import bindings_of, heard_as
from chat_tui.terminal.themed_app import keys_of
from chat_tui.text.safe_text import clean_nick, clip_cells
from chat_tui.transcript.layout_options import taste_of
from chat_tui.widgets.choices import Choices
from chat_tui.widgets.field import Field
from chat_tui.widgets.panel import Panel
from chat_tui.wording.glyphs import UNICODE, Glyphs
from chat_tui.wording.panels import DIM, TITLE
from sync.errors import LocalError

NAME_CELLS: Final = 20
VALUE_CELLS: Final = 40
VALUE_CELLS_NARROW: Final = 24
NARROW: Final = 76
"""Below so many cells a note beside a long value would begin another line."""

KEYS: Final = (
    " {settings_less} and {settings_more} change, Enter types, "
    "{settings_reset} resets, {close} closes "
)
KEYS_NARROW: Final = (
    " {settings_less}, {settings_more}, Enter change, {settings_reset} resets, {close} closes "
)

HEADINGS: Final = {
    Section.GENERAL: "GENERAL",
    Section.LOOK: "LOOK",
    Section.ALERTS: "ALERTS",
    Section.KEYS: "KEYS",
    Section.NETWORK: "NETWORK",
    Section.PRIVACY: "PRIVACY",
}


class SettingsScreen(FrontModal[None]):
    """All settings of `chat` in a list, with a sample of the look below; `usual` as in ChatApp."""

    OPENED_BY: ClassVar = "settings"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(Place.SETTINGS),
        *heard_as("back", "close", "settings", priority=True),
    ]
    DEFAULT_CSS = """
    SettingsScreen { align: center middle; }
    SettingsScreen #settings {
        width: 100%;
        max-width: 100;
        height: 100%;
        max-height: 46;
        padding: 0 1;
        border-top: solid $accent;
        border-bottom: solid $accent;
        background: $surface;
    }
    SettingsScreen OptionList {
        height: 1fr;
        border: none;
        padding: 0;
        background: $surface;
        scrollbar-size-vertical: 1;
        scrollbar-background: $surface;
        scrollbar-color: $foreground 20%;
    }
    SettingsScreen OptionList:focus { border: none; background-tint: $foreground 0%; }
    SettingsScreen OptionList > .option-list--option-highlighted {
        color: $block-cursor-foreground;
        background: $block-cursor-background;
        text-style: bold;
    }
    SettingsScreen OptionList:nocolor > .option-list--option-highlighted {
        text-style: bold underline;
    }
    SettingsScreen Transcript { height: 5; background: $background; }
    SettingsScreen #about { height: auto; min-height: 4; margin-top: 1; }
    SettingsScreen Input { display: none; background: $surface; }
    SettingsScreen.-typing Input { display: block; }
    """

    def __init__(self, chat: Chat, usual: Glyphs = UNICODE) -> None:
        super().__init__()
        self._chat, self._usual = chat, usual
        self._sample = preview()
        self._wrong = ""
        self._explained: Setting[Any] | None = None
        self._drawn: dict[str, Content] = {}

    def compose(self) -> ComposeResult:
        """The list, what the highlighted one does, where a value is typed, and the sample."""
        with Vertical(id="settings") as frame:
            frame.border_title = " Settings "
            yield Choices(*self._options(), markup=False)
            yield Panel(id="about")
            yield Field(compact=True, select_on_focus=False)
            yield self._sample

    def on_mount(self) -> None:
        """Begin at the first setting."""
        self._list.focus()
        self._list.highlighted = 1
        self._name_keys()
        self._sample.change_look(*self._look())

    def on_resize(self, event: Resize) -> None:
        """Leave the sample out where the list needs its lines."""
        self._sample.display = event.size.height >= 22  # noqa: PLR2004  below, five settings show
        self._name_keys()
        self._draw_rows()

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _narrow(self) -> bool:
        return self.app.size.width < NARROW

    @property
    def _setting(self) -> Setting[Any]:
        """The highlighted one."""
        option = self._list.highlighted_option
        assert option is not None
        assert option.id is not None
        return find(option.id)

    def _look(self) -> tuple[Glyphs, Any]:
        settings = self._chat.settings
        return character_sets.glyphs_of(settings, self._usual), taste_of(settings)

    def _options(self) -> list[Option]:
        self._drawn = {setting.name: self._row(setting) for setting in SETTINGS}
        options: list[Option] = []
        for section in Section:
            options.append(Option(Content.styled(HEADINGS[section], TITLE), disabled=True))
            options += [
                Option(self._drawn[setting.name], id=setting.name)
                for setting in SETTINGS
                if setting.section is section
            ]
        return options

    def _row(self, setting: Setting[Any]) -> Content:
        settings = self._chat.settings
        cells = VALUE_CELLS_NARROW if self._narrow else VALUE_CELLS
        value = clip_cells(self._shown(setting), cells)
        source = settings.source(setting)
        note = "" if source is Source.DEFAULT else "changed"
        style = "" if source is Source.DEFAULT else "bold"
        return Content.assemble(
            f"  {setting.in_file:<{NAME_CELLS}} ", (f"{value:<{cells}}", style), note
        )

    def _shown(self, setting: Setting[Any]) -> str:
        if setting.section is Section.KEYS:
            return key_bindings.names_of_keys(self._chat.settings, setting)
        if setting is NAME:
            return clean_nick(self._chat.snapshot().nick)
        return self._chat.settings.shown(setting)

    @on(OptionList.OptionHighlighted)
    def _explain(self) -> None:
        if self._setting is not self._explained:  # and not the same one, drawn anew
            self._explained = self._setting
            self._wrong = ""
        self._say()

    def _say(self) -> None:
        about = _about(self._chat.settings, self._setting, keys_of(self))
        if self._wrong:
            about = Content.assemble((self._wrong, "bold $error"), "\n", about)
        self.query_one("#about", Panel).show(about)
        self.call_after_refresh(self._list.scroll_to_highlight)  # the list may be shorter now

    def _changed(self) -> None:
        """Show what is true now, also of settings that follow from others."""
        self._draw_rows()
        self._sample.change_look(*self._look())
        self._name_keys()
        self._say()

    def _name_keys(self) -> None:
        """Say in the frame which keys there are now."""
        self.query_one("#settings").border_subtitle = with_keys(
            KEYS_NARROW if self._narrow else KEYS, keys_of(self)
        )

    def _draw_rows(self) -> None:
        """Draw rows that differ alone: each makes the list forget all it has laid out."""
        for setting in SETTINGS:
            row = self._row(setting)
            if not row.is_same(self._drawn[setting.name]):
                self._drawn[setting.name] = row
                self._list.replace_option_prompt(setting.name, row)

    # -- keys ---------------------------------------------------------------------------------

    async def action_step(self, step: int) -> None:
        """Take the value after or before this one."""
        setting, kind = self._setting, self._setting.kind
        value = self._chat.settings[setting]
        if kind.choices:
            at = kind.choices.index(kind.shown(value)) + step
            await self._put(kind.choices[at % len(kind.choices)])
        elif isinstance(kind, Whole):
            await self._put(str(min(max(value + step, kind.low), kind.high)))

    @on(OptionList.OptionSelected)
    async def _enter(self) -> None:
        """Take the next value, or let one be typed."""
        if self._setting.kind.choices:
            await self.action_step(1)
            return
        field = self.query_one(Input)
        setting = self._setting
        nick = self._chat.snapshot().nick
        field.value = nick if setting is NAME else self._chat.settings.shown(setting)
        self.add_class("-typing")
        field.focus()
        field.cursor_position = len(field.value)

    @on(Input.Submitted)
    async def _typed(self, event: Input.Submitted) -> None:
        if await self._put(event.value):
            self._stop_typing()

    async def action_reset(self) -> None:
        """Go back to the default, or to what the person's own file says."""
        try:
            await reset(self._chat, self._setting)
            self._wrong = ""
        except LocalError as error:
            self._wrong = str(error)
        self._changed()

    def action_back(self) -> None:
        """Leave the field without a change, or the settings."""
        if self.has_class("-typing"):
            self._wrong = ""
            self._stop_typing()
            self._say()
        else:
            self.dismiss()

    def action_section(self, step: int) -> None:
        """Go to the first setting of the next or the previous part."""
        sections = list(Section)
        at = (sections.index(self._setting.section) + step) % len(sections)
        first = next(one for one in SETTINGS if one.section is sections[at])
        self._list.highlighted = self._list.get_option_index(first.name)

    async def _put(self, text: str) -> bool:
        """Set the highlighted setting; false if it cannot be that."""
        try:
            await change(self._chat, self._setting, text)
        except LocalError as error:
            self._wrong = str(error)
            self._changed()
            return False
        self._wrong = ""
        self._changed()
        return True

    def _stop_typing(self) -> None:
        self.remove_class("-typing")
        self._list.focus()


def _about(settings: Preferences, setting: Setting[Any], chosen: Chosen) -> Content:
    """Return what the setting does, and how it came to be what it is."""
    source = settings.source(setting)
    facts = [f"A change holds {setting.when.value}."]
    if setting.kind.choices:
        keys = with_keys("{settings_less} and {settings_more}", chosen)
        facts.append(f"{keys} go through {len(setting.kind.choices)}.")
    else:
        facts.append(f"Enter types {setting.kind.expected}.")
    if source is not Source.DEFAULT:
        facts.append(f"This is from {source.value}; by default it is {setting.shown_default}.")
    return Content.assemble(setting.help, "\n", (" ".join(facts), DIM))
