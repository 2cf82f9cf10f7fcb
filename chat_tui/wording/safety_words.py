"""Values two people compare to verify each other's keys: words, a number, and its QR code.

All three come from both keys, in either order: both people see the same. A man in the middle has
other keys, and so they see different ones.
"""

from chat_tui.text.qr import ascii_blocks, half_blocks
from chat_tui.text.safe_text import clean_nick
from sync.entries.identity import PAIR_WORDS, WORD_BITS, fingerprint, pair_number, pair_words
from sync.machine import PeerId
from sync.view.view import PeerInfo


def words(me: PeerId, peer: PeerId) -> str:
    """Return the words of a pair."""
    return "  ".join(pair_words(me, peer))


def sentence(me: PeerId, peer: PeerInfo) -> str:
    """Return what to compare and how to answer, for line mode."""
    name = clean_nick(peer.nick)
    return (
        f"Compare these words with {name}, in person or by phone, who sees them with /verify and "
        f"your name:\n\n{' '.join(pair_words(me, peer.peer))}\n\n"
        f"Or this number: {pair_number(me, peer.peer)}\n"
        f"{name}'s own key: {fingerprint(peer.peer)}. {strength()}\n"
        f"They match: /verify {name} match. They differ: /block {name}. Later: do nothing."
    )


def number(me: PeerId, peer: PeerId) -> str:
    """Return the number of a pair."""
    return pair_number(me, peer)


def strength() -> str:
    """Return how much the words prove."""
    return f"The words are {PAIR_WORDS * WORD_BITS} bits of both keys."


def qr_text(me: PeerId, peer: PeerId) -> str:
    """Return the number's code in ASCII, for line mode."""
    return "\n".join([pair_number(me, peer), *ascii_blocks(pair_number(me, peer))])


def qr_lines(me: PeerId, peer: PeerId, *, in_ascii: bool) -> list[str]:
    """Return the number's code for a screen."""
    draw = ascii_blocks if in_ascii else half_blocks
    return draw(pair_number(me, peer))
