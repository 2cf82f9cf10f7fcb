"""Words for lines of somebody removed that are folded away."""


def folded_away(count: int, nick: str, *, opens: bool = True) -> str:
    """Return what stands in place of so many lines; `opens`: Enter shows them."""
    lines, are, them = ("line", "is", "it") if count == 1 else ("lines", "are", "them")
    said = f"{count:,} {lines} of {nick}, who knew of the removal, {are} folded away"
    return f"{said}; Enter shows {them}" if opens else said
