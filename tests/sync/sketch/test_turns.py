"""Messages of a session by sketch that come out of turn: what no honest peer sends is refused."""

import pytest

from sync.errors import RemoteError
from sync.sketch import session
from sync.sketch.estimate import OPENING
from sync.sketch.messages import (
    SYMBOLS_MAX,
    AskMore,
    Done,
    Entries,
    Message,
    MoreSymbols,
    Opening,
    Reason,
    Stop,
    Wanted,
)
from sync.sketch.peeling import FOUND_MAX
from sync.sketch.symbols import Symbols
from sync.structures.differences import Role
from tests.support.sync.entries import CHANNEL, Author
from tests.support.sync.groups import NOW_MS
from tests.support.sync.sketch import model
from tests.support.sync.sketch.scenes import Scene, noise


def test_entries_that_were_not_asked_for_are_refused() -> None:
    scene = Scene()
    late = Author("late").write("late", lamport=NOW_MS)
    with pytest.raises(RemoteError, match="out of turn"):
        scene.hear(Entries((late.entry.content,)))
    scene.hear(Wanted(1, b""), Entries((late.entry.content,)))
    assert scene.brought == 1
    with pytest.raises(RemoteError, match="not asked for"):
        scene.hear(Entries((late.entry.content,)))


def test_entries_of_another_channel_or_after_the_end_are_refused() -> None:
    other = Author("late", type(CHANNEL)("dd" * 16)).write("late", lamport=NOW_MS)
    scene = Scene().hear(Wanted(2, b""))
    with pytest.raises(RemoteError, match="another channel"):
        scene.hear(Entries((other.entry.content,)))
    scene = Scene().hear(Wanted(2, b""), Done())
    with pytest.raises(RemoteError, match="out of turn"):
        scene.hear(Done())


@pytest.mark.parametrize(
    "message",
    [AskMore(), Done(), Opening(SYMBOLS_MAX, 0, 0, Symbols.empty(OPENING)), Entries((b"one",))],
    ids=lambda one: type(one).__name__,
)
def test_what_an_opener_is_not_answered_is_refused(message: Message) -> None:
    with pytest.raises(RemoteError, match="out of turn"):
        Scene().hear(message)


@pytest.mark.parametrize(
    "message",
    [AskMore(), Done(), MoreSymbols(0, 0, Symbols.empty(1)), Wanted(0, b""), Entries((b"one",))],
    ids=lambda one: type(one).__name__,
)
def test_what_opens_nothing_is_refused(message: Message) -> None:
    with pytest.raises(RemoteError, match="out of turn"):
        Scene(Role.RESPONDER).hear(message)


def test_symbols_must_follow_each_other_and_be_of_one_set() -> None:
    for message in (
        MoreSymbols(1, 40, noise(1)),
        MoreSymbols(0, 40, noise(0)),
    ):
        with pytest.raises(RemoteError, match="do not follow"):
            Scene().hear(message)
    scene = Scene().hear(MoreSymbols(0, 2**31 - 1, noise(100)))
    with pytest.raises(RemoteError, match="do not follow"):
        scene.hear(MoreSymbols(100, 40, noise(10)))


@pytest.mark.parametrize("number", [0, 1, OPENING - 1, OPENING + 1])
def test_an_opening_of_other_than_sixty_four_symbols_is_refused(number: int) -> None:
    with pytest.raises(RemoteError, match="an opening of"):
        Scene(Role.RESPONDER).hear(Opening(SYMBOLS_MAX, 0, 1, noise(number)))


def test_who_told_its_symbols_wants_nothing_by_them() -> None:
    """Else one peer could send all symbols, and then as many hashes as there can be."""
    for told in (80, SYMBOLS_MAX - 1):
        scene = Scene().hear(MoreSymbols(0, 2**31 - 1, noise(told)))
        assert isinstance(scene.said[-1], AskMore), "it awaits more symbols"
        with pytest.raises(RemoteError, match="out of turn"):
            scene.hear(Wanted(0, b"".join(model.made(FOUND_MAX))))


def test_who_stops_is_believed() -> None:
    scene = Scene().hear(Stop(Reason.MANY))
    assert scene.finished is not None
    assert scene.finished.then == "waku"
    assert session.GOES_ON == "waku"
