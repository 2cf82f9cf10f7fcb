"""`python -m chat_tui` is `chat-tui`."""

from chat_tui.client import gc_policy


def main() -> None:
    """Import the command line, of which nothing is garbage, and run it."""
    gc_policy.put_off()
    from chat_tui.cli.main import main as run  # noqa: PLC0415  # see above

    run()


if __name__ == "__main__":
    main()
