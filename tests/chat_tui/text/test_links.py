"""Links in messages, and what is said of them before one is opened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat_tui.text.links import (
    LINKS_MAX,
    ascii_host,
    ascii_link,
    host_of,
    is_itself,
    link_spans,
    links_in,
    warnings,
)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see https://example.com/a?b=c#d.", ["https://example.com/a?b=c#d"]),
        ("(https://en.wikipedia.org/wiki/A_(b))", ["https://en.wikipedia.org/wiki/A_(b)"]),
        ("HTTP://EXAMPLE.com, twice HTTP://EXAMPLE.com!", ["HTTP://EXAMPLE.com"]),
        ('<a href="http://x.y">', ["http://x.y"]),
        ("javascript:alert(1) file:///etc/passwd ftp://x.y", []),
        ("https:// nothing http://", []),
        ("http://[broken", []),
        ("http://x.y:99999/ https://a..b/ https://%65vil.com/ https:///x.y", []),
        (r"http://evil.com\@good.com", ["http://evil.com"]),
        ("*https://x.y/a* _https://x.y/b_", ["https://x.y/a", "https://x.y/b"]),
        ("https://x.y/c_", ["https://x.y/c_"]),
        ("http://x.y/" + "a" * 2000, []),
    ],
)
def test_links_are_found_without_the_sentence_around_them(text: str, links: list[str]) -> None:
    assert links_in(text) == links


def test_a_host_that_looks_like_another_is_shown_in_ascii() -> None:
    link = "https://ex\u0430mple.com/"

    assert ascii_host(host_of(link)).startswith("xn--")
    assert any(ascii_host(host_of(link)) in sentence for sentence in warnings(link))


def test_a_host_in_punycode_is_spelt_out() -> None:
    [said] = warnings("https://xn--mnchen-3ya.de/")

    assert "münchen.de" in said


def test_what_stands_before_an_at_is_no_host() -> None:
    assert host_of("https://bank.com@evil.net/") == "evil.net"
    assert any("leads to evil.net" in said for said in warnings("https://bank.com@evil.net/"))


def test_an_unencrypted_link_says_so_and_a_plain_one_nothing() -> None:
    assert any("not encrypted" in said for said in warnings("http://example.com/"))
    assert warnings("https://example.com/") == []


def test_a_flood_of_links_is_cut() -> None:
    text = " ".join(f"http://x.y/{number}" for number in range(2 * LINKS_MAX))

    assert len(links_in(text)) == LINKS_MAX


@given(st.text(max_size=80))
def test_any_text_can_be_looked_through(text: str) -> None:
    for link in links_in(text + " http://" + text):
        assert link.lower().startswith("http")
        assert ascii_host(host_of(link)).isascii()
        assert all(isinstance(said, str) for said in warnings(link))


@pytest.mark.parametrize(
    ("link", "opened"),
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c#d"),
        ("HTTP://Example.COM", "http://example.com"),
        ("https://b\u00fccher.de/stra\u00dfe", "https://xn--bcher-kva.de/stra%C3%9Fe"),
        ("https://fa\u00df.de/", "https://xn--fa-hia.de/"),
        ("https://ex\u0430mple.com/", "https://xn--exmple-4nf.com/"),
        ("https://\u4f8b\u3048\u3002jp/", "https://xn--r8jz45g.jp/"),
        ("http://[::1]:80/%41", "http://[::1]:80/%41"),
        ("http://x.y/{a}|^", "http://x.y/%7Ba%7D%7C%5E"),
        ("https://bank.com@evil.net/", "https://bank.com@evil.net/"),
    ],
)
def test_what_is_opened_is_the_address_in_ascii(link: str, opened: str) -> None:
    assert ascii_link(link) == opened


def test_only_an_address_that_leads_where_it_says_is_told_to_the_terminal() -> None:
    assert is_itself("https://example.com/a?b=c#d")
    assert is_itself("https://xn--bcher-kva.de/")
    assert not is_itself("https://b\u00fccher.de/")
    assert not is_itself("https://example.com/\u00fc")
    assert not is_itself("https://bank.com@evil.net/")
    assert not is_itself("https://Example.com/")


@given(st.text(max_size=60))
def test_no_address_that_is_opened_can_steer_anything(text: str) -> None:
    said = f"http://x.y/{text} https://{text}"
    for start, end in link_spans(said):
        opened = ascii_link(said[start:end])

        assert opened.isascii()
        assert opened.isprintable()
        assert opened.startswith(("http://", "https://"))
        assert not set(opened) & set(' "<>\\`')
