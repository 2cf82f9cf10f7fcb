"""Tests of `chat_tui/demo`."""
