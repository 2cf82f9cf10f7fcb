"""Addresses in messages, and what a person has to see of one before it is opened.

Rules:
1. Only http and https are links: nothing else a peer wrote is ever given to the system.
2. What is shown is what is opened: the address in ASCII, as the network's names know it.
3. A text of which two programs would read two hosts is no link.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlsplit

from chat_tui.text.word_match import Span

LINK: Final = re.compile(r"https?://[^\s<>\"`\\]+", re.IGNORECASE)
"""Ends at a backslash: browsers take it for a slash, which makes another host of what follows."""

SENTENCE_ENDS: Final = ".,;:!?'\u2026\u00bb\u201d\u2019"
"""Signs that end the sentence around a link rather than the link."""

AROUND: Final = "*_"
"""Signs that do so too if they stand before the link as well, to make it stand out."""

CLOSING: Final = {")": "(", "]": "[", "}": "{"}

LINKS_MAX: Final = 50
"""Of one message that can be chosen from: more is a flood, not a choice."""

PLACES_MAX: Final = 500
"""Of links in one message that are underlined: the longest text of addresses has no more."""

LINK_MAX: Final = 2_000
"""Characters of a link; browsers take no longer ones, and nobody could read them."""

HOST: Final = r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]+\]"
"""A host in ASCII. Of signs such as `%`, programs make different hosts."""

DEVIATING: Final = "[\u00df\u03c2]"
"""Letters that the first version of international names replaced, and browsers keep."""

DOTS: Final = "[.\u3002\uff0e\uff61]"

KEPT: Final = "!#$%&'()*+,/:;=?@[]~-._"
"""Signs of an address that stay as they are; others than these, and letters, become `%XX`."""


def link_spans(text: str) -> list[Span]:
    """Return where links stand in a clean text, in order."""
    found: list[Span] = []
    for match in LINK.finditer(text):
        link = _without_end(match.group(), text[max(0, match.start() - 1) : match.start()])
        if ascii_link(link):
            found.append((match.start(), match.start() + len(link)))
            if len(found) == PLACES_MAX:
                break
    return found


def links_in(text: str) -> list[str]:
    """Return the links in a clean text, in order, each once."""
    found = (text[start:end] for start, end in link_spans(text))
    return list(dict.fromkeys(found))[:LINKS_MAX]


@lru_cache(maxsize=1024)
def ascii_link(link: str) -> str:
    """Return an address as it is opened, in ASCII; empty if it is none that can be opened."""
    if len(link) > LINK_MAX:
        return ""
    try:
        parts = urlsplit(link)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return ""
    host = ascii_host(parts.hostname or "")
    if ":" in host:
        host = f"[{host}]"
    if parts.scheme not in {"http", "https"} or not re.fullmatch(HOST, host):
        return ""
    before, at, _ = parts.netloc.rpartition("@")
    rest = link[link.index(parts.netloc) + len(parts.netloc) :]
    return f"{parts.scheme}://{_quoted(before)}{at}{host}{port}{_quoted(rest)}"


def is_itself(link: str) -> bool:
    """Return whether an address means what it says: ASCII throughout, and nothing to look out for.

    A terminal may open such a one by itself: what stands there is where it leads.
    """
    return link.isascii() and ascii_link(link) == link and "@" not in _netloc(link)


def host_of(link: str) -> str:
    """Return the host that a link leads to, empty if there is none."""
    try:
        return urlsplit(link).hostname or ""
    except ValueError:
        return ""


def ascii_host(host: str) -> str:
    """Return a host as the network's names know it (`xn--...` where it has other letters).

    One that no name of the network can be has a backslash in it then.
    """
    if host.isascii():
        return host.lower()
    try:
        return ".".join(_ascii_label(label) for label in re.split(DOTS, host))
    except UnicodeError:
        return host.encode("ascii", "backslashreplace").decode("ascii")


def _ascii_label(label: str) -> str:
    """Return one part of a host; letters that browsers keep are kept.

    Raises:
        UnicodeError: it can be none.
    """
    if not re.search(DEVIATING, label):
        return label.encode("idna").decode("ascii") if label else ""
    kept = unicodedata.normalize("NFKC", label.lower())
    return f"xn--{kept.encode('punycode').decode('ascii')}"


def warnings(link: str) -> list[str]:
    """Return what somebody should know before opening a link, as sentences."""
    said: list[str] = []
    host = host_of(link)
    in_ascii = ascii_host(host)
    if not host.isascii():
        said.append(f"Its host has letters that may look like others; in ASCII it is {in_ascii}.")
    elif any(label.startswith("xn--") for label in host.split(".")):
        said.append(f"Its host is written in ASCII for {_unicode_host(host)}.")
    if "@" in _netloc(link):
        said.append(f"The part before the @ is not the host: the link leads to {in_ascii}.")
    if not link.isascii() and host.isascii():
        said.append("It has letters after the host that are not ASCII.")
    if link.lower().startswith("http:"):
        said.append("It is not encrypted (http): others on the way can read and change the page.")
    return said


def _netloc(link: str) -> str:
    try:
        return urlsplit(link).netloc
    except ValueError:
        return ""


def _quoted(part: str) -> str:
    return quote(part, safe=KEPT)


def _unicode_host(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return "letters that cannot be decoded"


def _without_end(link: str, before: str) -> str:
    """Return a link without the signs that end the sentence or the brackets around it."""
    ends = SENTENCE_ENDS + (before if before in AROUND else "")
    counts = {sign: link.count(sign) for pair in CLOSING.items() for sign in pair}
    end = len(link)
    while end:
        last = link[end - 1]
        opening = CLOSING.get(last)
        unopened = opening is not None and counts[last] > counts[opening]
        if last not in ends and not unopened:
            break
        if last in counts:
            counts[last] -= 1
        end -= 1
    return link[:end]
