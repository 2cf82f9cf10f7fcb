"""Settings in a TOML file: what a person wrote there stays, comments, order and all.

Rules:
1. Only what was changed is written; a default never is.
2. A file that cannot be read is never written: what is wrong in it may be dear to somebody.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from chat_tui.settings.kinds import TomlValue
from chat_tui.settings.schema import BY_NAME, Section, Setting, nearest
from sync.errors import LocalError

WHERE: Final = r" \(at (?:line (\d+), column \d+|end of document)\)$"


class Contents(Struct):
    """Contents of a file: values by the names of settings, and sentences about what is wrong."""

    values: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    readable: bool = True


def read(path: Path) -> Contents:
    """Read `path`; what is not there says nothing, what is wrong is said and passed over."""
    try:
        written = path.read_bytes()
    except FileNotFoundError:
        return Contents()
    except OSError as error:
        sentence = (
            f"The settings in {path} cannot be read ({error.strerror}); the defaults are used."
        )
        return Contents(problems=[sentence], readable=False)
    import tomllib  # noqa: PLC0415  # most people have no such file

    text = ""
    try:
        text = written.decode()
        tables = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        return Contents(problems=[_unreadable(path, line, "it is not UTF-8 text")], readable=False)
    except RecursionError:
        what = "something in it is nested too deeply"
        return Contents(problems=[_unreadable(path, _deepest(text), what)], readable=False)
    except tomllib.TOMLDecodeError as error:
        where = re.search(WHERE, str(error))
        line = int(where[1]) if where and where[1] else 1 + text.count("\n")
        what = re.sub(WHERE, "", str(error))
        return Contents(
            problems=[_unreadable(path, line, what[:1].lower() + what[1:])], readable=False
        )
    return _checked(path, tables)


def _deepest(text: str) -> int:
    """Return the line that opens most brackets."""
    lines = text.split("\n")
    return 1 + max(range(len(lines)), key=lambda at: sum(map(lines[at].count, "[{")))


def _unreadable(path: Path, line: int, what: str) -> str:
    return (
        f'Settings: {path}, line {line}: {what}. Correct that line, as in theme = "nord"; '
        "until then nothing in that file counts, and nothing is written to it."
    )


def _checked(path: Path, tables: dict[str, Any]) -> Contents:
    contents = Contents()
    for name, value in _entries(tables):
        setting = BY_NAME.get(name)
        if setting is None:
            unknown = (
                f"Settings: there is no {name} ({path}). {nearest(name)} It stays in the file."
            )
            contents.problems.append(unknown)
            continue
        try:
            contents.values[name] = setting.kind.read(value)
        except LocalError as error:
            contents.problems.append(
                f"Settings: {name} in {path}: {error} "
                f"Until it is corrected, {setting.shown_default} holds."
            )
    return contents


def _entries(tables: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what the file holds by the names of settings; a section's name goes before others."""
    for title, table in tables.items():
        if not isinstance(table, dict):
            yield title, table
            continue
        for key, value in table.items():
            setting = BY_NAME.get(f"{title}.{key}") or BY_NAME.get(key)
            known = setting is not None and setting.section.value == title
            yield (setting.name if setting is not None and known else f"{title}.{key}"), value


def write(path: Path, setting: Setting[Any], value: TomlValue | None) -> None:
    """Put one value into the file, or take it out (None); all else stays as it is.

    Raises:
        LocalError: the file cannot be read or written; says what to do.
    """
    # It takes 30 ms to import, which a start need not wait for.
    import tomlkit  # noqa: PLC0415
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        text = path.read_text("utf-8") if path.exists() else ""
        document = tomlkit.parse(text)
    except (OSError, ValueError, TOMLKitError, RecursionError) as error:
        raise _not_written(path) from error
    if document.get(setting.name) is not None and setting.section is not Section.KEYS:
        table: Any = document  # somebody wrote it without a section
    else:
        table = document.get(setting.section.value)
    if table is None:
        if value is None:
            return
        table = tomlkit.table()
        document[setting.section.value] = table
    if not isinstance(table, dict):  # somebody made a value of the section
        raise _not_written(path)
    if value is None:
        table.pop(setting.in_file, None)
    else:
        table[setting.in_file] = value
    _replace(path, tomlkit.dumps(document))


def _not_written(path: Path) -> LocalError:
    return LocalError(
        f"{path} cannot be read, so nothing was written to it: correct it, or move it away. The "
        "change holds until the chat closes."
    )


def _replace(path: Path, text: str) -> None:
    """Put `text` at `path`, all of it or nothing, readable by its owner alone."""
    unfinished = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        unfinished.replace(path)
    except OSError as error:
        raise LocalError(
            f"{path} cannot be written ({error.strerror}): the change holds until the chat closes."
        ) from error
