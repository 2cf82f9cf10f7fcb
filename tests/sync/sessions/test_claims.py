"""One budget of memory for what peers claim in sessions."""

from dataclasses import dataclass, field

from sync.sessions.claims import CLAIM_BYTES, CLAIMS_BYTES_MAX, CLAIMS_LEAST, Claims
from sync.waku.division import ITEMS_MAX

LONG_HISTORY = 100_000


@dataclass
class Taking:
    """Sessions of a channel that take all they may."""

    claimed: list[int] = field(default_factory=list)
    live: int = 0


def test_the_first_session_may_bring_a_long_history() -> None:
    assert Claims(lambda: [Taking()]).room(0) >= LONG_HISTORY


def test_sessions_of_all_channels_share_one_budget_and_none_gets_nothing() -> None:
    here, there = Taking(), Taking()
    claims = Claims(lambda: [here, there])
    rooms = []
    for number in range(12):
        rooms.append(claims.room(0))
        (here, there)[number % 2].claimed.append(rooms[-1] * CLAIM_BYTES)

    assert rooms == sorted(rooms, reverse=True)
    assert rooms[-1] == ITEMS_MAX
    assert claims.taken <= CLAIMS_BYTES_MAX + 12 * CLAIMS_LEAST


def test_a_session_that_has_its_share_gets_no_more_until_others_end() -> None:
    sessions = Taking([CLAIMS_BYTES_MAX * 3 // 4, CLAIMS_BYTES_MAX // 4])
    claims = Claims(lambda: [sessions])

    assert claims.room(sessions.claimed[0]) == 0
    del sessions.claimed[0]
    assert claims.room(sessions.claimed[0]) > 0
