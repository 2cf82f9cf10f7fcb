"""The map of `sync.sds`: every rule of both specifications has its code and its test."""

import ast
import importlib
import pkgutil
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import sync.sds

HERE = Path(__file__).parent
KEYWORD = re.compile(r"(MUST NOT|SHOULD NOT|MUST|SHOULD|MAY)\b")
DEVIATION = re.compile(r"\bD\d+\b")

SDS = {
    "Design Assumptions": "",
    "Wire protocol": "MUST MUST MUST SHOULD MUST MAY MAY MUST",
    "Participant state": "MUST SHOULD SHOULD",
    "Protocol Steps": "MUST",
    "Send Message": "MUST MUST MAY MUST MUST",
    "Receive Message": "MUST MUST MUST MUST MUST",
    "Deliver Message": "MUST MUST MUST",
    "Resolve Conflicts": "MUST",
    "Review ACK Status": "MUST MUST MAY",
    "Periodic Incoming Buffer Sweep": "MUST MAY MAY MUST MAY",
    "Periodic Outgoing Buffer Sweep": "MUST SHOULD",
    "Periodic Sync Message": (
        "SHOULD MUST MUST MUST MUST NOT MUST NOT MUST NOT MUST NOT MAY MAY MUST MUST NOT"
    ),
    "Ephemeral Messages": "MAY SHOULD SHOULD NOT SHOULD",
}
"""The sections of SDS, and the keywords of each in their order."""

SDS_R = {
    "Protobuf Schema Modifications": 3,
    "Additional Participant State": 3,
    "Global Configuration": 3,
    "Calculate T_req": 2,
    "Calculate T_resp": 2,
    "Determine Response Group Membership": 3,
    "When SENDING a Message": 5,
    "When RECEIVING a Message": 8,
    "Outgoing Repair Request Buffer Sweep": 1,
    "Incoming Repair Request Buffer Sweep": 2,
    "Periodic Sync Messages with SDS-R": 3,
    "Hash Function": 3,
    "Participant ID Format": 3,
    "Memory Management": 5,
    "Edge Cases to Handle": 6,
    "Typo to Fix": 1,
    "Testing Scenarios": 6,
    "Modified State from Base SDS": 3,
    "Unchanged from Base SDS": 4,
    "Performance Recommendations": 5,
    "Security Assumptions": 4,
}
"""The sections of the guide to SDS-R, and how many rules we count in each."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the map."""

    section: str
    text: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]
    deviations: tuple[str, ...]


def rules_of(page: str) -> list[Rule]:
    """Read the tables of the map."""
    rules = []
    section = ""
    for line in page.splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith("| rule |"):
            text, where, tests = (cell.strip() for cell in line.strip("|").split("|"))
            rules.append(
                Rule(
                    section, text, quoted(where), quoted(tests), found(DEVIATION, f"{text} {where}")
                )
            )
    return rules


def quoted(cell: str) -> tuple[str, ...]:
    return found(re.compile(r"(?<=`)[\w.]+(?=`)"), cell)


def found(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(match.group() for match in pattern.finditer(text))


RULES = rules_of((HERE / "sds_map.md").read_text(encoding="utf-8"))
DOCSTRING = sync.sds.__doc__ or ""


def docstring_rows() -> dict[str, tuple[tuple[str, ...], list[str]]]:
    """Section -> its functions and its tests, as the docstring has them."""
    rows = {}
    for line in DOCSTRING.splitlines():
        if line.startswith("| ") and "| function | tests |" not in line:
            section, where, tests = (cell.strip() for cell in line.strip("|").split("|"))
            rows[section] = quoted(where), [name for name in tests.split(", ") if name]
    return rows


@cache
def modules() -> dict[str, ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(sync.sds.__path__)]
    return {name: importlib.import_module(f"sync.sds.{name}") for name in names}


def exists(function: str) -> bool:
    """Return whether this function, class or constant exists, in `sync.sds` or by full path."""
    first, *rest = function.split(".")
    if first == "sync":
        return has(sync, rest)
    if first in modules():
        return has(modules()[first], rest)
    classes = [
        one
        for module in modules().values()
        if (one := vars(module).get(first)) is not None and one.__module__ == module.__name__
    ]
    return len(classes) == 1 and has(classes[0], rest)


def has(holder: object, path: list[str]) -> bool:
    for name in path:
        if isinstance(holder, ModuleType) and not hasattr(holder, name):
            with suppress(ModuleNotFoundError):
                importlib.import_module(f"{holder.__name__}.{name}")
        if not hasattr(holder, name):
            return False
        holder = getattr(holder, name)
    return True


@cache
def collected_from(stem: str) -> set[str]:
    """Return the names that pytest collects from a test file."""
    room, _, name = stem.rpartition(".")
    path = HERE.parent / room / f"test_{name}.py"
    if not path.exists():
        return set()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    functions = {
        node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    machines = {
        node.target.id
        for node in body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    return {name for name in functions | machines if name.lower().startswith("test")}


def test_every_section_of_both_specifications_is_in_the_map_in_its_order() -> None:
    sections = list(dict.fromkeys(rule.section for rule in RULES))

    assert sections == [*SDS, *SDS_R]


def test_every_keyword_of_sds_is_a_rule_of_the_map() -> None:
    keywords: dict[str, list[str]] = {section: [] for section in SDS}
    for rule in RULES:
        if rule.section in SDS and (match := KEYWORD.match(rule.text)):
            keywords[rule.section].append(match.group())

    assert {section: " ".join(found) for section, found in keywords.items()} == SDS


def test_every_rule_of_the_guide_is_in_the_map() -> None:
    sections = Counter(rule.section for rule in RULES if rule.section in SDS_R)

    assert sections == SDS_R


def test_every_rule_has_a_function_and_a_test_or_a_reason_why_not() -> None:
    bare = [rule for rule in RULES if not rule.functions and not rule.deviations]
    untested = [rule for rule in RULES if rule.functions and not rule.tests]

    assert bare == []
    assert untested == []


def test_every_function_of_the_map_exists() -> None:
    functions = {function for rule in RULES for function in rule.functions}

    assert [function for function in sorted(functions) if not exists(function)] == []


def test_every_test_of_the_map_exists() -> None:
    tests = {tuple(test.rsplit(".", 1)) for rule in RULES for test in rule.tests}

    assert [test for test in sorted(tests) if test[1] not in collected_from(test[0])] == []


def test_what_does_not_exist_is_noticed() -> None:
    assert not exists("Channel._on_nothing")
    assert not exists("Nobody")
    assert not exists("repair.nothing")
    assert not exists("sync.structures.bloom.Nothing")
    assert "test_nothing" not in collected_from("sds.channel")
    assert collected_from("no_such_file") == set()


def test_the_docstring_has_every_section_with_what_the_map_says_of_it() -> None:
    rows = docstring_rows()

    assert list(rows) == [*SDS, *SDS_R]
    for section, (functions, tests) in rows.items():
        rules = [rule for rule in RULES if rule.section == section]
        known = {function for rule in rules for function in rule.functions}
        files = {test.rpartition(".")[0] for rule in rules for test in rule.tests}
        assert set(functions) <= known, section
        assert {f"sds.{test}" for test in tests} <= files, section
        assert bool(functions) == bool(tests) == bool(known), section


def test_every_deviation_is_explained_once_and_belongs_to_a_rule() -> None:
    explained = re.findall(r"^- (D\d+) ", DOCSTRING, re.MULTILINE)

    assert explained == [f"D{number}" for number in range(1, len(explained) + 1)]
    assert {one for rule in RULES for one in rule.deviations} == set(explained)
    assert set(found(DEVIATION, DOCSTRING)) == set(explained)
