"""State that is told on links in words: registers and roots; bad ones say so."""

import pytest

from chat_tui.debug.frame_kinds import KIND_STYLES
from chat_tui.debug.frame_text import decoded
from sync.calimero.state.contents import StateKind, Topic
from sync.machine import ChannelId
from sync.view.view import FrameInfo, FrameKind
from tests.support.sync.states import deletion_of, entry_of, pin_of

CHANNEL = ChannelId("c0" * 16)


def frame(kind: FrameKind, data: bytes) -> FrameInfo:
    return FrameInfo(1, 0, False, None, CHANNEL, kind, len(data), data)


def test_a_register_says_what_it_is_of_and_whose() -> None:
    topic, pin = entry_of(1, Topic("tea"), 5), pin_of(2, 7, 6)
    gone = deletion_of(2, StateKind.TOPIC, 9)
    shown = [decoded(frame(FrameKind.STATE, one.content)) for one in (topic, pin, gone)]

    author = topic.author.hex()
    assert (shown[0].kind, shown[0].subject) == ("STATE", author[:6])
    assert shown[0].words == f"topic of {author[:8]}…"
    assert "├ stamp 5" in shown[0].tree
    assert shown[1].words.startswith("pin of")
    assert shown[2].words.startswith("topic, taken back of")


def test_a_root_is_shown_as_what_it_is() -> None:
    shown = decoded(frame(FrameKind.ROOT, bytes(range(32))))

    assert (shown.kind, shown.words) == ("ROOT", "state 0001020304050607…")
    assert {"STATE", "ROOT"} <= KIND_STYLES.keys()


@pytest.mark.parametrize(("kind", "data"), [(FrameKind.STATE, b"x" * 100), (FrameKind.ROOT, b"x")])
def test_what_is_none_says_so_and_raises_nothing(kind: FrameKind, data: bytes) -> None:
    assert decoded(frame(kind, data)).words.startswith("cannot be read")
