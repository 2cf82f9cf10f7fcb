"""Tests of `chat_tui/debug`."""
