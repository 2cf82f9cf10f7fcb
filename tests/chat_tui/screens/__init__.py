"""Tests of `chat_tui/screens`."""
