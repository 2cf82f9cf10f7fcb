"""The field of the filter's bits: signs, marks of a tested id, and its legend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.debug.bloom_cells import LINES, cell_of, cells_in, field_lines, shade
from chat_tui.wording.glyphs import ASCII, UNICODE
from sync.structures.bloom import RollingBloomFilter
from sync.structures.bloom_parameters import LAN
from sync.view.view import BloomInfo, ProbeInfo
from tests.support.chat_tui import scenes
from tests.support.chat_tui.panes import opened

BLOOM = BloomInfo(1, LAN.capacity, LAN.m_bits, LAN.k, 0.1, 0.0)
ONE = "5f" * 32


def holding(item: str) -> RollingBloomFilter:
    bloom = RollingBloomFilter(LAN)
    bloom.insert(item)
    return bloom


@given(st.text("0123456789abcdef", min_size=1, max_size=64), st.integers(1, 600))
def test_the_cells_of_an_id_are_those_with_its_bits(item: str, count: int) -> None:
    bloom = holding(item)

    marked = {cell_of(position, BLOOM, count) for position, _ in bloom.bits_of(item)}

    assert marked == {at for at, share in enumerate(bloom.cells(count)) if share > 0}


def test_shades_go_from_none_to_half() -> None:
    assert [shade(share, UNICODE) for share in (0.0, 0.001, 0.2, 0.3, 0.5, 0.6)] == [
        *"·░▒▓██",
    ]
    assert shade(0.001, ASCII) != shade(0.0, ASCII)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_a_tested_id_marks_its_cells_and_the_legend_says_so(glyphs: object) -> None:
    assert glyphs in (UNICODE, ASCII)
    signs = UNICODE if glyphs is UNICODE else ASCII
    bloom, width = holding(ONE), 46
    probe = ProbeInfo(ONE, bloom.bits_of(ONE), held=True)

    lines = field_lines(BLOOM, bloom.cells(cells_in(width)), width, signs, probe)
    plain = [line.content.plain for line in lines]

    assert sum(line.count(signs.probed) for line in plain[:LINES]) == len(
        {cell_of(position, BLOOM, cells_in(width)) for position, _ in probe.bits}
    )
    assert all(len(line) == width - 1 for line in plain[:LINES])
    assert f"{signs.probed} has a bit of the tested id" in " ".join(" ".join(plain[LINES:]).split())


@pytest.mark.slow
async def test_the_tab_draws_the_field_of_the_real_filter() -> None:
    async with opened(scenes.repairing, "3") as screen:
        text = screen.text()

        assert "░" in text
        assert "each cell has 89 bits" in text
