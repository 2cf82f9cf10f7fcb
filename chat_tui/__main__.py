"""`python -m chat_tui` is `chat-tui`."""

from chat_tui.main import main

main()
