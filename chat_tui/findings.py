"""What a test of the doctor found, as words and as JSON."""

from dataclasses import asdict, dataclass

OK, WARN, FAIL = "ok", "warn", "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one test found; `fix` is empty where all is well.

    A warning is about what the chat can do without.
    """

    what: str
    found: str
    fix: str = ""
    warning: bool = False

    @property
    def level(self) -> str:
        """How bad it is, in a word."""
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
    del shown["warning"]
    return {"event": "finding", **shown, "level": finding.level}
