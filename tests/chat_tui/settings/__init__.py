"""Tests of `chat_tui/settings`."""
