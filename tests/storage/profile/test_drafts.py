"""Drafts in the profile: what is kept of them, and a file that is damaged."""

from pathlib import Path

import pytest

from storage.profile.drafts import CHANNELS_MAX, LENGTH_MAX, SIZE_MAX, Drafts
from sync.machine import ChannelId

PLANS = ChannelId("p" * 32)


def test_what_was_begun_is_there_again(tmp_path: Path) -> None:
    text = 'two\nlines, "quotes", 🙂 and \ud800'
    Drafts(tmp_path / "drafts.json").save({PLANS: text})

    assert Drafts(tmp_path / "drafts.json").load() == {PLANS: text}


@pytest.mark.parametrize("written", ["", "[]", '{"a":1}', '{"a":', '{"a":["b"]}'])
def test_a_damaged_file_has_no_drafts(tmp_path: Path, written: str) -> None:
    (tmp_path / "drafts.json").write_text(written)

    assert Drafts(tmp_path / "drafts.json").load() == {}


def test_many_long_drafts_can_be_read_again(tmp_path: Path) -> None:
    drafts = {ChannelId(f"{number:032}"): "\U0001f600" * (LENGTH_MAX + 1) for number in range(30)}
    Drafts(tmp_path / "drafts.json").save(drafts)
    kept = Drafts(tmp_path / "drafts.json").load()

    assert list(kept) == list(drafts)[-CHANNELS_MAX:]
    assert {len(text) for text in kept.values()} == {LENGTH_MAX}
    assert (tmp_path / "drafts.json").stat().st_size <= SIZE_MAX
