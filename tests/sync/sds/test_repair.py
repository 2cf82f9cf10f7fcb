"""Backoff and response groups of SDS-R: the numbers of `@waku/sds`, and growth with the group."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync.machine import HOUR, MILLISECOND, MINUTE, SECOND, MessageId, Nanos, PeerId
from sync.sds.parameters import LAN, PROFILES, WAKU, Parameters
from sync.sds.repair import (
    GAP_WINDOWS,
    GROUP_SIZE,
    LOST_WINDOWS,
    Window,
    digest,
    is_in_response_group,
    response_groups,
)
from tests.support.sync.channels import message_id, peer

VECTORS: dict[str, list[dict[str, Any]]] = {
    name: rows
    for name, rows in json.loads(
        (Path(__file__).parents[2] / "vectors" / "sds.json").read_text(encoding="utf-8")
    ).items()
    if name.startswith("re")
}
SIZES = st.integers(1, 20_000)


def window(t_min: Nanos, t_max: Nanos, groups: int = 1) -> Window:
    return Window(t_min, t_max, groups, gap_after=0, lost_after=0)


# --- The published numbers ---------------------------------------------------------------------


def test_a_hash_is_the_first_eight_bytes_of_sha256() -> None:
    rows = VECTORS["repair_hash"]

    assert len(rows) >= 10
    assert [digest(row["input"]) for row in rows] == [
        int(row["sha256_first8_be_u64"]) for row in rows
    ]


def test_two_texts_are_joined_without_a_separator() -> None:
    rows = VECTORS["repair_hash_ambiguity"]

    hashes = {digest(row["participant"] + row["message_id"]) for row in rows}

    assert hashes == {int(row["hash"]) for row in rows}
    assert len(hashes) == 1


@pytest.mark.parametrize(
    "vector",
    VECTORS["repair_math"],
    ids=lambda row: f"{row['participant']}-{row['sender']}-{row['message_id']}-{row['groups']}",
)
def test_times_and_groups_are_the_published_ones(vector: dict[str, Any]) -> None:
    me, sender, sought = vector["participant"], vector["sender"], vector["message_id"]
    times = window(vector["t_min"] * MILLISECOND, vector["t_max"] * MILLISECOND)

    assert times.request_delay(me, sought) == vector["t_req_offset"] * MILLISECOND
    assert times.response_delay(me, sender, sought) == vector["t_resp_offset"] * MILLISECOND
    assert is_in_response_group(me, sender, sought, vector["groups"]) is vector["in_group"]


@pytest.mark.parametrize(
    "vector", VECTORS["response_groups_for_n"], ids=lambda row: str(row["participants"])
)
def test_the_number_of_response_groups_is_the_published_one(vector: dict[str, Any]) -> None:
    assert response_groups(vector["participants"]) == vector["js_groups"]


# --- T_req, T_resp and groups ------------------------------------------------------------------


@given(st.text(), st.text(), st.integers(0, 600), st.integers(1, 600))
def test_a_request_waits_from_t_min_up_to_t_max(
    me: str, sought: str, t_min: int, spread: int
) -> None:
    times = window(t_min * SECOND, (t_min + spread) * SECOND)

    delay = times.request_delay(PeerId(me), MessageId(sought))

    assert times.t_min <= delay < times.t_max
    assert delay % MILLISECOND == 0


@given(st.text(), st.text(), st.text(), st.integers(1, 600))
def test_an_answer_waits_less_than_t_max_and_its_author_not_at_all(
    me: str, sender: str, sought: str, t_max: int
) -> None:
    times = window(0, t_max * SECOND)

    assert 0 <= times.response_delay(PeerId(me), PeerId(sender), MessageId(sought)) < times.t_max
    assert times.response_delay(PeerId(me), PeerId(me), MessageId(sought)) == 0


def test_requests_and_answers_of_a_group_are_spread_over_the_whole_time() -> None:
    times, sought = Window.of(LAN, 200), message_id("one")
    group = [peer(f"peer {number}") for number in range(200)]

    requests = [times.request_delay(one, sought) for one in group]
    answers = [times.response_delay(one, peer("author"), sought) for one in group]

    spread = times.t_max - times.t_min
    for tenth in range(10):
        low, high = tenth * spread // 10, (tenth + 1) * spread // 10
        assert 5 <= sum(low <= delay - times.t_min < high for delay in requests) <= 40
        low, high = tenth * times.t_max // 10, (tenth + 1) * times.t_max // 10
        assert 5 <= sum(low <= delay < high for delay in answers) <= 40


@given(st.text(), st.text(), st.integers(-1, 100))
def test_an_author_is_always_in_its_own_response_group(
    sender: str, sought: str, groups: int
) -> None:
    assert is_in_response_group(PeerId(sender), PeerId(sender), MessageId(sought), groups)


@given(st.text(), st.text(), st.text(), st.integers(-1, 1))
def test_with_one_group_all_are_in_it(me: str, sender: str, sought: str, groups: int) -> None:
    assert is_in_response_group(PeerId(me), PeerId(sender), MessageId(sought), groups)


def test_a_group_falls_into_parts_of_like_size_that_differ_with_the_message() -> None:
    everybody = [peer(f"peer {number}") for number in range(1024)]
    parts = [
        {one for one in everybody if is_in_response_group(one, peer("author"), sought, 8)}
        for sought in (message_id("one"), message_id("two"))
    ]

    assert all(90 <= len(part) <= 170 for part in parts)
    assert parts[0] != parts[1]


@given(SIZES)
def test_no_response_group_is_larger_than_twice_its_size(participants: int) -> None:
    groups = response_groups(participants)

    assert groups == 1 or GROUP_SIZE <= participants / groups < 2 * GROUP_SIZE


# --- What grows with the group -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("participants", "t_max", "groups"),
    [
        (1, 6 * SECOND, 1),
        (20, 6 * SECOND, 1),
        (21, 6_300 * MILLISECOND, 1),
        (200, 60 * SECOND, 1),
        (255, 76_500 * MILLISECOND, 1),
        (256, 38_400 * MILLISECOND, 2),
        (1000, 300 * SECOND // 7, 7),
    ],
)
def test_the_lan_profile_takes_its_time_from_the_size_of_a_response_group(
    participants: int, t_max: Nanos, groups: int
) -> None:
    times = Window.of(LAN, participants)

    assert (times.t_min, times.t_max, times.groups) == (SECOND, t_max, groups)


@pytest.mark.parametrize("participants", [1, 20, 200, 1000])
def test_the_waku_profile_has_the_times_of_the_specification(participants: int) -> None:
    times = Window.of(WAKU, participants)

    assert (times.t_min, times.t_max) == (30 * SECOND, 120 * SECOND)
    assert times.groups == max(1, participants // 128)
    assert (times.gap_after, times.lost_after) == (32 * MINUTE, HOUR)


def test_a_small_lan_group_waits_minutes_for_what_is_missing() -> None:
    times = Window.of(LAN, 5)

    assert (times.gap_after, times.lost_after) == (2 * MINUTE, 10 * MINUTE)


@given(st.sampled_from(list(PROFILES.values())), SIZES)
def test_in_a_group_of_any_size_there_is_time_to_ask_again(
    parameters: Parameters, participants: int
) -> None:
    times = Window.of(parameters, participants)

    assert times.t_min < times.t_max
    assert times.gap_after >= GAP_WINDOWS * times.t_max
    assert times.lost_after >= LOST_WINDOWS * times.t_max
    assert times.lost_after > times.gap_after


def test_answers_never_fall_together_on_a_few_points_of_t_max() -> None:
    window = Window.of(LAN, 200)
    t_max_ms = window.t_max // MILLISECOND
    coarse = next(
        one
        for number in range(100_000)
        if math.gcd(digest(one := message_id(f"m{number}")), t_max_ms) >= t_max_ms // 12
    )
    people = [peer(f"person {number}") for number in range(200)]

    formula = {window.response_delay(one, peer("author"), coarse) for one in people}
    delays = [window.answer_delay(one, peer("author"), coarse) for one in people]

    assert len(formula) <= 12
    assert len(set(delays)) > 190
    assert all(0 <= delay < window.t_max for delay in delays)
    assert window.answer_delay(peer("author"), peer("author"), coarse) == 0
