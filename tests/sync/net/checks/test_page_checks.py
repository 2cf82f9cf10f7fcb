"""Pages of snapshots are checked on threads, and their outcomes come in order."""

import threading
from typing import Final

import pytest

from sync.calimero.log.snapshot_messages import chunk_of, encode
from sync.calimero.log.snapshot_pages import wait_for_nothing
from sync.entries.columns import Signed
from sync.entries.identity import verify
from sync.group.ingest import Gate
from sync.group.values import CheckedPage, CheckPage, PageChecked, StoredMessage
from sync.machine import ChannelId
from sync.net.checks.page_checks import PageChecks
from sync.net.clock import Clock
from sync.net.engine import key_priority
from sync.net.engine.key_priority import KeyPriority
from sync.sds.message import LAN_LIMITS
from tests.support.sync.entries import CHANNEL, Author, identity
from tests.support.sync.nodes import until

ME = identity("me").peer_id
GATE = Gate.of(CHANNEL, verify, LAN_LIMITS)
LONG_S: Final = 60.0


def page_of(number: int, *messages: StoredMessage) -> CheckPage:
    """A page of a session as it came, of these messages, the newest first."""
    last = messages[-1].entry
    cursor = (last.header.lamport, last.message_id)
    chunk = chunk_of(number, [one.entry.content for one in messages], cursor, 1_000)
    return CheckPage(7, number, encode(chunk))


def falling(author: Author, count: int) -> list[StoredMessage]:
    return [author.write(str(number)) for number in range(count)][::-1]


async def test_outcomes_come_in_order_though_a_later_page_is_checked_sooner() -> None:
    long, short = falling(Author("ann"), 130), falling(Author("bob"), 1)
    came: list[tuple[ChannelId, PageChecked]] = []
    checks = PageChecks(
        ME, lambda channel, outcome: came.append((channel, outcome)), wait_for_nothing
    )

    for number in range(8):
        checks.check(GATE, page_of(number, *(short if number % 2 else long)))
    await until(lambda: len(came) == 8, "all are checked")
    checks.close()

    assert {channel for channel, _ in came} == {CHANNEL}
    assert [outcome.number for _, outcome in came] == list(range(8))
    pages = [outcome.page for _, outcome in came if outcome.page is not None]
    assert [page.entries for page in pages] == [130, 1] * 4
    newest = long[0].entry
    assert isinstance(pages[0], CheckedPage)
    assert pages[0].first == (newest.header.lamport, newest.message_id)


async def test_a_page_with_a_foreign_signature_is_refused_with_the_reason() -> None:
    [line] = falling(Author("ann"), 1)
    page = page_of(0, line)
    at = page.payload.index(line.entry.signature)
    forged = bytearray(page.payload)
    forged[at] ^= 1
    [other] = falling(Author("bob"), 1)
    tampered = page_of(0, other)
    mixed = other.entry.content.replace(other.entry.signature, line.entry.signature)
    place = (other.entry.header.lamport, other.entry.message_id)
    resigned = encode(chunk_of(1, [mixed], place, 1))
    came: list[PageChecked] = []
    checks = PageChecks(ME, lambda _, outcome: came.append(outcome), wait_for_nothing)

    checks.check(GATE, CheckPage(7, 0, bytes(forged)))
    checks.check(GATE, CheckPage(7, 1, resigned))
    checks.check(GATE, tampered)
    await until(lambda: len(came) == 3, "all are checked")
    checks.close()

    assert [outcome.page is None for outcome in came] == [True, True, False]
    assert "digest" in came[0].reason
    assert "signature" in came[1].reason


class Noted(threading.Event):
    """Notes that somebody waits."""

    waits = False

    def wait(self, timeout: float | None = None) -> bool:
        self.waits = True
        return super().wait(timeout)


async def test_a_key_on_its_way_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_priority, "KEY_WITHIN_S", LONG_S)
    verified: list[Signed] = []
    monkeypatch.setattr(Gate, "check_columns", lambda _, signed: verified.append(signed))
    keys, came = KeyPriority(Clock()), list[PageChecked]()
    keys._free = free = Noted()
    asides: list[None] = []

    def stand_aside() -> None:
        asides.append(None)
        keys.stand_aside()

    checks = PageChecks(ME, lambda _, outcome: came.append(outcome), stand_aside)

    keys.key_came()
    checks.check(GATE, page_of(0, *falling(Author("ann"), 130)))
    await until(lambda: free.waits or len(came) == 1, "it waits, or is checked")
    before = list(verified)
    keys.key_shown()
    await until(lambda: len(came) == 1, "it is checked")
    checks.close()

    assert free.waits
    assert before == []
    assert len(verified) == 130
    assert len(asides) == 2 * 130, "to open each, and to verify it"


async def test_nothing_is_fed_once_it_is_closed() -> None:
    long = falling(Author("ann"), 130)
    came: list[PageChecked] = []
    checks = PageChecks(ME, lambda _, outcome: came.append(outcome), wait_for_nothing)
    for number in range(6):
        checks.check(GATE, page_of(number, *long))

    checks.close()
    checks.check(GATE, page_of(6, *long))  # which was on its way while we said goodbye
    others: list[PageChecked] = []
    later = PageChecks(ME, lambda _, outcome: others.append(outcome), wait_for_nothing)
    for number in range(6):
        later.check(GATE, page_of(number, *long))
    await until(lambda: len(others) == 6, "what ran then is over")
    later.close()

    assert came == []
