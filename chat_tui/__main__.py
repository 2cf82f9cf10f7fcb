"""`python -m chat_tui` is `chat-tui`."""

from chat_tui.cli.main import main

main()
