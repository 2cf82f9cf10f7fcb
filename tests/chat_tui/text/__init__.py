"""Tests of `chat_tui/text`."""
