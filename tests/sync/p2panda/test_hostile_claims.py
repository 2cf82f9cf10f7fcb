"""Claims with nothing behind them, and what has no end: bounded work, then a named end."""

import pytest
from msgspec.structs import replace

from sync.group import values
from sync.p2panda import set_reconciliation
from sync.p2panda.bounds import Place
from sync.p2panda.entries import entry_message
from sync.p2panda.heads import Heads
from sync.p2panda.messages import (
    HEIGHT_MAX,
    LOGS_MAX,
    Done,
    Entry,
    Fingerprint,
    Have,
    LowerBound,
    Message,
    Reason,
    SyncDone,
    Terminal,
)
from sync.p2panda.session import PROGRESS_WITHIN
from sync.sds.message import Delivery
from sync.sessions.session import CHECK_WITHIN
from sync.sessions.sessions import TOO_OFTEN
from tests.support.sync.costs import CALLS_MAX, MEMORY_MAX, calls_of
from tests.support.sync.groups import NOW
from tests.support.sync.heights import SESSION, SUM
from tests.support.sync.intruder import (
    LINES,
    NUMBER,
    Scene,
    assert_over,
    assert_untouched,
    carol_at,
    exchanging,
    reading,
    reconciling,
    staying,
)


def test_heights_with_nothing_behind_them_are_waited_for_no_longer_than_silence() -> None:
    """Every log that a Have may have, each of 2^63 - 1 entries by the peer's word."""
    scene = Scene()
    exchanging(scene)
    heights = [
        Place(number.to_bytes(32, "big"), 0, HEIGHT_MAX) for number in range(1, LOGS_MAX + 1)
    ]

    scene.hear(Have(SESSION, tuple(heights)))
    claimed = scene.alice.group.sessions.claimed
    before = len(scene.effects)
    assert calls_of(lambda: scene.wait(NOW + PROGRESS_WITHIN)) < 40 * CALLS_MAX

    assert max(claimed) < MEMORY_MAX
    assert scene.ended[-1].need == LOGS_MAX * HEIGHT_MAX
    assert scene.ended[-1].got == 0
    assert "timed out" in scene.ended[-1].result
    assert len(scene.effects) - before < 100


def test_a_peer_that_says_low_heights_again_and_again_is_sent_a_channel_a_few_times() -> None:
    scene = Scene()
    for number in range(2_000):
        scene.alice.write(f"more {number}")

    sent = 0
    for _ in range(20):
        exchanging(scene)
        scene.hear(Have(SESSION, ()))
        sent += sum(isinstance(one, values.SendPayload) for one in scene.effects)
        scene.effects = list(scene.ended[-1:])
        if scene.ended and scene.ended[-1].result == TOO_OFTEN:
            break
        scene.tell(values.SessionClosed(NUMBER))

    assert scene.ended[-1].result == TOO_OFTEN
    assert sent < 5 * 2_005
    assert_untouched(scene)


def test_batches_without_end_are_refused() -> None:
    """Fingerprints that are equal to nothing, of the whole circle, whatever Alice answers."""
    scene = Scene()
    reconciling(scene)
    start = Place(b"")
    batch: list[Message] = [
        LowerBound(SESSION, start),
        Fingerprint(SESSION, SUM, start),
        Terminal(SESSION),
    ]

    for _ in range(set_reconciliation.BATCHES_MAX):
        scene.hear(*batch)
        assert not scene.ended
    scene.hear(batch[0])

    assert_over(scene, Reason.ENDLESS.value)
    said = [one for one in scene.effects if isinstance(one, values.SendPayload)]
    assert len(said) < 10 * set_reconciliation.BATCHES_MAX


def test_ranges_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_reconciliation, "RANGES_MAX", 100)
    scene = Scene()
    reading(scene)

    for number in range(100):
        scene.hear(Done(SESSION, carol_at(100 + number)))
        assert not scene.ended
    scene.hear(Done(SESSION, carol_at(100 + 100)))

    assert_over(scene, Reason.ENDLESS.value)


def test_a_crafted_sum_makes_nothing_equal() -> None:
    """Eve, who holds nothing, has found heights whose sum is that of Alice's."""
    scene = Scene()
    reconciling(scene)
    assert scene.exchange is not None
    heads = Heads(Place(*one) for one in scene.alice.group.holdings.heights())
    start = heads.beginning()
    equal = Fingerprint(SESSION, heads.fingerprint(start, start), start)

    scene.hear(LowerBound(SESSION, start), equal, Terminal(SESSION), SyncDone(SESSION, live=False))
    assert not scene.ended
    scene.wait(NOW + CHECK_WITHIN)

    assert not scene.ended[-1].converged
    assert all(one.delivery is not Delivery.ACKNOWLEDGED for one in scene.alice.disk.rows.values())


def forged() -> Entry:
    """Return an entry with a false signature."""
    true = LINES[2].entry
    return entry_message(SESSION, replace(true, signature=bytes(len(true.signature))))


def test_an_entry_with_a_false_signature_ends_the_session_and_is_not_kept() -> None:
    scene = Scene()
    exchanging(scene)
    scene.hear(Have(SESSION, (carol_at(3),)))
    before = len(scene.alice.disk.rows)

    scene.hear(forged())

    assert len(scene.alice.disk.rows) == before
    assert_over(scene, "the signature is not its author's")


def test_so_it_does_in_live_mode() -> None:
    scene = Scene()
    staying(scene)
    before = len(scene.alice.disk.rows)

    scene.hear(forged()._replace(session=0))

    assert len(scene.alice.disk.rows) == before
    assert_over(scene, "the signature is not its author's")
