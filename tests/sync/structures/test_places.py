"""Eviction order when places for links and sessions run out."""

from itertools import count

import pytest

from sync.structures.places import CROWD, Holder, Standing, give_way

PLACES = 256
EVERY_STANDING = list(Standing)


def at(host: str, *standings: Standing, since: int = 0) -> list[Holder[str]]:
    """People behind one address, the first of them there longest."""
    return [
        Holder(f"{host} {number}", host, standing, since + number)
        for number, standing in enumerate(standings)
    ]


def test_while_there_are_places_nobody_gives_way() -> None:
    everybody = at("10.0.0.9", *[Standing.STRANGER] * PLACES)

    assert give_way(everybody, PLACES) == []


@pytest.mark.parametrize(
    "told", [Standing.STRANGER, Standing.OPEN, Standing.MEMBER, Standing.KNOWN]
)
@pytest.mark.parametrize("friend", EVERY_STANDING)
def test_of_an_address_with_hundreds_of_identities_one_gives_way_to_whoever_comes(
    told: Standing, friend: Standing
) -> None:
    flood = at("10.0.0.9", *[told] * PLACES)

    [gone] = give_way([*flood, *at("10.0.0.2", friend, since=1000)], PLACES)

    assert gone == "10.0.0.9 255"


def test_strangers_go_before_guests_before_members_before_people_known_before_those_verified() -> (
    None
):
    everybody = [
        holder
        for number, standing in enumerate(reversed(EVERY_STANDING))
        for holder in at(f"10.0.0.{number}", standing, since=number)
    ]

    gone = give_way(everybody, 0)

    by_key = {holder.key: holder.standing for holder in everybody}
    assert [by_key[key] for key in gone] == EVERY_STANDING


def test_forty_colleagues_behind_one_address_outlast_guests_from_many_addresses() -> None:
    colleagues = at("10.0.0.2", *[Standing.MEMBER] * CROWD)
    numbers = count(10)
    guests = [
        guest for _ in range(60) for guest in at(f"10.0.0.{next(numbers)}", *[Standing.OPEN] * 4)
    ]

    gone = give_way([*colleagues, *guests], PLACES)

    assert len(gone) == CROWD + len(guests) - PLACES
    assert not any(key.startswith("10.0.0.2 ") for key in gone)


def test_who_was_verified_stays_even_in_a_crowd() -> None:
    crowd = at("10.0.0.2", Standing.VERIFIED, *[Standing.STRANGER] * PLACES)

    gone = give_way([*crowd, *at("10.0.0.3", Standing.STRANGER, since=-5)], 2)

    assert len(gone) == PLACES
    assert crowd[0].key not in gone


def test_among_equals_of_the_address_with_most_places_who_came_last_goes() -> None:
    holders = [
        *at("10.0.0.2", Standing.OPEN, Standing.OPEN),
        *at("10.0.0.3", Standing.OPEN, Standing.OPEN, Standing.OPEN, since=3),
        *at("10.0.0.4", Standing.OPEN, since=9),
    ]

    assert give_way(holders, 5) == ["10.0.0.3 2"]
    assert give_way(holders, 3) == ["10.0.0.3 2", "10.0.0.3 1", "10.0.0.2 1"]
