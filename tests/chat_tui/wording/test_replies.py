"""The line above a reply: short, safe, and honest about what is not shown."""

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from chat_tui.wording.replies import QUOTE_CELLS, above, quote
from sync.machine import ChannelId, MessageId, PeerId
from sync.view.governance_infos import Lateness, Person
from sync.view.view import Line, Unshown

LINE = Line(
    channel=ChannelId("c0" * 16),
    message_id=MessageId("1a" * 32),
    author=PeerId("b0" * 32),
    nick="bob",
    text="hi alice",
    lamport=1,
    created_ns=1,
    own=False,
    after_gap=False,
    delivery=None,
)


@pytest.mark.parametrize(
    ("answered", "said"),
    [
        (LINE, "bob: hi alice"),
        (replace(LINE, text="one\ntwo   three"), "bob: one two three"),
        (replace(LINE, text="/me waves"), "* bob waves"),
        (replace(LINE, edited=True), "bob: hi alice (edited)"),
        (replace(LINE, text="", deleted=True), "a message of bob, deleted since"),
        (
            replace(LINE, text="", deleted=True, replaced=True),
            "a message of bob, written anew since",
        ),
        (
            replace(LINE, text="", deleted=True, hidden_by=Person(PeerId("ca" * 32), "carol")),
            "a message of bob, hidden by carol (admin)",
        ),
        (replace(LINE, late=Lateness.FOLDED), "a message of bob, folded away"),
        (Unshown.ABSENT, "a message that is not here"),
        (Unshown.WAITS, "a message that waits, and is not shown yet"),
        (Unshown.BLOCKED, "a message of somebody you have blocked"),
        (None, "…"),
    ],
)
def test_what_is_answered_is_said_as_it_is(answered: Line | Unshown | None, said: str) -> None:
    assert quote(answered) == said
    assert above(answered) == f"↪ {said}"


@pytest.mark.parametrize("text", ["long " * 40, "長い" * 40, "👩‍👩‍👧" * 40])
@pytest.mark.parametrize("edited", [False, True])
def test_it_has_sixty_cells_at_most(text: str, edited: bool) -> None:
    said = above(replace(LINE, text=text, edited=edited, nick="n" * 32))

    assert cell_len(said) <= QUOTE_CELLS
    assert said.endswith("(edited)") == edited


def test_nothing_in_it_steers_a_terminal_or_begins_a_line() -> None:
    said = quote(replace(LINE, nick="b\nob", text="\x1b[31mred\u202e\n\n↪ carol: forged"))

    assert said == "b ob: red ↪ carol: forged"
