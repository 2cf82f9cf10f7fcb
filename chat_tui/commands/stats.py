"""The command that shows the last report of the data pipeline, without starting any of it."""

import asyncio
from pathlib import Path
from typing import Final

from chat_tui.client.chat import Chat
from chat_tui.commands.command import At, Command, Result
from chat_tui.text.safe_text import clean_text
from storage.report import PAGE, Report, read_report


async def stats(_chat: Chat, rest: str, _at: At) -> Result:
    """Show the last report, or that of the results which are named."""
    path, report = await asyncio.to_thread(_read, rest)
    return Result(text=as_text(path, report))


def _read(named: str) -> tuple[Path, Report]:
    return read_report(Path(named).expanduser() if named else None)


def as_text(path: Path, report: Report) -> str:
    """Return a report as lines, section by section."""
    lines = [report.verdict]
    for section in report.sections:
        lines += ["", section.title]
        width = max((len(label) for label, _ in section.rows), default=0)
        lines += [f"  {label:<{width}}  {value}" for label, value in section.rows]
        if section.note:
            lines.append(f"  {section.note}")
    lines += ["", f"With pictures: {path.with_name(PAGE)}"]
    return "\n".join(clean_text(line) for line in lines)


ROWS: Final = (Command(("/stats",), "[DIR]", "the last report of the data pipeline", stats),)
