"""Tests of `chat_tui/terminal`."""
