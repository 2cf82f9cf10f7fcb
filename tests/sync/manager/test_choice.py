"""Choice of a protocol: the cheapest that suits and that the peer speaks."""

from msgspec.structs import replace

from sync.machine import HOUR
from sync.manager.choice import choose
from sync.sessions.protocol import Protocols, Situation
from sync.sessions.values import Plane
from sync.waku.session import WAKU_SYNC
from tests.support.toy.session import TOY

BOTH = Protocols((WAKU_SYNC, TOY))
TALKS = Situation("new link", spoken=frozenset({TOY.name}))


def chosen(situation: Situation, wanted: str = "", protocols: Protocols = BOTH) -> str | None:
    choice = choose(protocols, situation, wanted)
    return None if choice is None else choice.protocol


def test_of_those_that_suit_the_cheapest_is_taken_and_says_why() -> None:
    choice = choose(BOTH, TALKS)

    assert choice is not None
    assert (choice.protocol, choice.why) == (TOY.name, "two messages say whether both are equal")
    waku = WAKU_SYNC.suits(TALKS)
    assert waku is not None
    assert choice.cost < waku.cost


def test_what_the_peer_has_not_announced_is_not_taken_unless_everybody_speaks_it() -> None:
    assert chosen(replace(TALKS, spoken=frozenset())) == WAKU_SYNC.name
    assert chosen(replace(TALKS, spoken=frozenset({"another"}))) == WAKU_SYNC.name


def test_a_protocol_says_itself_where_it_does_not_suit() -> None:
    assert chosen(replace(TALKS, span=HOUR)) == WAKU_SYNC.name
    assert chosen(replace(TALKS, failures=1)) == WAKU_SYNC.name


def test_whoever_names_one_gets_it_or_none() -> None:
    assert chosen(TALKS, WAKU_SYNC.name) == WAKU_SYNC.name
    assert chosen(replace(TALKS, spoken=frozenset()), TOY.name) is None
    assert chosen(TALKS, "another") is None


def test_another_plane_is_for_other_protocols() -> None:
    assert chosen(replace(TALKS, plane=Plane.STATE)) is None


def test_of_equals_the_first_one_is_taken() -> None:
    twin = replace(TOY, name="twin", stream="/twin/1")
    talks = replace(TALKS, spoken=frozenset({TOY.name, twin.name}))

    assert chosen(talks, protocols=Protocols((twin, TOY))) == twin.name
    assert chosen(talks, protocols=Protocols((TOY, twin))) == TOY.name


def test_without_protocols_nothing_is_chosen() -> None:
    assert chosen(TALKS, protocols=Protocols()) is None
