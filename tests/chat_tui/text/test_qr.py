"""QR codes: the cells on the screen are the dots of the code, light ones drawn."""

import segno

from chat_tui.text.qr import QUIET, ascii_blocks, half_blocks

TEXT = "3677-A692-F9CE-2AEC-8DCD"


def dots() -> list[list[bool]]:
    """The light dots of the code, by the library alone."""
    code = segno.make(TEXT, error="l", micro=False, boost_error=False)
    return [[not dot for dot in row] for row in code.matrix_iter(border=QUIET)]


def test_ascii_has_two_signs_a_dot() -> None:
    drawn = [[line[at] == "#" for at in range(0, len(line), 2)] for line in ascii_blocks(TEXT)]

    assert drawn == dots()


def test_half_blocks_have_two_dots_a_cell() -> None:
    drawn: list[list[bool]] = []
    for line in half_blocks(TEXT):
        drawn.append([sign in "█▀" for sign in line])
        drawn.append([sign in "█▄" for sign in line])

    assert drawn[: len(dots())] == dots()
    assert all(all(row) for row in drawn[len(dots()) :])


def test_the_number_of_a_pair_fits_the_smallest_code() -> None:
    assert len(half_blocks(TEXT)) == 13
    assert {len(line) for line in half_blocks(TEXT)} == {25}


def test_an_invite_is_scanned_in_capitals_which_mean_the_same() -> None:
    assert half_blocks("chat1-abcdef") == half_blocks("CHAT1-ABCDEF")
