"""Tests of `chat_tui/keys`."""
