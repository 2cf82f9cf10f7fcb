"""Tests of `chat_tui/widgets`."""
