"""Tests of `chat_tui/model`."""
