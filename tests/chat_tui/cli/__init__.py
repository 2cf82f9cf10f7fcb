"""Tests of `chat_tui/cli`."""
