"""What is known of one message, in words: for its details on the screen, and for line mode."""

from chat_tui import reports
from chat_tui.marks import WORDS
from chat_tui.protocol import BY_EVIDENCE
from chat_tui.text import clean_nick, clean_text, count, day_of, size, time_of_day
from sync.identity import short_fingerprint
from sync.view import ChannelInfo, Line, Snapshot


def facts(snapshot: Snapshot, line: Line) -> list[tuple[str, str]]:
    """Return who wrote a message and when, where it stands, and who has it."""
    info = reports.find(snapshot, line.channel)
    when = f"{day_of(line.created_ns)}, {time_of_day(line.created_ns)}"
    rows = [
        ("From", f"{clean_nick(line.nick)} {short_fingerprint(line.author)}"),
        ("Written", when),
        ("Order", f"Lamport {line.lamport}"),
        ("Id", clean_text(line.message_id)),
        ("Size", f"{size(len(line.text.encode(errors='replace')))}, {_extent(line)}"),
        ("State", _state(line)),
        ("Who has it", _holders(snapshot, info, line)),
    ]
    if line.after_gap:
        rows.append(("Before it", "a message that could not be found; /repair tries again"))
    return rows


def _extent(line: Line) -> str:
    lines = len(clean_text(line.text).split("\n"))
    return f"{count(len(line.text), 'character')} in {count(lines, 'line')}"


def _state(line: Line) -> str:
    if line.loading:
        return "here, and waiting for older messages that are on their way"
    return "delivered" if line.delivery is None else WORDS[line.delivery]


def _holders(snapshot: Snapshot, info: ChannelInfo | None, line: Line) -> str:
    """Return who has it and how we know: a snapshot says so of the newest messages."""
    all_of = () if info is None else info.holders
    known = next((one for one in all_of if one.message_id == line.message_id), None)
    if known is None:
        return "you; of the others nothing is kept any more"
    others = [
        f"{reports.name_of(snapshot, peer)} ({BY_EVIDENCE[how]})"
        for peer, how in known.holders
        if peer != snapshot.me
    ]
    return " · ".join(["you", *others])
