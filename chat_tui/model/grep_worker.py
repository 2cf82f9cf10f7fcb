"""The process that `/grep` matches in: a pattern may take for ever, and a process can be ended.

Reads JSON lines: the pattern, then lists of texts; answers each list with the numbers of those that
match, or the pattern with what is wrong with it. It runs alone, without the rest of the chat.
"""

import json
import re
import resource
import sys

MEMORY_MAX = 512 * 1024 * 1024
"""Bytes; `((a{999}){999}){999}` would take all there is."""


def main() -> None:
    """Answer until the end of input."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    try:
        pattern = re.compile(json.loads(sys.stdin.readline()), re.IGNORECASE)
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        answer({"wrong": str(error) or "it is too large"})
        return
    answer({"wrong": None})
    for line in sys.stdin:
        texts = json.loads(line)
        answer([number for number, text in enumerate(texts) if pattern.search(text)])


def answer(value: object) -> None:
    """Write one line, at once."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
