"""Tests of `chat_tui/client/doctor`."""
