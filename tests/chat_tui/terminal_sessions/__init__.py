"""Tests of the chat in a real terminal, under tmux."""
