"""Addresses in messages, and what a person has to see of one before it is opened.

Rules:
1. Only http and https are links: nothing else a peer wrote is ever given to the system.
2. Where a link leads is said apart from its text, and in ASCII too where letters may deceive.
"""

import re
from typing import Final
from urllib.parse import urlsplit

LINK: Final = re.compile(r"https?://[^\s<>\"`]+", re.IGNORECASE)

SENTENCE_ENDS: Final = ".,;:!?'\u2026\u00bb\u201d\u2019"
"""Signs that end the sentence around a link rather than the link."""

CLOSING: Final = {")": "(", "]": "[", "}": "{"}

LINKS_MAX: Final = 50
"""Of one message that can be chosen from: more is a flood, not a choice."""


def links_in(text: str) -> list[str]:
    """Return the links in a clean text, in order, each once."""
    found = (_without_end(match.group()) for match in LINK.finditer(text))
    return list(dict.fromkeys(link for link in found if host_of(link)))[:LINKS_MAX]


def host_of(link: str) -> str:
    """Return the host that a link leads to, empty if there is none."""
    try:
        return urlsplit(link).hostname or ""
    except ValueError:
        return ""


def ascii_host(host: str) -> str:
    """Return a host as the network's names know it (`xn--...` where it has other letters)."""
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host.encode("ascii", "backslashreplace").decode("ascii")


def warnings(link: str) -> list[str]:
    """Return what somebody should know before opening a link, as sentences."""
    said: list[str] = []
    host = host_of(link)
    in_ascii = ascii_host(host)
    if not host.isascii():
        said.append(f"Its host has letters that may look like others; in ASCII it is {in_ascii}.")
    elif any(label.startswith("xn--") for label in host.split(".")):
        said.append(f"Its host is written in ASCII for {_unicode_host(host)}.")
    if "@" in urlsplit(link).netloc:
        said.append(f"The part before the @ is not the host: the link leads to {in_ascii}.")
    if not link.isascii() and host.isascii():
        said.append("It has letters after the host that are not ASCII.")
    if link.lower().startswith("http:"):
        said.append("It is not encrypted (http): others on the way can read and change the page.")
    return said


def _unicode_host(host: str) -> str:
    try:
        return host.encode("ascii").decode("idna")
    except UnicodeError:
        return "letters that cannot be decoded"


def _without_end(link: str) -> str:
    """Return a link without the signs that end the sentence or the brackets around it."""
    while link:
        last = link[-1]
        opening = CLOSING.get(last)
        unopened = opening is not None and link.count(last) > link.count(opening)
        if last not in SENTENCE_ENDS and not unopened:
            break
        link = link[:-1]
    return link
