"""Words of code that are coloured: keywords, strings, numbers and comments of common languages.

Rule: one pass with patterns that never go back far, for anybody can send any code. Pygments took 18
seconds for 4,000 empty lines of C++; this takes as long for hostile code as for any other.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from keyword import kwlist
from typing import Final, NamedTuple

from chat_tui.text.word_kinds import Word


class Language(NamedTuple):
    """Words of a language, as far as they are coloured."""

    keywords: frozenset[str]
    pattern: re.Pattern[str]
    any_case: bool = False


SLASHES: Final = r"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?"
HASH: Final = r"(?<!\S)#[^\n]*"
DASHES: Final = r"--[^\n]*"
MARKUP: Final = r"<!--[^-]*(?:-(?!->)[^-]*)*(?:-->)?"
QUOTED: Final = r'"(?:[^"\\\n]|\\[^\n])*"?' + "|" + r"'(?:[^'\\\n]|\\[^\n])*'?"
DOUBLE_QUOTED: Final = r'"(?:[^"\\\n]|\\[^\n])*"?'
TRIPLE: Final = r'"""[^"]*(?:"(?!"")[^"]*)*(?:""")?' + "|" + r"'''[^']*(?:'(?!'')[^']*)*(?:''')?"
BACKTICKS: Final = r"`(?:[^`\\]|\\[^\n])*`?"
NUMBERS: Final = r"(?<![\w.])[0-9][\w.]*"
WORDS: Final = r"[^\W\d]\w*"
NOTHING: Final = r"(?!)"


def _language(
    keywords: str,
    comments: str,
    strings: str = QUOTED,
    *,
    names: str = NOTHING,
    any_case: bool = False,
) -> Language:
    pattern = (
        f"(?P<COMMENT>{comments})|(?P<STRING>{strings})|(?P<KEYWORD>{names})"
        f"|(?P<NUMBER>{NUMBERS})|(?P<WORD>{WORDS})"
    )
    return Language(frozenset(keywords.split()), re.compile(pattern, re.MULTILINE), any_case)


C: Final = """
auto bool break case char class const constexpr continue default delete do double else enum
extern false float for goto if inline int long namespace new nullptr operator private protected
public return short signed sizeof static struct switch template this throw true try catch
typedef typename union unsigned using virtual void volatile while
"""
JAVA: Final = """
abstract assert boolean break byte case catch char class continue default do double else enum
extends false final finally float for fun if implements import instanceof int interface long new
null object override package private protected public record return short static super switch
synchronized this throw throws true try val var void volatile when while
"""
JAVASCRIPT: Final = """
as async await break case catch class const continue default delete do else enum export extends
false finally for from function if implements import in instanceof interface let new null of
return static super switch this throw true try type typeof undefined var void while yield
"""
GO: Final = """
break case chan const continue default defer else fallthrough false for func go goto if import
interface map nil package range return select struct switch true type var
"""
RUST: Final = """
as async await break const continue crate dyn else enum extern false fn for if impl in let loop
match mod move mut pub ref return self Self static struct super trait true type unsafe use where
while
"""
SHELL: Final = """
case do done elif else esac export fi for function if in local return select set shift then
until while
"""
LUA: Final = """
and break do else elseif end false for function goto if in local nil not or repeat return then
true until while
"""
RUBY: Final = """
and begin break case class def do else elsif end ensure false for if in module next nil not or
redo rescue retry return self super then true undef unless until when while yield
"""
SQL: Final = """
all alter and as asc begin between by case commit create cross default delete desc distinct drop
else end exists explain false foreign from full group having if in index inner insert into is
join key left like limit not null offset on or order outer primary references right rollback
select set table then true union unique update using values view when where with
"""
DOCKER: Final = """
FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG HEALTHCHECK SHELL
"""

KEYS: Final = r"^[ \t]*(?:- )?[\w.\-]+(?=[ \t]*[:=])|^\[[^\]\n]*\]"
"""Names of what is set, in files of settings."""

TAGS: Final = r"</?[\w:\-]+|/?>"

DIFF: Final = re.compile(
    r"^(?:(?P<COMMENT>(?:@@|\+\+\+|---|diff |index )[^\n]*)|(?P<ADDED>\+[^\n]*)"
    r"|(?P<REMOVED>-[^\n]*))",
    re.MULTILINE,
)

TABLE: Final[dict[str, Callable[[], Language]]] = {
    "python py python3 pycon": lambda: _language(
        " ".join(kwlist) + " match case self", HASH, f"{TRIPLE}|{QUOTED}"
    ),
    "c h cpp c++ cc hpp csharp cs": lambda: _language(C, SLASHES),
    "java kotlin kt scala swift": lambda: _language(JAVA, SLASHES),
    "javascript js jsx typescript ts tsx": lambda: _language(
        JAVASCRIPT, SLASHES, f"{QUOTED}|{BACKTICKS}"
    ),
    "go golang": lambda: _language(GO, SLASHES, f"{QUOTED}|{BACKTICKS}"),
    "rust rs": lambda: _language(RUST, SLASHES, DOUBLE_QUOTED),
    "bash sh shell zsh console make makefile": lambda: _language(SHELL, HASH),
    "lua": lambda: _language(LUA, DASHES),
    "ruby rb": lambda: _language(RUBY, HASH),
    "sql sqlite postgres": lambda: _language(SQL, DASHES, any_case=True),
    "json jsonc json5": lambda: _language("true false null", SLASHES, DOUBLE_QUOTED),
    "yaml yml toml ini": lambda: _language("true false null", HASH, names=KEYS),
    "html xml svg": lambda: _language("", MARKUP, names=TAGS),
    "css": lambda: _language("", SLASHES, names=KEYS),
    "docker dockerfile": lambda: _language(DOCKER, HASH),
    "diff patch": lambda: Language(frozenset(), DIFF),
}
"""Makers of languages, by the names that people write behind a fence."""

BY_NAME: Final = {name: make for names, make in TABLE.items() for name in names.split()}


@cache
def _known(name: str) -> Language:
    return BY_NAME[name]()


def coloured(code: str, language: str) -> Iterator[tuple[int, int, Word]]:
    """Yield where words of a kind stand in some code; of an unknown language nothing is known."""
    name = language.casefold()
    if name not in BY_NAME:
        return
    known = _known(name)
    for match in known.pattern.finditer(code):
        kind = str(match.lastgroup)
        if kind == "WORD":
            word = match.group().lower() if known.any_case else match.group()
            if word not in known.keywords:
                continue
            kind = "KEYWORD"
        yield match.start(), match.end(), Word[kind]
