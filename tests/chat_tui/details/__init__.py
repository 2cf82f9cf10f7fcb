"""Tests of `chat_tui/details`."""
