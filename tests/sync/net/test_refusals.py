"""Bad inputs are counted by sender, and made-up senders do not push out the true ones."""

from sync.net.clock import Clock
from sync.net.refusals import SENDERS_MAX, Refusals
from sync.net.trace import Trace


def test_made_up_keys_leave_room_to_count_whoever_does_wrong_all_the_time() -> None:
    refusals = Refusals(Clock(), Trace())
    refusals.refused("mallory", "nonsense")
    refusals.refused("mallory", "nonsense")
    for number in range(2 * SENDERS_MAX):
        refusals.skipped(f"made up {number}", 1)
    for _ in range(3):
        refusals.skipped("trent", 100)

    assert len(refusals.counts) == len(refusals.skipped_bytes) == SENDERS_MAX
    assert (refusals.counts["mallory"], refusals.counts["trent"]) == (2, 3)
    assert refusals.skipped_bytes["trent"] == 300
