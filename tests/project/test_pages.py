"""The pages at the top: names of files, sections and pages are right, sentences are plain."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).parents[2]
PAGES: Final = sorted(path.name for path in ROOT.glob("*.md"))
FOLDERS: Final = ("chat_tui", "storage", "sync", "proto", "tests", "requirements", "screenshots")
PATH: Final = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/[\w./*{{}},-]*[\w*/]")
SENTENCE: Final = re.compile(r"(?:^|[.?!:] |\| )(?:[-#]+ |\*\*)*(?=(?:What|Who|How|Whether)\b)")
SIZES: Final = {"README.md": 7_000, "ARCHITECTURE.md": 16_000}
ANSWERS: Final = {
    "the formula of T_resp": "def response_delay",
    "the place where a tick is decided": "def acknowledge",
    "the SQL of search": "MATCH ?",
    "a new setting": "Setting(",
    'the key of "reply" (quote)': '"reading_quote"',
    "the effect of a garbage frame": "DecodeError",
    "the Bloom tab": "class BloomPage",
    "the bytes of a Waku range": "def encode_ranges",
    "the audit for forks": "fork",
    "the mDNS TXT record": "TXT_VERSION",
}
"""Questions that CONTRIBUTING.md answers with a file, and words that are in that file."""

CITED: Final = re.compile(r"PROTOCOL(?:\.md)? (\d+)")

pages = pytest.mark.parametrize("page", PAGES)


def text_of(page: str) -> str:
    """Return a page without its blocks of code."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@pages
def test_every_file_and_folder_that_a_page_names_exists(page: str) -> None:
    named = set(PATH.findall(text_of(page)))

    missing = [path for path in sorted(named) for one in spelled(path) if not any(ROOT.glob(one))]

    assert missing == []


def spelled(path: str) -> list[str]:
    """Return the paths that `a/{b,c}.py` stands for."""
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", path)
    if match is None:
        return [path]
    before, names, after = match.groups()
    return [f"{before}{name}{after}" for name in names.split(",")]


@pages
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)\s:]+)\)", text_of(page))
    files = [link.partition("#")[0] for link in links]

    assert [name for name in files if name and not (ROOT / name).exists()] == []


@pages
def test_a_question_word_opens_only_questions(page: str) -> None:
    riddles = [
        line[match.end() : match.end() + 60]
        for line in text_of(page).splitlines()
        for match in SENTENCE.finditer(line)
        if not is_question(line[match.end() :])
    ]

    assert riddles == [], "name the thing, or say who does what"


def is_question(text: str) -> bool:
    """Return whether the sentence that `text` begins with ends in a question mark."""
    match = re.match(r"[^.!?]*([.!?])", text)
    return match is not None and match.group(1) == "?"


@pytest.mark.parametrize("page", SIZES)
def test_a_page_is_short_enough_to_be_read(page: str) -> None:
    assert len((ROOT / page).read_bytes()) <= SIZES[page]


@pytest.mark.parametrize("question", ANSWERS)
def test_the_file_that_answers_a_question_is_found_by_its_folder(question: str) -> None:
    rows = re.findall(r"^\| (.+?) \| `(.+?)`", text_of("CONTRIBUTING.md"), re.MULTILINE)

    assert ANSWERS[question] in (ROOT / dict(rows)[question]).read_text(encoding="utf-8")


def test_every_section_of_the_protocol_that_is_cited_exists() -> None:
    sections = set(re.findall(r"^## (\d+)\.", (ROOT / "PROTOCOL.md").read_text(), re.MULTILINE))
    cited = {
        number
        for folder in ("chat_tui", "storage", "sync", "tests")
        for path in (ROOT / folder).rglob("*.py")
        for number in CITED.findall(path.read_text(encoding="utf-8"))
    }

    assert cited
    assert cited <= sections


def test_the_steps_of_a_new_job_name_each_table_that_has_all_jobs() -> None:
    steps = text_of("EXTENDING.md").partition("## A job of the pipeline")[2]
    every = [f'"{job}": ' for job in ("consolidate", "audit", "fingerprints", "delivery", "sweep")]
    tables = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("storage/pipeline/**/*.py")
        if all(row in path.read_text(encoding="utf-8") for row in every)
    ]

    assert [table for table in tables if f"`{table}`" not in steps] == []
    assert len(tables) > 1


def test_the_steps_of_a_new_command_name_the_table_that_is_written_by_hand() -> None:
    steps = text_of("EXTENDING.md").partition("## A command")[2].partition("\n## ")[0]
    table = (ROOT / "chat_tui/commands/table.py").read_text(encoding="utf-8")

    written = re.findall(r"^([A-Z]+): ", table[: table.index("stats.ROWS")], re.MULTILINE)[-1]

    assert f"`{written}`" in steps
