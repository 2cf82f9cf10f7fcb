"""Tests of `chat_tui/wording`."""
