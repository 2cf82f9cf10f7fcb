"""Texts of the lines that stand for missing messages: what is missing, and what happens next.

A snapshot has only the requests of now; what was known of messages lost since is kept here.
"""

from typing import Final

from msgspec import Struct

from chat_tui.keys.table import Chosen, with_keys
from chat_tui.text.times import count, span, times
from chat_tui.wording import sentences
from sync.machine import MessageId, Nanos
from sync.view.view import ChannelInfo, RequestInfo, Snapshot

KEPT: Final = 2_000
"""Missing messages remembered; as many as rows are kept around the reader."""

MISSING: Final = " missing, "
"""Words that every sentence has about a message that is asked for, or will be."""

AGAIN: Final = "/repair tries again"
GAP: Final = f"an earlier message could not be found; {AGAIN}"
"""Words for a gap as long as nothing is known of it."""
ASKS: Final = "/repair asks for it"
UNSOUGHT: Final = f"an earlier message is missing; {ASKS}"
"""Of a gap while nothing is known to be lost: one of an earlier run, that nobody was asked for."""
SOUGHT: Final = f"an earlier message is missing; {AGAIN}"
"""Of a gap while something is sought that shown messages lack: it may be one of theirs."""
HERE: Final = {
    AGAIN: "{reading_ask} tries again, {reading_hide} hides",
    ASKS: "{reading_ask} asks for it, {reading_hide} hides",
}
"""Words where the cursor is: keys in place of a command."""


class Sought(Struct):
    """A message that was missing: which one named it, how often and how long it was asked for."""

    named_by: str
    asked: int
    since: Nanos
    until: Nanos


class Gaps:
    """Follows the missing messages of one person's channels, a snapshot after the other."""

    def __init__(self) -> None:
        self._sought: dict[MessageId, Sought] = {}

    def below(self, snapshot: Snapshot, info: ChannelInfo | None) -> str:
        """Return what is said after the newest message; empty unless messages wait there.

        The status line says what waits for it, and until when (`reports.what_waits`).
        """
        if info is None or not info.waiting_count:
            return ""
        if not info.missing_count:
            waiting = "1 waits" if info.waiting_count == 1 else f"{info.waiting_count:,} wait"
            return f"{waiting} for earlier messages, which are here"
        return f"{_missing(info.missing_count)}, {_next(snapshot, info)}"

    def above(self, snapshot: Snapshot, info: ChannelInfo | None) -> dict[MessageId, str]:
        """Return what is said above the messages that follow a gap, as far as it is known."""
        if info is None:
            return {}
        requests = (
            {} if info.repair is None else {one.message_id: one for one in info.repair.requests}
        )
        for request in requests.values():
            self._note(request, snapshot.now)
        missing = set(info.missing)
        of_row: dict[str, list[MessageId]] = {}
        for message_id, sought in self._sought.items():
            of_row.setdefault(sought.named_by, []).append(message_id)
        said: dict[MessageId, str] = {}
        for named_by, ids in of_row.items():
            asking = [requests[one] for one in ids if one in requests]
            if asking:
                sentence = f"{_missing(len(asking))}, {_when(asking, snapshot, info)}"
            elif any(one in missing for one in ids):
                sentence = f"{_missing(len(ids))}, waiting for its turn to be asked for"
            else:
                sentence = _lost([self._sought[one] for one in ids])
            said[MessageId(named_by)] = sentence
        return said

    def elsewhere(self, snapshot: Snapshot, info: ChannelInfo | None) -> str:
        """Return what is said above messages of which no request names the gap.

        Several may lack one message, and a request names the first of them alone; or it was begun
        by hand, and names none.
        """
        if info is None or info.repair is None:
            return UNSOUGHT
        not_shown: set[str] = {one.message_id for one in info.waiting}
        for request in info.repair.requests:
            by_hand = request.named_by == request.namer == snapshot.me
            if by_hand:
                return SOUGHT
            if request.named_by != request.namer and request.named_by not in not_shown:
                return SOUGHT
        return GAP if info.lost else UNSOUGHT

    def _note(self, request: RequestInfo, now: Nanos) -> None:
        known = self._sought.get(request.message_id)
        if known is not None:
            known.asked, known.until = max(known.asked, request.asked), now
        elif request.named_by != request.namer:
            sought = Sought(request.named_by, request.asked, since=now, until=now)
            self._sought[request.message_id] = sought
            if len(self._sought) > KEPT:
                del self._sought[next(iter(self._sought))]


def said_here(sentence: str, chosen: Chosen) -> str:
    """Return what a sentence says while the cursor is on its line: keys in place of commands."""
    for command, keys in HERE.items():
        sentence = sentence.replace(command, with_keys(keys, chosen))
    return sentence


def _missing(number: int) -> str:
    return f"{count(number, 'earlier message')} {'is' if number == 1 else 'are'} missing"


def _lost(sought: list[Sought]) -> str:
    asked = max(one.asked for one in sought)
    length = max(one.until for one in sought) - min(one.since for one in sought)
    often = f" (asked {times(asked)}, {span(length)})" if asked else ""
    return f"{count(len(sought), 'message')} could not be found{often}; {AGAIN}"


def _next(snapshot: Snapshot, info: ChannelInfo) -> str:
    requests = () if info.repair is None else info.repair.requests
    return _when(list(requests), snapshot, info)


def _when(requests: list[RequestInfo], snapshot: Snapshot, info: ChannelInfo) -> str:
    """Return what was done for some missing messages, and when they are asked for next."""
    if not sentences.peers_of(snapshot, info):
        return "and nobody is here to ask"
    if not requests:
        return "looking for it"
    first = min(requests, key=lambda request: request.t_req)
    left: Nanos = first.t_req - snapshot.now
    when = "now" if left <= 0 else f"in {span(left)}"
    if first.asked:
        return f"asked {times(first.asked)}, again {when}"
    return f"asking peers {when}"
