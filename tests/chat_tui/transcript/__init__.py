"""Tests of `chat_tui/transcript`."""
