"""Pages of snapshots are checked on threads, and their outcomes come in order."""

from sync.calimero.log.snapshot_messages import chunk_of, encode
from sync.entries.identity import verify
from sync.group.ingest import Gate
from sync.group.values import CheckedPage, CheckPage, PageChecked, StoredMessage
from sync.machine import ChannelId
from sync.net.checks.page_checks import PageChecks
from sync.sds.message import LAN_LIMITS
from tests.support.sync.entries import CHANNEL, Author, identity
from tests.support.sync.nodes import until

ME = identity("me").peer_id
GATE = Gate.of(CHANNEL, verify, LAN_LIMITS)


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
    checks = PageChecks(ME, lambda channel, outcome: came.append((channel, outcome)))

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
    checks = PageChecks(ME, lambda _, outcome: came.append(outcome))

    checks.check(GATE, CheckPage(7, 0, bytes(forged)))
    checks.check(GATE, CheckPage(7, 1, resigned))
    checks.check(GATE, tampered)
    await until(lambda: len(came) == 3, "all are checked")
    checks.close()

    assert [outcome.page is None for outcome in came] == [True, True, False]
    assert "digest" in came[0].reason
    assert "signature" in came[1].reason


async def test_nothing_is_fed_once_it_is_closed() -> None:
    long = falling(Author("ann"), 130)
    came: list[PageChecked] = []
    checks = PageChecks(ME, lambda _, outcome: came.append(outcome))
    for number in range(6):
        checks.check(GATE, page_of(number, *long))

    checks.close()
    others: list[PageChecked] = []
    later = PageChecks(ME, lambda _, outcome: others.append(outcome))
    for number in range(6):
        later.check(GATE, page_of(number, *long))
    await until(lambda: len(others) == 6, "what ran then is over")
    later.close()

    assert came == []
