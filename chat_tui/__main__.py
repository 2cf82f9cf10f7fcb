"""`python -m chat_tui` is `chat-tui`."""

import sys

from chat_tui.client import gc_policy


def main() -> None:
    """Import the command line, of which nothing is garbage, and run it."""
    gc_policy.put_off()
    try:
        from chat_tui.cli.main import main as run  # noqa: PLC0415  # see above
    except KeyboardInterrupt:  # `run` hears of later ones
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
