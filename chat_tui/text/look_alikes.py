"""Letters of other scripts that a reader takes for Latin ones (Unicode UTS 39, "Confusables").

From its table, what people can type or paste and most fonts draw alike; mathematical, full-width
and ligature forms are not here, for NFKC makes them Latin.
"""

from typing import Final

_CAPITALS: Final = {"h": "\u0397", "n": "\u039d", "y": "\u03a5", "z": "\u0396"}
"""Greek capitals that look like a Latin one, and whose small letters look like another or none."""

_LETTERS: Final = {
    "a": "\u0430\u03b1\u0251\u237a\u1d00\u13aa\ua4ee",
    "b": "\u0432\u03b2\u044c\u0185\u0299\u13cf\u13f4\u1472\u15af\ua4d0",
    "c": "\u0441\u03f2\u1d04\u2ca5\u13df\ua4da",
    "d": "\u0501\u1d05\u13a0\u13e7\u146f\ua4d2\ua4d3",
    "e": "\u0435\u03b5\u0454\u04bd\u212e\u1d07\u13ac\ua4f0",
    "f": "\u0192\u0584\ua799\ua730\ua4dd",
    "g": "\u050d\u0261\u0581\u0262\u1d83\u13c0\ua4d6",
    "h": "\u04bb\u043d\u0570\u029c\u13bb\u13c2\ua4e7",
    "j": "\u0458\u03f3\u1d0a\u13ab\ua4d9",
    "k": "\u043a\u03ba\u0138\u1d0b\u13e6\ua4d7",
    "l": "\u0456\u03b9\u04cf\u01311|!\u01c0\u2223\u0269\u026a\u029f\u056c\u05d5\u05df\u0627\u0661"
    "\u06f1\u13a5\u13de\u16c1\u2d4f\ua4e1\ua4f2",
    "m": "\u043c\u03bc\u1d0d\u13b7\ua4df",
    "n": "\u043f\u03b7\u0274\u0578\u057c\ua4e0",
    "o": "\u043e\u03bf0\u0585\u05e1\u0647\u0665\u06c1\u06d5\u0966\u0ae6\u0be6\u0c66\u0ce6\u0d66"
    "\u0e50\u0ed0\u101d\u1040\u10ff\u1d0f\u1d11\u2c9f\u2d54\u3007\ua4f3",
    "p": "\u0440\u03c1\u03f1\u1d18\u2374\u2ca3\u13e2\ua4d1",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u1d26\u0280\u2c85\u13a1\u13d2\ua4e3",
    "s": "\u0455\u01a8\u01bd\ua731\u13da\ua4e2",
    "t": "\u0442\u03c4\u1d1b\u13a2\ua4d4",
    "u": "\u03c5\u028b\u057d\u1d1c\ua4f4",
    "v": "\u0475\u03bd\u05d8\u1d20\u2228\u22c1\u13d9\ua4e6",
    "w": "\u051d\u03c9\u026f\u0461\u0561\u1d21\u13b3\ua4ea",
    "x": "\u0445\u03c7\u00d7\u1541\u157d\ua4eb",
    "y": "\u0443\u03b3\u04af\u0263\u028f\u10e7\u1eff\ua4ec",
    "z": "\u03b6\u1d22\u13c3\ua4dc",
    "-": "\u00b7\u02d7\u058a\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u30fc_",
}
"""Small letters, of scripts without such the only ones; digits and bars; and dashes."""


def _table(signs_of: dict[str, str]) -> dict[int, int]:
    pairs = [(sign, letter) for letter, signs in signs_of.items() for sign in signs]
    return {ord(sign): ord(letter) for sign, letter in pairs}


CAPITALS: Final = _table(_CAPITALS)
"""For `str.translate`, before letters are made small."""

LETTERS: Final = _table(_LETTERS)
"""For `str.translate`, afterwards."""
