"""Tests of `chat_tui/app`."""
