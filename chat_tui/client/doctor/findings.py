"""Findings of the doctor's tests, as words and as JSON."""

from msgspec import Struct
from msgspec.structs import asdict

OK, WARN, FAIL = "ok", "warn", "FAIL"
NOT_TESTED = "not tested"
"""Level of a test that could not be made: nobody knows whether all is well."""


class Finding(Struct, frozen=True):
    """Result of one test; `fix` is empty where all is well.

    A warning concerns something the chat can do without.
    """

    what: str
    found: str
    fix: str = ""
    warning: bool = False
    tested: bool = True

    @property
    def level(self) -> str:
        """Severity in a word: ok, warn or FAIL, or that it was not tested."""
        if not self.tested:
            return NOT_TESTED
        if not self.fix:
            return OK
        return WARN if self.warning else FAIL


def as_lines(finding: Finding) -> list[str]:
    """Return a line, and one with the fix where there is something to mend."""
    lines = [f"{finding.level:<4}  {finding.what}: {finding.found}"]
    return [*lines, f"      {finding.fix}"] if finding.fix else lines


def as_json(finding: Finding) -> dict[str, object]:
    """Return the same as a JSON object."""
    shown = asdict(finding)
    del shown["warning"], shown["tested"]
    return {"event": "finding", **shown, "level": finding.level}
