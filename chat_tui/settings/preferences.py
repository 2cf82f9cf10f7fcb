"""Values in force: files and command line, one over the other, and listeners for changes.

Rules:
1. From weak to strong: the default, the user's file, the profile's, a preset, the command line.
2. A change goes into the profile's file, and holds at once, whatever was said at the start.
3. Whoever asks gets a value that the setting's kind has checked.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final, Self, TypeAlias, TypeVar

from msgspec import Struct

from chat_tui.keys import table
from chat_tui.settings import toml_file
from chat_tui.settings.schema import BY_NAME, KEY_SETTINGS, PRESETS, Section, Setting, find
from sync.errors import LocalError

FILE_NAME: Final = "settings.toml"
"""Of a profile's settings, in its directory."""

T = TypeVar("T")

Listener: TypeAlias = Callable[[Setting[Any]], None]


class Source(Enum):
    """Source of a value, from weak to strong."""

    DEFAULT = "default"
    USER = "your settings for all profiles"
    PROFILE = "this profile's settings"
    PRESET = "a preset"
    COMMAND_LINE = "the command line"


class Wishes(Struct, frozen=True):
    """Settings known before the profile is: the user's file and the command line."""

    user_file: Path | None = None
    preset: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    """Names and values as typed (`--set name=value`), already checked."""


NO_WISHES: Final = Wishes()


class Preferences:
    """The settings of one run; without files they are kept in memory alone."""

    def __init__(self, profile_file: Path | None = None, wishes: Wishes = NO_WISHES) -> None:
        self.profile_file = profile_file
        self.user_file = wishes.user_file
        self.on_screen = False
        """Whether a full screen follows them."""
        self.problems: list[str] = []
        """Problems in the files, as sentences."""
        self._layers: dict[Source, dict[str, Any]] = {source: {} for source in Source}
        self._listeners: list[Listener] = []
        for source, path in ((Source.USER, wishes.user_file), (Source.PROFILE, profile_file)):
            if path is not None:
                contents = toml_file.read(path)
                self._layers[source] = contents.values
                self.problems += contents.problems
        self._layers[Source.PRESET] = dict(PRESETS.get(wishes.preset or "", {}))
        for name, value in wishes.values:
            self._layers[Source.COMMAND_LINE][name] = find(name).kind.parse(value)
        self._drop_conflicts()

    @classmethod
    def of_profile(cls, directory: Path, wishes: Wishes) -> Self:
        """Return the settings of the profile in `directory`, which need not be there yet."""
        return cls(directory / FILE_NAME, wishes)

    def __getitem__(self, setting: Setting[T]) -> T:
        source = self.source(setting)
        if source is Source.DEFAULT:
            return setting.default
        value: T = self._layers[source][setting.name]
        return value

    def source(self, setting: Setting[Any]) -> Source:
        """Return where the value of a setting comes from."""
        holding = [source for source, layer in self._layers.items() if setting.name in layer]
        return holding[-1] if holding else Source.DEFAULT

    def shown(self, setting: Setting[Any]) -> str:
        """Return the value of a setting as it would be typed."""
        return setting.kind.shown(self[setting])

    def keys(self) -> dict[str, tuple[str, ...]]:
        """Return the keys of every binding, by its id."""
        keys = dict(table.USUAL)
        for layer in filter(None, self._layers.values()):
            keys |= {id_: layer[row.name] for id_, row in KEY_SETTINGS.items() if row.name in layer}
        return keys

    def change(self, setting: Setting[T], value: T) -> None:
        """Set a value: at once, and in the profile's file.

        Raises:
            LocalError: keys that mean something else (nothing is changed), or a file that cannot
                be written (the change holds until the end of the run).
        """
        if setting.section is Section.KEYS:
            chosen = {**self.keys(), setting.in_file: value}
            problems = table.conflicts(chosen, setting.in_file)  # type: ignore[arg-type]  # T is a tuple here
            if problems:
                raise LocalError(problems[0])
        self._hold(setting)
        self._layers[Source.PROFILE][setting.name] = value
        self._tell_and_write(setting, setting.kind.written(value))

    def reset(self, setting: Setting[Any]) -> None:
        """Go back to what holds without the profile's file: the user's own, or the default.

        Raises:
            LocalError: as `change`.
        """
        self._hold(setting)
        before = self._layers[Source.PROFILE].pop(setting.name, None)
        if setting.section is Section.KEYS and (
            problems := table.conflicts(self.keys(), setting.in_file)
        ):
            if before is not None:
                self._layers[Source.PROFILE][setting.name] = before
            raise LocalError(problems[0])
        self._tell_and_write(setting, None)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every setting that changes; returns the way out."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _hold(self, setting: Setting[Any]) -> None:
        """Forget what the start said of it: the newest word of the person counts."""
        self._layers[Source.PRESET].pop(setting.name, None)
        self._layers[Source.COMMAND_LINE].pop(setting.name, None)

    def _tell_and_write(self, setting: Setting[Any], written: Any) -> None:  # noqa: ANN401
        for listener in list(self._listeners):
            listener(setting)
        if self.profile_file is not None:
            toml_file.write(self.profile_file, setting, written)

    def _drop_conflicts(self) -> None:
        """Let no key mean two things: the files' wishes for keys fall, and that is said."""
        chosen = self.keys()
        if chosen == table.USUAL:
            return  # of which no two conflict
        problems = table.conflicts(chosen)
        if problems:
            self.problems += [f"Settings: {problem}" for problem in problems]
            self.problems.append(
                "Settings: until that is corrected, all keys are the default ones."
            )
            for layer in self._layers.values():
                for setting in KEY_SETTINGS.values():
                    layer.pop(setting.name, None)


def checked_wishes(
    pairs: Sequence[str], preset: str | None = None, user_file: Path | None = None
) -> Wishes:
    """Return what `--set name=value` (each of `pairs`) and `--preset` ask for.

    Raises:
        LocalError: no such setting or preset, or a value it cannot have; says what may be.
    """
    values: list[tuple[str, str]] = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise LocalError(
                f"{pair!r} is not a setting: write --set name=value, for example theme=nord."
            )
        setting = find(name)
        setting.kind.parse(value)
        values.append((setting.name, value))
    return Wishes(user_file, preset, tuple(values))


def listing(preferences: Preferences) -> str:
    """Return every setting with its value, where that comes from, and what a change does."""
    lines: list[str] = []
    for section in Section:
        lines.append(f"[{section.value}]")
        for setting in BY_NAME.values():
            if setting.section is section:
                lines += _explained(preferences, setting)
        lines.append("")
    return "\n".join(lines).rstrip()


def _explained(preferences: Preferences, setting: Setting[Any]) -> list[str]:
    source = preferences.source(setting)
    origin = "" if source is Source.DEFAULT else f"  ({source.value})"
    return [f"{setting.in_file} = {preferences.shown(setting)}{origin}", f"    {setting.help}"]


def explanation(preferences: Preferences, setting: Setting[Any]) -> str:
    """Return one setting in sentences: its value, what it may be, and what a change does."""
    source = preferences.source(setting)
    origin = source.value if source is Source.DEFAULT else f"from {source.value}"
    default = "" if source is Source.DEFAULT else f" By default it is {setting.shown_default}."
    return (
        f"{setting.name} is {preferences.shown(setting)} ({origin}). {setting.help} "
        f"It may be {setting.kind.expected}; a change holds {setting.when.value}.{default}"
    )
