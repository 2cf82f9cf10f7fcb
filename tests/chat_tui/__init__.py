"""Tests of the chat, room by room."""
