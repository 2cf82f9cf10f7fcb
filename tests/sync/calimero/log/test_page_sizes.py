"""Sizes of the pages of a snapshot, by how soon they are kept."""

from sync.calimero.log.page_sizes import FIRST, LATE, SOON, PageSizes
from sync.calimero.log.snapshot_messages import WINDOW
from sync.machine import SECOND, Nanos
from sync.sessions.sync_config import CONFIG

FULL = CONFIG.snapshot_chunk_size


def sent_over(bytes_a_second: int, pages: int) -> list[int]:
    """Return the sizes of pages, as many of which are on their way as may be."""
    sizes, made, way, free_at = PageSizes(), [], list[Nanos](), 0
    now = 0
    for _ in range(pages):
        if len(way) == WINDOW:
            now = way.pop(0)
            sizes.kept(1, now)
        sizes.sent(now)
        made.append(sizes.most)
        free_at = max(free_at, now) + sizes.most * SECOND // bytes_a_second
        way.append(free_at)
    return made


def test_on_a_fast_network_a_few_small_pages_come_before_full_ones() -> None:
    made = sent_over(10_000_000, 100)
    assert made[0] == FIRST
    assert made.index(FULL) <= 3 * WINDOW
    assert set(made[3 * WINDOW :]) == {FULL}


def test_on_a_slow_link_pages_stay_small() -> None:
    assert max(sent_over(8_000, 100)) <= 4 * FIRST


def test_pages_become_small_again_where_they_take_long() -> None:
    sizes, now = PageSizes(most=FULL), 0
    for _ in range(4):
        sizes.sent(now)
        sizes.kept(1, now + LATE + 1)
    assert sizes.most == FULL // 16
    for took in (SOON, LATE):
        sizes.sent(now)
        sizes.kept(1, now + took)
    assert sizes.most == FULL // 16
    for _ in range(4):
        sizes.sent(now)
        sizes.kept(1, now + LATE + 1)
    assert sizes.most == FIRST


def test_a_receiver_that_has_kept_more_than_was_sent_changes_nothing() -> None:
    sizes = PageSizes()
    sizes.kept(WINDOW, SECOND)
    assert sizes.most == FIRST
