"""Tests of `chat_tui/commands`."""
